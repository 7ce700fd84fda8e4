"""How systems differ: score distributions, regions of pairs, what each finds alone, an oracle.

The figures of Louis, van Dijck & Spanakis, "Know When to Fuse" (2024): 2 (distributions by scaling), 3
(regions by quartiles) and 6 (scores of pairs).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from rag.fusion.normalisation import ScoreDistribution, min_max, z_score
from rag.types import Bools, Doubles, Qrels
from training.fusion.archive import Pairs, SystemOutput
from training.fusion.study import MEASURES, Gold
from training.fusion.weight_search import NOWHERE, SystemRankings

FOUND = 10  # articles of a list among which a gold one counts as found
LOW, HIGH = 0.25, 0.75  # quartiles of a system's own scores over the corpus
REGIONS = ("both high", "only a high", "only b high", "both low")
BINS = 40
SCALINGS = ("raw", "min-max", "z-score", "percentile")


@dataclass(frozen=True)
class Complementarity:
    """What is counted and drawn."""

    distributions: Mapping[str, Mapping[str, tuple[Doubles, Doubles]]] = field(repr=False)
    regions: Mapping[tuple[str, str], Mapping[str, Mapping[str, float]]]
    scatter: Mapping[str, tuple[Doubles, tuple[float, float]]] = field(repr=False)
    right: Bools = field(repr=False)  # (n_pairs,) which pairs are of a gold article
    alone: Mapping[str, int]  # systems joined by " + " -> gold articles that these and no others find
    gold: int  # gold articles in all
    oracle: Mapping[str, Mapping[str, Doubles]] = field(repr=False)  # which -> measure -> (n_questions,)


def complementarity(
    lists: SystemRankings,
    qrels: Qrels,
    asked: Mapping[str, SystemOutput],
    pairs: Pairs,
    parts: Sequence[tuple[int, Mapping[str, ScoreDistribution]]],
) -> Complementarity:
    """Look at systems whose rankings, of questions with gold articles, are given."""
    gold = Gold.of(lists, qrels)
    places = np.array([gold.places(own) for own in lists.scores]).reshape(len(lists.systems), -1)
    positions = {name: _positions(pairs, own) for name, own in asked.items()}
    right = np.array(pairs.right, dtype=np.bool_)
    return Complementarity(
        _distributions(lists, parts),
        {(a, b): _regions(positions[a], positions[b], right) for a, b in combinations(asked, 2)},
        {name: (own.paired, _quartiles(own.distributions)) for name, own in asked.items()},
        right,
        _alone(lists.systems, places <= FOUND),
        int(gold.sizes.sum()),
        oracle(gold, places),
    )


def oracle(gold: Gold, places: Doubles) -> dict[str, dict[str, Doubles]]:
    """Return what two oracles give, that know the gold articles: no fusion of these lists can do better.

    "choice" takes for each question, by each measure, the system that serves it best; "fusion" puts every
    gold article that some list holds before all others. Places are (n_systems, n_found).
    """
    of_each = [gold.measured(own) for own in places]
    choice = {name: np.max([of[name] for of in of_each], axis=0) for name in MEASURES}
    best = np.zeros(places.shape[1], dtype=np.int64)
    held = (places < NOWHERE).any(axis=0)
    for row in range(len(gold.sizes)):  # those held stand at 1, 2, 3 …
        own = np.flatnonzero((gold.question == row) & held)
        best[own] = np.arange(1, len(own) + 1)
    return {"choice": choice, "fusion": gold.measured(np.where(held, best, NOWHERE))}


def _alone(systems: Sequence[str], found: Bools) -> dict[str, int]:
    """Count the gold articles by which systems find them, (n_systems, n_found) of bool; none is left out."""
    counted = {}
    for n in range(1, len(systems) + 1):
        for some in combinations(range(len(systems)), n):
            exactly = np.array([s in some for s in range(len(systems))])[:, None]
            counted[" + ".join(systems[s] for s in some)] = int((found == exactly).all(axis=0).sum())
    return counted


def _distributions(
    lists: SystemRankings, parts: Sequence[tuple[int, Mapping[str, ScoreDistribution]]]
) -> dict[str, dict[str, tuple[Doubles, Doubles]]]:
    """Return scaling -> system -> edges (BINS + 1,) and density (BINS,) of the candidates' scores."""
    scaled = {"raw": lists.scores, "min-max": min_max(lists.scores), "z-score": z_score(lists.scores)}
    scaled["percentile"] = lists.positions(parts).scores
    held = np.isfinite(lists.scores)
    found: dict[str, dict[str, tuple[Doubles, Doubles]]] = {}
    for scaling in SCALINGS:
        kept = [own[has] for own, has in zip(scaled[scaling], held, strict=True)]
        ends = [np.quantile(own, [0.001, 0.999]) for own in kept if len(own)]
        low, high = float(np.min(ends, initial=0.0)), float(np.max(ends, initial=0.0))
        if scaling == "percentile":  # candidates are the best few of the corpus: all stand near 1
            low = min(float(np.quantile(own, 0.02)) for own in kept if len(own))
            high = 1.0
        found[scaling] = {}
        for name, own in zip(lists.systems, kept, strict=True):
            span = (float(np.min(own)), float(np.max(own))) if scaling == "raw" else (low, high)
            counts, edges = np.histogram(own, BINS, range=span)
            share = np.asarray(counts / max(len(own), 1), dtype=np.float64)
            if scaling == "raw":  # each system has units of its own: drawn from its least to its largest
                edges = np.linspace(0.0, 1.0, BINS + 1)
            found[scaling][name] = edges, share
    return found


def _positions(pairs: Pairs, own: SystemOutput) -> Doubles:
    """Return where each pair's score stands in the corpus, (n_pairs,), by its own part's system."""
    part = {id_: number for number, ids in enumerate(pairs.questions) for id_ in ids}
    numbers = np.array([part[id_] for id_ in pairs.question], dtype=np.int64)
    found = np.zeros(len(numbers))
    for number, distribution in enumerate(own.distributions):
        found[numbers == number] = distribution.position(own.paired[numbers == number])
    return found


def _quartiles(distributions: Sequence[ScoreDistribution]) -> tuple[float, float]:
    """Return the first and third quartile, a part's mean: what is not matched is below every score."""
    both = [[float(np.interp(level, of.levels, of.scores)) for level in (LOW, HIGH)] for of in distributions]
    low, high = np.mean(both, axis=0)
    return float(low), float(high)


def _regions(a: Doubles, b: Doubles, right: Bools) -> dict[str, dict[str, float]]:
    """Return region -> share of the right and of the wrong pairs there; the rest is between the quartiles."""
    where = {
        "both high": (a > HIGH) & (b > HIGH),
        "only a high": (a > HIGH) & (b < LOW),
        "only b high": (a < LOW) & (b > HIGH),
        "both low": (a < LOW) & (b < LOW),
    }
    kinds = {"right": right, "wrong": ~right}
    return {
        name: {kind: float(region[of].mean()) if of.any() else 0.0 for kind, of in kinds.items()}
        for name, region in where.items()
    }


def to_json(found: Complementarity) -> dict[str, Any]:
    """Return what a result file says: counts and shares; the scores themselves are drawn alone."""
    return {
        "pairs": len(found.right),
        "regions": [{"a": a, "b": b, **shares} for (a, b), shares in found.regions.items()],
        "found": {"first": FOUND, "gold": found.gold, "by": dict(found.alone)},
    }
