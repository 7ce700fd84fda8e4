"""BM25 and dense retrieval over a vector store: it proposes articles, which are scored here exactly.

A store sums in single precision, and what it holds may be a little older than the law: terms weigh there what
they do in BM25 less the idf, by the mean length of articles at the time. How far off both may be is known, so
that what is proposed holds all that could be among the first k. The idf goes with the question, so that it is
that of the whole collection, in however many parts a store keeps it.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Protocol

import faiss
import numpy as np

from rag.retrieval.base import ScoredRetriever
from rag.retrieval.bm25 import BM25, Variant, inverse_document_frequency
from rag.retrieval.dense import SPARE, Dense
from rag.retrieval.query_expansion import ExpandedBM25
from rag.retrieval.term_counts import term_ids
from rag.types import DECIMALS, EMPTY, Doubles, Filter, Floats, Ints, Ranking, rank

ROUNDING = 1e-5  # relative: hundreds of sums in single precision are off by less


class Candidates(Protocol):
    """Where articles are found that may be among the first."""

    @property
    def drift(self) -> float:
        """How far the weights of terms may be below those of today, as a natural logarithm."""

    def by_terms(self, weights: Mapping[int, float], n: int, where: Filter | None) -> tuple[Ints, Doubles]:
        """Return the first n articles by the sum of weighted dimensions: positions, and the sums.

        The sums come the largest first. Fewer than n are all that hold one of the dimensions and pass; a
        position of -1 is an article that this index does not know.
        """

    def by_vector(self, vector: Floats, n: int, where: Filter | None, *, exact: bool) -> tuple[Ints, Doubles]:
        """Return the first n articles by inner product with a vector, (dim,), in the same way."""


def dimension(term: str, *, of_law: bool = False) -> int:
    """Return the dimension, below 2 ** 32, of a term in all fields of an article, or in those of the law.

    Where two terms meet in one, an article is proposed that need not be, and nothing is missed.
    """
    name = f"{'law' if of_law else 'all'}\0{term}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(name, digest_size=4).digest(), "big")


def search_candidates(
    ask: Callable[[int], tuple[Ints, Doubles]],
    score: Callable[[Ints], Ranking],
    k: int,
    most: Callable[[float], float],
) -> Ranking:
    """Return the first k articles: proposed by `ask`, as many as are needed, and ranked by `score`.

    `most` gives the largest score of an article that is proposed with a lower sum than this.
    """
    depth = k + SPARE
    while True:
        positions, sums = ask(depth)
        ranking = score(np.sort(positions[positions >= 0]))  # what is read then lies in order
        if len(positions) < depth:
            return ranking
        if len(ranking) == k and most(float(sums[-1])) + 2 * 10.0**-DECIMALS < ranking.scores[-1]:
            return ranking
        depth *= 4


class _CandidateRetriever(ScoredRetriever):
    """A retriever by terms whose candidates a store proposes."""

    candidates: Candidates

    @abstractmethod
    def weights_of(self, question: str) -> Mapping[int, float]:
        """Return the weights of the dimensions that a question asks for."""

    def search(self, questions: Sequence[str], k: int, where: Filter | None = None) -> list[Ranking]:
        """Return one ranking of at most k hits a question; an unmatched question has none."""
        return [self._first(question, k, where) for question in questions]

    def _first(self, question: str, k: int, where: Filter | None) -> Ranking:
        weights = self.weights_of(question)
        k = min(k, len(self.order.ids))
        if k <= 0 or not weights:
            return EMPTY
        factor = math.exp(self.candidates.drift) * (1 + ROUNDING)
        return search_candidates(
            lambda n: self.candidates.by_terms(weights, n, where),
            lambda at: rank(self.scores_at(question, at), self.order, k, positions=at),
            k,
            lambda sum_: sum_ * factor,
        )


class StoredBM25(_CandidateRetriever, BM25):
    """BM25 whose candidates a store proposes; postings are read of them alone."""

    def __init__(self, of: BM25, candidates: Candidates, variant: Variant) -> None:
        """Take an opened index, of which a store holds the weights by this variant."""
        super().__init__(of.index, of.order, of.mask, of.analyser, of.weights, of.sections)
        self.candidates, self.variant = candidates, variant

    def rarity(self, df: Sequence[int]) -> list[float]:
        """Return the idf of terms that stand in so many articles."""
        found = inverse_document_frequency(np.array(df, np.int64), len(self.order.ids), self.variant)
        return [float(idf) for idf in found]

    def weights_of(self, question: str) -> Mapping[int, float]:
        """Return the idf of a question's terms, each as often as it is there."""
        known = self.index.vocab_dict
        often = Counter(term for term in self.analyser.terms(question) if term in known)
        ids, begins = term_ids(often, known), self.postings.indptr
        idf = self.rarity((begins[ids + 1] - begins[ids]).tolist())
        found: dict[int, float] = defaultdict(float)
        for (term, times), weight in zip(often.items(), idf, strict=True):
            found[dimension(term)] += times * weight
        return found

    def scores_at(self, question: str, positions: Ints) -> Floats:
        """Return the scores of articles at some positions, as `scores` has them of all."""
        terms = term_ids(self.analyser.terms(question), self.index.vocab_dict)
        ids, times = np.unique(terms, return_counts=True)
        parts, preceding = (
            times[:, None] * added
            for added in (self.postings.of_terms(ids, positions), self.from_preceding(ids, positions))
        )
        scores = _sum(parts) + _sum(preceding)
        return np.where(np.isnan(parts).all(axis=0), -np.inf, scores).astype(np.float32)


