"""Fusing rankings into one: every function here takes (one ranking a system, k), as `Fuse` says.

Each lays the rankings out as a score matrix of one question and asks `rag.fusion.matrix_fusion`, so that a
page and a benchmark cannot disagree.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from rag.fusion import matrix_fusion
from rag.fusion.normalisation import Matrix, Share, min_max
from rag.types import DECIMALS, ArticleOrder, Ranking, rank

Fuse: TypeAlias = Callable[[Sequence[Ranking], int], Ranking]  # (one ranking a system, k) -> the fused one


def ranks(ranking: Ranking, wanted: Collection[str] | None = None) -> Mapping[str, int]:
    """Return each article's rank, from 1: the number of strictly larger scores plus 1.

    Args:
        ranking: best first.
        wanted: ids of the articles that are asked for; all if left out.
    """
    hits = ranking if wanted is None else [hit for hit in ranking if hit.article_id in wanted]
    return {hit.article_id: bisect_left(ranking, -hit.score, key=lambda h: -h.score) + 1 for hit in hits}


def borda(rankings: Sequence[Ranking], k: int, *, weights: Sequence[float] | None = None) -> Ranking:
    """Fuse by the sum over systems of weight × (length of the list - rank + 1) (Borda 1781).

    An article that a system did not return gets nothing from it.

    Args:
        rankings: one a system, best first.
        k: how many hits at most.
        weights: one a system, 1 each if left out; 0 takes a system out.
    """
    return _fused(rankings, k, lambda scores: matrix_fusion.borda(scores, weights), None)


def reciprocal_rank(
    rankings: Sequence[Ranking], k: int, *, c: float = 60.0, weights: Sequence[float] | None = None
) -> Ranking:
    """Fuse by the sum over systems of weight / (c + rank) (Cormack, Clarke & Büttcher 2009).

    An article that a system did not return gets nothing from it. The sums are exact (`math.fsum`)
    and so do not depend on the order of the systems; since they are functions of whole numbers they
    are sorted as they are: rounding to 5 decimals would tie everything below rank 250.

    Args:
        rankings: one a system, best first.
        k: how many hits at most.
        c: damps the top ranks.
        weights: one a system, 1 each if left out; 0 takes a system out.
    """
    return _fused(rankings, k, lambda scores: matrix_fusion.reciprocal_rank(scores, c, weights), None)


def normalised(
    rankings: Sequence[Ranking],
    k: int,
    *,
    by: Share = min_max,
    weights: Sequence[float] | None = None,
    decimals: int | None = DECIMALS,
) -> Ranking:
    """Fuse by the weighted mean of the systems' scores, each brought to one scale first.

    Args:
        rankings: one a system, best first.
        k: how many hits at most.
        by: `min_max`, `z_score`, or `partial(percentile, distributions=...)`; it also says what a
            missing article adds.
        weights: one a system, scaled here to add up to 1; equal if left out; 0 takes a system out.
        decimals: as in `rag.types.rank`; None for shares that are functions of ranks.
    """
    return _fused(rankings, k, lambda scores: matrix_fusion.normalised(scores, by, weights), decimals)


def comb_sum(
    rankings: Sequence[Ranking], k: int, *, by: Share = min_max, weights: Sequence[float] | None = None
) -> Ranking:
    """Fuse by the sum of the normalised scores: CombSUM (Fox & Shaw 1994).

    The order is that of `normalised`; the scores are not divided by the number of systems.
    """
    return _fused(rankings, k, lambda scores: matrix_fusion.comb_sum(scores, by, weights), DECIMALS)


def comb_mnz(
    rankings: Sequence[Ranking], k: int, *, by: Share = min_max, weights: Sequence[float] | None = None
) -> Ranking:
    """Fuse by CombSUM times the number of systems that returned the article: CombMNZ (Fox & Shaw 1994).

    It rewards agreement only where shares are 0 or more: `min_max` or `percentile`, not `z_score`.
    """
    return _fused(rankings, k, lambda scores: matrix_fusion.comb_mnz(scores, by, weights), DECIMALS)


def as_matrix(rankings: Sequence[Ranking]) -> tuple[tuple[str, ...], Matrix]:
    """Lay rankings of one question out as scores, (n_systems, n_articles), nan where missing.

    Returns:
        The ids of all articles, sorted as strings, and the scores at the same positions.
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


def _fused(
    rankings: Sequence[Ranking], k: int, fuse: Callable[[Matrix], Matrix], decimals: int | None
) -> Ranking:
    ids, scores = as_matrix(rankings)
    [fused] = fuse(scores[:, None, :])
    return rank(fused, in_order(ids), k, decimals=decimals)
