"""The other lexical baselines of the papers: query likelihood with Dirichlet smoothing, and TF-IDF."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp

from rag.errors import BadInput
from rag.retrieval.base import Mask, ScoredRetriever
from rag.retrieval.term_counts import FieldCounts, Postings, Weights, document_frequency, term_ids
from rag.text import Analyser
from rag.types import Floats

MU = 2000.0  # Zhai & Lafferty 2004


class QueryLikelihood(ScoredRetriever):
    """log p(question | article) under a unigram model smoothed by the corpus (Zhai & Lafferty 2004).

    The part of the sum that is the same for every article is left out, so that a score is the sum
    over matched terms of log(1 + tf / (mu p(t | corpus))) plus |question| log(mu / (length + mu)).
    A mu that is not positive is `BadInput`.
    """

    def __init__(
        self, counts: FieldCounts, weights: Weights, mask: Mask, analyser: Analyser, *, mu: float = MU
    ) -> None:
        if not 0 < mu < math.inf:
            raise BadInput(f"query likelihood with mu = {mu}: it must be a number above 0, 2000 is usual")
        super().__init__(counts.order, mask)
        self.analyser, self.vocabulary = analyser, counts.vocabulary
        tf = counts.weighted(weights)
        self.in_corpus = np.asarray(tf.sum(axis=0)).ravel()
        share = np.where(self.in_corpus > 0, self.in_corpus / (self.in_corpus.sum() or 1), 1.0)
        data = np.log1p(tf.data / (mu * share[tf.indices]))
        self.postings = Postings.of(sp.csc_array(sp.csr_array((data, tf.indices, tf.indptr), shape=tf.shape)))
        self.length_cost = np.log(mu / (np.asarray(tf.sum(axis=1)).ravel() + mu))

    def scores(self, question: str) -> Floats:
        """Return log-likelihoods up to a constant; -inf for an article that shares no term."""
        ids = term_ids(self.analyser.terms(question), self.vocabulary)
        ids = ids[self.in_corpus[ids] > 0]
        found = self.postings.scores(ids, len(self.order.ids))
        return np.asarray(found + len(ids) * self.length_cost, dtype=np.float32)


class TfIdf(ScoredRetriever):
    """Sum of tf * log(N / df) over the question's terms, by default divided by the article's length.

    With `normalised=False` it is the scoring that BSARD prints (Louis & Spanakis 2022); dividing by
    the l2 length of the article's own weights makes it the cosine of Salton & Buckley 1988.
    """

    def __init__(
        self,
        counts: FieldCounts,
        weights: Weights,
        mask: Mask,
        analyser: Analyser,
        *,
        normalised: bool = True,
    ) -> None:
        super().__init__(counts.order, mask)
        self.analyser, self.vocabulary = analyser, counts.vocabulary
        tf = counts.weighted(weights)
        df = document_frequency(tf)
        idf = np.where(df > 0, np.log(tf.shape[0] / np.maximum(df, 1)), 0.0)
        matrix = sp.csr_array((tf.data * idf[tf.indices], tf.indices, tf.indptr), shape=tf.shape)
        if normalised:
            length = np.sqrt(np.asarray(matrix.power(2).sum(axis=1)).ravel())
            length[length == 0] = 1
            matrix.data /= np.repeat(length, np.diff(matrix.indptr))
            matrix.data *= idf[matrix.indices]  # the question's own weights
        self.postings = Postings.of(sp.csc_array(matrix))

    def scores(self, question: str) -> Floats:
        """Return TF-IDF scores; -inf for an article that shares no term with the question."""
        ids = term_ids(self.analyser.terms(question), self.vocabulary)
        return self.postings.scores(ids, len(self.order.ids)).astype(np.float32)
