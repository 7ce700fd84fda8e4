"""Every fusion of some systems: all combinations by Borda, reciprocal rank and normalised scores.

Louis, van Dijck & Spanakis, "Know When to Fuse" (2024): of four systems the 11 combinations of two or more
by 8 methods, 88 configurations. What is fused are arrays (n_systems, n_questions, n_candidates), and no
list is sorted: a measure needs the places of the gold articles alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations

import numpy as np

from rag.fusion.normalisation import (
    Matrix,
    ScoreDistribution,
    Share,
    borda_points,
    min_max,
    reciprocals,
    z_score,
)
from rag.types import DECIMALS, Bools, Doubles, Ints, Qrels
from training.fusion.weight_search import MEASURES as TUNED_ON
from training.fusion.weight_search import (
    NOWHERE,
    STEP,
    SystemRankings,
    as_they_are,
    best_point,
    parse,
    rounded_sums,
    simplex,
    values_at,
)

DAMPING = 60.0  # the paper's c of reciprocal rank
SCALES = ("min-max", "z-score", "percentile")
EQUAL, TUNED = "equal", "tuned"
MEASURES = ("R@10", "R@100", "MRR@10")


@dataclass(frozen=True, slots=True)
class Configuration:
    """One fusion: of which systems, and how."""

    method: str  # borda, rrf or one of SCALES
    weights: str  # equal or tuned
    parts: tuple[str, ...]

    @property
    def name(self) -> str:
        """What tables and files call it: min-max-tuned:bm25,dense."""
        how = f"{self.method}-{self.weights}" if self.method in SCALES else self.method
        return f"{how}:{','.join(self.parts)}"


def configurations(systems: Sequence[str]) -> list[Configuration]:
    """Return all fusions of two or more systems, in the order of the paper's tables: 8 a combination."""
    hows = [("borda", EQUAL), ("rrf", EQUAL), *((scale, w) for scale in SCALES for w in (EQUAL, TUNED))]
    sets = [parts for n in range(2, len(systems) + 1) for parts in combinations(systems, n)]
    return [Configuration(method, weights, parts) for parts in sets for method, weights in hows]


@dataclass(frozen=True)
class Study:
    """What every configuration gives."""

    values: Mapping[str, Mapping[str, Doubles]] = field(repr=False)  # name -> measure -> (n_questions,)
    weights: Mapping[str, tuple[tuple[float, ...], ...]]  # of tuned ones: fold -> weight of each part


def study(
    lists: SystemRankings,
    qrels: Qrels,
    parts: Sequence[tuple[int, Mapping[str, ScoreDistribution]]],
    fold_of: Ints,
    step: float = STEP,
) -> Study:
    """Measure the systems alone and every configuration.

    Weights are chosen for each fold on the questions of the others alone: those that serve best by the
    mean of R@10 and MRR@10. One grid over all systems serves every combination, for a system of weight 0
    is as if it were not there.

    Args:
        lists: the systems' rankings of questions that have gold articles.
        qrels: the gold articles, in the order of the lists' questions.
        parts: how many of the questions, in order, were asked of which systems, by their distributions.
        fold_of: (n_questions,) number of the fold that a question is in.
        step: of the weights.
    """
    gold = Gold.of(lists, qrels)
    found = {name: gold.values(own) for name, own in zip(lists.systems, lists.scores, strict=True)}
    chosen: dict[str, tuple[tuple[float, ...], ...]] = {}
    wanted, held = configurations(lists.systems), np.isfinite(lists.scores)
    for method, (own, share, decimals) in _ways(lists, parts).items():
        shares = share(own.scores)
        if method in SCALES:
            grid = simplex(len(lists.systems), step)
            tried = values_at(own, qrels, grid, TUNED_ON, share=share, decimals=decimals)
            values = np.mean(list(tried.values()), axis=0)  # (n_points, n_questions)
        for one in (c for c in wanted if c.method == method):
            at = [lists.systems.index(part) for part in one.parts]
            weights = np.full((len(at), 1), 1 / len(at) if method in SCALES else 1.0)
            if one.weights == TUNED:
                rows = np.flatnonzero(np.isclose(grid[:, at].sum(axis=1), 1))
                of_folds = choose(grid[rows][:, at], values[rows], fold_of, one.parts)
                chosen[one.name] = tuple(map(tuple, of_folds.tolist()))
                weights = of_folds[fold_of].T
            found[one.name] = gold.values(fuse(shares[at], held[at], weights, decimals))
    names = [*lists.systems, *(one.name for one in wanted)]
    return Study({name: found[name] for name in names}, chosen)


