"""Reciprocal rank fusion: numbers worked by hand, and what must hold of any lists."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.fusion.rank_fusion import ranks, reciprocal_rank
from rag.types import Hit, Ranking


def ranking(*ids: str) -> Ranking:
    """Article ids, best first, without ties."""
    return Ranking.of((article_id, float(-place)) for place, article_id in enumerate(ids))


@st.composite
def rankings(draw: st.DrawFn) -> Ranking:
    """Few scores, so that articles tie."""
    scores = draw(st.dictionaries(st.sampled_from("abcdefghij"), st.integers(0, 3), max_size=10))
    return Ranking.of((i, float(s)) for i, s in sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])))


lists = st.lists(rankings(), min_size=1, max_size=4)


def scores(fused: Ranking) -> dict[str, float]:
    return {hit.article_id: hit.score for hit in fused}


def test_worked_by_hand() -> None:
    fused = reciprocal_rank([ranking("a", "b"), ranking("b", "c")], 10)
    assert fused[0] == Hit("b", 1 / 62 + 1 / 61)  # second in one list, first in the other
    assert fused[1] == Hit("a", 1 / 61)
    assert fused[2] == Hit("c", 1 / 62)


def test_weights_and_damping_worked_by_hand() -> None:
    fused = reciprocal_rank([ranking("a", "b"), ranking("b")], 10, c=1, weights=[0.5, 2])
    assert fused == (Hit("b", 0.5 / 3 + 2 / 2), Hit("a", 0.5 / 2))


@given(rankings())
def test_a_rank_is_one_more_than_the_scores_above(mine: Ranking) -> None:
    assert ranks(mine).tolist() == [1 + sum(o.score > h.score for o in mine) for h in mine]


def test_tied_articles_share_a_rank() -> None:
    tied = Ranking.of([("a", 3.0), ("b", 2.0), ("c", 2.0), ("d", 1.0)])
    assert ranks(tied).tolist() == [1, 2, 2, 4]
    fused = reciprocal_rank([tied], 10)
    assert scores(fused) == {"a": 1 / 61, "b": 1 / 62, "c": 1 / 62, "d": 1 / 64}


def test_deep_ranks_stay_apart() -> None:
    fused = reciprocal_rank([ranking(*(f"{i:04}" for i in range(1000)))], 1000)
    assert len(set(scores(fused).values())) == 1000  # to 5 decimals, all below rank 250 would tie


def test_ties_of_the_fusion_go_by_id() -> None:
    fused = reciprocal_rank([ranking("9", "10"), ranking("10", "9")], 2)
    assert [hit.article_id for hit in fused] == ["10", "9"]
    assert fused[0].score == fused[1].score


@pytest.mark.parametrize("k", [0, -3])
def test_no_hit_asked_for(k: int) -> None:
    assert reciprocal_rank([ranking("a")], k) == ()


def test_nothing_to_fuse() -> None:
    assert reciprocal_rank([], 5) == ()
    assert reciprocal_rank([(), ()], 5) == ()


@pytest.mark.parametrize("weights", [[], [1.0], [1.0, 1.0, 1.0]])
def test_a_weight_for_each_system(weights: list[float]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the words are not ours to choose
        reciprocal_rank([ranking("a"), ranking("b")], 5, weights=weights)


@given(lists, st.randoms(use_true_random=False), st.integers(1, 12))
def test_the_order_of_systems_changes_nothing(systems: list[Ranking], random: Random, k: int) -> None:
    shuffled = list(systems)
    random.shuffle(shuffled)
    assert reciprocal_rank(shuffled, k) == reciprocal_rank(systems, k)


@given(lists, rankings(), st.integers(0, 4))
def test_weight_zero_is_absence(systems: list[Ranking], extra: Ranking, place: int) -> None:
    at = min(place, len(systems))
    with_extra = [*systems[:at], extra, *systems[at:]]
    weights = [1.0] * len(with_extra)
    weights[at] = 0.0
    assert reciprocal_rank(with_extra, 20, weights=weights) == reciprocal_rank(systems, 20)


@given(lists)
def test_the_sum_is_over_the_lists_that_hold_the_article(systems: list[Ranking]) -> None:
    expected: dict[str, list[float]] = {}
    for system in systems:
        for hit in system:
            above = sum(other.score > hit.score for other in system)
            expected.setdefault(hit.article_id, []).append(1 / (60 + above + 1))
    assert scores(reciprocal_rank(systems, 20)) == {i: math.fsum(shares) for i, shares in expected.items()}


@given(lists, st.data())
def test_a_better_rank_never_lowers_an_article(systems: list[Ranking], data: st.DataObject) -> None:
    which = data.draw(st.integers(0, len(systems) - 1))
    if not systems[which]:
        return
    lifted = data.draw(st.sampled_from(tuple(systems[which])))
    top = Hit(lifted.article_id, systems[which][0].score + 1)
    improved = list(systems)
    improved[which] = Ranking.of([top, *(hit for hit in systems[which] if hit != lifted)])
    before = [hit.article_id for hit in reciprocal_rank(systems, 20)].index(lifted.article_id)
    after = [hit.article_id for hit in reciprocal_rank(improved, 20)].index(lifted.article_id)
    assert after <= before
