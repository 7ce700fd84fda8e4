from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from streamlit.testing.v1 import AppTest

from rag.types import Article, Filter
from tests.fakes.pages.any_page_driver import open_page
from tests.fakes.pages.ask_page_driver import body, checked, headings
from tests.fakes.pages.html_reader import Element
from tests.fakes.pages.ui_engine import (
    ARTICLES,
    CARD,
    HOSTILE,
    HOSTILE_CARD,
    MANY_FACETS,
    MOVED,
    FakeEngine,
    many_laws,
)

RURAL = Article("r1", "Code rural", "1", "Le chemin est ouvert.", ("Livre I",), references=("671",))
TWO = FakeEngine(articles=(*ARTICLES, RURAL), offers=MANY_FACETS)


def links(within: Element) -> list[tuple[str, str]]:
    return [(a.text, a.attributes["href"]) for a in within.all("a") if "data-go" in a.attributes]


def shelf(app: AppTest, name: str) -> Element:
    [found] = [n for n in body(app).all(class_="pd-shelf") if n.attributes.get("aria-label") == name]
    return found


def test_one_code_opens_at_once_and_shows_its_headings() -> None:
    app = open_page("browse")

    assert headings(app)[0] == "Code civil"
    assert links(shelf(app, "Headings")) == [
        ("Livre II : Des biens", "./browse?code=Code%20civil&at=1"),
        ("Livre III : Des manières d'acquérir", "./browse?code=Code%20civil&at=2"),
    ]
    assert "3 articles" in shelf(app, "Headings").text
    assert body(app).one(class_="pd-notice").text


def test_several_codes_are_listed_first() -> None:
    app = open_page("browse", TWO, lang="fr")

    assert headings(app)[0] == "Parcourir les codes"
    assert links(shelf(app, "Codes")) == [
        ("Code civil", "./browse?code=Code%20civil&lang=fr"),
        ("Code rural", "./browse?code=Code%20rural&lang=fr"),
    ]


def test_a_heading_shows_the_way_and_its_articles() -> None:
    app = open_page("browse", TWO, code="Code civil", at="1.1.1")
    way = body(app).one(class_="pd-trail")

    assert headings(app)[0] == "Section 1 : Du mur et du fossé mitoyens"
    assert [text for text, _ in links(way)] == ["All codes", "Code civil", "Livre II : Des biens",
                                                "Titre IV : Des servitudes"]  # fmt: skip
    assert [s.text for s in way.all("span") if s.attributes.get("aria-current") == "page"] == [
        headings(app)[0]
    ]
    assert links(shelf(app, "Articles"))[0] == ("Article 671", "./browse?article=671")


def test_an_article_with_all_that_stands_around_it() -> None:
    engine = FakeEngine(articles=(*ARTICLES, RURAL), card=replace(CARD, moved=(MOVED,)))
    app = open_page("browse", engine, article="671")
    read = body(app).one("article", "pd-reading")

    assert read.one("h2").text == "Article 671"
    assert read.one(class_="pd-text").text == ARTICLES[0].text
    assert [(a.attributes["rel"], a.attributes["href"]) for a in read.one(class_="pd-leaf").all("a")] == [
        ("next", "./browse?article=672")
    ]
    assert [a.text for a in shelf(app, "Under the same heading").all("a")] == ["672", "673"]
    assert links(shelf(app, "Referred to by")) == [("Article 1", "./browse?article=r1")]
    assert "Code rural" in shelf(app, "Referred to by").text
    assert body(app).one(class_="pd-why").one("q").text.startswith("mon voisin a un arbre")
    assert [a.attributes["href"] for a in read.all("a") if a.text == "Official text"] == [ARTICLES[0].url]


@pytest.mark.parametrize(
    ("article", "said"),
    [
        ("1382", "Before 1 October 2016, this number stood for something else: réparer le dommage"),
        ("1382", "What it used to say has moved to article 1240."),
        ("1240", "It now holds what article 1382 used to say."),
    ],
)
def test_known_changes_of_a_number_are_told(article: str, said: str) -> None:
    app = open_page("browse", FakeEngine(card=replace(CARD, moved=(MOVED,))), article=article)

    assert said in body(app).one(class_="pd-changes").text


