"""Articles under the same headings as one that fits: lifted towards it.

A question is often answered by a run of neighbouring articles, of which some share no word with it. Ranking
a document by the cluster that it stands in is old (Jardine & van Rijsbergen 1971; Kurland & Lee 2004); in a
code the clusters are the legislator's own: the articles under the same headings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from rag.fusion.rank_fusion import Fuse, in_order
from rag.types import DECIMALS, Ranking, rank

SECTION_BOOST = "beside"  # what explanation calls it, among the names of lists
OWN_SHARE = 0.1  # of a lifted score comes from the article's own: what is lifted alike stays in its order


def boosted(fuse: Fuse, group: Callable[[], Mapping[str, int]], share: float) -> Fuse:
    """Return a fusion after which no article scores less than a share of the best under its headings.

    Only articles that a list returned are lifted, so that a filter stays what it is. The best of each
    group keeps its score. Where the best score, or the share, is 0 or less nothing is lifted. `group` gives
    article id -> number of its headings; it is asked for at every question.
    """
    if not share:
        return fuse

    def fused(rankings: Sequence[Ranking], k: int) -> Ranking:
        if k <= 0:
            return ()
        return boost(fuse(rankings, sum(map(len, rankings))), group(), share)[:k]

    return fused


def boost(ranking: Ranking, group: Mapping[str, int], share: float) -> Ranking:
    """Return the ranking with each article's score at least this share of the best of its group.

    An article without a group is alone.
    """
    best: dict[int, float] = {}
    for hit in ranking:
        best.setdefault(group.get(hit.article_id, -1), hit.score)
    best.pop(-1, None)
    by_id = sorted(ranking, key=lambda hit: hit.article_id)
    own = np.array([hit.score for hit in by_id], dtype=np.float64)
    top = np.array([best.get(group.get(hit.article_id, -1), hit.score) for hit in by_id], dtype=np.float64)
    towards = np.where(top > 0, share * (top - OWN_SHARE * (top - own)), own)
    order = in_order(tuple(hit.article_id for hit in by_id))
    return rank(np.maximum(own, towards), order, len(by_id), decimals=None)


def explain_boost(
    ranking: Ranking, shares: Mapping[str, Mapping[str, float]], group: Mapping[str, int]
) -> tuple[Mapping[str, int], Mapping[str, Mapping[str, float]]]:
    """Return, of the articles that the boost lifted, the rank of the best under their headings.

    The second of the pair is `shares` (article id -> list -> what it adds before lifting) with what
    lifting adds to the `ranking`.
    """
    scores = {hit.article_id: (place, hit.score) for place, hit in enumerate(ranking, start=1)}
    best: dict[int, int] = {}
    for article_id, (place, _) in scores.items():
        best.setdefault(group.get(article_id, -1), place)
    places: dict[str, int] = {}
    with_it = dict(shares)
    for article_id, own in shares.items():
        if article_id not in scores:
            continue
        place, score = scores[article_id]
        added = score - math.fsum(own.values())
        first = best[group.get(article_id, -1)]
        if first < place and added > 10.0**-DECIMALS:  # less is what a rounded sum may be off by
            places[article_id] = first
            with_it[article_id] = {**own, SECTION_BOOST: added}
    return places, with_it
