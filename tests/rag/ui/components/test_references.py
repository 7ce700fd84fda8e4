"""What an article refers to, what refers to it, and what it must be read with: on its card and in Browse."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from indexes.build import legislative_graph
from indexes.corpus.corpus import Corpus
from rag.types import Article
from rag.ui.components.article_card import MOST, READ_WITH
from rag.ui.pages.browse import REFERRING
from tests.fakes.pages.any_page_driver import open_page
from tests.fakes.pages.ask_page_driver import ask, body, cards, page
from tests.fakes.pages.html_reader import Element
from tests.fakes.pages.ui_engine import CARD, FakeEngine

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"
TEXTS = {
    "1": "Un mur est mitoyen. Au sens de l'article 2, une haie n'est pas un mur. Nul ne le perce.",
    "2": "Une haie est faite de plantes.",
    "3": f"Tout {EVIL} est vrai. Par dérogation à l'article 1, {EVIL} vaut un mur. Fin.",
    "4": "Les articles 1 à 3 valent ici.",
    "5": "Le puits "
    + "très profond " * 40
    + "que nomme l'article 4 est "
    + "large et rond " * 40
    + "partout.",
}


def engine(texts: dict[str, str], *more: Article, card: str = "official") -> FakeEngine:
    articles = (*(Article(f"c{n}", "Code civil", n, text, ("Livre I",)) for n, text in texts.items()), *more)
    of = replace(CARD, text_kind=card)
    return FakeEngine(of, articles=articles, graph=legislative_graph.build(Corpus(of, articles)))


LAW = engine(TEXTS, Article("r1", "Code rural", "1", "Le chemin suit l'article 4 du Code civil."))


def shelf(app: AppTest, name: str) -> Element:
    [found] = [n for n in body(app).all(class_="pd-shelf") if n.attributes.get("aria-label") == name]
    return found


def marked(item: Element) -> tuple[str, str]:
    """The sentence of an entry, and what is marked in it."""
    return item.one("q").text, item.one("mark").text


def test_browse_shows_the_sentence_with_the_reference_marked() -> None:
    app = open_page("browse", LAW, article="c1")
    [to] = shelf(app, "It refers to").all("li")
    assert [a.text for a in to.all("a")] == ["Article 2"]
    assert marked(to) == ("Au sens de l'article 2, une haie n'est pas un mur.", "article 2")
    assert to.one("q").attributes["lang"] == "fr"
    by = shelf(app, "Referred to by").all("li")
    assert [li.one("a").text for li in by] == ["Article 3", "Article 4"]
    assert marked(by[0]) == (f"Par dérogation à l'article 1, {EVIL} vaut un mur.", "article 1")
    assert not {e.name for e in body(app).all()} & {"img", "script"}


def test_articles_of_one_expression_share_their_sentence() -> None:
    [only] = shelf(open_page("browse", LAW, article="c4"), "It refers to").all("li")
    assert [a.text for a in only.all("a")] == ["Article 1", "Article 2", "Article 3"]
    assert only.one("q").text == "Les articles 1 à 3 valent ici."


def test_a_long_sentence_is_cut_at_words_around_the_reference() -> None:
    [only] = shelf(open_page("browse", LAW, article="c5"), "It refers to").all("li")
    said, reference = marked(only)
    assert reference == "article 4"
    assert said.startswith("… ")
    assert said.endswith(" …")
    assert len(said) <= 250
    assert said[2:-2].strip() in TEXTS["5"]


def test_a_link_says_of_which_other_law_it_is() -> None:
    by = shelf(open_page("browse", LAW, article="c4"), "Referred to by").all("li")
    assert [a.attributes.get("aria-label") for li in by for a in li.all("a")] == [
        None,
        "Article 1 (Code rural)",
    ]


@pytest.mark.parametrize(
    ("article", "needs"),
    [
        ("c1", [("Article 2", "defines words of this article"), ("Article 3", "departs from this article")]),
        ("c3", [("Article 1", "the rule that this article departs from")]),
        ("c2", []),
    ],
)
def test_what_an_article_must_be_read_with_is_a_list(article: str, needs: list[tuple[str, str]]) -> None:
    boxes = body(open_page("browse", LAW, article=article)).one("article").all("section", "pd-with")
    assert [
        (li.one("a").text, li.one(class_="pd-need").text) for box in boxes for li in box.one("ul").all("li")
    ] == needs
    for box in boxes:
        assert box.one("h3").text == "This article must be read with"
        assert box.one("ul").attributes["role"] == "list"


def test_a_card_offers_the_first_and_leads_to_the_rest() -> None:
    many = {"1": "Un mur de pierre."} | {str(n): "Par dérogation à l'article 1, rien." for n in range(2, 50)}
    app = ask(page(engine(many), lang="en"), "la pierre")
    card = cards(app)[0]
    box = card.one(class_="pd-with")
    assert box.one("summary").text == "To be read with: Article 2, Article 3, Article 4"
    assert len(box.all("li")) == READ_WITH
    rest = box.all("a")[-1]
    assert rest.text == f"and {48 - READ_WITH} more"
    assert rest.attributes["aria-label"] == f"This article must be read with {rest.text}"
    around = card.one(class_="pd-around")
    by = next(div for div in around.all("div") if div.one("h4").text == "Referred to by")
    assert len(by.all("li")) == MOST
    assert f"and {48 - MOST} more" in by.text
    [add, *_] = by.all("a", "pd-add")
    assert add.attributes["aria-label"] == "Add Article 2"

    browse = open_page("browse", engine(many), article="c1")
    assert len(shelf(browse, "Referred to by").all("li")) == REFERRING
    assert f"and {48 - REFERRING} more" in shelf(browse, "Referred to by").text


def test_a_summary_is_not_quoted_as_law() -> None:
    app = open_page("browse", engine(TEXTS, card="summary"), article="c1")
    references = shelf(app, "It refers to")
    assert not references.all("q")
    assert references.one("mark").text == "article 2"


def test_a_reference_that_no_text_makes_shows_what_the_other_article_says() -> None:
    """As in the law that ships: its references are those of the official text, which is not here."""
    plain = engine(TEXTS, card="summary")
    assert plain.graph is not None
    assert plain.graph.to_spans is not None
    graph = replace(plain.graph, to_spans=plain.graph.to_spans * 0 - 1)
    app = open_page("browse", replace(plain, graph=graph), article="c1")
    [to] = shelf(app, "It refers to").all("li")
    assert not to.all("mark")
    assert to.one(class_="pd-excerpt").text == TEXTS["2"]
    assert to.one(class_="pd-of").text == "Livre I"
    needs = body(app).one(class_="pd-with").all("li")
    assert [li.one(class_="pd-need").text for li in needs] == [
        "defines words of this article",
        "departs from this article",
    ]


@pytest.mark.slow
def test_a_graph_of_an_earlier_release_shows_the_source_s_references_alone() -> None:
    cites = Article("c9", "Code civil", "9", "Voir l'article 2.", references=("c2",))
    old = engine(TEXTS, cites)
    assert old.graph is not None
    graph = replace(old.graph, to_spans=None, to_roles=None)
    app = open_page("browse", replace(old, graph=graph), article="c2")
    [by] = shelf(app, "Referred to by").all("li")
    assert (by.one("a").text, by.one(class_="pd-excerpt").text) == ("Article 9", "Voir l'article 2.")
    assert not body(app).all(class_="pd-with")