def test_references_are_told_both_ways() -> None:
    app = open_page("browse", TWO, article="r1")

    assert links(shelf(app, "It refers to")) == [("Article 671", "./browse?article=671")]
    assert not [
        n for n in body(app).all(class_="pd-shelf") if n.attributes.get("aria-label") == "Referred to by"
    ]


@pytest.mark.parametrize(
    ("query", "heading"),
    [
        ({"article": "nope"}, "Code civil"),
        ({"article": "<script>alert(1)</script>"}, "Code civil"),
        ({"article": "x" * 100_000}, "Code civil"),
        ({"code": "Nowhere"}, "Browse the codes"),
        ({"code": "Code civil", "at": "9.9"}, "Code civil"),
        ({"code": "Code civil", "at": "1.9"}, "Livre II : Des biens"),
        ({"at": "<b>"}, "Code civil"),
        ({"code": '"><img src=x onerror=alert(1)>', "at": "1." * 5000}, "Browse the codes"),
    ],
)
def test_an_address_that_leads_nowhere_says_so(query: dict[str, str], heading: str) -> None:
    app = open_page("browse", **query)

    assert headings(app)[0] == heading
    assert "in this version of the law" in next(p.text for p in body(app).all(class_="pd-notice"))
    assert not body(app).all("img")


@pytest.mark.parametrize("part", ["", "x", "-1", "0", "²", "9" * 50])
def test_any_page_number_shows_a_page(part: str) -> None:
    many = tuple(Article(str(n), "Code", str(n), "texte") for n in range(250))
    app = open_page("browse", FakeEngine(articles=many), part=part)

    assert len(shelf(app, "Articles").all("li")) in (50, 100)


def test_long_lists_are_parted() -> None:
    many = tuple(Article(str(n), "Code", str(n), "texte") for n in range(250))
    app = open_page("browse", FakeEngine(articles=many), code="Code", part="3")
    entries = shelf(app, "Articles")

    assert [text for text, _ in links(entries)][:2] == ["Article 200", "Article 201"]
    assert links(entries)[-2:] == [("1", "./browse?code=Code&part=1"), ("2", "./browse?code=Code&part=2")]


def test_many_codes_are_narrowed_by_name() -> None:
    many = tuple(Article(str(n), f"Loi {n}", "1", "texte") for n in range(30))
    app = open_page("browse", FakeEngine(articles=many))
    checked(app.text_input(key="codes_named").set_value("loi 29").run())
    assert [text for text, _ in links(shelf(app, "Codes"))] == ["Loi 29"]

    checked(app.text_input(key="codes_named").set_value("absent").run())
    assert "No code has this name." in body(app).text


def search(app: AppTest, text: str) -> AppTest:
    app.text_input(key="within").set_value(text)
    [send] = [b for b in app.button if b.label == "Search"]
    return checked(send.click().run())


def test_a_search_stays_within_the_code_and_out_of_the_address() -> None:
    engine = FakeEngine(articles=(*ARTICLES, RURAL))
    app = search(open_page("browse", engine, code="Code civil"), "un arbre du voisin")

    assert engine.asked == [("un arbre du voisin", 10, Filter(frozenset({"Code civil"})), "hybrid")]
    assert next(iter(links(body(app).one(class_="pd-within"))))[0] in ("Article 671", "Article 672")
    assert "arbre" not in str(dict(app.query_params))
    checked(app.button(key="within-clear").click().run())
    assert not body(app).all(class_="pd-within")
    assert app.text_input(key="within").value == ""


def test_a_part_that_does_not_answer_is_told_and_asked_again() -> None:
    engine = FakeEngine(missing=("shard 2 of 3",))
    app = search(open_page("browse", engine, code="Code civil"), "un arbre du voisin")
    assert body(app).one(class_="pd-missing").text.startswith("A part of the law does not answer just now")
    assert body(app).all(class_="pd-within")
    engine.missing = ()
    checked(app.run())
    assert not body(app).all(class_="pd-missing")
    assert len(engine.asked) == 2