class StoredExpandedBM25(_CandidateRetriever, ExpandedBM25):
    """BM25 with query expansion whose candidates a store proposes."""

    keyword: StoredBM25

    @property
    def candidates(self) -> Candidates:  # type: ignore[override]
        """The store that BM25 asks."""
        return self.keyword.candidates

    def weights_of(self, question: str) -> Mapping[int, float]:
        """Return the weights of a question's own terms and of those that it is expanded by."""
        found = defaultdict(float, self.keyword.weights_of(question))
        pairs, begins = self.used(question), self.words.indptr
        numbers = [self._number[pair.law] for pair in pairs]
        idf = self.keyword.rarity([int(begins[n + 1] - begins[n]) for n in numbers])
        for pair, rarity in zip(pairs, idf, strict=True):
            found[dimension(pair.law, of_law=True)] += self.weight * pair.weight * rarity
        return found

    def scores_at(self, question: str, positions: Ints) -> Floats:
        """Return the scores of articles at some positions, as `scores` has them of all."""
        typed = self.keyword.scores_at(question, positions)
        pairs = self.model.expand(self.keyword.analyser.terms(question), self.without)
        numbers = np.array([self._number[pair.law] for pair in pairs], dtype=np.int64)
        weights = np.array([pair.weight for pair in pairs], dtype=np.float64)
        added = self.weight * _sum(weights[:, None] * self.words.postings.of_terms(numbers, positions))
        scores = np.where(np.isfinite(typed), typed, 0.0) + added
        return np.where(np.isfinite(typed) | (added != 0), scores, -np.inf).astype(np.float32)


def _sum(parts: Doubles) -> Doubles:
    """Sum (n_terms, n) parts, nan counting as 0, term after term: as `Postings.sums` rounds."""
    total = np.zeros(parts.shape[1])
    for part in parts:
        total += np.nan_to_num(part)
    return total


class StoredDense(Dense):
    """Dense retrieval whose candidates a store proposes; vectors are read of them alone."""

    def __init__(self, of: Dense, candidates: Candidates) -> None:
        """Take an opened index, of which a store holds the vectors."""
        super().__init__(of.encoder, of.index, of.order, of.mask)
        self.candidates = candidates

    def warm(self) -> None:
        """Read nothing: the store holds the vectors."""

    def _nearest(self, vectors: Floats, k: int, where: Filter | None) -> list[Ranking]:
        k = min(k, len(self.order.ids))
        faiss.omp_set_num_threads(1)  # a few hundred vectors are read: starting threads costs more
        return [self._first(vector, k, where) if vector.any() else EMPTY for vector in vectors]

    def _first(self, vector: Floats, k: int, where: Filter | None) -> Ranking:
        exact = not isinstance(self.index, faiss.IndexHNSW)
        return search_candidates(
            lambda n: self.candidates.by_vector(vector, n, where, exact=exact),
            lambda at: self._exact(vector, at, k),
            k,
            lambda product: product + ROUNDING,
        )
