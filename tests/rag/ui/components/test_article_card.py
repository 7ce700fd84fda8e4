from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from types import MappingProxyType

import pytest

from rag.corpus.card import CorpusCard
from rag.corpus.facts import Amount, ArticleFacts, TimeLimit
from rag.types import Article, Shown, Why
from rag.ui.components.article_card import View, card_html
from rag.ui.components.entries import title
from rag.ui.components.explanation import matched_words
from rag.ui.i18n import words
from tests.fakes.pages.html_reader import Element, read
from tests.fakes.pages.ui_engine import (
    ARTICLES,
    CARD,
    FACTS,
    HOSTILE,
    HOSTILE_CARD,
    LAWS,
    SEVERAL,
    FakeAnalyser,
)

ALLOWED = {
    "article", "header", "footer", "section", "h3", "h4", "div", "nav", "ol", "ul", "li", "p", "span", "mark",
    "q", "a", "button", "details", "summary",
}  # fmt: skip
TREE = Why(
    frozenset({"arbre", "voisin"}), {"bm25+questions": 3, "dense": 1}, ("mon voisin a un arbre trop près",)
)


def card(
    article: Article,
    why: Why = TREE,
    corpus: CorpusCard = CARD,
    language: str = "fr",
    facts: Mapping[str, ArticleFacts] = MappingProxyType({}),
    today: date | None = None,
    *,
    brief: bool = False,
) -> Element:
    view = View(corpus, FakeAnalyser(), words(language), facts=facts, today=today)
    return read(card_html(Shown(1, article, 1.0, why), view, brief=brief))


def test_what_is_kept_of_a_card_is_that_of_its_language_and_corpus() -> None:
    here = replace(CARD, aliases={"Code civil": ("C. c.",)})
    assert hash(here) == hash(CARD)  # equal they are not
    assert here != CARD
    french, english = card(ARTICLES[0]), card(ARTICLES[0], language="en")
    assert [each.one("button").text for each in (french, english)] == [
        "Copier la référence",
        "Copy the citation",
    ]
    copied = [card(ARTICLES[0], corpus=each).one("button").attributes["data-copy"] for each in (here, CARD)]
    assert [text.partition(",")[0] for text in copied] == ["C. c.", "C. civ."]


def test_a_card_says_what_it_is() -> None:
    shown = card(ARTICLES[0])

    assert shown.one("h3").text == "Article 671 Code civil"
    assert shown.one(class_="pd-rank").text == "Rang 1"
    assert [li.text for li in shown.one(class_="pd-path").all("li")] == ["…", *ARTICLES[0].headings[-2:]]
    assert shown.one(class_="pd-path").all("li")[0].attributes["title"] == " › ".join(ARTICLES[0].headings)
    assert [mark.text for mark in shown.all("mark")] == ["arbre", "voisin"]
    assert shown.one(class_="pd-passage").text == ARTICLES[0].text
    assert shown.one("a").attributes["href"] == "https://law.example/article/671"
    assert shown.one("button").attributes["data-copy"].startswith("C. civ., art. 671 (")
    [folded] = shown.all("details")  # a short text is there at once; why it is there is folded
    assert folded.one("summary").text == "Pourquoi cet article"


def test_a_long_text_shows_a_passage_and_the_whole_on_demand() -> None:
    shown = card(ARTICLES[1])

    assert len(shown.one(class_="pd-passage").text) < 400
    assert "…" in shown.one(class_="pd-passage").text
    whole = shown.one("details", "pd-whole")
    assert whole.one("summary").text == "Lire tout le résumé"
    assert [p.text for p in whole.all("p")] == [line.strip() for line in ARTICLES[1].text.splitlines()]


def test_a_summary_is_never_taken_for_the_law() -> None:
    shown = card(ARTICLES[0], today=date(2026, 1, 2))

    assert shown.one(class_="pd-badge").text == "résumé non officiel"
    assert shown.one(class_="pd-source").text == (
        "résumé non officiel · texte\u00a0: janvier 2025, a pu changer · "
        "Source\u00a0: DILA, LEGI · seul le texte officiel fait foi"
    )
    second = read(card_html(Shown(2, ARTICLES[0], 1.0, TREE), View(CARD, FakeAnalyser(), words("fr"))))
    assert not second.all(class_="pd-badge")  # said once of all in a list, and in each one's last line
    assert second.one(class_="pd-source").text.startswith("résumé non officiel · ")


def test_the_date_of_the_text_stands_on_the_card_and_says_that_it_may_have_changed() -> None:
    for language, said in (
        ("fr", "texte\u00a0: janvier 2025, a pu changer"),
        ("en", "text: January 2025, may have changed"),
        ("zh", "文本：2025年1月，可能已有变动"),
    ):
        shown = card(ARTICLES[0], language=language, today=date(2026, 1, 1))
        assert said in shown.one(class_="pd-source").text
        assert shown.text.count("2025") == 1  # said once
    assert "2025" not in card(ARTICLES[0], corpus=replace(CARD, law_date=None)).text


