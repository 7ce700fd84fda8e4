"""Chips of bridged words: told in both languages, taken out, put back, forgotten with the question."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from rag.engine.result import Explanation
from rag.retrieval.translation_model import ExpansionTerm
from rag.types import WordShare
from rag.ui.components.explanation import panel
from rag.ui.i18n import words
from tests.fakes.pages.ask_page_driver import ask, body, cards, checked, page
from tests.fakes.pages.ui_engine import QUESTION, FakeEngine

PAIRS = (
    ExpansionTerm("clôture", "mur", 0.4, "mur", 9, typed="Clôture"),
    ExpansionTerm("planté", "<b>", 0.3, "*<b>*", 3, typed="`planté`"),
)


def chips(app: AppTest, kind: str = "bridged") -> list[str]:
    # a colon would begin an icon or a colour: it is escaped
    return [b.label.replace("\\:", ":") for b in app.button if (b.key or "").startswith(f"{kind}-")]


def press(app: AppTest, key: str) -> AppTest:
    return checked(app.button(key=key).click().run())


@pytest.mark.slow
def test_each_pair_is_a_chip_in_the_language_of_the_page() -> None:
    french = chips(ask(page(FakeEngine(bridged=PAIRS)), QUESTION))
    assert french[0] == "«\u202fclôture\u202f»\u202f: cette loi dit «\u202fmur\u202f» ✕".replace(
        "\u202f", "\u00a0"
    )
    english = ask(page(FakeEngine(bridged=PAIRS), lang="en"), QUESTION)
    assert chips(english)[0] == "“clôture”: this law says “mur” ✕"
    assert "Searched too. Press one to leave it out." in body(english).text
    assert not chips(ask(page(FakeEngine()), QUESTION))


@pytest.mark.slow
def test_one_that_is_taken_out_is_searched_without_and_can_be_put_back() -> None:
    engine = FakeEngine(bridged=PAIRS)
    app = press(ask(page(engine, lang="en"), QUESTION), "bridged-0")
    assert engine.without[-1] == {("clôture", "mur")}
    assert len(chips(app)) == 1
    assert chips(app, "unbridged") == ["“clôture”: put back “mur”"]
    back = press(app, "unbridged-0")
    assert engine.without[-1] == frozenset()
    assert len(chips(back)) == 2
    assert not chips(back, "unbridged")


def test_another_question_begins_with_all() -> None:
    engine = FakeEngine(bridged=PAIRS)
    app = press(ask(page(engine), QUESTION), "bridged-0")
    again = ask(app, "un autre arbre du voisin")
    assert engine.without[-1] == frozenset()
    assert len(chips(again)) == 2
    assert not chips(again, "unbridged")


def test_a_question_that_names_an_article_has_none() -> None:
    assert not chips(ask(page(FakeEngine(bridged=PAIRS)), "article 1382"))


def test_what_was_typed_is_no_markup() -> None:
    [_, odd] = chips(ask(page(FakeEngine(bridged=PAIRS), lang="en"), QUESTION))
    assert "\\`planté\\`" in odd
    assert "\\*" in odd


@pytest.mark.slow
def test_words_of_the_law_are_marked_in_a_way_of_their_own() -> None:
    app = ask(
        page(FakeEngine(bridged=(ExpansionTerm("clôture", "limite", 0.4, "limite", typed="clôture"),))),
        QUESTION,
    )
    marks = [(m.text, m.attributes.get("class")) for card in cards(app) for m in card.all("mark")]
    assert ("limite", "pd-bridged") in marks
    assert ("arbre", None) in marks
    assert "soulignés de points" in body(app).text


@pytest.mark.parametrize("bridged", ["", "mur"])
def test_the_share_of_a_bridged_word_names_both(bridged: str) -> None:
    shares = (WordShare("mur", "Clôture", 2.0, {"text": 2.0}, bridged),)
    said = str(panel(Explanation("1", shares), words("en"), "fr"))
    assert ("clôture → mur" in said) is bool(bridged)
