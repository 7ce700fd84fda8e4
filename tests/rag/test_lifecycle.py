"""Health is asked for by a question, and a process ends when what was asked is answered."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator

import pytest

from rag.errors import MissingIndex
from rag.lifecycle import PROBE, Health, Work, draining
from rag.ui import engine_cache
from tests.fakes.pages.ui_engine import FakeEngine


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_one_question_is_asked_every_few_seconds_however_often_health_is() -> None:
    clock, asked = Clock(), []
    found = iter([True, False, True])

    def probe() -> bool:
        asked.append(clock.now)
        return next(found)

    health = Health(probe, Work(), clock=clock)
    told = []
    for seconds in (0, 1, PROBE - 1, PROBE - 0.5, PROBE):
        clock.now += seconds
        told.append(health())

    assert told == [True, True, False, False, True]
    assert asked == [1000.0, 1000 + PROBE, 1000 + 3 * PROBE - 0.5]


def test_a_question_that_fails_and_an_end_that_is_near_are_no_health() -> None:
    def fails() -> bool:
        raise OSError

    work = Work()
    assert not Health(fails, work)()
    health = Health(lambda: True, work)
    assert health()
    work.ending = True
    assert not health()


def test_an_index_that_finds_nothing_or_is_not_there_is_no_health(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_cache, "_warm", lambda _: None)  # asks too, in its own time
    whole, empty = FakeEngine(), FakeEngine(articles=())

    def missing(_: str | None) -> FakeEngine:
        raise MissingIndex

    assert engine_cache.healthy("whole", "1", lambda _: whole, str)  # type: ignore[arg-type,return-value]
    assert not engine_cache.healthy("empty", "1", lambda _: empty, str)  # type: ignore[arg-type,return-value]
    assert not engine_cache.healthy("missing", "1", missing, str)  # type: ignore[arg-type]
    part = FakeEngine(missing=("shard 2 of 3",))
    assert not engine_cache.healthy("part", "1", lambda _: part, str)  # type: ignore[arg-type,return-value]
    assert [asked[0] for engine in (whole, empty) for asked in engine.asked] == [whole.card.examples[0]] * 2


@pytest.fixture
def told() -> Iterator[list[int]]:
    """What a server hears of signals."""
    heard: list[int] = []
    former = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    yield heard
    signal.signal(signal.SIGTERM, former)


def test_the_server_hears_of_the_end_when_nothing_is_under_way(told: list[int]) -> None:
    work = Work()

    async def serve() -> None:
        async with draining(work=work):
            with work.one():
                signal.raise_signal(signal.SIGTERM)
                await asyncio.sleep(0.5)
                assert told == []
                assert work.ending
            while not told:
                await asyncio.sleep(0.01)

    asyncio.run(serve())
    assert told == [signal.SIGTERM]


def test_what_never_ends_is_not_waited_for_and_a_second_signal_is_heard_at_once(told: list[int]) -> None:
    work = Work()

    async def serve() -> None:
        async with draining(work=work, grace=0.2):
            with work.one():
                signal.raise_signal(signal.SIGTERM)
                signal.raise_signal(signal.SIGTERM)
                assert len(told) == 1
                while len(told) < 2:
                    await asyncio.sleep(0.01)

    asyncio.run(serve())
