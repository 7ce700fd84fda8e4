"""Weight tuning: the grid, every value against plain fusion and metrics, and that only dev labels count."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.errors import BadInput
from rag.fusion.matrix_fusion import weighted
from rag.fusion.normalisation import (
    ScoreDistribution,
    Share,
    borda_points,
    min_max,
    percentile,
    reciprocals,
    z_score,
)
from rag.fusion.rank_fusion import normalised
from rag.types import ArticleOrder, Hit, Ranking, rank
from training.eval.metrics import per_question
from training.fusion.weight_search import (
    Point,
    SystemRankings,
    as_they_are,
    contenders,
    curves,
    gold_places,
    simplex,
    tune,
    values_at,
)

SHARES: dict[str, tuple[Share, int | None]] = {
    "min-max": (min_max, 5),
    "z-score": (z_score, 5),
    "percentile": (partial(percentile, distributions=[ScoreDistribution.of(range(9))] * 3), 5),
    "reciprocal rank": (partial(reciprocals, c=20.0), None),
    "borda": (borda_points, None),
}
GOLD_LAST = {"q": frozenset({"g"})}


def ranking(scores: Mapping[str, float]) -> Ranking:
    return Ranking.of((i, s) for i, s in sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])))


def fused(
    lists: SystemRankings, weights: tuple[float, ...], share: Share = min_max, decimals: int | None = 5
) -> dict[str, Ranking]:
    sums = weighted(lists.scores, share, weights)
    return {
        question: rank(sums[i, : len(ids)], ArticleOrder.of(ids), 1000, decimals=decimals)
        for i, (question, ids) in enumerate(zip(lists.questions, lists.articles, strict=True))
    }


def benchmark(
    seed: int, systems: int = 3, questions: int = 12, articles: int = 30
) -> tuple[dict[str, dict[str, Ranking]], dict[str, frozenset[str]]]:
    """Runs with ties and gaps, and gold articles some of which nobody returns."""
    rng = np.random.default_rng(seed)
    ids = [f"a{i}" for i in range(articles)]
    runs: dict[str, dict[str, Ranking]] = {f"s{m}": {} for m in range(systems)}
    qrels = {}
    for q in range(questions):
        for run in runs.values():
            chosen = rng.choice(ids, size=int(rng.integers(0, articles)), replace=False)
            run[f"q{q}"] = ranking({str(i): float(rng.integers(0, 9)) for i in chosen})
        qrels[f"q{q}"] = frozenset(map(str, rng.choice(ids, size=int(rng.integers(0, 4)), replace=False)))
    return runs, qrels


def test_the_grid() -> None:
    assert simplex(2, 0.5).tolist() == [[0, 1], [0.5, 0.5], [1, 0]]
    assert len(simplex(3)) == 231
    assert len(simplex(4)) == 1771
    assert simplex(1).tolist() == [[1.0]]
    assert len({tuple(point) for point in simplex(3).tolist()}) == 231
    assert np.allclose(simplex(3).sum(axis=1), 1, atol=1e-15)
    assert set(simplex(3).ravel().tolist()) == {i / 20 for i in range(21)}


@pytest.mark.parametrize("name", ["min-max", "z-score", "reciprocal rank"])
def test_what_cannot_come_first_changes_no_value(name: str) -> None:
    """Long lists, so that most is left out, against `gold_places` of all of it."""
    share, decimals = SHARES[name]
    runs, _ = benchmark(1, questions=6, articles=400)
    qrels = {q: frozenset(f"a{n}" for n in range(0, 400, 7)) for q in runs["s0"]}
    lists, grid = SystemRankings.of(runs, list(qrels)), simplex(3, 0.25)
    found = values_at(lists, qrels, grid, ["R@3"], share=share, decimals=decimals)["R@3"]
    for i, (question, ids) in enumerate(zip(lists.questions, lists.articles, strict=True)):
        mine = lists.scores[:, i : i + 1, : len(ids)]
        shares, held = share(mine)[:, 0], np.isfinite(mine[:, 0])
        assert len(contenders(shares, held, least=0.25, decimals=decimals, cutoff=3)) < len(ids) / 2
        gold = [n for n, id_ in enumerate(ids) if id_ in qrels[question]]
        places = gold_places(shares, held, gold, grid, decimals=decimals, cutoff=3)
        assert found[:, i].tolist() == ((places <= 3).sum(axis=1) / len(qrels[question])).tolist()


@pytest.mark.parametrize(("systems", "step"), [(0, 0.05), (2, 0.3), (2, 0.0), (2, -0.5), (2, 2.0)])
def test_no_grid(systems: int, step: float) -> None:
    with pytest.raises(BadInput, match="give a step"):
        simplex(systems, step)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHARES)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_every_point_is_what_fusing_and_measuring_give(name: str, seed: int) -> None:
    share, decimals = SHARES[name]
    runs, qrels = benchmark(seed)
    grid = simplex(3, 0.25)
    measures = ("R@3", "R@10", "MRR@5")
    found = values_at(
        SystemRankings.of(runs, list(qrels)), qrels, grid, measures, share=share, decimals=decimals
    )
    for p, weights in enumerate(grid):
        run_of = {
            question: normalised(
                [run[question] for run in runs.values()],
                50,
                by=share,
                weights=weights.tolist(),
                decimals=decimals,
            )
            for question in qrels
        }
        expected = per_question(qrels, run_of, measures)
        for measure in measures:
            assert found[measure][p].tolist() == pytest.approx(expected[measure].tolist(), abs=1e-12)


def test_the_matrix_of_lists_fuses_to_the_same_run() -> None:
    runs, qrels = benchmark(3)
    weights = (0.2, 0.0, 0.8)
    assert fused(SystemRankings.of(runs, list(qrels)), weights, z_score) == {
        q: normalised([run[q] for run in runs.values()], 1000, by=z_score, weights=weights) for q in qrels
    }


def test_positions_fuse_as_percentiles_do() -> None:
    runs, qrels = benchmark(5)
    shapes = {
        name: ScoreDistribution.of(np.random.default_rng(i).random(40) * 9) for i, name in enumerate(runs)
    }
    lists = SystemRankings.of(runs, list(qrels))
    by = partial(percentile, distributions=list(shapes.values()))
    there = fused(lists, (0.2, 0.5, 0.3), by, decimals=None)
    assert (
        fused(lists.positions([(len(qrels), shapes)]), (0.2, 0.5, 0.3), as_they_are, decimals=None) == there
    )
    assert there == {
        q: normalised([run[q] for run in runs.values()], 999, by=by, weights=(0.2, 0.5, 0.3), decimals=None)
        for q in qrels
    }


def test_each_part_of_the_questions_has_distributions_of_its_own() -> None:
    runs, qrels = benchmark(6)
    some, others = list(qrels)[:5], list(qrels)[5:]
    shapes = [
        {name: ScoreDistribution.of(np.random.default_rng(seed).random(40) * 9) for name in runs}
        for seed in (1, 2)
    ]
    whole = SystemRankings.of(runs, list(qrels))
    parts = whole.positions([(len(of), shape) for of, shape in zip((some, others), shapes, strict=True)])
    assert (parts.systems, parts.questions, parts.articles) == (
        whole.systems,
        whole.questions,
        whole.articles,
    )
    placed = fused(parts, (0.1, 0.2, 0.7), as_they_are, None)
    for of, shape in zip((some, others), shapes, strict=True):
        alone = SystemRankings.of({n: {q: r[q] for q in of} for n, r in runs.items()}, of)
        wanted = fused(alone.positions([(len(of), shape)]), (0.1, 0.2, 0.7), as_they_are, None)
        assert {q: placed[q] for q in of} == wanted
    with pytest.raises(BadInput, match="one question twice"):
        SystemRankings.of(runs, [*some, *some])


def test_the_optimum_worked_by_hand() -> None:
    good = {"q": ranking({"g": 1.0, "x": 0.0})}
    bad = {"q": ranking({"x": 1.0, "y": 0.5, "g": 0.0})}
    tuned = tune(SystemRankings.of({"bad": bad, "good": good}, ["q"]), GOLD_LAST, ["MRR@10"])
    # g: w, x: 1 - w, y: (1 - w) / 2; a tie at 1/2 goes to g by its id
    assert tuned.value == 1.0
    assert tuned.weights == {"bad": 0.5, "good": 0.5}  # of all that are right, the nearest to equal
    assert normalised([bad["q"], good["q"]], 1, by=min_max, weights=tuple(tuned.weights.values())) == (
        Hit("g", 0.5),
    )


def test_equal_choices_do_not_depend_on_the_order_of_systems() -> None:
    runs = {name: {"q": ranking({"g": 1.0, "x": 0.0})} for name in ("b", "a", "c")}
    tuned = tune(SystemRankings.of(runs, ["q"]), GOLD_LAST, ["R@10"])
    assert tuned.weights == {"a": 0.35, "b": 0.35, "c": 0.3}  # a third each is not on the grid
    assert list(tuned.weights) == ["b", "a", "c"]  # the order to fuse in is the order given


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), random=st.randoms(use_true_random=False))
def test_neither_order_decides(seed: int, random: Random) -> None:
    runs, qrels = benchmark(seed)
    names, questions = list(runs), list(qrels)
    random.shuffle(names)
    random.shuffle(questions)
    one = tune(SystemRankings.of(runs, list(qrels)), qrels, step=0.1)
    other = tune(
        SystemRankings.of({n: runs[n] for n in names}, questions), {q: qrels[q] for q in questions}, step=0.1
    )
    assert one.weights == dict(other.weights)
    assert one.value == pytest.approx(other.value, abs=1e-12)
    assert one.value == pytest.approx(float(one.values.max()), abs=1e-12)


def test_labels_of_other_questions_are_not_looked_at() -> None:
    runs, qrels = benchmark(8, questions=40)
    lists = SystemRankings.of(runs, list(qrels))
    dev = {q: gold for q, gold in qrels.items() if int(q[1:]) < 20}
    alone = tune(SystemRankings.of({n: {q: r[q] for q in dev} for n, r in runs.items()}, list(dev)), dev)
    beside = tune(lists, dev)  # the test questions' lists are there, their labels are not
    assert beside.weights == alone.weights
    assert beside.values.tolist() == alone.values.tolist()
    assert beside.questions == sum(bool(gold) for gold in dev.values())
    everything = tune(lists, qrels)
    assert everything.values.tolist() != beside.values.tolist()  # they would have mattered


def test_curves_of_pairs() -> None:
    runs, qrels = benchmark(1)
    lists = SystemRankings.of(runs, list(qrels))
    drawn = curves(lists, qrels, ["R@10"], step=0.25)
    assert list(drawn) == [("s0", "s1"), ("s0", "s2"), ("s1", "s2")]
    points = drawn["s0", "s2"]
    assert [point.alpha for point in points] == [0, 0.25, 0.5, 0.75, 1]
    for point, name in ((points[0], "s2"), (points[-1], "s0")):  # at the ends one system is alone
        alone = per_question(qrels, runs[name], ["R@10"])["R@10"].mean()
        assert point == Point(point.alpha, {"R@10": pytest.approx(alone)})


def test_what_cannot_be_tuned() -> None:
    runs, qrels = benchmark(2)
    lists = SystemRankings.of(runs, list(qrels))
    with pytest.raises(BadInput, match="R@k or MRR@k"):
        tune(lists, qrels, ["nDCG@10"])
    with pytest.raises(BadInput, match="0 questions"):
        tune(lists, {"q0": frozenset()})
    with pytest.raises(BadInput, match="at least one of each"):
        tune(lists, qrels, [])
    with pytest.raises(BadInput, match="'elsewhere'"):
        tune(lists, {"elsewhere": frozenset({"a1"})})