def test_a_text_of_more_than_a_year_ago_says_so_by_the_day_of_its_own_code() -> None:
    several = replace(CARD, laws=LAWS)  # 10 March 2024 for the Code civil
    old, new = (
        card(ARTICLES[0], corpus=corpus, language="en", today=date(2026, 1, 2)).one(class_="pd-source").text
        for corpus in (several, CARD)
    )

    assert "text: March 2024, more than a year old: check" in old
    assert "text: January 2025, may have changed" in new
    pasted = card(ARTICLES[0], corpus=several, language="en").one("button").attributes["data-copy"]
    assert "text: March 2024" in pasted


def test_time_limits_stand_under_the_text_and_amounts_below() -> None:
    shown = card(ARTICLES[1], facts=FACTS)
    limits = shown.one(class_="pd-limits")

    assert limits.all("li")[0].text == (
        "Délai\u00a0: 2 mois — faire couper l'arbre (à partir de\u00a0: la lettre du voisin). "
        "Sinon\u00a0: le voisin peut agir"
    )
    assert [each.text for each in limits.all("strong")] == ["2 mois", "3 ans", "4 ans", "5 ans"]
    assert limits.one("summary").text == "et 3 autres"  # two are told at once, and all else is folded
    assert {each.attributes["lang"] for each in limits.all("strong")} == {"fr"}
    assert limits.one("details").all("li")[-1].text == "À savoir\u00a0: Un décret."
    brief = card(ARTICLES[1], facts=FACTS, brief=True).one(class_="pd-limits")
    assert (len(brief.one("details").all("li")), brief.one("summary").text) == (4, "et 4 autres")
    order = [each.attributes.get("class") for each in shown.all()]
    assert order.index("pd-passage") < order.index("pd-limits") < order.index("pd-whole")

    amounts = card(ARTICLES[0], facts=FACTS).one("div", "pd-amounts").text
    assert amounts == "Montants et seuils\u00a0: hauteur de l'arbre — 2 m · amende — 1\u00a0500\u00a0€"


def test_what_was_read_from_a_text_that_has_changed_is_hidden() -> None:
    shown = card(ARTICLES[2], facts=FACTS, language="en")

    assert shown.one(class_="pd-outdated").text.startswith("This article has changed since")
    assert not shown.all(class_="pd-limits")
    assert not shown.all(class_="pd-amounts")
    assert not card(ARTICLES[1], facts=FACTS).all(class_="pd-outdated")


def test_an_article_that_nobody_has_summarised_leads_to_the_official_text() -> None:
    several = replace(CARD, laws=LAWS)
    shown = card(SEVERAL[-1], corpus=several, language="en")

    assert shown.one(class_="pd-untold").text == (
        "Nobody has summarised this article yet. Read the official text."
        "Read the official text page of the whole text: look for “L5”"
    )
    assert shown.one(class_="pd-untold").one("a").attributes["href"] == "https://law.example/code/5"
    assert not shown.all(class_="pd-passage")
    assert not shown.all(class_="pd-badge")  # it is no summary
    assert "summary" not in shown.one("button").attributes["data-copy"]
    assert shown.one(class_="pd-path").text == SEVERAL[-1].headings[0]
    assert shown.one(class_="pd-why")
    assert len(shown.all("a")) == 1  # once is enough

    own = card(replace(SEVERAL[-1], url="https://law.example/x"), corpus=several, language="en")
    assert own.one(class_="pd-untold").one("a").attributes["href"] == "https://law.example/x"
    assert "look for" not in own.text


def test_the_page_of_a_whole_code_is_called_that() -> None:
    ways = card(ARTICLES[2], corpus=replace(CARD, laws=LAWS)).one(class_="pd-ways")

    assert ways.one("a").attributes["href"] == "https://law.example/code/0"
    assert "page du texte entier\u00a0: cherchez «\u00a0673\u00a0»" in ways.text
    assert not card(ARTICLES[2]).one(class_="pd-ways").all("a")  # this corpus names no page


@pytest.mark.parametrize("language", ["fr", "nl", "en", "de", "it", "zh"])
def test_hostile_facts_stay_text(language: str) -> None:
    evil = "<img src=x onerror=alert(1)>"
    facts = ArticleFacts((TimeLimit(evil, evil, evil, evil),), (Amount(evil, evil),), evil)
    shown = card(ARTICLES[0], facts={"671": facts}, language=language)

    assert {each.name for each in shown.all()} <= ALLOWED | {"strong"}
    assert shown.text.count(evil) == 7


