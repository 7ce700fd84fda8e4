"""Articles by the annotated questions that are most like the one asked.

What an expert cited for one question is evidence for the next that says the same: nearest-neighbour
classification (Cover & Hart 1967) with articles for labels. On STARD's questions it was the largest
single gain of all that was tried (docs/results.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress

import numpy as np
import scipy.sparse as sp

from rag.corpus.structure import citations
from rag.encoders.static import StaticEncoder
from rag.errors import BadInput
from rag.retrieval.base import Mask, ScoredRetriever
from rag.retrieval.bm25 import BM25Settings, term_scores
from rag.retrieval.term_counts import Postings, count_texts, term_ids
from rag.text import Analyser
from rag.types import ArticleOrder, Encoder, Floats, Ints, Question

QUESTION_KNN = "nearest"  # the name of its list in training.eval
# Of the list: how much the words of a question count beside its meaning, how fast its vote fades, and what
# the articles under the same headings get of it (docs/ranking.md).
WORDS, FADING, SECTION_SHARES = 0.1, 0.12, 0.2
# of votes as a feature of the learned fusion: a question as much farther in cosine counts e times less
SHARPNESS = 0.07


@dataclass(frozen=True, slots=True)
class QuestionVotes:
    """The votes of annotated questions for the articles that they cite, (n_cited,) each."""

    cosine: Floats  # of the most similar question that cites the article; 0 without an encoder, and below 0
    words: Floats  # its BM25, the questions being the documents
    # how far the questions near the one asked agree on the article: a sum over those that cite it, each
    # counting by its cosine against the best one's
    votes: Floats


@dataclass(frozen=True, repr=False)
class QuestionIndex:
    """Annotated questions as documents, with the articles that they cite."""

    questions: tuple[Question, ...]
    cited: Ints  # (n_cited,) positions of articles that any of them cites
    cites: sp.csc_array  # (n_questions, n_cited), 1 where it does
    vocabulary: Mapping[str, int]
    postings: Postings  # (n_questions, n_terms): what a term adds to BM25
    vectors: Floats | None  # (n_questions, dim) unit vectors
    terms: Sequence[Sequence[str]]  # of each question
    _last: list[tuple[Floats, Floats]] = field(default_factory=list, init=False)  # a vector, its cosines

    @classmethod
    def of(
        cls,
        questions: Sequence[Question],
        order: ArticleOrder,
        analyser: Analyser,
        encoder: Encoder | None,
        tokenised: Sequence[Sequence[str]] | None = None,
    ) -> QuestionIndex:
        """Analyse and encode questions, those that cite no article of the corpus left out.

        Without an encoder they are compared by words alone; `tokenised` is the terms of each question, where
        they are known.
        """
        citing = [any(id_ in order.positions for id_ in q.article_ids) for q in questions]
        used = tuple(compress(questions, citing))
        terms = (
            [analyser.terms(q.text) for q in used] if tokenised is None else list(compress(tokenised, citing))
        )
        pairs = np.array(citations(order.positions, used), dtype=np.int64).reshape(-1, 2)
        cited, columns = np.unique(pairs[:, 1], return_inverse=True)
        ones = np.ones(len(pairs), np.float32)
        cites = sp.csc_array((ones, (pairs[:, 0], columns)), shape=(len(used), len(cited)))
        counts = count_texts(terms)
        postings = Postings.of(term_scores(counts, BM25Settings()))
        vectors: Floats | None = None
        if isinstance(encoder, StaticEncoder) and encoder.analyser.id == analyser.id:
            vectors = encoder.encode_terms(terms)
        elif encoder is not None:
            vectors = encoder.encode_questions([q.text for q in used])
        return cls(used, cited, cites, counts.vocabulary, postings, vectors, terms)

    @cached_property
    def row(self) -> Mapping[str, int]:
        """Where each question stands, by its text."""
        return {question.text: i for i, question in enumerate(self.questions)}

    def votes(self, terms: Sequence[str], vector: Floats | None) -> Floats:
        """Return how far the questions near the one asked agree on each article, (n_cited,).

        Nearness is the cosine with the question's `vector`, (dim,), and a tenth of BM25 as a share of the
        best one's; without an encoder, or for words that it does not know, BM25 alone. Where nothing is
        near, all is 0.
        """
        words = self._words(terms)
        near = words / max(float(words.max(initial=0)), 1e-9)
        if vector is not None and self.vectors is not None and vector.any():
            near = np.maximum(self.cosines(vector), 0) + WORDS * near
        best = float(near.max(initial=0))
        if best <= 0:
            return np.zeros(len(self.cited), np.float32)
        # in double precision a sum does not depend on the order of what it adds
        each = np.where(near > 0, np.exp((near - best) / FADING), 0.0).astype(np.float64)
        return np.asarray(each @ self.cites, np.float32)

    def cosines(self, vector: Floats) -> Floats:
        """Return the cosine of each question with a `vector`, (dim,); those of the last one stay at hand."""
        if self.vectors is None:
            return np.zeros(len(self.questions), np.float32)
        last = next(iter(self._last), None)
        if last is not None and np.array_equal(last[0], vector):
            return last[1]
        # row by row: a product of the whole matrix rounds a row by where it stands
        found: Floats = np.vecdot(self.vectors, vector)
        self._last[:] = [(vector, found)]
        return found

    def _words(self, terms: Sequence[str]) -> Floats:
        return self.postings.sums(term_ids(terms, self.vocabulary), len(self.questions)).astype(np.float32)

    def nearness(self, terms: Sequence[str], vector: Floats | None) -> QuestionVotes:
        """Compare a question, and its `vector`, (dim,), with all of these."""
        none, words = np.zeros(len(self.cited), np.float32), self._best(self._words(terms))
        if vector is None or self.vectors is None:
            return QuestionVotes(none, words, none)
        cosine = np.maximum(self.cosines(vector), 0)
        best = cosine.max(initial=0)
        if best <= 0:  # none is near: votes would only count who is cited most
            return QuestionVotes(none, words, none)
        votes = np.exp((cosine - best) / SHARPNESS).astype(np.float64)  # sums do not depend on the order
        return QuestionVotes(self._best(cosine), words, np.asarray(votes @ self.cites, np.float32))

    def _best(self, similarity: Floats) -> Floats:
        """Return for each article the largest similarity of a question that cites it."""
        if not len(self.cited):
            return np.zeros(0, np.float32)
        each = similarity[self.cites.indices]  # every article has one at least, so none of the runs is empty
        return np.maximum.reduceat(each, self.cites.indptr[:-1]).astype(np.float32)


class QuestionKNN(ScoredRetriever):
    """Ranks articles by the votes of the k most similar annotated questions.

    An article that none of them cites has a fifth of the best vote under its headings.
    """

    def __init__(
        self,
        questions: Sequence[Question],
        order: ArticleOrder,
        mask: Mask,
        analyser: Analyser,
        encoder: Encoder | None = None,
        tokenised: Callable[[], Sequence[Sequence[str]]] | None = None,
        sections: Ints | None = None,
    ) -> None:
        """Take annotated questions; without an encoder they are compared by their words alone.

        `tokenised` gives the terms of each of the questions, kept from when they were analysed. `sections`
        are (n_articles,) numbers that articles under the same headings share
        (`rag.corpus.structure.section_numbers`); without them only cited articles are found.
        """
        super().__init__(order, mask)
        self._questions, self._tokenised, self._sections = questions, tokenised, sections
        self.analyser, self.encoder = analyser, encoder
        # an index puts `Dense.vector` here, so that a question is encoded once
        self.vector: Callable[[str], Floats] = lambda question: self.vectors([question])[0]

    @cached_property
    def index(self) -> QuestionIndex:
        """The questions as documents: analysed, or read, when first needed."""
        tokenised = self._tokenised() if self._tokenised is not None else None
        return QuestionIndex.of(self._questions, self.order, self.analyser, self.encoder, tokenised)

    def terms(self, text: str) -> Sequence[str]:
        """Return the terms of a text, which need not be cut again if it is one of the questions."""
        row = self.index.row.get(text)
        return self.analyser.terms(text) if row is None else self.index.terms[row]

    def nearest(self, question: str, n: int) -> float:
        """Return the mean cosine of the n annotated questions that are nearest; 0 where there are none."""
        cosines = self.index.cosines(self.vector(question))
        n = min(n, len(cosines))
        return float(np.partition(cosines, len(cosines) - n)[-n:].mean()) if n else 0.0

    def vectors(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of texts, (n_texts, dim); questions need not be encoded again.

        Without an encoder it is `BadInput`.
        """
        if self.encoder is None:
            raise BadInput("annotated questions without an encoder have no vectors: give one")
        index = self.index
        rows = [index.row.get(text, -1) for text in texts]
        if index.vectors is None or -1 in rows:
            return self.encoder.encode_questions(texts)
        return np.asarray(index.vectors[rows])

    def scores(self, question: str) -> Floats:
        """Return votes; -inf where nothing speaks for an article."""
        vector = None if self.encoder is None else self.vector(question)
        scores = np.zeros(len(self.order.ids), dtype=np.float32)
        scores[self.index.cited] = self.index.votes(self.analyser.terms(question), vector)
        if self._sections is not None and len(scores):
            best = np.zeros(int(self._sections.max()) + 1, dtype=np.float32)
            np.maximum.at(best, self._sections, scores)
            scores = np.maximum(scores, np.float32(SECTION_SHARES) * best[self._sections])
        return np.where(scores > 0, scores, -np.inf).astype(np.float32)
