"""Law in force on a day: what the page offers, says, and marks; over a real engine of a few articles."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from streamlit.testing.v1 import AppTest

from rag.corpus.card import CorpusCard
from rag.engine.engine import Engine, IndexInfo
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.term_counts import count
from rag.text.analysers import analyser
from rag.types import Article, Shown, Why
from rag.ui.components.article_card import View, card_html
from rag.ui.components.comparison import ComparisonColumn, table
from rag.ui.i18n import words
from tests.fakes.pages.ask_page_driver import ask, body, cards, checked, headings, page
from tests.fakes.pages.html_reader import read
from tests.fakes.pages.ui_engine import CARD, MANY_FACETS, QUESTION, FakeAnalyser, FakeEngine, explanation
from tests.fakes.ranking.engines import engine_of
from tests.paths import ROOT

CHANGED = date(2016, 10, 1)
CODE = "Code du four"
LAW = (
    Article("old", CODE, "5", "Le four est chauffé le mardi.", valid_from=date(1990, 1, 1), valid_to=CHANGED),
    Article("new", CODE, "5", "Le four est chauffé le samedi.", valid_from=CHANGED),
    Article("gone", CODE, "6", "Qui brûle le four paie.", valid_to=date(2001, 1, 1)),
    Article("always", CODE, "7", "Le four est commun."),
)


def engine(law_date: date | None = None) -> Engine:
    cut, mask = analyser("fr"), Mask(LAW)
    info = IndexInfo("four", "Droit du four", "1", len(LAW), 0, None, "00", "2025-01-01")
    card = CorpusCard("four", "Droit du four", "fr", law_date=law_date)
    return engine_of(LAW, cut, BM25.build(count(LAW, cut), BM25Settings(), mask, cut), card=card, info=info)


def dated(law_date: date | None = None, locale: str = "en-GB") -> AppTest:
    app = AppTest.from_file(ROOT / "tests" / "fakes" / "pages" / "ask_page.py", default_timeout=30)
    app.session_state["engine"] = engine(law_date)
    app.context["locale"] = locale
    return checked(app.run())


def texts(app: AppTest) -> list[str]:
    return [card.one(class_="pd-passage").text for card in cards(app)]


def badges(app: AppTest) -> list[list[str]]:
    return [[badge.text for badge in card.all(class_="pd-badge")] for card in cards(app)]


def test_today_s_law_is_shown_and_said() -> None:
    app = ask(dated(), "Quand le four est-il chauffé ?")

    assert app.date_input(key="in_force_on").label == "Law in force on"
    assert texts(app) == [LAW[1].text, LAW[3].text]
    today = date.today()
    assert body(app).one(class_="pd-day").text == (f"Law in force on {words('en').day(today)}.")
    assert badges(app) == [[], []]


def test_the_law_of_another_day() -> None:
    app = dated(date(2015, 1, 1))
    app.date_input(key="in_force_on").set_value(date(2010, 5, 1))
    ask(app, "Quand le four est-il chauffé ?")

    assert texts(app) == [LAW[0].text, LAW[3].text]
    assert body(app).one(class_="pd-day").text == "Law in force on 1 May 2010."
    assert (
        "in force since 1 January 1990 · until 1 October 2016" in cards(app)[0].one(class_="pd-source").text
    )

    checked(app.date_input(key="in_force_on").set_value(date(2020, 5, 1)).run())
    assert texts(app)[0] == LAW[1].text
    assert "those of 1 January 2015: what changed since then" in body(app).one(class_="pd-day").text


def test_an_article_that_is_asked_for_by_number_is_the_one_of_that_day() -> None:
    app = dated()
    app.date_input(key="in_force_on").set_value(date(2010, 5, 1))
    ask(app, "article 5 du code du four")
    assert texts(app) == [LAW[0].text]
    assert badges(app) == [[]]


@pytest.mark.parametrize(
    ("locale", "label"),
    [("en-GB", "not in force on 1 May 2010"), ("fr-FR", "pas en vigueur au 1er mai 2010")],
)
def test_one_that_is_not_in_force_is_shown_if_asked_for_and_marked(locale: str, label: str) -> None:
    app = dated(locale=locale)
    app.date_input(key="in_force_on").set_value(date(2010, 5, 1))
    ask(app, "Qui brûle le four ?")
    assert LAW[2].text not in texts(app)
    ask(app, "article 6 du code du four")
    assert (texts(app), badges(app)) == ([LAW[2].text], [[label]])


def test_any_day_is_said_too_and_no_two_versions_of_one_article_are_listed() -> None:
    app = dated()
    app.date_input(key="in_force_on").set_value(None)
    ask(app, "Quand le four est-il chauffé ?")

    assert "may no longer be in force" in body(app).one(class_="pd-day").text
    numbers = [card.one("h3").text for card in cards(app)]
    assert sorted(numbers) == [f"Article {n} {CODE}" for n in ("5", "6", "7")]


def test_a_corpus_without_dates_says_nothing_of_days() -> None:
    assert body(ask(page(), QUESTION)).all(class_="pd-day") == []


def test_a_day_on_which_nothing_holds() -> None:
    app = page(FakeEngine(offers=MANY_FACETS, articles=(replace(LAW[2], text="arbre"),)))
    ask(app, "arbre")
    assert cards(app) == []
    assert headings(app)  # and what to do is said


def test_the_mark_of_a_hostile_article_is_text() -> None:
    article = replace(LAW[2], code="<script>alert(1)</script>")
    view = View(CARD, FakeAnalyser(), words("en"), date.today() + timedelta(days=1))
    shown = read(card_html(Shown(1, article, 1.0, Why(known=True)), view))
    assert next(b.text for b in shown.all(class_="pd-badge")).startswith("not in force on ")
    assert not shown.all("script")


def test_ways_to_search_are_compared_on_today_s_law() -> None:
    law = tuple(replace(article, text="arbre") for article in LAW)
    engine_of_two = FakeEngine(offers=MANY_FACETS, articles=law, modes=("hybrid", "keyword"))
    app = AppTest.from_file(ROOT / "tests" / "fakes" / "pages" / "compare_page.py", default_timeout=30)
    app.session_state["engine"], app.session_state["benchmark_questions"] = engine_of_two, ()
    app.context["locale"] = "en-GB"
    ask(checked(app.run()), "arbre")

    assert {where.in_force_on for _, _, where, _ in engine_of_two.asked if where} == {date.today()}
    assert len(engine_of_two.asked) == 2
    assert body(app).one(class_="pd-day").text.startswith(f"Law in force on {words('en').day(date.today())}.")


def test_an_outdated_article_is_marked_among_the_compared_ones_too() -> None:
    shown = Shown(1, LAW[2], 1.0, Why(known=True))
    column = ComparisonColumn("keyword", (shown,), (explanation(shown),), date(2010, 5, 1))
    marked = read(table((column,), frozenset(), CARD, words("en")))
    assert [badge.text for badge in marked.all(class_="pd-badge")] == ["not in force on 1 May 2010"]
