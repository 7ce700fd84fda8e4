"""Means, quantiles and groups from counts alone, against numpy on the values themselves."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.describing.description import Distribution, bins, groups, nice, skewed

VALUES = st.lists(st.integers(0, 60) | st.integers(0, 50_000), min_size=1, max_size=60)


@given(VALUES)
def test_figures_are_those_of_all_values(values: list[int]) -> None:
    spread = Distribution.of(Counter(values))
    assert (spread.n, spread.total) == (len(values), sum(values))
    assert spread.mean == pytest.approx(np.mean(values))
    for share in (0, 0.25, 0.5, 0.75, 0.95, 1):
        assert spread.quantile(share) == pytest.approx(np.quantile(values, share))
    assert list(spread.counts) == sorted(spread.counts)


@given(VALUES, st.booleans())
def test_every_value_is_in_one_bin(values: list[int], log: bool) -> None:
    spread = Distribution.of(Counter(values))
    found = bins(spread, log=log)
    assert sum(b.number for b in found) == sum(1 for value in values if value or not log)
    assert all(b.low < b.high for b in found)
    assert all(a.high == b.low for a, b in pairwise(found))
    assert len(found) <= 60


@given(VALUES, st.integers(0, 2))
def test_every_value_is_in_one_group(values: list[int], least: int) -> None:
    found = groups(Distribution.of(Counter(values)), least)
    assert sum(n for _, n in found) == sum(value >= least for value in values)
    assert len({name for name, _ in found}) == len(found)


def test_groups_are_named() -> None:
    found = groups(Distribution.of({1: 3, 2: 1, 15: 2, 40: 1}), 1)
    assert found[:2] == (("1", 3), ("2", 1))
    assert found[-2:] == (("11–20", 2), ("21–50", 1))
    assert len(found) == 12


def test_nothing_has_no_figures() -> None:
    nothing = Distribution.of({3: 0})
    assert (nothing.n, nothing.mean, nothing.quantile(0.5)) == (0, None, None)
    assert set(nothing.figures().values()) == {0, None}
    assert (bins(nothing, log=False), groups(nothing), skewed(nothing)) == ((), (), False)
    assert bins(Distribution.of({0: 4}), log=True) == ()


def test_a_few_long_texts_ask_for_a_logarithmic_axis() -> None:
    assert skewed(Distribution.of({30: 100, 700: 1}))
    assert not skewed(Distribution.of({30: 100, 600: 1}))
    assert not skewed(Distribution.of({0: 9, 5: 1}))


@given(st.floats(0, 1e7))
def test_steps_are_round(least: float) -> None:
    step = nice(least)
    assert step >= least
    assert str(step).rstrip("0") in ("1", "2", "5")
    assert step == 1 or nice(step / 2.6) < step
