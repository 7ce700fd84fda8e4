"""Fusing rankings into one, as `Fuse` says.

A fusion takes one ranking a system, best first; k, how many hits at most; and one weight a system, 1 each if
left out, of which 0 takes a system out. It lays the rankings out as a score matrix of one question for
`rag.fusion.matrix_fusion`, so that a page and a benchmark cannot disagree.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from rag.fusion.matrix_fusion import alphas, checked, weighted
from rag.fusion.normalisation import Matrix, Share, borda_points, min_max, reciprocals, returned
from rag.types import DECIMALS, ArticleOrder, Ranking, rank

Fuse: TypeAlias = Callable[[Sequence[Ranking], int], Ranking]  # (one ranking a system, k) -> the fused one
Rankings: TypeAlias = Sequence[Ranking]
Weights: TypeAlias = Sequence[float] | None


def ranks(ranking: Ranking, wanted: Collection[str] | None = None) -> Mapping[str, int]:
    """Return the rank of all articles, or of the wanted ones, from 1: the number of larger scores plus 1."""
    hits = ranking if wanted is None else [hit for hit in ranking if hit.article_id in wanted]
    return {hit.article_id: bisect_left(ranking, -hit.score, key=lambda h: -h.score) + 1 for hit in hits}


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
    ids, scores = as_matrix(lists)
    [fused] = weighted(scores[:, None, :], share, weights)
    if mnz:
        fused = fused * returned(scores)[np.array(weights) > 0].sum(axis=0)
    return rank(fused, in_order(ids), k, decimals=decimals)


def as_matrix(rankings: Rankings) -> tuple[tuple[str, ...], Matrix]:
    """Lay rankings of one question out as scores, (n_systems, n_articles), nan where missing.

    The first of the pair is the ids of all articles, sorted as strings, at the same positions.
    """
    ids = tuple(sorted({hit.article_id for ranking in rankings for hit in ranking}))
    place = {article_id: i for i, article_id in enumerate(ids)}
    scores = np.full((len(rankings), len(ids)), np.nan)
    for row, ranking in zip(scores, rankings, strict=True):
        row[[place[hit.article_id] for hit in ranking]] = [hit.score for hit in ranking]
    return ids, scores


def in_order(ids: tuple[str, ...]) -> ArticleOrder:
    """Return the order of ids that are sorted already."""
    return ArticleOrder(ids, np.arange(len(ids), dtype=np.int64))