def test_what_was_found_in_a_code_is_shown_again_without_a_search() -> None:
    engine = FakeEngine(articles=(*ARTICLES, RURAL))
    app = search(open_page("browse", engine, code="Code civil"), "un arbre du voisin")
    found = body(app).one(class_="pd-within").text
    app.query_params["article"] = "671"
    checked(app.run())
    assert not body(app).all(class_="pd-within")
    del app.query_params["article"]  # as "back" does
    checked(app.run())
    assert body(app).one(class_="pd-within").text == found
    assert len(engine.asked) == 1

    app.query_params["code"] = RURAL.code
    search(checked(app.run()), "un arbre du voisin")
    assert len(engine.asked) == 2
    app.radio(key="interface").set_value("fr")
    checked(app.run())
    assert len(engine.asked) == 2


def test_a_search_that_finds_nothing_or_breaks_says_so(caplog: pytest.LogCaptureFixture) -> None:
    assert "Nothing found in this code" in body(search(open_page("browse"), "xylophone")).text
    broken = search(open_page("browse", FakeEngine(error=RuntimeError("mon secret"))), "mon secret")

    assert "Something went wrong" in headings(broken)
    assert "secret" not in caplog.text


def test_a_hostile_corpus_stays_text() -> None:
    engine = FakeEngine(card=HOSTILE_CARD, articles=HOSTILE)
    for query in ({}, {"article": HOSTILE[0].id.replace(",", "%2C")}):
        elements = body(open_page("browse", engine, **query)).all()
        assert not {e.name for e in elements} & {"img", "script", "iframe", "svg", "b", "style", "form"}
        assert not [a for e in elements for a in e.attributes if a.startswith("on")]
        assert not [
            e
            for e in elements
            if e.name == "a" and not e.attributes["href"].startswith(("http", "./", "#pd-content"))
        ]


def test_no_articles() -> None:
    assert headings(open_page("browse", FakeEngine(articles=())))[0] == "Browse the codes"


def test_headings_follow_one_another() -> None:
    for query in ({}, {"article": "671"}, {"code": "Code civil", "at": "1"}):
        levels = [
            int(e.name[1])
            for e in body(open_page("browse", TWO, **query)).all()
            if e.name[0] == "h" and e.name[1:].isdigit()
        ]
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))


def test_many_laws_stand_under_their_themes() -> None:
    app = open_page("browse", many_laws())
    themes = body(app).one(class_="pd-laws").all("details")

    assert [each.children[0].text for each in themes] == [
        "Housing one law", "Work 2 laws", "Family one law", "Road one law", "Land and neighbours 2 laws",
        "Other matters one law",
    ]  # fmt: skip
    assert links(themes[0]) == [("Loi des baux", "./browse?code=Loi%20des%20baux")]
    assert "one article · 14 March 2024" in themes[0].text
    assert not [n for n in body(app).all(class_="pd-shelf") if n.attributes.get("aria-label") == "Codes"]


def test_a_code_says_of_which_day_it_is_and_where_its_text_stands() -> None:
    about = body(open_page("browse", many_laws(), code="Loi des baux")).one(class_="pd-found").one("p")

    assert about.text == "one article · 14 March 2024 · Official text"
    assert about.one("a").attributes["href"] == "https://law.example/code/4"


@pytest.mark.slow
def test_what_nobody_has_summarised_is_listed_and_read_as_that() -> None:
    listed = body(open_page("browse", many_laws(), code="Loi des baux", at="1"))
    assert [each.text for each in listed.all(class_="pd-excerpt")] == ["no summary yet"]

    read = body(open_page("browse", many_laws(), article="x4")).one("article", "pd-reading")
    assert "Nobody has summarised this article yet." in read.one(class_="pd-untold").text
    assert not read.all(class_="pd-text")
    limits = body(open_page("browse", many_laws(), article="672")).one(class_="pd-limits")
    assert "Time limit: 2 mois — faire couper l'arbre (from: la lettre du voisin)" in limits.text
