"""Every fusion of some systems: 88 of four, each as plain fusing and measuring give it; and the oracle."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.fusion.normalisation import ScoreDistribution, min_max, percentile, z_score
from rag.fusion.rank_fusion import Fuse, borda, normalised, reciprocal_rank
from rag.types import Qrels, Ranking, Run
from tests.training.fusion.test_weight_search import benchmark
from training.eval.metrics import per_question
from training.fusion.complementarity import oracle
from training.fusion.study import MEASURES, TUNED, Gold, Study, choose, configurations, study
from training.fusion.weight_search import SystemRankings

TOLD = ScoreDistribution.of(range(9))
SEEDS = st.integers(0, 10**6)


def laid(seed: int, systems: int = 3) -> tuple[Mapping[str, Run], Qrels]:
    """Runs and gold articles; every question has some."""
    runs, qrels = benchmark(seed, systems)
    return runs, {q: gold or frozenset({"a0"}) for q, gold in qrels.items()}


def studied(runs: Mapping[str, Run], qrels: Qrels, folds: int = 2) -> Study:
    fold_of = np.arange(len(qrels)) % folds
    lists = SystemRankings.of(runs, list(qrels))
    return study(lists, qrels, [(len(qrels), dict.fromkeys(runs, TOLD))], fold_of, step=0.25)


def plain(method: str, systems: int, weights: tuple[float, ...] | None) -> Fuse:
    if method == "borda":
        return borda
    if method == "rrf":
        return partial(reciprocal_rank, c=60.0)
    if method == "percentile":
        of = partial(percentile, distributions=[TOLD] * systems)
        return partial(normalised, by=of, weights=weights, decimals=None)
    return partial(normalised, by=min_max if method == "min-max" else z_score, weights=weights)


def test_the_papers_88() -> None:
    wanted = configurations(["bm25", "dpr", "splade", "colbert"])
    assert len(wanted) == len({one.name for one in wanted}) == 88
    assert sum(one.weights == TUNED for one in wanted) == 33
    assert wanted[3].name == "min-max-tuned:bm25,dpr"
    assert len(configurations(["a", "b", "c"])) == 32
    assert len(configurations(["a", "b"])) == 8


@settings(max_examples=4, deadline=None)
@given(seed=SEEDS)
def test_every_configuration_is_what_fusing_and_measuring_give(seed: int) -> None:
    runs, qrels = laid(seed)
    found = studied(runs, qrels)
    for one in configurations(list(runs)):
        chosen = found.weights.get(one.name, (None, None))
        run: dict[str, Ranking] = {}
        for i, question in enumerate(qrels):
            fuse = plain(one.method, len(one.parts), chosen[i % 2])
            run[question] = fuse([runs[part][question] for part in one.parts], 1000)
        expected = per_question(qrels, run, MEASURES)
        for measure in MEASURES:
            assert found.values[one.name][measure] == pytest.approx(expected[measure]), (one.name, measure)


@settings(max_examples=8, deadline=None)
@given(seed=SEEDS)
def test_a_system_fused_with_itself_stays_what_it_is(seed: int) -> None:
    runs, qrels = laid(seed, systems=1)
    found = studied({"s0": runs["s0"], "twin": runs["s0"]}, qrels)
    for name, values in found.values.items():
        for measure in MEASURES:
            assert values[measure] == pytest.approx(found.values["s0"][measure]), name


def test_weights_of_one_and_nothing_give_the_part() -> None:
    """One system alone is right, so that all weight goes to it, in each fold."""
    good = Ranking.of([("right", 2.0), ("x", 1.0)])
    bad = Ranking.of([(f"z{n}", 40.0 - n) for n in range(30)])
    questions = [f"q{n}" for n in range(4)]
    runs = {"good": dict.fromkeys(questions, good), "bad": dict.fromkeys(questions, bad)}
    found = studied(runs, dict.fromkeys(questions, frozenset({"right"})))
    for name, of_folds in found.weights.items():
        assert all(weights[0] >= 0.5 for weights in of_folds)
        assert found.values[name]["MRR@10"].tolist() == [1.0] * 4
    only = choose(
        np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([0, 1]), ["g", "b"]
    )
    assert only.tolist() == [[1.0, 0.0], [1.0, 0.0]]


def test_a_folds_weights_know_nothing_of_its_own_gold_articles() -> None:
    runs, qrels = laid(3)
    questions = list(qrels)
    others = {q: frozenset({"a1"}) if i % 2 == 0 else qrels[q] for i, q in enumerate(questions)}
    before, after = studied(runs, qrels), studied(runs, others)
    for name, of_folds in before.weights.items():
        assert after.weights[name][0] == of_folds[0]  # fold 0 is chosen on fold 1
    assert any(after.weights[name][1] != of_folds[1] for name, of_folds in before.weights.items())


@settings(max_examples=8, deadline=None)
@given(seed=SEEDS)
def test_no_fusion_passes_the_oracle(seed: int) -> None:
    runs, qrels = laid(seed)
    lists = SystemRankings.of(runs, list(qrels))
    gold = Gold.of(lists, qrels)
    best = oracle(gold, np.array([gold.places(own) for own in lists.scores]))
    for name, values in studied(runs, qrels).values.items():
        for measure in MEASURES:
            assert (best["fusion"][measure] >= values[measure] - 1e-12).all()
            if name in runs:
                assert (best["choice"][measure] >= values[measure]).all()
    assert all((best["fusion"][m] >= best["choice"][m] - 1e-12).all() for m in MEASURES)
