"""A system's score distribution over its corpus: what percentile scaling looks positions up in.

What each system adds for each article, before weights: functions of score matrices.

A score matrix is (n_systems, n_questions, n_candidates) float64; nan (or -inf) marks an article that
the system did not return. Every function works along the last axis, list by list, and so returns
the same whatever else is in the matrix. What it returns has no gaps: a missing article has been given
what it adds. Scaling by shares is that of Louis, van Dijck & Spanakis, "Know When to Fuse" (2024).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rag.errors import BadInput
from rag.types import Bools

# Share of a sample at or below each stored point: even steps, then ever finer ones towards the top,
# for the articles that fusion looks at are the best few of tens of thousands.
_EVEN = np.linspace(0.0, 1.0, 201)
_TOP = 1.0 - np.logspace(-2.3, -7.0, 200)


@dataclass(frozen=True, slots=True)
class ScoreDistribution:
    """Sorted quantiles of a system's scores over the corpus, many questions together."""

    scores: tuple[float, ...]  # strictly increasing
    levels: tuple[float, ...]  # the share of the sample at or below each of them, increasing, at most 1
    size: int  # how many scores the sample had

    def __post_init__(self) -> None:
        """Refuse no score, unequal lengths, numbers out of order or out of range."""
        points = np.array(self.scores, dtype=np.float64)
        levels = np.array(self.levels, dtype=np.float64)
        if not (
            len(points) == len(levels) > 0
            and self.size > 0
            and np.isfinite(points).all()
            and (np.diff(points) > 0).all()
            and (np.diff(levels) > 0).all()
            and 0 < levels[0] <= levels[-1] <= 1
        ):
            raise BadInput(
                f"a score distribution of {len(points)} scores at {len(levels)} levels: both must increase, "
                "one level in (0, 1] for each finite score; estimate it again with Distribution.of(scores)"
            )

    @classmethod
    def of(cls, sample: npt.ArrayLike) -> ScoreDistribution:
        """Estimate it from the scores of some questions against the whole corpus, of any shape.

        -inf counts as an article below every score (one that the system does not match at all). nan, +inf, or
        no finite score is `BadInput`.
        """
        values = np.sort(np.asarray(sample, dtype=np.float64), axis=None) + 0.0
        finite = values[np.isfinite(values)]
        if not len(finite) or np.isnan(values).any() or np.isposinf(values).any():
            raise BadInput(
                f"{len(values)} scores, {len(finite)} of them finite: a distribution needs scores that are "
                "finite, or -inf for what was not matched"
            )
        n = len(values)
        wanted = np.concatenate([np.ceil(np.concatenate([_EVEN, _TOP]) * n).astype(np.int64), [n]])
        quantiles = np.unique(values[np.clip(wanted, 1, n) - 1])
        quantiles = quantiles[np.isfinite(quantiles)]
        levels = np.searchsorted(values, quantiles, side="right") / n
        return cls(tuple(quantiles.tolist()), tuple(levels.tolist()), n)

    def position(self, scores: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
        """Return each score's position, 0 to 1: the share of the sample at or below it; nan stays nan.

        Exact at the stored scores, linear between them (so that order is kept), 0 below the lowest
        and 1 from the highest on.
        """
        return np.interp(scores.astype(np.float64, copy=False), self.scores, self.levels, left=0.0)

    def to_json(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        return {"scores": list(self.scores), "levels": list(self.levels), "size": self.size}

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> ScoreDistribution:
        """Read what `to_json` returned; anything else is `BadInput`."""
        try:
            scores, levels = entry["scores"], entry["levels"]
            if not all(isinstance(v, int | float) and math.isfinite(v) for v in (*scores, *levels)):
                raise TypeError("a score or level that is not a finite number")
            return cls(tuple(map(float, scores)), tuple(map(float, levels)), int(entry["size"]))
        except (KeyError, TypeError, OverflowError) as error:
            raise BadInput(
                f"not a score distribution ({error!r}): it needs scores, levels and size"
            ) from error


Matrix: TypeAlias = npt.NDArray[np.float64]
Share: TypeAlias = Callable[[Matrix], Matrix]  # scores with gaps -> what each system adds, without


def returned(scores: Matrix) -> Bools:
    """Tell which system returned which article; same shape."""
    return np.isfinite(scores)


def places(scores: Matrix) -> Matrix:
    """Return ranks from 1: the number of strictly larger scores of the list plus 1; nan where missing."""
    known = returned(scores)
    filled = np.where(known, scores, -np.inf)
    best_first = np.argsort(-filled, axis=-1)
    best = np.take_along_axis(filled, best_first, axis=-1)
    place = np.ones_like(filled)
    lower = best[..., 1:] < best[..., :-1]
    place[..., 1:] = np.where(lower, np.arange(2.0, scores.shape[-1] + 1), 1.0)
    found = np.empty_like(filled)
    np.put_along_axis(found, best_first, np.maximum.accumulate(place, axis=-1), axis=-1)
    return np.where(known, found, np.nan)


def borda_points(scores: Matrix) -> Matrix:
    """Return Borda's points: the list's length minus the rank plus 1; a missing article has 0."""
    known = returned(scores)
    lengths = known.sum(axis=-1, keepdims=True)
    return np.where(known, lengths - places(scores) + 1, 0.0)


def reciprocals(scores: Matrix, c: float = 60.0) -> Matrix:
    """Return 1 / (c + rank) (Cormack, Clarke & Büttcher 2009); a missing article has 0."""
    return np.where(returned(scores), 1 / (c + places(scores)), 0.0)


def min_max(scores: Matrix) -> Matrix:
    """Stretch each list from 0 to 1; a missing article has 0, so has all of a list with no spread."""
    known = returned(scores)
    low = scores.min(axis=-1, keepdims=True, initial=np.inf, where=known)
    high = scores.max(axis=-1, keepdims=True, initial=-np.inf, where=known)
    spreads = known & (high > low)
    shares: Matrix = np.divide(scores - low, high - low, out=np.zeros(scores.shape), where=spreads)
    return shares


def z_score(scores: Matrix) -> Matrix:
    """Return (score - mean) / standard deviation over each list.

    The deviation is that of the list itself (divided by n). A missing article has the list's
    minimum; a list with no spread adds 0.
    """
    # A z-score is the same after any stretching: from 0 to 1 nothing under- or overflows, equal
    # scores are told from nearly equal ones, and a missing article stands at the minimum already.
    unit = min_max(scores)
    known = returned(scores)
    shares = np.zeros_like(unit)
    for where in np.ndindex(unit.shape[:-1]):
        values = unit[where][known[where]].tolist()
        if not any(values):
            continue
        # Exact sums: the same whatever the order of the list and the width of the matrix.
        mean = math.fsum(values) / len(values)
        deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / len(values))
        shares[where] = (unit[where] - mean) / deviation
    return shares


def percentile(scores: Matrix, distributions: Sequence[ScoreDistribution]) -> Matrix:
    """Return each score's position in its system's own score distribution over the corpus.

    A missing article has 0. Nothing is divided by a list's spread, so that a list of equal scores
    adds their position as any other. Distributions come one a system, in the same
    order; another number of them is `BadInput`.
    """
    if len(distributions) != len(scores):
        raise BadInput(
            f"{len(distributions)} score distributions for {len(scores)} systems: give one for each"
        )
    positions = [of.position(own) for of, own in zip(distributions, scores, strict=True)]
    return np.where(returned(scores), positions, 0.0)