def _ways(
    lists: SystemRankings, parts: Sequence[tuple[int, Mapping[str, ScoreDistribution]]]
) -> dict[str, tuple[SystemRankings, Share, int | None]]:
    """Return by method the lists, what each score adds, and the decimals that sums are rounded to."""
    return {
        "borda": (lists, borda_points, None),
        "rrf": (lists, partial(reciprocals, c=DAMPING), None),
        "min-max": (lists, min_max, DECIMALS),
        "z-score": (lists, z_score, DECIMALS),
        "percentile": (lists.positions(parts), as_they_are, None),
    }


def choose(grid: Doubles, values: Doubles, fold_of: Ints, systems: Sequence[str]) -> Doubles:
    """Return for each fold the weights that serve the questions of the other folds best.

    `grid` is (n_points, n_systems), `values` (n_points, n_questions); returned is (n_folds, n_systems).
    """
    means = [values[:, fold_of != fold].mean(axis=1) for fold in range(int(fold_of.max()) + 1)]
    return np.array([grid[best_point(grid, of, systems)] for of in means])


def fuse(shares: Matrix, held: Bools, weights: Doubles, decimals: int | None) -> Matrix:
    """Return the fused scores, (n_questions, n_candidates); nan where no system of a weight above 0 returned.

    What each system adds and whether it returned the article are (n_systems, n_questions, n_candidates),
    weights (n_systems, n_questions), or (n_systems, 1) for the same everywhere.
    """
    factors = weights[:, :, None]
    return np.where((held & (factors > 0)).any(axis=0), rounded_sums(shares * factors, decimals), np.nan)


@dataclass(frozen=True)
class Gold:
    """Where the gold articles stand among the candidates."""

    question: Ints  # (n_found,) row of the question
    column: Ints  # (n_found,) of its candidates
    sizes: Ints  # (n_questions,) gold articles of each, those that nobody returned counted too

    @classmethod
    def of(cls, lists: SystemRankings, qrels: Qrels) -> Gold:
        """Look them up."""
        at = [
            (i, column)
            for i, (question, ids) in enumerate(zip(lists.questions, lists.articles, strict=True))
            for column, id_ in enumerate(ids)
            if id_ in qrels[question]
        ]
        rows = np.array(at, dtype=np.int64).reshape(-1, 2)
        return cls(rows[:, 0], rows[:, 1], np.array([len(qrels[q]) for q in lists.questions]))

    def places(self, scores: Matrix) -> Ints:
        """Return the places, (n_found,) from 1, of gold articles by scores (n_questions, n_candidates).

        Equal scores stand in the order of the candidates, which is that of their ids; what has none (nan) is
        nowhere.
        """
        own = scores[self.question, self.column][:, None]
        rows = scores[self.question]
        before = np.arange(scores.shape[1]) < self.column[:, None]
        places = 1 + ((rows > own) | ((rows == own) & before)).sum(axis=1)
        return np.where(np.isfinite(own[:, 0]), places, NOWHERE)

    def values(self, scores: Matrix, measures: Sequence[str] = MEASURES) -> dict[str, Doubles]:
        """Return measure -> (n_questions,) of R@k and MRR@k."""
        return self.measured(self.places(scores), measures)

    def measured(self, places: Ints, measures: Sequence[str] = MEASURES) -> dict[str, Doubles]:
        """Return the measures of places, (n_found,)."""
        first = np.full(len(self.sizes), NOWHERE)
        np.minimum.at(first, self.question, places)
        found = {}
        for name in measures:
            stem, cutoff = parse(name)
            hits = np.bincount(self.question[places <= cutoff], minlength=len(self.sizes))
            found[name] = hits / self.sizes if stem == "R" else np.where(first <= cutoff, 1 / first, 0.0)
        return found
