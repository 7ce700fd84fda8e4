"""What a click makes the page do again: nothing is searched that has been found already."""

from __future__ import annotations

from tests.fakes.pages.ask_page_driver import ask, cards, checked, headings, page
from tests.fakes.pages.ui_engine import QUESTION, FakeEngine


def test_a_click_that_asks_for_nothing_else_searches_no_more() -> None:
    engine = FakeEngine()
    app = ask(page(engine, locale="en-GB"), QUESTION)
    shown = [card.text for card in cards(app)]
    checked(app.run())
    app.checkbox[0].check()  # "Include my question"
    checked(app.run())
    assert [card.text for card in cards(app)] == shown
    app.radio(key="interface").set_value("fr")
    checked(app.run())

    assert headings(app)[0] == "3 articles à regarder"
    assert len(engine.asked) == 1


def test_another_way_to_search_another_question_and_another_version_are_searched() -> None:
    engine = FakeEngine()
    app = ask(page(engine), QUESTION)
    app.radio(key="mode").set_value("keyword")
    checked(app.run())
    ask(app, "un arbre mort")
    ask(app, QUESTION)  # one answer is kept, not all: a session stays small
    assert [(question, mode) for question, _, _, mode in engine.asked] == [
        (QUESTION, "hybrid"),
        (QUESTION, "keyword"),
        ("un arbre mort", "keyword"),
        (QUESTION, "keyword"),
    ]
    newer = FakeEngine(info=type(engine.info)(version="4"))
    app.session_state["engine"] = newer
    checked(app.run())
    assert len(newer.asked) == 1


def test_a_search_that_failed_is_tried_again() -> None:
    engine = FakeEngine(error=RuntimeError("the disk was away"))
    app = ask(page(engine), QUESTION)
    assert cards(app) == []
    engine.error = None
    checked(app.run())
    assert len(cards(app)) == 3
