"""A system's score distribution: positions, storage, and what is refused."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import BadInput
from rag.fusion.normalisation import ScoreDistribution

samples = st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=1, max_size=60)


def test_worked_by_hand() -> None:
    found = ScoreDistribution.of([0.0, 0.0, 1.0, 3.0])
    assert found.scores == (0.0, 1.0, 3.0)
    assert found.levels == (0.5, 0.75, 1.0)
    at = found.position(np.array([-1.0, 0.0, 1.0, 2.0, 3.0, 9.0, np.nan]))
    assert at[:6].tolist() == [0.0, 0.5, 0.75, 0.875, 1.0, 1.0]  # between two stored scores: linear
    assert math.isnan(at[6])


def test_what_was_not_matched_stands_below() -> None:
    found = ScoreDistribution.of([-math.inf, -math.inf, 1.0, 2.0])
    assert found.position(np.array([0.5, 1.0, 2.0])).tolist() == [0.0, 0.75, 1.0]


@given(samples)
def test_small_samples_are_kept_exactly(sample: list[float]) -> None:
    found = ScoreDistribution.of(sample)
    at = found.position(np.array(sample))
    assert at.tolist() == [sum(other <= mine for other in sample) / len(sample) for mine in sample]


@given(samples, st.floats(-1e6, 1e6), st.floats(0, 1e3))
def test_monotone(sample: list[float], score: float, more: float) -> None:
    low, high = ScoreDistribution.of(sample).position(np.array([score, score + more]))
    assert 0 <= low <= high <= 1


def test_large_samples_are_thinned_and_stay_close() -> None:
    sample = np.random.default_rng(0).gamma(0.5, 2.0, size=300_000)
    found = ScoreDistribution.of(sample)
    assert len(found.scores) < 500
    asked = np.sort(sample)
    exact = np.arange(1, len(asked) + 1) / len(asked)
    at = found.position(asked)
    assert np.abs(at - exact).max() <= 1 / 200 + 1e-5  # the even steps
    best = exact > 0.999
    assert np.abs(at - exact)[best].max() < 1e-4  # far finer where the best articles are
    assert len(np.unique(at[-20:])) == 20  # and the best are told apart


@given(samples)
def test_it_survives_json(sample: list[float]) -> None:
    found = ScoreDistribution.of(sample)
    assert ScoreDistribution.from_json(json.loads(json.dumps(found.to_json()))) == found


@pytest.mark.parametrize("sample", [[], [-math.inf], [1.0, math.nan], [1.0, math.inf]])
def test_not_a_sample(sample: list[float]) -> None:
    with pytest.raises(BadInput, match="finite"):
        ScoreDistribution.of(sample)


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"scores": [], "levels": [], "size": 3},
        {"scores": [1.0, 1.0], "levels": [0.5, 1.0], "size": 3},
        {"scores": [1.0, 2.0], "levels": [0.5, 0.4], "size": 3},
        {"scores": [1.0, 2.0], "levels": [0.5], "size": 3},
        {"scores": [1.0], "levels": [1.5], "size": 3},
        {"scores": [1.0], "levels": [0.0], "size": 3},
        {"scores": [1.0], "levels": [1.0], "size": 0},
        {"scores": ["1"], "levels": [1.0], "size": 3},
        {"scores": [math.nan], "levels": [1.0], "size": 3},
        {"scores": 1.0, "levels": [1.0], "size": 3},
    ],
)
def test_not_a_distribution(entry: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="score distribution"):
        ScoreDistribution.from_json(entry)
