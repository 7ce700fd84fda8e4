"""Fusing score matrices, of one question or of a whole benchmark.

A score matrix is (n_systems, n_questions, n_candidates) float64, nan where a system did not return
an article; the fused scores are (n_questions, n_candidates), nan for an article that no system (of a
weight above 0) returned. They are not rounded: `rag.types.rank` does that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rag.errors import BadInput
from rag.fusion.normalisation import Matrix, Share, returned

_EPSILON = float(np.finfo(np.float64).eps)


def exact_sum(terms: Matrix) -> Matrix:
    """Sum over the first axis as `math.fsum` does: the order of the terms changes nothing."""
    if len(terms) <= 2:  # one addition is rounded once: exact in that sense already
        return np.asarray(terms.sum(axis=0) + 0.0, dtype=np.float64)
    # What each addition rounds off is known exactly. Only the sum of that is rounded, within a bound: the few
    # sums that it leaves too near to the middle of two numbers are added again in full.
    total, lost, bound = terms[0], np.zeros_like(terms[0]), np.zeros_like(terms[0])
    for term in terms[1:]:
        total, error = _two_sum(total, term)
        lost, bound = lost + error, bound + np.abs(error)
    sums, rest = _two_sum(total, lost)
    size, off = np.abs(sums), np.abs(rest) + len(terms) * _EPSILON * bound
    unsure = np.flatnonzero((bound > 0) & (2 * off >= size - np.nextafter(size, 0)))
    if len(unsure):
        columns = terms.reshape(len(terms), -1)[:, unsure].T.tolist()
        sums.reshape(-1)[unsure] = [math.fsum(column) for column in columns]
    return np.asarray(sums + 0.0, dtype=np.float64)


def _two_sum(a: Matrix, b: Matrix) -> tuple[Matrix, Matrix]:
    """Return the rounded sum, and exactly what rounding took off it (Knuth 1969, section 4.2.2)."""
    total = a + b
    virtual = total - a
    return total, (a - (total - virtual)) + (b - virtual)


def checked(weights: Sequence[float] | None, systems: int) -> tuple[float, ...]:
    """Return one weight a system, 1 each if left out; others, negative ones or no numbers are `BadInput`."""
    if weights is None:
        return (1.0,) * systems
    if len(weights) != systems:
        fault = "longer" if len(weights) > systems else "shorter"
        raise BadInput(f"{len(weights)} weights for {systems} systems: the list is {fault} than it must be")
    if not all(math.isfinite(w) and w >= 0 for w in weights):
        raise BadInput(f"weights {list(weights)}: each must be 0 or more (0 takes a system out)")
    return tuple(float(w) for w in weights)


def alphas(weights: Sequence[float] | None, systems: int) -> tuple[float, ...]:
    """Return the weights scaled to add up to 1; equal if left out, as they are if all are 0."""
    given = checked(weights, systems)
    total = math.fsum(given)
    if total == 0 or abs(total - 1) < 1e-12:  # those that do but for rounding are taken as they are
        return given
    return tuple(w / total for w in given)


def weighted(scores: Matrix, share: Share, weights: Sequence[float]) -> Matrix:
    """Return the weighted sum of the shares; a system of weight 0 is as if it were not there."""
    factors = np.array(weights, dtype=np.float64)
    terms = share(scores) * factors[:, None, None]
    held = returned(scores) & (factors > 0)[:, None, None]
    return np.where(held.any(axis=0), exact_sum(terms[factors > 0]), np.nan)