def test_an_official_text_bears_no_such_badge() -> None:
    official = replace(CARD, text_kind="official", law_date=None, source="")
    dated = replace(ARTICLES[1], valid_from=date(1804, 2, 10), valid_to=date(2030, 1, 1), region="Wallonie")
    shown = card(dated, corpus=official, language="en")

    assert [badge.text for badge in shown.all(class_="pd-badge")] == ["Wallonie"]
    assert shown.one("details", "pd-whole").one("summary").text == "Read the whole article"
    assert shown.one(class_="pd-source").text == "in force since 10 February 1804 · until 1 January 2030"
    assert [
        b.text
        for b in card(replace(dated, region=None, law_type="regional"), corpus=official).all(
            class_="pd-badge"
        )
    ] == ["régional"]


def test_the_reasons_are_in_plain_words() -> None:
    reasons = [li.text for li in card(ARTICLES[0]).one(class_="pd-why").all("li")]

    assert reasons == [
        "Mots en commun avec votre question\u00a0: «\u00a0arbre\u00a0», «\u00a0voisin\u00a0».",
        "Une question proche, qui renvoie à cet article\u00a0: mon voisin a un arbre trop près",
        "Sa place dans chaque classement\u00a0: n°\u00a03 par les mots, n°\u00a01 par le sens.",
    ]


@pytest.mark.parametrize(
    ("why", "reason"),
    [
        (Why(known=True), "Your question names it by its number."),
        (Why(moved_from="1382"), "It now holds what article 1382 used to say."),
        (Why(ranks={"colbert": 2}), "Its place in each ranking: no. 2 colbert."),
        (Why(), "Its meaning is close to that of your question."),
    ],
)
def test_each_reason_alone(why: Why, reason: str) -> None:
    assert card(ARTICLES[0], why, language="en").one(class_="pd-why").one("li").text == reason


def test_words_of_the_headings_count_too_and_each_once() -> None:
    terms = frozenset({"arbre", "servitude", "absent"})

    assert matched_words(ARTICLES[0], terms, FakeAnalyser()) == ["arbre", "servitudes"]


def test_numbers_are_told_only_where_there_are_no_words() -> None:
    article = Article("x", "Code", "1", "En 2016, 3000 euros pour un arbre.")

    assert matched_words(article, frozenset({"2016", "3000", "arbre"}), FakeAnalyser()) == ["arbre"]
    assert matched_words(article, frozenset({"2016", "3000"}), FakeAnalyser()) == ["2016", "3000"]


@pytest.mark.parametrize(
    ("corpus", "language", "pasted"),
    [
        (CARD, "fr", "C. civ., art. 671 (résumé non officiel, texte\u00a0: janvier 2025, "
         "source\u00a0: DILA, LEGI)"),
        (CARD, "en", "C. civ., art. 671 (unofficial summary, text: January 2025, source: DILA, LEGI)"),
        (replace(CARD, law_date=None, source=""), "en", "C. civ., art. 671 (unofficial summary)"),
        (replace(CARD, text_kind="official"), "fr", "C. civ., art. 671 (texte\u00a0: janvier 2025)"),
        (replace(CARD, text_kind="official", law_date=None), "fr", "C. civ., art. 671"),
    ],
)  # fmt: skip
def test_a_pasted_citation_says_that_it_is_a_summary(corpus: CorpusCard, language: str, pasted: str) -> None:
    shown = card(ARTICLES[0], corpus=corpus, language=language)

    assert shown.one("button").attributes["data-copy"] == pasted
    assert shown.one(class_="pd-cite").text == "C. civ., art. 671"


def test_a_hostile_article_stays_text() -> None:
    [article] = HOSTILE
    shown = card(
        article, Why(frozenset({"arbre"}), {"<b>": 1}, ("<img src=x onerror=alert(1)>",)), HOSTILE_CARD
    )

    elements = shown.all()
    assert {element.name for element in elements} <= ALLOWED
    assert not [
        a for e in elements for a in e.attributes if a.startswith("on") or a in ("style", "src", "srcdoc")
    ]
    assert not shown.all("a")  # its address is a script
    assert shown.one(class_="pd-passage").text.startswith("<img src=x onerror=alert(4)> arbre [a](javascript")
    assert "\x00" not in shown.text
    assert shown.one("h3").text == 'Article 1" onmouseover="alert(3) <script>alert(2)</script>'


@pytest.mark.parametrize(
    ("law", "code", "number", "headed"),
    [("", "Code", "671", "Article 671"), ("", "Code", "L1234-5", "Article L1234-5"),
     ("", "Code", "Art. 7", "Art. 7"), ("", "Code", "第五十四条", "第五十四条"),
     ("", "BGB", "§ 573c", "§ 573c"), ("DE", "BGB", "573c", "§\u00a0573c"),
     ("AT", "ABGB", "1295", "§\u00a01295"),
     ("DE", "Grundgesetz", "1", "Article 1"), ("CH", "OR", "41", "Article 41")],
)  # fmt: skip
def test_what_heads_a_card(law: str, code: str, number: str, headed: str) -> None:
    of = CorpusCard("x", "X", "de", law) if law else CARD

    assert title(Article("x", code, number, "text"), words("en"), of) == headed
