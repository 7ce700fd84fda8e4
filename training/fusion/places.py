"""Where gold articles stand under many fusion weights at once, without sorting anything."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rag.errors import BadInput
from rag.fusion import Matrix
from rag.fusion.matrix_fusion import exact_sum
from rag.types import Bools

NOWHERE = np.iinfo(np.int64).max  # the place of an article that is not in the ranking
_BLOCK = 256  # weights looked at together, so that what is compared stays in the processor's cache


def gold_places(
    shares: Matrix,
    held: Bools,
    gold: Sequence[int],
    weights: npt.NDArray[np.float64],
    *,
    decimals: int | None,
    cut: int,
) -> npt.NDArray[np.int64]:
    """Return the places, from 1, of a question's gold articles in each fused ranking.

    Only rivals that some system puts above a gold article are weighed against it, and nothing is
    where more rivals than the cut are above it in all systems.

    Args:
        shares: (n_systems, n_articles), what each system adds; articles in the order of their ids.
        held: (n_systems, n_articles), which system returned which article.
        gold: positions of the gold articles.
        weights: (n_points, n_systems).
        decimals: that the sums are rounded to, None for not at all.
        cut: places below it need not be told apart.

    Returns:
        (n_points, n_gold) of int; NOWHERE where no system of a weight above 0 returned the article,
        and where it cannot be among the first `cut` under any weights.
    """
    places = np.full((len(weights), len(gold)), NOWHERE, dtype=np.int64)
    if not gold:
        return places
    # Sums that differ by more than this are in the same order when summed exactly and rounded.
    margin = (0.0 if decimals is None else 1.5 * 10.0**-decimals) + 1e-9 * (1 + float(np.abs(shares).max()))
    for column, article in enumerate(gold):
        lead = shares - shares[:, article, None]
        surely = np.asarray((lead > margin).all(axis=0))  # above it under any weights
        always = int(surely.sum())
        if always >= cut:
            continue
        undecided = np.asarray((lead >= -margin).any(axis=0)) & ~surely
        rivals = np.array([r for r in np.flatnonzero(undecided) if r != article], dtype=np.int64)
        for begin in range(0, len(weights), _BLOCK):
            points = weights[begin : begin + _BLOCK]
            present = ((points > 0) & held[:, article]).any(axis=1)
            ahead = points @ lead[:, rivals]
            above = (ahead > margin).astype(np.float32) @ np.ones(
                len(rivals), dtype=np.float32
            )  # counted by BLAS
            place = 1 + always + above.astype(np.int64)
            # A place that is beyond the cut without near ties needs none of them.
            near = (np.abs(ahead) <= margin) & (present & (place <= cut))[:, None]
            place += _passed(shares, held, article, rivals, points, near, decimals)
            places[begin : begin + _BLOCK, column] = np.where(present, place, NOWHERE)
    return places


def _passed(
    shares: Matrix,
    held: Bools,
    article: int,
    rivals: npt.NDArray[np.int64],
    points: npt.NDArray[np.float64],
    near: Bools,
    decimals: int | None,
) -> npt.NDArray[np.int64]:
    """Count, point by point, the near ties that are before the article once summed exactly."""
    point, rival = np.nonzero(near)
    if not len(point):
        return np.zeros(len(points), dtype=np.int64)
    other = rivals[rival]
    own = _sums(points.T * shares[:, article, None], decimals)[point]
    theirs = _sums(points[point].T * shares[:, other], decimals)
    # An article that only systems of weight 0 returned is not in the ranking. Its sum is the least
    # possible, so that it is never above the margin, and only here can it be taken for one that is.
    ranked = ((points[point].T > 0) & held[:, other]).any(axis=0)
    before = ranked & ((theirs > own) | ((theirs == own) & (other < article)))
    return np.bincount(point[before], minlength=len(points)).astype(np.int64)


def _sums(terms: Matrix, decimals: int | None) -> Matrix:
    """Sum over the first axis and round, as exact sums would be rounded."""
    if decimals is None:
        return exact_sum(terms)
    sums = np.asarray(terms.sum(axis=0), dtype=np.float64)
    scaled = sums * 10.0**decimals
    halfway = np.abs(scaled - np.floor(scaled) - 0.5) < 1e-6 * (1 + np.abs(sums))
    sums[halfway] = exact_sum(terms[:, halfway])
    return np.round(sums, decimals) + 0.0


def measured(name: str, places: npt.NDArray[np.int64], gold: int) -> npt.NDArray[np.float64]:
    """Return a measure of each ranking from the places of a question's gold articles, (n_points,).

    Args:
        name: R@k or MRR@k.
        places: (n_points, n_found); gold articles that no system returned may be left out.
        gold: how many gold articles the question has.

    Raises:
        BadInput: a measure of another kind.
    """
    stem, cut = parse(name)
    if stem == "R":
        return np.asarray((places <= cut).sum(axis=1) / gold, dtype=np.float64)
    first = places.min(axis=1, initial=NOWHERE)
    return np.where(first <= cut, 1 / first, 0.0)


def parse(name: str) -> tuple[str, int]:
    """Split R@k or MRR@k.

    Raises:
        BadInput: a measure of another kind.
    """
    stem, _, cut = name.partition("@")
    if stem not in ("R", "MRR") or not cut.isdecimal():
        raise BadInput(f"weights cannot be tuned for {name!r}: give R@k or MRR@k, such as R@10")
    return stem, int(cut)
