"""Sparse vectors over a vocabulary, searched by an inverted index (SPLADE; Formal et al. 2021)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from rag.retrieval.base import Mask, ScoredRetriever
from rag.types import ArticleOrder, Floats


class SparseEncoder(Protocol):
    """Turns questions into weights of the vocabulary's terms."""

    def encode_questions(self, questions: Sequence[str]) -> sp.csr_array:
        """Return (n_questions, n_terms) of weights above 0; an empty row for a blank question."""


class Splade(ScoredRetriever):
    """Ranks articles by the dot product of sparse weights: sum_t q_t a_t over the question's terms.

    Row i of the weights, (n_articles, n_terms), is of the article at position i of the order. Only the
    postings of terms with a weight in the question are read.
    """

    def __init__(
        self,
        encoder: SparseEncoder,
        weights: sp.csr_array,
        order: ArticleOrder,
        mask: Mask,
        terms: Sequence[str] = (),  # what the columns stand for, to show
        uncut: float | None = None,  # terms of an article, on average, before the lightest were left out
    ) -> None:
        super().__init__(order, mask)
        self.encoder, self.weights, self.terms, self.uncut = encoder, weights, terms, uncut
        self._inverted = sp.csc_array(weights)

    def scores(self, question: str) -> Floats:
        """Return (n_articles,) dot products; -inf for an article that shares no term."""
        query = self.encoder.encode_questions([question])
        postings = self._inverted
        total = np.zeros(len(self.order.ids))
        matched = np.zeros(len(self.order.ids), dtype=np.bool_)
        for term, weight in zip(query.indices, query.data, strict=True):
            span = slice(postings.indptr[term], postings.indptr[term + 1])
            at = postings.indices[span]
            total[at] += float(weight) * postings.data[span]  # a term stands once in an article
            matched[at] = True
        return np.where(matched, total, -np.inf).astype(np.float32)

    @property
    def nbytes(self) -> int:
        """Bytes of the postings: positions, weights, and where each term's begin."""
        held = self._inverted
        return int(held.data.nbytes + held.indices.nbytes + held.indptr.nbytes)

    @property
    def active(self) -> float:
        """Terms of an article with a weight, on average."""
        return self.weights.nnz / max(self.weights.shape[0], 1)

    def expansion(self, position: int, n: int = 20) -> list[tuple[str, float]]:
        """Return the heaviest terms of an article, its own words and others, with their weights."""
        row = slice(self.weights.indptr[position], self.weights.indptr[position + 1])
        columns, data = self.weights.indices[row], self.weights.data[row]
        best = np.lexsort((columns, -data))[:n]
        names = self.terms if len(self.terms) else range(self.weights.shape[1])
        return [(str(names[columns[i]]), float(data[i])) for i in best]
