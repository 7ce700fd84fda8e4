"""Every fusion: numbers worked by hand, and what must hold of any lists."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rag.errors import BadInput
from rag.fusion import matrix_fusion, normalisation
from rag.fusion.normalisation import min_max, percentile, places, z_score
from rag.fusion.rank_fusion import Fuse, borda, comb_mnz, comb_sum, normalised, ranks, reciprocal_rank
from rag.retrieval.hybrid import Hybrid
from rag.types import EMPTY, ArticleOrder, Ranking, rank
from tests.fakes.ranking.rankings import (
    IDS,
    NAMES,
    SCORES,
    SHAPE,
    as_dict,
    fusions,
    lists,
    ranking,
    rankings,
    stacked,
)

A = ranking(x=3.0, y=2.0, z=1.0)
B = ranking(y=5.0, w=1.0)


MATRIX_FORMS: dict[str, tuple[normalisation.Share, Callable[..., tuple[float, ...]], int | None]] = {
    "borda": (normalisation.borda_points, matrix_fusion.checked, None),
    "reciprocal rank": (normalisation.reciprocals, matrix_fusion.checked, None),
    "min-max": (min_max, matrix_fusion.alphas, 5),
    "z-score": (z_score, matrix_fusion.alphas, 5),
    "percentile": (lambda scores: percentile(scores, [SHAPE] * len(scores)), matrix_fusion.alphas, 5),
    "CombSUM": (min_max, matrix_fusion.checked, 5),
}


def test_borda_worked_by_hand() -> None:
    assert as_dict(borda([A, B], 9)) == {"y": 2 + 2, "x": 3, "w": 1, "z": 1}  # missing from a list: 0
    assert [hit.article_id for hit in borda([A, B], 9)] == ["y", "x", "w", "z"]
    tied = ranking(a=2.0, b=1.0, c=1.0, d=0.0)
    assert as_dict(borda([tied], 9)) == {"a": 4, "b": 3, "c": 3, "d": 1}  # ranks 1, 2, 2, 4 of 4


def test_min_max_worked_by_hand() -> None:
    fused = as_dict(normalised([A, B], 9, weights=(0.25, 0.75)))
    assert fused == {"y": 0.25 * 0.5 + 0.75 * 1, "x": 0.25, "w": 0.0, "z": 0.0}
    assert as_dict(normalised([A, B], 9))["y"] == 0.75  # equal weights are 1/2 each


def test_z_score_worked_by_hand() -> None:
    top = math.sqrt(1.5)  # (3 - 2) / sqrt(2/3); B is +1 and -1
    fused = as_dict(normalised([A, B], 9, by=z_score, weights=(0.5, 0.5)))
    expected = {
        "y": 0.5,
        "x": (top - 1) / 2,
        "z": (-top - 1) / 2,
        "w": (-top - 1) / 2,
    }  # missing: the list's minimum
    assert fused == pytest.approx(expected, abs=5e-6)


def test_percentile_worked_by_hand() -> None:
    positions = partial(percentile, distributions=(SHAPE, SHAPE))
    fused = as_dict(normalised([ranking(x=0.5), ranking(x=0.0, y=8.0)], 9, by=positions))
    # of the sample's 8 scores 5 are at most 0.5, 3 at most 0, all at most 8
    assert fused == {"x": (5 / 8 + 3 / 8) / 2, "y": (0 + 1) / 2}


def test_comb_sum_and_mnz_worked_by_hand() -> None:
    assert as_dict(comb_sum([A, B], 9)) == {"y": 1.5, "x": 1.0, "w": 0.0, "z": 0.0}
    assert as_dict(comb_mnz([A, B], 9)) == {"y": 3.0, "x": 1.0, "w": 0.0, "z": 0.0}


@pytest.mark.parametrize("by", [min_max, z_score])
@pytest.mark.parametrize("flat", [ranking(x=4.0), ranking(x=0.1, v=0.1, y=0.1), EMPTY])
def test_a_list_with_no_spread_adds_nothing(by: normalisation.Share, flat: Ranking) -> None:
    alone = normalised([A, EMPTY], 9, by=by)
    fused = as_dict(normalised([A, flat], 9, by=by))
    assert {i: s for i, s in fused.items() if i != "v"} == as_dict(alone)
    assert fused.get("v", as_dict(alone)["z"]) == as_dict(alone)["z"]  # missing from A: its minimum, or 0


def test_all_zero_weights_leave_nothing() -> None:
    assert normalised([A, B], 9, weights=(0, 0)) == ()


@pytest.mark.parametrize("name", NAMES)
def test_totals(name: str) -> None:
    assert fusions(0)[name]([], 5) == ()
    assert fusions(2)[name]([EMPTY, EMPTY], 5) == ()
    assert fusions(2)[name]([A, B], 0) == ()
    assert len(fusions(2)[name]([A, B], 2)) == 2


@pytest.mark.parametrize("fuse", [borda, reciprocal_rank, normalised, comb_sum, comb_mnz])
@pytest.mark.parametrize(
    ("weights", "said"),
    [((1.0,), "shorter"), ((1, 1, 1), "longer"), ((1, -0.1), "0 or more"), ((1, math.nan), "0 or more")],
)
def test_weights_that_are_none(fuse: Fuse, weights: tuple[float, ...], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        partial(fuse, weights=weights)([A, B], 5)


def test_one_distribution_a_system() -> None:
    with pytest.raises(BadInput, match="1 score distributions for 2 systems"):
        normalised([A, B], 5, by=partial(percentile, distributions=[SHAPE]))


@given(rankings())
def test_places_are_ranks(mine: Ranking) -> None:
    [[found]] = places(stacked([[mine]], IDS, 2))
    assert {i: p for i, p in zip(IDS, found, strict=False) if not math.isnan(p)} == dict(
        zip(mine.ids, ranks(mine).tolist(), strict=True)
    )
    assert np.isnan(found[len(IDS) :]).all()


# Drawing lists takes many times as long as fusing them: each example is held against every fusion.
@settings(max_examples=40)
@given(systems=lists(), random=st.randoms(use_true_random=False), k=st.integers(1, 12))
def test_the_order_of_systems_changes_nothing(systems: list[Ranking], random: Random, k: int) -> None:
    weights = [random.choice([0.05, 0.3, 0.35, 1.0]) for _ in systems]
    paired = list(zip(systems, weights, strict=True))
    random.shuffle(paired)
    for name, fuse in fusions(len(systems)).items():
        shuffled = partial(fuse, weights=[w for _, w in paired])([s for s, _ in paired], k)
        assert shuffled == partial(fuse, weights=weights)(systems, k), name


@settings(max_examples=40)
@given(
    systems=lists(),
    extra=rankings(),
    at=st.integers(0, 4),
    weights=st.lists(st.sampled_from([0.2, 1]), min_size=4),
)
def test_weight_zero_is_absence(
    systems: list[Ranking], extra: Ranking, at: int, weights: list[float]
) -> None:
    given_weights = weights[: len(systems)]
    with_extra = [*systems[:at], extra, *systems[at:]]
    zeroed = [*given_weights[:at], 0.0, *given_weights[at:]]
    without = fusions(len(systems))
    for name, fuse in fusions(len(with_extra)).items():
        there = partial(fuse, weights=zeroed)(with_extra, 20)
        assert there == partial(without[name], weights=given_weights)(systems, 20), name


@settings(max_examples=40)
@given(systems=lists(), data=st.data())
def test_an_article_ahead_everywhere_is_ahead(systems: list[Ranking], data: st.DataObject) -> None:
    """Monotone: a system's better opinion never lowers an article below one that no system prefers."""
    seen = [as_dict(mine) for mine in systems]
    ids = sorted({id_ for mine in seen for id_ in mine})
    assume(len(ids) > 1)
    one, other = data.draw(st.permutations(ids))[:2]
    if all(mine.get(one, -math.inf) >= mine.get(other, -math.inf) for mine in seen):
        for name, fuse in fusions(len(systems)).items():
            fused = as_dict(fuse(systems, 20))
            assert fused[one] >= fused[other], name


