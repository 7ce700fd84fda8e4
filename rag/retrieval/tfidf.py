"""TF-IDF: the oldest baseline of the papers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from rag.retrieval.base import Mask, ScoredRetriever
from rag.retrieval.postings import add_postings
from rag.retrieval.term_counts import FieldCounts, document_frequency, term_ids
from rag.text import Analyser
from rag.types import Floats


class TfIdf(ScoredRetriever):
    """Sum of tf * log(N / df) over the question's terms, by default divided by the article's length.

    With `normalised=False` it is the scoring that BSARD prints (Louis & Spanakis 2022); dividing by
    the l2 length of the article's own weights makes it the cosine of Salton & Buckley 1988.
    """

    def __init__(
        self,
        counts: FieldCounts,
        weights: Mapping[str, float],
        mask: Mask,
        analyser: Analyser,
        *,
        normalised: bool = True,
    ) -> None:
        """Weigh every term of every article."""
        super().__init__(counts.order, mask)
        self.analyser = analyser
        self.vocabulary = counts.vocabulary
        tf = counts.weighted(weights)
        df = document_frequency(tf)
        self.idf = np.where(df > 0, np.log(tf.shape[0] / np.maximum(df, 1)), 0.0)
        data = tf.data * self.idf[tf.indices]
        matrix = sp.csr_array((data, tf.indices, tf.indptr), shape=tf.shape)
        if normalised:
            length = np.sqrt(np.asarray(matrix.power(2).sum(axis=1)).ravel())
            length[length == 0] = 1
            matrix.data /= np.repeat(length, np.diff(matrix.indptr))
            matrix.data *= self.idf[matrix.indices]  # the question's own weights
        self.matrix = sp.csc_array(matrix)

    def scores(self, question: str) -> Floats:
        """Return TF-IDF scores; -inf for an article that shares no term with the question."""
        ids = term_ids(self.analyser.terms(question), self.vocabulary)
        m = self.matrix
        total, matched = add_postings(ids, m.indptr, m.indices, m.data, len(self.order.ids))
        return np.where(matched, total, -np.inf).astype(np.float32)
