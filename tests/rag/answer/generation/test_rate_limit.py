from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answer.generation.rate_limit import Rate, RateLimits
from rag.errors import BadInput


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_window_slides() -> None:
    clock = Clock()
    limits = RateLimits(Rate(2, 60.0), clock=clock)

    waits = []
    for seconds in (0, 10, 10, 39, 1, 0):
        clock.now += seconds
        waits.append(limits.take("me"))

    # calls at 0 and 10; at 20 and 59 the first is within the minute; at 60 it no longer is, but the second
    assert waits == [0, 0, 40, 1, 0, 10]


def test_sessions_do_not_count_for_each_other_and_all_count_for_the_host() -> None:
    clock = Clock()
    limits = RateLimits(Rate(1, 60.0), Rate(2, 3600.0), clock=clock)

    assert limits.take("a") == 0
    assert limits.take("a") == 60
    assert limits.take("b") == 0
    clock.now += 60
    assert limits.take("c") == 3540  # the host's window


def test_one_address_leaves_the_host_to_others() -> None:
    clock = Clock()
    limits = RateLimits(Rate(2, 60.0), Rate(9, 3600.0), Rate(3, 3600.0), clock=clock)

    # a script makes itself a session for each question; a judge's calls count for its address too
    waits = [limits.take(n, address="script", retry=n % 2 == 1) for n in range(5)]
    assert waits == [0, 0, 0, 3600, 3600]
    assert limits.take("a", address="reader") == 0
    waits = [limits.take(n) for n in range(6)]  # no address is known: the host's limit alone
    assert waits == [0, 0, 0, 0, 0, 3600]


def test_calls_that_are_made_together_are_granted_together() -> None:
    limits = RateLimits(per_address=Rate(4, 60.0), clock=Clock())

    assert [limits.take(address="a", calls=3) for _ in range(3)] == [0, 0, 60]  # six, and then none


def test_a_refusal_counts_nowhere() -> None:
    clock = Clock()
    limits = RateLimits(Rate(2, 60.0), Rate(1, 10.0), clock=clock)

    assert limits.take("a") == 0
    for _ in range(5):
        assert limits.take("a") == 10
    clock.now += 10
    assert limits.take("a") == 0  # the second of the session's two


def test_without_rates_nothing_is_refused() -> None:
    limits = RateLimits()
    assert [limits.take("a") for _ in range(1000)] == [0.0] * 1000


def test_idle_sessions_are_forgotten() -> None:
    clock = Clock()
    limits = RateLimits(Rate(5, 60.0), clock=clock)
    for session in range(1000):
        limits.take(session)
        clock.now += 1

    assert len(limits._sessions) <= 60 + 256


def test_threads_together_take_no_more_than_there_is() -> None:
    limits = RateLimits(None, Rate(100, 3600.0))
    granted: list[int] = []

    def take() -> None:
        granted.append(sum(limits.take("a") == 0 for _ in range(50)))

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sum(granted) == 100


@given(st.lists(st.floats(0, 30), max_size=60), st.integers(1, 5))
def test_no_span_of_the_windows_length_ever_holds_more(gaps: list[float], calls: int) -> None:
    clock = Clock()
    limits = RateLimits(Rate(calls, 60.0), clock=clock)
    made = []
    for gap in gaps:
        clock.now += gap
        wait = limits.take("me")
        if wait == 0:
            made.append(clock.now)
        else:
            assert 0 < wait <= 60

    assert all(later - first >= 60 - 1e-6 for first, later in zip(made, made[calls:], strict=False))


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("20/hour", Rate(20, 3600.0)),
        (" 3 / Minute ", Rate(3, 60.0)),
        ("5/day", Rate(5, 86400.0)),
        ("off", None),
    ],
)
def test_rates_are_read(text: str, rate: Rate | None) -> None:
    assert Rate.parse(text) == rate


@pytest.mark.parametrize("text", ["", "20", "0/hour", "-1/hour", "1.5/hour", "20/week", "/hour", "²/hour"])
def test_other_rates_are_refused(text: str) -> None:
    with pytest.raises(BadInput, match="expected a rate such as 20/hour"):
        Rate.parse(text)
