"""The page asks a question of its own while somebody types theirs."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator
from dataclasses import replace

import pytest

import indexes
from rag.screening import emergencies, jurisdiction
from rag.ui import engine_cache
from rag.ui.pages import ask
from tests.fakes.pages.ask_page_driver import ask as put
from tests.fakes.pages.ask_page_driver import cards, page
from tests.fakes.pages.ui_engine import ARTICLES, CARD, QUESTION, FakeEngine


@pytest.fixture(autouse=True)
def _thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_an_example_of_the_corpus_is_asked_as_everybody_asks() -> None:
    engine = FakeEngine()
    engine_cache.rehearse(engine)
    assert [(question, k, where, mode) for question, k, where, mode in engine.asked] == [
        (CARD.examples[0], 10, None, "hybrid")
    ]
    bare = FakeEngine(card=replace(CARD, examples=()))
    engine_cache.rehearse(bare)
    assert bare.asked[0][0] == CARD.title


@pytest.mark.slow
def test_patterns_are_compiled_before_anybody_asks() -> None:
    emergencies._patterns.cache_clear()
    jurisdiction._countries.cache_clear()
    engine_cache.rehearse(indexes.open(None))  # the law that ships
    assert emergencies._patterns.cache_info().currsize == jurisdiction._countries.cache_info().currsize == 1


def test_a_rehearsal_that_breaks_breaks_nothing_and_tells_no_question(
    caplog: pytest.LogCaptureFixture,
) -> None:
    engine = FakeEngine(error=RuntimeError(CARD.examples[0]))
    with caplog.at_level(logging.ERROR):
        engine_cache._warm(engine)  # type: ignore[arg-type]
    assert "the rehearsal failed with RuntimeError" in caplog.text
    assert CARD.examples[0] not in caplog.text


def test_the_first_cards_are_on_their_way_before_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(ask, "sleep", waited.append)
    assert len(cards(put(page(FakeEngine()), QUESTION))) == ask.FIRST
    assert waited == []  # nothing else is to come
    many = tuple(replace(ARTICLES[0], id=str(n)) for n in range(12))
    assert len(cards(put(page(FakeEngine(articles=many)), QUESTION))) == 10
    assert waited == [ask.APART]
