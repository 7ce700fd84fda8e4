"""Bootstrap intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes.describing.significance import RESAMPLES, Interval, interval

values = st.lists(st.floats(-1, 1), min_size=1, max_size=60).map(np.array)


@settings(deadline=None, max_examples=40)
@given(values, st.integers(0, 100))
def test_an_interval_lies_around_the_mean_and_among_the_values(values: np.ndarray, seed: int) -> None:
    found = interval(values, seed, resamples=500)
    assert found.value == float(values.mean())
    assert values.min() - 1e-12 <= found.low <= found.high <= values.max() + 1e-12
    assert found == interval(values, seed, resamples=500)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=15, max_size=60).map(np.array), st.integers(0, 5))
def test_it_contains_the_mean(values: np.ndarray, seed: int) -> None:
    found = interval(values, seed, resamples=2000)
    assert found.low - 1e-12 <= found.value <= found.high + 1e-12


def test_another_seed_gives_another_interval() -> None:
    sample = np.random.default_rng(0).random(50)
    assert interval(sample, 1) != interval(sample, 2)
    assert interval(sample, 1).low == pytest.approx(interval(sample, 2).low, abs=0.01)


def test_it_is_as_wide_as_the_normal_approximation_says() -> None:
    sample = np.random.default_rng(0).random(400)
    found = interval(sample, 42)
    error = sample.std(ddof=1) / math.sqrt(400)
    assert found.low == pytest.approx(found.value - 1.96 * error, abs=0.1 * error)
    assert found.high == pytest.approx(found.value + 1.96 * error, abs=0.1 * error)


def test_the_resamples_are_those_of_the_seed() -> None:
    """Ten thousand, whether or not they come in pieces of a thousand."""
    sample = np.array([0.0, 0.0, 1.0, 1.0, 1.0])
    rng = np.random.default_rng(7)
    means = [float(sample[rng.integers(0, 5, 5)].mean()) for _ in range(RESAMPLES)]
    low, high = np.quantile(means, [0.025, 0.975])
    assert interval(sample, 7) == Interval(0.6, low, high)


def test_pairing_sees_what_two_intervals_do_not() -> None:
    """Questions differ more than systems do: each apart overlaps, the difference is sure."""
    rng = np.random.default_rng(3)
    first = rng.random(200)
    second = first + 0.05 + 0.01 * rng.standard_normal(200)
    assert interval(second, 0).low < interval(first, 0).high
    assert interval(second - first, 0).low > 0


def test_no_values() -> None:
    found = interval(np.zeros(0), 0)
    assert all(math.isnan(x) for x in (found.value, found.low, found.high))
