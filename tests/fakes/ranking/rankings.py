"""Lists to fuse, for hypothesis: few scores and few articles, so that much ties and much is missing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from hypothesis import strategies as st

from rag.fusion.normalisation import Matrix, ScoreDistribution, percentile, z_score
from rag.fusion.rank_fusion import Fuse, borda, comb_mnz, comb_sum, normalised, reciprocal_rank
from rag.types import Ranking

IDS = "abcdefghij"
SCORES = [-2.5, -1.0, 0.0, 0.1, 0.125, 1 / 3, 1.0, 3.0, 7.0]
SHAPE = ScoreDistribution.of([-1.0, 0.0, 0.0, 0.1, 0.5, 2.0, 4.0, 8.0])


def ranking(**scores: float) -> Ranking:
    return Ranking.of((i, s) for i, s in sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])))


@st.composite
def rankings(draw: st.DrawFn, least: int = 0) -> Ranking:
    return ranking(
        **draw(
            st.dictionaries(st.sampled_from(IDS), st.sampled_from(SCORES), min_size=least, max_size=len(IDS))
        )
    )


def lists(least: int = 1, most: int = 4) -> st.SearchStrategy[list[Ranking]]:
    return st.lists(rankings(), min_size=least, max_size=most)


def fusions(systems: int) -> dict[str, Fuse]:
    """Every fusion, for so many systems."""
    positions = partial(percentile, distributions=[SHAPE] * systems)
    return {
        "borda": borda,
        "reciprocal rank": reciprocal_rank,
        "min-max": normalised,
        "z-score": partial(normalised, by=z_score),
        "percentile": partial(normalised, by=positions),
        "CombSUM": comb_sum,
        "CombMNZ": comb_mnz,
    }


NAMES = tuple(fusions(1))


def as_dict(fused: Ranking) -> dict[str, float]:
    return {hit.article_id: hit.score for hit in fused}


def stacked(benchmark: Sequence[Sequence[Ranking]], ids: Sequence[str], blank: int) -> Matrix:
    """(n_systems, n_questions, n_candidates) over these ids, with columns of nan after them."""
    scores = np.full((len(benchmark[0]), len(benchmark), len(ids) + blank), np.nan)
    for question, systems in enumerate(benchmark):
        for system, mine in enumerate(systems):
            for hit in mine:
                scores[system, question, ids.index(hit.article_id)] = hit.score
    return scores
