from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from rag.types import Article, Question, Shown, Why
from rag.ui.components.comparison import ComparisonColumn, recall, reciprocal_rank, table
from rag.ui.i18n import words
from rag.ui.pages.compare import gold
from tests.fakes.pages.ask_page_driver import ask, body, checked, examples, headings
from tests.fakes.pages.html_reader import Element, read
from tests.fakes.pages.ui_engine import (
    ARTICLES,
    CARD,
    HOSTILE,
    HOSTILE_CARD,
    QUESTION,
    FakeEngine,
    explanation,
)
from tests.paths import ROOT

SCRIPT = ROOT / "tests" / "fakes" / "pages" / "compare_page.py"
TESTS = (
    Question("t1", QUESTION, ("671", "1240")),
    Question("t2", "Les branches  du voisin\ndépassent", ("673",)),
)


def page(engine: FakeEngine | None = None, tests: Sequence[Question] = (), locale: str = "en-GB") -> AppTest:
    app = AppTest.from_file(SCRIPT, default_timeout=30)
    app.session_state["engine"] = engine or FakeEngine()
    app.session_state["benchmark_questions"] = tests
    app.context["locale"] = locale
    return checked(app.run())


def columns(app: AppTest) -> list[Element]:
    return body(app).all("section", "pd-column")


def moves(column: Element) -> list[str]:
    return [m.text for m in column.all(class_="pd-move")]


def column(name: str, *ids: str, article: Article = ARTICLES[0]) -> ComparisonColumn:
    shown = tuple(Shown(n, replace(article, id=i), 1.0, Why()) for n, i in enumerate(ids, start=1))
    return ComparisonColumn(name, shown, tuple(map(explanation, shown)))


def drawn(*all_of_them: ComparisonColumn, known: frozenset[str] = frozenset()) -> list[Element]:
    return read(table(all_of_them, known, CARD, words("en"))).all("section")


def test_first_run_explains_and_asks_nothing() -> None:
    engine = FakeEngine()
    app = page(engine)

    assert headings(app)[0] == "Compare the ways to search"
    assert not columns(app)
    assert examples(app)
    assert not engine.asked
    assert not app.selectbox  # no test questions, no box for them
    assert body(app).one(class_="pd-notice").text


def test_one_question_in_every_way() -> None:
    engine = FakeEngine()
    app = ask(page(engine), QUESTION)

    assert engine.asked == [(QUESTION, 10, None, mode) for mode in ("hybrid", "keyword", "meaning")]
    assert [c.one("h3").text for c in columns(app)] == [
        "Words and meaning (recommended)", "Words only", "Meaning only",
    ]  # fmt: skip
    assert [s.text for s in columns(app)[2].all(class_="pd-name")] == ["Article 671", "Article 672"]
    assert (
        next(p.text for p in columns(app)[0].all(class_="pd-top"))
        == "arbre (33%) · planté (33%) · voisin (33%)"
    )
    assert len(columns(app)[0].all("details")) == 3
    assert not body(app).all(class_="pd-metrics")


@pytest.mark.parametrize(
    ("question", "box"),
    [
        ("mon mari me frappe sous l'arbre", "pd-urgent"),
        ("j'ai reçu une OQTF, et mon arbre", "pd-running"),
        ("le dépôt de garantie et l'arbre", "pd-elsewhere"),
        (QUESTION, ""),
    ],
)
def test_what_is_said_of_a_question_is_said_above_the_columns(question: str, box: str) -> None:
    app = ask(page(), question)
    boxes = body(app).all("div", "pd-box")

    assert len(columns(app)) == 3
    assert [box in each.attributes["class"].split() for each in boxes] == [True] * bool(box)


def test_what_is_said_is_weighed_as_on_the_page_ask_whatever_is_compared() -> None:
    engine = FakeEngine()
    app = page(engine)
    checked(app.multiselect(key="systems").set_value(["meaning", "keyword"]).run())
    app = ask(app, "le dépôt de garantie et l'arbre")

    assert [mode for *_, mode in engine.asked] == ["meaning", "keyword", "hybrid"]
    assert body(app).all("div", "pd-elsewhere")


def test_a_question_in_another_language_is_told_so_once() -> None:
    text = body(ask(page(), "my landlord and his arbre, what can I do about the deposit")).text
    assert text.count("ask in French") + text.count("the law here is in French") == 1


def test_help_is_said_where_the_search_broke() -> None:
    app = ask(page(FakeEngine(error=RuntimeError("x"))), "mon mari me frappe sous l'arbre")

    assert body(app).all("div", "pd-urgent")
    assert not columns(app)


def test_another_language_compares_no_more() -> None:
    engine = FakeEngine()
    app = ask(page(engine), QUESTION)
    shown = [c.all(class_="pd-name")[0].text for c in columns(app)]
    app.radio(key="interface").set_value("fr")
    checked(app.run())
    assert [c.all(class_="pd-name")[0].text for c in columns(app)] == shown
    assert len(engine.asked) == 3  # in each of three ways

    checked(app.multiselect(key="systems").set_value(["meaning", "keyword"]).run())
    assert len(engine.asked) == 6  # and once as the page "Ask" searches, for what is said above


def test_the_first_that_is_chosen_is_the_one_that_others_are_held_against() -> None:
    app = ask(page(), QUESTION)
    checked(app.multiselect(key="systems").set_value(["meaning", "keyword"]).run())

    assert [c.one("h3").text for c in columns(app)] == ["Meaning only", "Words only"]
    first, second = columns(app)
    assert moves(first) == []
    assert moves(second) == [
        "▲ 1one place higher than in the first list", "▼ 1one place lower than in the first list",
        "not in the 1st list",
    ]  # fmt: skip


