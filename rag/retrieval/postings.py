"""Sum what a question's terms add to each article, from a matrix held by term."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rag.types import Ints


def add_postings(
    ids: Ints,
    indptr: npt.NDArray[np.integer],
    indices: npt.NDArray[np.integer],
    data: npt.NDArray[np.floating],
    n_articles: int,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the sums (n_articles,) and which articles hold at least one of the terms.

    Args:
        ids: term numbers; a term that stands twice in the question counts twice.
        indptr: (n_terms + 1,), where each term's postings begin (compressed sparse columns).
        indices: article positions.
        data: what the term adds there.
        n_articles: size of the corpus.
    """
    total = np.zeros(n_articles, dtype=np.float64)
    matched = np.zeros(n_articles, dtype=np.bool_)
    for term, times in zip(*np.unique(ids, return_counts=True), strict=True):
        span = slice(int(indptr[term]), int(indptr[term + 1]))
        where = indices[span]  # distinct, so that += adds each once
        total[where] += times * data[span].astype(np.float64)
        matched[where] = True
    return total, matched
