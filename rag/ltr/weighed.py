"""What articles have of a question's terms, each term counting by a weight that was learnt elsewhere.

BM25 knows how rare a term is, not whether it matters to the question: *the travel contract's content* is not
answered by the content of another contract, however well the other words fit. Term weights that are learnt
tell so (Zheng & Callan 2015); here they only describe candidates, and a learned fusion weighs what they say.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rag.retrieval.bm25 import BM25
from rag.retrieval.postings import columns
from rag.types import Floats, Ints


def term_parts(bm25: BM25, terms: Sequence[str], positions: Ints) -> Floats:
    """Return what each term adds to the BM25 of each article, (n_terms, n); 0 where it does not stand.

    Args:
        bm25: whose postings are looked at.
        terms: of the question, each once.
        positions: (n,) of the articles.
    """
    matrix = bm25.index.scores
    # views: a slice of a memory-mapped array takes ten times as long to make as one of a plain array
    indptr, indices, data = (np.asarray(matrix[part]) for part in ("indptr", "indices", "data"))
    added = np.zeros((len(terms), len(positions)), dtype=np.float32)
    column = columns(positions, len(bm25.order.ids))
    known = [
        (row, bm25.index.vocab_dict[term]) for row, term in enumerate(terms) if term in bm25.index.vocab_dict
    ]
    if not known:
        return added
    spans = [slice(int(indptr[number]), int(indptr[number + 1])) for _, number in known]
    at = column[np.concatenate([indices[span] for span in spans])]
    mine = at >= 0
    rows = np.repeat([row for row, _ in known], [span.stop - span.start for span in spans])
    added[rows[mine], at[mine]] = np.concatenate([data[span] for span in spans])[mine]
    return added


def summed(parts: Floats, times: Sequence[int]) -> Floats:
    """Return the BM25 of each article, (n,), in the order of the terms, whatever the other articles are.

    Args:
        parts: (n_terms, n), what each term adds.
        times: (n_terms,), how often the question has each.
    """
    often = np.array(times, np.float64)[:, None]
    return np.asarray((parts * often).sum(axis=0), np.float32)


def by_weight(parts: Floats, weights: Floats) -> list[Floats]:
    """Describe articles by the weight of the terms that they have.

    Args:
        parts: (n_terms, n), what each term adds to the BM25 of each.
        weights: (n_terms,), 0 or more.

    Returns:
        Four arrays, (n,) each: BM25 with each term times its weight; the share of all weight that is there;
        the heaviest term that is there, and the heaviest that is not, as shares of the heaviest of all.
    """
    there = parts != 0  # one variant of BM25 counts what most articles have against them
    weighed = there * weights[:, None]
    whole, most = float(weights.sum(dtype=np.float64)), float(weights.max(initial=0))
    if most <= 0:  # nothing is known of any term
        return [np.zeros(parts.shape[1], np.float32) for _ in range(4)]
    absent = np.where(there, np.float32(0), weights[:, None])
    return [
        np.asarray(weights.astype(np.float64) @ parts, np.float32),
        np.asarray(weighed.sum(axis=0, dtype=np.float64) / whole, np.float32),
        weighed.max(axis=0) / np.float32(most),
        absent.max(axis=0) / np.float32(most),
    ]
