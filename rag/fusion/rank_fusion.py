"""Fusing rankings into one, as `Fuse` says.

A fusion takes one ranking a system, best first; k, how many hits at most; and one weight a system, 1 each if
left out, of which 0 takes a system out. What a list adds is the same function of scores as
`rag.fusion.matrix_fusion` has it, so that a page and a benchmark cannot disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from rag.fusion.matrix_fusion import alphas, checked, exact_sum
from rag.fusion.normalisation import Matrix, Share, borda_points, min_max, reciprocals
from rag.types import DECIMALS, EMPTY, ArticleOrder, Ints, Ranking, rank

Fuse: TypeAlias = Callable[[Sequence[Ranking], int], Ranking]  # (one ranking a system, k) -> the fused one
Rankings: TypeAlias = Sequence[Ranking]
Weights: TypeAlias = Sequence[float] | None


def ranks(ranking: Ranking, rows: Ints | None = None) -> Ints:
    """Return the rank of all articles, (n,), or of those in some rows: the number of larger scores plus 1."""
    scores = -ranking.scores
    return np.searchsorted(scores, scores if rows is None else scores[rows]) + 1


def borda(rankings: Rankings, k: int, *, weights: Weights = None) -> Ranking:
    """Fuse by the sum over systems of weight × (length of the list - rank + 1) (Borda 1781).

    An article that a system did not return gets nothing from it.
    """
    return _fused(rankings, k, borda_points, checked(weights, len(rankings)), None)


def reciprocal_rank(rankings: Rankings, k: int, *, c: float = 60.0, weights: Weights = None) -> Ranking:
    """Fuse by the sum over systems of weight / (c + rank) (Cormack, Clarke & Büttcher 2009).

    An article that a system did not return gets nothing from it. The sums are exact (`math.fsum`)
    and so do not depend on the order of the systems; since they are functions of whole numbers they
    are sorted as they are: rounding to 5 decimals would tie everything below rank 250.
    """
    return _fused(rankings, k, partial(reciprocals, c=c), checked(weights, len(rankings)), None)


def normalised(
    rankings: Rankings,
    k: int,
    *,
    by: Share = min_max,
    weights: Weights = None,
    decimals: int | None = DECIMALS,
) -> Ranking:
    """Fuse by the weighted mean of the systems' scores, each brought to one scale first.

    The scale is `min_max`, `z_score`, or `partial(percentile, distributions=...)`; it also says what a
    missing article adds. Weights are scaled here to add up to 1. `decimals` is that of `rag.types.rank`:
    None for shares that are functions of ranks.
    """
    return _fused(rankings, k, by, alphas(weights, len(rankings)), decimals)


def comb_sum(rankings: Rankings, k: int, *, by: Share = min_max, weights: Weights = None) -> Ranking:
    """Fuse by the sum of the normalised scores: CombSUM (Fox & Shaw 1994).

    The order is that of `normalised`; the scores are not divided by the number of systems.
    """
    return _fused(rankings, k, by, checked(weights, len(rankings)), DECIMALS)


def comb_mnz(rankings: Rankings, k: int, *, by: Share = min_max, weights: Weights = None) -> Ranking:
    """Fuse by CombSUM times the number of systems that returned the article: CombMNZ (Fox & Shaw 1994).

    It rewards agreement only where shares are 0 or more: `min_max` or `percentile`, not `z_score`.
    """
    return _fused(rankings, k, by, checked(weights, len(rankings)), DECIMALS, mnz=True)


def _fused(
    lists: Rankings, k: int, share: Share, weights: Sequence[float], decimals: int | None, mnz: bool = False
) -> Ranking:
    if not (
        used := [i for i, (mine, w) in enumerate(zip(lists, weights, strict=True)) if w > 0 and len(mine)]
    ):
        return EMPTY
    scores = np.full((len(lists), 1, max(map(len, lists)) + 1), np.nan)  # the last: of a missing article
    for row, mine in zip(scores[:, 0], lists, strict=True):
        row[: len(mine)] = mine.scores
    shares = share(scores)[:, 0]
    order, places = _aligned(lists)
    positions, columns = _union(order, [places[i] for i in used])
    terms = np.empty((len(used), len(positions)))
    for term, i, own in zip(terms, used, columns, strict=True):
        term[:] = shares[i, -1]
        term[own] = shares[i, : len(own)]
        term *= weights[i]
    fused = exact_sum(terms)
    if mnz:
        fused *= np.bincount(np.concatenate(columns), minlength=len(positions))
    return rank(fused, order, k, positions=positions, decimals=decimals)


def _aligned(rankings: Rankings) -> tuple[ArticleOrder, list[Ints]]:
    """Return one order, and each ranking's positions in it."""
    orders = [ranking.order for ranking in rankings if len(ranking)]
    if all(order is orders[0] for order in orders):
        return orders[0] if orders else EMPTY.order, [ranking.positions for ranking in rankings]
    order = ArticleOrder.of(sorted({id_ for ranking in rankings for id_ in ranking.ids}))
    return order, [ranking.within(order).positions for ranking in rankings]


def _union(order: ArticleOrder, places: Sequence[Ints]) -> tuple[Ints, list[Ints]]:
    """Return the positions that any list has, ascending, and where each list's stand among them."""
    among = np.zeros(len(order.ids), dtype=np.int64)
    for own in places:
        among[own] = 1
    positions = np.flatnonzero(among)
    among[positions] = np.arange(len(positions))
    return positions, [among[own] for own in places]


def as_matrix(rankings: Rankings) -> tuple[tuple[str, ...], Matrix]:
    """Lay rankings of one question out as scores, (n_systems, n_articles), nan where missing.

    The first of the pair is the ids of all articles, sorted as strings, at the same positions.
    """
    order, places = _aligned(rankings)
    positions, columns = _union(order, places)
    by_id = np.argsort(order.by_id[positions])
    scores = np.full((len(rankings), len(positions)), np.nan)
    for row, ranking, own in zip(scores, rankings, columns, strict=True):
        row[own] = ranking.scores
    return tuple(order.ids[p] for p in positions[by_id].tolist()), scores[:, by_id]
