"""How likely each article answers, and among how many of the first the answer stands."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.engine.relevance import MAX_SET, NAMES, SIGNS, Relevance, features, smallest_set
from rag.errors import BadInput
from rag.ltr.reranker import KEYWORD
from rag.retrieval.question_knn import QUESTION_KNN
from rag.types import EMPTY, Ranking

MODEL = Relevance(
    bias=-1.0,
    weights={name: 0.5 * sign for name, sign in SIGNS.items()},
    means=dict.fromkeys(NAMES, 0.0),
    scales=dict.fromkeys(NAMES, 1.0),
    mark=0.6,
    mass=0.8,
    coverage=0.9,
)
probabilities = st.lists(st.floats(0, 1), max_size=10)


def test_features_worked_by_hand() -> None:
    fused = Ranking.of([("a", 2.0), ("b", 1.5), ("c", 1.45)])
    lists = {
        KEYWORD: Ranking.of([("b", 8.0), ("a", 4.0)]),
        QUESTION_KNN: Ranking.of([("c", 0.9), ("a", 0.7)]),
    }
    found = features(fused, lists, 0.3)
    named = [dict(zip(NAMES, row, strict=True)) for row in found.tolist()]
    assert named[0] == pytest.approx(
        {
            "question": 0.3,
            "score": 2.0,
            "behind": 0.0,
            "lead": 0.5,
            "crowd": 0.0,  # no other reaches 1.9
            "keyword": 0.5,
            "nearest": -math.log(2),
        }
    )
    assert named[1] == pytest.approx(
        {
            "question": 0.3,
            "score": 1.5,
            "behind": 0.5,
            "lead": 0.0,
            "crowd": 1.0,  # both others reach 1.4
            "keyword": 1.0,
            "nearest": -math.log(200),  # not in the list
        }
    )
    assert named[2]["keyword"] == 0.0  # not in the list


def test_lists_that_are_empty_or_missing_have_features() -> None:
    assert features(EMPTY, {}, 0.0).shape == (0, len(NAMES))
    assert np.isfinite(features(Ranking.of([("a", 1.0)]), {}, 0.0)).all()
    assert np.isfinite(features(Ranking.of([("a", 1.0)]), {KEYWORD: EMPTY, QUESTION_KNN: EMPTY}, 0.0)).all()


@given(probabilities, st.floats(0.01, 1))
def test_a_set_is_the_smallest_that_reaches_the_mass(each: list[float], mass: float) -> None:
    size = smallest_set(each, mass)
    reached = [1 - math.prod(1 - p for p in each[:k]) for k in range(1, min(len(each), MAX_SET) + 1)]
    if size is None:
        assert all(of < mass + 1e-9 for of in reached)
    else:
        assert reached[size - 1] >= mass - 1e-9
        assert all(of < mass + 1e-9 for of in reached[: size - 1])


@given(probabilities)
def test_a_larger_mass_never_makes_a_smaller_set(each: list[float]) -> None:
    sizes = [smallest_set(each, mass) or MAX_SET + 1 for mass in (0.2, 0.5, 0.8, 0.95)]
    assert all(small <= large for small, large in pairwise(sizes))


def test_only_a_first_article_that_is_likely_and_the_likeliest_is_marked() -> None:
    assert MODEL.marks([0.7, 0.2])
    assert not MODEL.marks([0.5, 0.2])
    assert not MODEL.marks([0.7, 0.8])
    assert not MODEL.marks([])


def test_higher_scores_and_better_places_never_lower_a_probability() -> None:
    rows = np.zeros((1, len(NAMES)))
    [before] = MODEL.probabilities(rows)
    for at, name in enumerate(NAMES):
        moved = rows.copy()
        moved[0, at] = SIGNS[name]
        assert MODEL.probabilities(moved)[0] >= before


def test_weights_that_are_not_for_these_features_are_refused() -> None:
    with pytest.raises(BadInput, match="score missing or unknown"):
        replace(MODEL, weights={name: 0.0 for name in NAMES if name != "score"})
    with pytest.raises(BadInput, match="against what its feature means"):
        replace(MODEL, weights={**MODEL.weights, "behind": 0.5})
    with pytest.raises(BadInput, match="out of range"):
        replace(MODEL, mass=1.5)
    with pytest.raises(BadInput, match="scales above 0"):
        replace(MODEL, scales={**MODEL.scales, "lead": 0.0})