@settings(max_examples=40)
@given(systems=lists())
def test_everything_returned_is_ranked_by_the_rule(systems: list[Ranking]) -> None:
    for name, fuse in fusions(len(systems)).items():
        fused = fuse(systems, 20)
        assert {hit.article_id for hit in fused} == {hit.article_id for mine in systems for hit in mine}, name
        assert list(fused) == sorted(fused, key=lambda hit: (-hit.score, hit.article_id)), name


@settings(max_examples=40)
@given(
    systems=lists(), scale=st.sampled_from([0.01, 0.5, 3.0, 1024.0]), shift=st.sampled_from([-7.0, 0.0, 0.3])
)
def test_scale_and_shift_change_nothing(systems: list[Ranking], scale: float, shift: float) -> None:
    moved = [Ranking.of((hit.article_id, hit.score * scale + shift) for hit in mine) for mine in systems]
    for name, fuse in fusions(len(systems)).items():
        if name != "percentile":  # to which scale matters, below
            assert as_dict(fuse(moved, 20)) == pytest.approx(as_dict(fuse(systems, 20)), abs=2e-5), name


def test_scale_matters_to_percentiles() -> None:
    fuse = fusions(1)["percentile"]
    assert fuse([ranking(a=0.1, b=0.05)], 2) != fuse([ranking(a=1.0, b=0.5)], 2)


