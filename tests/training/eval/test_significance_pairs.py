"""Tests of pairs: worked numbers, other implementations, and how often equal systems are told apart."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from indexes.describing.significance import (
    Comparison,
    Interval,
    compare,
    holm,
    interval,
    paired_bootstrap,
    paired_t,
)
from rag.errors import BadInput
from training.tables.comparisons import table


def test_holm_worked_by_hand() -> None:
    # sorted 0.005 × 4, 0.01 × 3, 0.03 × 2, 0.04 × 1: none below the one before it
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == (1.0, 1.0)
    assert holm([]) == ()
    kept = holm([math.nan, 0.02, 0.03])
    assert math.isnan(kept[0])
    assert kept[1:] == pytest.approx((0.04, 0.04))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_holm_is_between_the_p_value_and_bonferroni(p_values: list[float], random: object) -> None:
    corrected = holm(p_values)
    for p, q in zip(p_values, corrected, strict=True):
        assert p <= q <= min(1.0, len(p_values) * p) + 1e-15 or q == max(corrected)
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    assert [corrected[i] for i in order] == sorted(corrected)
    assert corrected[order[0]] == min(1.0, len(p_values) * p_values[order[0]])
    backwards = holm(p_values[::-1])
    assert backwards[::-1] == pytest.approx(corrected)


def test_the_t_test_worked_by_hand() -> None:
    # mean 2, standard deviation sqrt(2.5), error sqrt(0.5): t = 2 sqrt(2) with 4 degrees of freedom
    assert paired_t(np.array([0.0, 1.0, 2.0, 3.0, 4.0])) == pytest.approx(0.04742065558431)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=3, max_size=40))
def test_the_t_test_is_scipys(pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs, dtype=np.float64).T / 20
    if len({x - y for x, y in pairs}) > 1:
        assert paired_t(a - b) == pytest.approx(float(stats.ttest_rel(a, b).pvalue), abs=1e-12)


def test_where_tests_have_nothing_to_say() -> None:
    same, ahead = np.zeros(9), np.full(9, 0.1)
    assert paired_t(same) == 1.0
    assert paired_t(ahead) == 0.0
    assert paired_bootstrap(same, 1, 99) == (Interval(0.0, 0.0, 0.0), 1.0)
    assert paired_bootstrap(ahead, 1, 99)[1] == 1 / 100
    assert math.isnan(paired_t(np.array([0.3])))
    found, p = paired_bootstrap(np.zeros(0), 1)
    assert math.isnan(found.value)
    assert math.isnan(p)


def test_the_bootstrap_worked_by_hand() -> None:
    # Centred: -1/2 and 1/2; a resample's mean is as far as 1/2 when both draws are the same: half of them
    found, p = paired_bootstrap(np.array([0.0, 1.0]), 7)
    assert found == Interval(0.5, 0.0, 1.0)
    assert p == pytest.approx(0.5, abs=0.02)


def test_the_bootstrap_is_the_seeds() -> None:
    differences = np.random.default_rng(0).normal(0.1, 1, 80)
    assert paired_bootstrap(differences, 3, 1500) == paired_bootstrap(differences, 3, 1500)
    assert paired_bootstrap(differences, 3, 1500) != paired_bootstrap(differences, 4, 1500)
    assert paired_bootstrap(differences, 3, 1500)[0] == interval(differences, 3, 1500)


def test_turned_round() -> None:
    differences = np.random.default_rng(1).normal(0.2, 1, 50)
    there, p = paired_bootstrap(differences, 3, 1000)
    back, q = paired_bootstrap(-differences, 3, 1000)
    assert p == q
    assert (back.value, back.low, back.high) == pytest.approx((-there.value, -there.high, -there.low))
    assert paired_t(differences) == paired_t(-differences)


def test_against_scipy() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.random(120), rng.random(120) - 0.07
    ours, p = paired_bootstrap(a - b, 0)
    theirs = stats.bootstrap(
        (a - b,), np.mean, method="percentile", rng=np.random.default_rng(9)
    ).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.004)
    # The permutation test asks the same question another way.
    permuted = stats.permutation_test(
        (a, b),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=9_999,
        rng=np.random.default_rng(9),
    )
    assert 0.01 < p < 0.2  # a case in which agreeing says something
    assert p == pytest.approx(float(permuted.pvalue), abs=0.015)


def test_equal_systems_are_told_apart_one_time_in_twenty() -> None:
    rng = np.random.default_rng(0)
    repetitions, questions = 500, 80
    wrong_bootstrap = wrong_t = 0
    for seed in range(repetitions):
        # recalls of questions with one or two gold articles: mostly equal, the rest in steps
        differences = rng.choice([-1, -0.5, 0, 0, 0, 0, 0.5, 1], size=questions)
        wrong_bootstrap += paired_bootstrap(differences, seed, 400)[1] < 0.05
        wrong_t += paired_t(differences) < 0.05
    # 5 % ± 3 standard errors of 500 repetitions
    assert 0.02 < wrong_bootstrap / repetitions < 0.08
    assert 0.02 < wrong_t / repetitions < 0.08


def test_a_real_difference_is_found() -> None:
    differences = np.random.default_rng(0).choice([0, 0, 0.5, 1, -0.5], size=200)
    found, p = paired_bootstrap(differences, 0, 2000)
    assert found.low > 0
    assert p < 0.01
    assert paired_t(differences) < 0.001


def systems() -> dict[str, dict[str, np.ndarray]]:
    rng = np.random.default_rng(4)
    base = rng.random(60)
    return {
        "bm25": {"R@10": base, "MRR@10": base**2},
        "same": {"R@10": base.copy(), "MRR@10": base**2},
        "better": {"R@10": base + rng.normal(0.2, 0.1, 60), "MRR@10": base**2 + rng.normal(0, 0.1, 60)},
    }


def test_a_family_of_comparisons() -> None:
    values = systems()
    family = [(name, "bm25", measure) for name in ("same", "better") for measure in ("R@10", "MRR@10")]
    found = compare(values, family, seed=1, resamples=999)
    assert [(c.a, c.b, c.measure) for c in found] == family
    better = found[2]
    assert better.difference == interval(values["better"]["R@10"] - values["bm25"]["R@10"], 1, 999)
    assert better.questions == 60
    assert better.p_bootstrap == 1 / 1000
    assert better.p_t < 1e-9
    assert better.p_holm == pytest.approx(4 / 1000)  # the larger of the two, the least of four
    assert [c.p_holm for c in found] == list(holm([max(c.p_bootstrap, c.p_t) for c in found]))
    assert found[0].p_holm == 1.0
    assert json.loads(json.dumps(better.to_json()))["difference"]["value"] == better.difference.value


def test_the_table() -> None:
    sure = Comparison("tuned", "bm25", "R@10", 70, Interval(0.1234, 0.05, 0.2), 0.0001, 0.00005, 0.0123)
    unsure = Comparison("ql", "bm25", "MRR@10", 70, Interval(-0.01, -0.03, 0.011), 0.3, math.nan, 0.62)
    assert table([sure, unsure]).splitlines() == [
        "A vs B         measure  difference        95 % CI  p bootstrap  p t-test  p Holm",
        "tuned vs bm25  R@10          +12.3  [+5.0, +20.0]       <0.001    <0.001   0.012  *",
        "ql vs bm25     MRR@10         -1.0   [-3.0, +1.1]        0.300         –   0.620",
    ]


@pytest.mark.parametrize(
    ("pair", "measure", "said"),
    [
        (("none", "bm25"), "R@10", "no system 'none'"),
        (("same", "bm25"), "R@7", "'R@7'"),
        (("short", "bm25"), "R@10", "2 questions"),
    ],
)
def test_what_cannot_be_compared(pair: tuple[str, str], measure: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        compare({**systems(), "short": {"R@10": np.zeros(2)}}, [(*pair, measure)], seed=1)
