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
    at, added = _gathered(ids, indptr, indices, data)
    matched = np.zeros(n_articles, dtype=np.bool_)
    matched[at] = True
    return _summed(at, added, n_articles), matched


def sum_postings(
    ids: Ints,
    indptr: npt.NDArray[np.integer],
    indices: npt.NDArray[np.integer],
    data: npt.NDArray[np.floating],
    n_articles: int,
) -> npt.NDArray[np.float64]:
    """Return the sums of `add_postings` alone."""
    return _summed(*_gathered(ids, indptr, indices, data), n_articles)


def columns(positions: Ints, n_articles: int) -> npt.NDArray[np.int32]:
    """Return where each article stands among those asked for, (n_articles,); -1 where it is none of them.

    Args:
        positions: of the articles asked for, each once.
        n_articles: size of the corpus.
    """
    column = np.full(n_articles, -1, dtype=np.int32)
    column[positions] = np.arange(len(positions), dtype=np.int32)
    return column


def _gathered(
    ids: Ints,
    indptr: npt.NDArray[np.integer],
    indices: npt.NDArray[np.integer],
    data: npt.NDArray[np.floating],
) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.floating]]:
    # views: a slice of a memory-mapped array takes ten times as long to make as one of a plain array
    begins, where, adds = np.asarray(indptr), np.asarray(indices), np.asarray(data)
    terms, times = np.unique(ids, return_counts=True)
    if not len(terms):
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    spans = [slice(int(begins[term]), int(begins[term + 1])) for term in terms]
    # a product would be rounded where it is not widened first; most terms stand once, and need neither
    added = [adds[s] if t == 1 else t * adds[s].astype(np.float64) for s, t in zip(spans, times, strict=True)]
    return np.concatenate([where[span] for span in spans]), np.concatenate(added)


def _summed(
    at: npt.NDArray[np.integer], added: npt.NDArray[np.floating], n_articles: int
) -> npt.NDArray[np.float64]:
    return np.asarray(np.bincount(at, weights=added, minlength=n_articles), dtype=np.float64)