@given(lists(), st.data())
def test_what_a_missing_article_adds(systems: list[Ranking], data: st.DataObject) -> None:
    scores = stacked([systems], IDS, 0)
    missing = np.isnan(scores)
    shares = z_score(scores)
    lowest = np.where(missing, np.inf, shares).min(axis=-1, keepdims=True)
    expected = np.broadcast_to(np.where(np.isfinite(lowest), lowest, 0.0), shares.shape)
    assert (shares[missing] == expected[missing]).all()
    assert not min_max(scores)[missing].any()
    assert not percentile(scores, [SHAPE] * len(systems))[missing].any()


@given(rankings(least=2))
def test_z_scores_have_mean_0_and_deviation_1(mine: Ranking) -> None:
    values = np.array([hit.score for hit in mine])
    assume(np.ptp(values) > 0)
    found = [
        v
        for v, known in zip(
            z_score(stacked([[mine]], IDS, 0))[0, 0], stacked([[mine]], IDS, 0)[0, 0], strict=True
        )
        if known == known
    ]
    assert sorted(found) == pytest.approx(sorted((values - values.mean()) / values.std()), abs=1e-12)


@pytest.mark.slow
@settings(max_examples=40)
@given(data=st.data(), systems=st.integers(1, 4), blank=st.integers(0, 3))
def test_whole_benchmarks_give_what_rankings_give(data: st.DataObject, systems: int, blank: int) -> None:
    benchmark = data.draw(st.lists(lists(systems, systems), min_size=1, max_size=4))
    ids = data.draw(st.permutations(IDS))
    weights = data.draw(st.lists(st.sampled_from([0.0, 0.05, 0.35, 1.0]), min_size=systems, max_size=systems))
    order = ArticleOrder.of([*ids, *(f"none{i}" for i in range(blank))])
    for name, (share, scaled, decimals) in MATRIX_FORMS.items():
        fused = matrix_fusion.weighted(stacked(benchmark, ids, blank), share, scaled(weights, systems))
        for row, lists_of_one in zip(fused, benchmark, strict=True):
            by_ranking = partial(fusions(systems)[name], weights=weights)(lists_of_one, 20)
            assert rank(row, order, 20, decimals=decimals) == by_ranking, name


def test_percentiles_of_whole_benchmarks() -> None:
    by = partial(percentile, distributions=(SHAPE, SHAPE))
    ids = ["w", "x", "y", "z"]
    fused = matrix_fusion.weighted(stacked([[A, B], [B, A]], ids, 0), by, (0.3, 0.7))
    for row, mine in zip(fused, ([A, B], [B, A]), strict=True):
        assert rank(row, ArticleOrder.of(ids), 9) == normalised(mine, 9, by=by, weights=(0.3, 0.7))


# whole powers of two lie, or nearly, in the middle of two numbers when they are added
halfway = st.builds(math.ldexp, st.sampled_from([-1.0, 0.0, 1.0, 1 + 2**-52, 1.5]), st.integers(-110, 4))


@pytest.mark.slow
@given(
    st.lists(
        st.lists(st.floats(-1e6, 1e6) | halfway | st.sampled_from(SCORES), min_size=5, max_size=5),
        min_size=1,
        max_size=5,
    )
)
@settings(max_examples=500)
def test_sums_are_exact(terms: list[list[float]]) -> None:
    assert matrix_fusion.exact_sum(np.array(terms)).tolist() == [
        math.fsum(column) for column in zip(*terms, strict=True)
    ]


def test_a_hybrid_fuses_with_it() -> None:
    class Fixed:
        def __init__(self, mine: Ranking) -> None:
            self.mine = mine

        def search(self, questions: list[str], k: int, where: object = None) -> list[Ranking]:
            return [self.mine[:k] for _ in questions]

    hybrid = Hybrid({"a": Fixed(A), "b": Fixed(B)}, fuse=partial(normalised, by=z_score, weights=(0.4, 0.6)))
    assert hybrid.search(["?"], 3) == [normalised([A, B], 3, by=z_score, weights=(0.4, 0.6))]