def test_fewer_than_two_ways_are_refused_kindly() -> None:
    app = ask(page(), QUESTION)
    checked(app.multiselect(key="systems").set_value(["keyword"]).run())

    assert not columns(app)
    assert "Choose at least two ways to search." in [p.text for p in body(app).all(class_="pd-hint")]


def test_an_index_with_one_way_says_so() -> None:
    app = page(FakeEngine(modes=("keyword",)))

    assert "there is nothing to compare it with" in body(app).text
    assert not app.text_area
    assert body(app).one(class_="pd-loaded").text


def test_a_test_question_is_measured_and_its_answers_marked() -> None:
    app = page(tests=TESTS)
    checked(app.selectbox(key="benchmark").set_value(QUESTION).run())

    assert app.text_area(key="question").value == QUESTION
    assert [m.text for m in body(app).all(class_="pd-metrics")] == [
        "Known answers found: 50% (R@10) · reciprocal rank: 0.50",
        "Known answers found: 50% (R@10) · reciprocal rank: 0.50",
        "Known answers found: 50% (R@10) · reciprocal rank: 1.00",
    ]
    assert [b.text for b in body(app).all(class_="pd-badge")] == ["known answer"] * 3
    assert "the articles that answer it are known" in body(app).text


def test_another_question_is_not_measured_though_there_are_test_questions() -> None:
    app = ask(page(tests=TESTS, locale="fr-FR"), "un arbre")

    assert columns(app)
    assert not body(app).all(class_="pd-metrics")


@pytest.mark.parametrize("nothing", ["", "  "])
def test_an_empty_question(nothing: str) -> None:
    assert "Write your question first" in headings(ask(page(), nothing))


def test_the_box_of_test_questions_follows_what_is_asked() -> None:
    engine = FakeEngine()
    app = ask(page(engine, TESTS), "les branches du voisin")
    assert app.selectbox(key="benchmark").value is None
    ask(app, f" {QUESTION} ")  # as a reload does, which knows the question alone
    assert app.selectbox(key="benchmark").value == QUESTION
    checked(app.selectbox(key="benchmark").set_value(None).run())
    assert not columns(app)
    assert app.text_area(key="question").value == ""


def test_nothing_found_is_said_in_every_column() -> None:
    app = ask(page(), "xylophone")

    assert [c.one("p").text for c in columns(app)] == ["No article found."] * 3


def test_a_search_that_breaks_stays_calm_and_discreet(caplog: pytest.LogCaptureFixture) -> None:
    app = ask(page(FakeEngine(error=RuntimeError(QUESTION))), QUESTION)

    assert "Something went wrong" in headings(app)
    assert not columns(app)
    assert "voisin" not in caplog.text


def test_arrows_by_hand() -> None:
    _, other = drawn(column("x", "a", "b", "c", "d"), column("y", "d", "b", "e", "a"))

    assert [(m.name, m.attributes.get("href"), m.text) for m in other.all(class_="pd-move")] == [
        ("a", "#pd-1-4", "▲ 33 places higher than in the first list"),
        ("a", "#pd-1-2", "=at the same place as in the first list"),
        ("span", None, "not in the 1st list"),
        ("a", "#pd-1-1", "▼ 33 places lower than in the first list"),
    ]


def test_every_arrow_leads_to_an_entry_and_no_two_entries_share_an_id() -> None:
    sections = drawn(column("x", "a", "b"), column("y", "b", "a"), column("z", "a", "c"), column("w"))
    ids = [li.attributes["id"] for s in sections for li in s.all("li") if "id" in li.attributes]

    assert len(ids) == len(set(ids)) == 6
    assert {a.attributes["href"][1:] for s in sections for a in s.all("a", "pd-move")} <= set(ids)
    assert [s.one("h3").text for s in sections] == ["x", "y", "z", "w"]  # a way without a name of ours


@pytest.mark.parametrize(
    ("known", "found", "part", "first"),
    [
        ({"a", "b"}, ["c", "a"], 0.5, 0.5),
        ({"a"}, ["a"], 1.0, 1.0),
        ({"a"}, ["b", "c"], 0.0, 0.0),
        ({"a"}, [], 0.0, 0.0),
        (set(), ["a"], 0.0, 0.0),
    ],
)
def test_metrics(known: set[str], found: list[str], part: float, first: float) -> None:
    assert recall(frozenset(known), found) == part
    assert reciprocal_rank(frozenset(known), found) == first


def test_a_test_question_is_known_whatever_its_spaces() -> None:
    assert gold("Les branches du voisin dépassent ", TESTS) == {"673"}
    assert gold("Les branches", TESTS) == frozenset()
    assert gold("", ()) == frozenset()


def test_a_hostile_corpus_stays_text() -> None:
    app = ask(page(FakeEngine(card=HOSTILE_CARD, articles=HOSTILE)), "arbre")
    elements = body(app).all()

    assert columns(app)
    assert not {e.name for e in elements} & {"img", "script", "iframe", "svg", "b", "style", "object", "form"}
    assert not [a for e in elements for a in e.attributes if a.startswith("on")]
    assert not [
        e for e in elements if e.name == "a" and not e.attributes["href"].startswith(("http", "#pd-"))
    ]
