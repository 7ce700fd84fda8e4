"""Which systems are compared with which."""

from __future__ import annotations

import numpy as np

from training.eval.run import Measured
from training.tables.comparisons import MEASURES, compared, family


def values(**means: float) -> dict[str, dict[str, np.ndarray]]:
    """System -> R@10 of four questions; an underscore stands for what a name may not hold here."""
    return {name: {"R@10": np.full(4, mean)} for name, mean in means.items()}


def test_the_rival_is_the_best_single_system() -> None:
    systems = values(bm25=0.5, dense=0.6, ql=0.1, hybrid=0.9, tuned=0.8, learned=0.95)
    systems["learned-without:prior"] = systems["learned"]
    others = ("bm25", "ql", "hybrid", "tuned", "learned", "learned-without:prior")
    assert family(systems, ["R@10"]) == [(name, "dense", "R@10") for name in others]  # a fusion is no rival


def test_every_measure_has_its_own_rival() -> None:
    systems = {
        "bm25": {"R@10": np.array([0.5]), "MRR@10": np.array([0.9])},
        "dense": {"R@10": np.array([0.6]), "MRR@10": np.array([0.2])},
        "hybrid": {"R@10": np.array([0.6]), "MRR@10": np.array([0.6])},
    }
    assert family(systems, ["R@10", "MRR@10"]) == [
        ("bm25", "dense", "R@10"),
        ("dense", "bm25", "MRR@10"),
        ("hybrid", "dense", "R@10"),
        ("hybrid", "bm25", "MRR@10"),
    ]


def test_a_fusion_that_names_its_parts_has_the_best_of_them_for_a_rival() -> None:
    systems = values(bm25=0.5, dense=0.9) | {
        name: {"R@10": np.full(4, 0.7)}
        for name in ("dense-law", "rrf:bm25,dense-law", "tuned:bm25,ql", "borda:ql,tfidf")
    }
    rivals = {name: rival for name, rival, _ in family(systems, ["R@10"])}
    assert rivals["rrf:bm25,dense-law"] == "dense-law"
    assert rivals["tuned:bm25,ql"] == "bm25"  # as far as its parts were measured
    assert rivals["borda:ql,tfidf"] == "dense"  # none was


def test_where_nothing_is_single_the_first_is_the_rival() -> None:
    assert family(values(hybrid=0.5, tuned=0.6), ["R@10"]) == [("tuned", "hybrid", "R@10")]
    assert family(values(bm25=0.5), ["R@10"]) == []


def measured(of: dict[str, np.ndarray]) -> Measured:
    return Measured({}, of, {}, {}, {}, {}, 0.0, 0.0)


def test_the_measures_that_people_look_at() -> None:
    rng = np.random.default_rng(0)
    names = ("R@5", "R@10", "R@100", "MRR@10")
    results = {s: measured({m: rng.random(30) for m in names}) for s in ("bm25", "ql", "hybrid")}
    found = compared(results, names, seed=1)
    assert {c.measure for c in found} == set(MEASURES)
    assert len(found) == 2 * len(MEASURES)
    assert {c.measure for c in compared(results, ["R@5"], seed=1)} == {"R@5"}  # where none was asked for
