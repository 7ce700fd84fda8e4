"""What was chosen stands in the address; the question never does."""

from __future__ import annotations

from datetime import date

import pytest
from streamlit.testing.v1 import AppTest

from rag.ui import url_state
from rag.ui.layout import mark
from tests.fakes.pages.any_page_driver import open_page
from tests.fakes.pages.ask_page_driver import ask, body, checked, page
from tests.fakes.pages.ui_engine import MANY_FACETS, QUESTION, FakeEngine


def asked(app: AppTest) -> list[str]:
    """Marks of the question that was asked last, as the page bears them for its script."""
    told = [element.attributes.get("data-question") for element in body(app).all()]
    return [text for text in told if text is not None]


def test_a_choice_goes_into_the_address_and_leaves_it_with_the_default() -> None:
    app = page(FakeEngine(offers=MANY_FACETS))
    ask(app, QUESTION)
    checked(app.radio(key="mode").set_value("keyword").run())
    checked(app.multiselect(key="codes").set_value(["Code rural", "Code civil"]).run())

    assert dict(app.query_params) == {"mode": "keyword", "codes": ["Code rural", "Code civil"]}
    checked(app.radio(key="mode").set_value("hybrid").run())
    checked(app.multiselect(key="codes").set_value([]).run())
    assert dict(app.query_params) == {}


def test_an_address_brings_its_choices_back() -> None:
    engine = FakeEngine(offers=MANY_FACETS)
    query = {"mode": "meaning", "regions": ["Flandre", "Mars"], "in_force_on": "2019-02-28"}
    app = ask(page(engine, **query), QUESTION)  # type: ignore[arg-type]  # several values of one name

    [(_, _, where, mode)] = engine.asked
    assert mode == "meaning"
    assert where is not None
    assert (where.regions, where.in_force_on) == ({"Flandre"}, date(2019, 2, 28))
    assert app.multiselect(key="regions").value == ["Flandre"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "query", [{"mode": "<b>"}, {"in_force_on": "9999-99-99"}, {"in_force_on": "0001-01-01"}, {"codes": "x"}]
)
def test_what_anyone_may_have_typed_is_left_aside(query: dict[str, str]) -> None:
    engine = FakeEngine(offers=MANY_FACETS)
    ask(page(engine, **query), QUESTION)

    [(_, _, where, mode)] = engine.asked
    assert mode == "hybrid"
    assert where is not None
    assert (where.codes, where.in_force_on) == (frozenset(), date.today())


def test_back_takes_a_choice_with_it_and_removing_the_filters_too() -> None:
    app = page(FakeEngine(offers=MANY_FACETS))
    checked(app.multiselect(key="regions").set_value(["Flandre"]).run())
    app.query_params.clear()  # as "back" does
    checked(app.run())
    assert app.multiselect(key="regions").value == []

    checked(app.multiselect(key="codes").set_value(["Code rural"]).run())
    ask(app, QUESTION)
    checked(app.button(key="unfilter").click().run())
    assert "codes" not in app.query_params
    assert app.multiselect(key="codes").value == []


def test_a_link_that_adds_an_article_keeps_the_choices() -> None:
    engine = FakeEngine(offers=MANY_FACETS)
    app = page(engine)
    checked(app.radio(key="mode").set_value("keyword").run())
    ask(app, QUESTION)
    app.query_params.clear()
    app.query_params["add"] = "1240"  # as the link says it
    checked(app.run())

    assert dict(app.query_params) == {"mode": "keyword"}
    assert [mode for _, _, _, mode in engine.asked] == ["keyword"]  # what was found is shown again


def test_a_shared_link_that_is_left_keeps_the_choices() -> None:
    app = page(FakeEngine(offers=MANY_FACETS), articles="671")
    checked(app.multiselect(key="codes").set_value(["Code civil", "Code rural"]).run())
    ask(app, QUESTION)

    assert dict(app.query_params) == {"codes": ["Code civil", "Code rural"]}


@pytest.mark.parametrize(
    ("question", "engine"),
    [
        (QUESTION, FakeEngine()),
        ("xylophone", FakeEngine()),  # nothing is found
        (QUESTION, FakeEngine(error=RuntimeError("the disk was away"))),
    ],
)
def test_the_page_bears_a_mark_of_what_was_asked_last(question: str, engine: FakeEngine) -> None:
    app = page(engine)
    assert asked(app) == []
    app = ask(app, question)

    assert asked(app) == [mark(question)]


@pytest.mark.slow
def test_every_page_bears_a_mark_of_what_was_asked_last() -> None:
    for name in ("browse", "quality", "about", "sheet"):
        assert asked(open_page(name, asked=QUESTION)) == [mark(QUESTION)]


def test_a_mark_is_made_as_published() -> None:
    # the vectors of FNV's authors; beyond ASCII the units are a browser's, which the browser tests hold
    assert [mark(text) for text in ("", "a", "foobar")] == ["811c9dc5", "e40c292c", "bf9cf968"]
    assert mark("clôture \ud800 😀") != mark("cloture \ud800 😀")  # half a character does no harm


@pytest.mark.slow
def test_articles_of_a_link_were_not_asked() -> None:
    assert asked(page(articles="671", q=QUESTION)) == []


@pytest.mark.parametrize("day", [None, date(2020, 2, 29)])
def test_a_day_comes_back_as_it_was(day: date | None) -> None:
    assert url_state.read_day((url_state.written_day(day),)) == day
