"""Articles under the same headings as one that fits: lifted towards it.

A question is often answered by a run of neighbouring articles, of which some share no word with it. Ranking
a document by the cluster that it stands in is old (Jardine & van Rijsbergen 1971; Kurland & Lee 2004); in a
code the clusters are the legislator's own: the articles under the same headings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from rag.corpus.structure import Sections
from rag.fusion.rank_fusion import Fuse
from rag.types import DECIMALS, EMPTY, Ints, Ranking, rank

SECTION_BOOST = "beside"  # what explanation calls it, among the names of lists
OWN_SHARE = 0.1  # of a lifted score comes from the article's own: what is lifted alike stays in its order


def boosted(fuse: Fuse, sections: Callable[[], Sections], share: float) -> Fuse:
    """Return a fusion after which no article scores less than a share of the best under its headings.

    Only articles that a list returned are lifted, so that a filter stays what it is. The best of each
    section keeps its score. Where the best score, or the share, is 0 or less nothing is lifted. `sections`
    are asked for at every question.
    """
    if not share:
        return fuse

    def fused(rankings: Sequence[Ranking], k: int) -> Ranking:
        return boost(fuse(rankings, sum(map(len, rankings))), sections(), share, k) if k > 0 else EMPTY

    return fused


def boost(ranking: Ranking, sections: Sections, share: float, k: int | None = None) -> Ranking:
    """Return the first k (or all) of a ranking, each score at least this share of the best of its section."""
    if not len(ranking):
        return ranking
    own = ranking.scores
    top = own[_best_places(ranking, sections)]
    towards = np.where(top > 0, share * (top - OWN_SHARE * (top - own)), own)
    k = len(ranking) if k is None else k
    return rank(np.maximum(own, towards), ranking.order, k, positions=ranking.positions, decimals=None)


def _best_places(ranking: Ranking, sections: Sections) -> Ints:
    """Return where the best of each article's section stands in the ranking, (n,), from 0."""
    mine = sections.numbers[ranking.within(sections.order).positions]
    _, first, number = np.unique(mine, return_index=True, return_inverse=True)
    return np.asarray(first[number], dtype=np.int64)


def explain_boost(
    ranking: Ranking, shares: Mapping[str, Mapping[str, float]], sections: Sections
) -> tuple[Mapping[str, int], Mapping[str, Mapping[str, float]]]:
    """Return, of the articles that the boost lifted, the rank of the best under their headings.

    The second of the pair is `shares` (article id -> list -> what it adds before lifting) with what
    lifting adds to the `ranking`.
    """
    places: dict[str, int] = {}
    with_it = dict(shares)
    best = _best_places(ranking, sections)
    for (article_id, own), row in zip(shares.items(), ranking.rows(shares).tolist(), strict=True):
        if row < 0:
            continue
        added = float(ranking.scores[row]) - math.fsum(own.values())
        if best[row] < row and added > 10.0**-DECIMALS:  # less is what a rounded sum may be off by
            places[article_id] = int(best[row]) + 1
            with_it[article_id] = {**own, SECTION_BOOST: added}
    return places, with_it
