"""Query likelihood with Dirichlet smoothing, the other lexical baseline of STARD."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from rag.errors import BadInput
from rag.retrieval.base import Mask, ScoredRetriever
from rag.retrieval.postings import add_postings
from rag.retrieval.term_counts import FieldCounts, term_ids
from rag.text import Analyser
from rag.types import Floats


class QueryLikelihood(ScoredRetriever):
    """log p(question | article) under a unigram model smoothed by the corpus (Zhai & Lafferty 2004).

    The part of the sum that is the same for every article is left out, so that a score is the sum
    over matched terms of log(1 + tf / (mu p(t | corpus))) plus |question| log(mu / (length + mu)).
    """

    def __init__(
        self,
        counts: FieldCounts,
        weights: Mapping[str, float],
        mask: Mask,
        analyser: Analyser,
        *,
        mu: float = 2000.0,  # Zhai & Lafferty 2004
    ) -> None:
        """Estimate the articles' models.

        Raises:
            BadInput: mu is not positive.
        """
        if not 0 < mu < math.inf:
            raise BadInput(f"query likelihood with mu = {mu}: it must be a number above 0, 2000 is usual")
        super().__init__(counts.order, mask)
        self.analyser = analyser
        self.vocabulary = counts.vocabulary
        tf = counts.weighted(weights)
        in_corpus = np.asarray(tf.sum(axis=0)).ravel()
        share = np.where(in_corpus > 0, in_corpus / (in_corpus.sum() or 1), 1.0)
        data = np.log1p(tf.data / (mu * share[tf.indices]))
        self.matrix = sp.csc_array(sp.csr_array((data, tf.indices, tf.indptr), shape=tf.shape))
        self.length_cost = np.log(mu / (np.asarray(tf.sum(axis=1)).ravel() + mu))
        self.in_corpus = in_corpus

    def scores(self, question: str) -> Floats:
        """Return log-likelihoods up to a constant; -inf for an article that shares no term."""
        ids = term_ids(self.analyser.terms(question), self.vocabulary)
        ids = ids[self.in_corpus[ids] > 0]
        m = self.matrix
        total, matched = add_postings(ids, m.indptr, m.indices, m.data, len(self.order.ids))
        return np.where(matched, total + len(ids) * self.length_cost, -np.inf).astype(np.float32)
