"""What is said beside the articles: another law governs, typing errors were read, an answer is unlikely."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag.corpus.card import Elsewhere
from rag.corpus.out_of_scope import Topics
from rag.engine.confidence import Confidence, Signals
from rag.engine.relevance import features as relevance_features
from rag.engine.searcher import Searcher
from rag.ltr.reranker import KEYWORD, MEANING
from rag.retrieval.bm25 import BM25
from rag.retrieval.dense import Dense
from rag.retrieval.question_knn import QuestionKNN
from rag.screening.language import question_language
from rag.screening.lay_terms import FRENCH, french_terms
from rag.text import Analyser, SpellingCorrection
from rag.text.patterns import data
from rag.text.spelling import TolerantAnalyser
from rag.types import Question, Ranking

_NAME = re.compile(r"(?<![A-Za-z])[A-Z]{3,5}(?![A-Za-z])")  # as of a benefit, in any script


@dataclass(frozen=True, slots=True)
class Likelihood:
    """How likely an answer is among the first ten articles, and where."""

    probability: float | None = None  # that one of them answers
    doubtful: bool = False  # it is below its threshold: probably none does
    answer_set: int | None = None  # very probably an answer is among so many of the first
    marked: bool = False  # the first one very probably answers


UNKNOWN = Likelihood()


@dataclass(frozen=True, slots=True)
class Notices:
    """Finds what a reader must be told of one question besides its articles."""

    topics: Topics  # what another law governs
    analyser: Analyser  # of questions; only one that reads typing errors has corrections to tell
    confidence: Confidence | None = None  # None: nothing was calibrated
    signals: Signals | None = None  # its features; None where there is no confidence

    def calibrated(
        self, confidence: Confidence | None, searcher: Searcher, sha256: str, questions: Sequence[Question]
    ) -> Notices:
        """Return the same with a confidence; one of another corpus (by its SHA-256) or ranking is ignored.

        The similarity of the annotated questions is a feature.
        """
        fitted_for = (confidence.corpus_sha256, confidence.ranked_by) if confidence is not None else None
        signals = signals_of(searcher, self.analyser, questions)
        if signals is None or fitted_for != (sha256, searcher.ranked_by):
            return self
        return Notices(self.topics, self.analyser, confidence, signals)

    def corrections(self, question: str) -> tuple[SpellingCorrection, ...]:
        """Return the words of a question that were read as others."""
        return self.analyser.mended(question) if isinstance(self.analyser, TolerantAnalyser) else ()

    def foreign_topics(self, question: str) -> tuple[Elsewhere, ...] | None:
        """Return the topics of another law that a question in another language than the law's is about.

        None of a question in the law's own, which other evidence is weighed of.
        """
        law = self.analyser.language
        if law != FRENCH or question_language(question, law) == law:
            return None
        named = frozenset() if question.isupper() else frozenset(_NAME.findall(question))
        terms = set(french_terms(question, None)).difference(data("rag.screening", "incidental")["terms"])
        return self.topics.match_terms(terms, named) or self.topics.find(question)

    def features(self, question: str, lists: Mapping[str, Ranking]) -> dict[str, float] | None:
        """Return the features of a search of the whole corpus, no topic told.

        None where a list is missing of those that were fused, or nothing was calibrated.
        """
        if self.signals is None or not {KEYWORD, MEANING} <= set(lists):
            return None
        return self.signals(question, lists[KEYWORD], lists[MEANING], elsewhere=False)

    def governing(self, question: str, features: Mapping[str, float] | None) -> tuple[Elsewhere, ...]:
        """Return the topics of another law, weighed with what was found; without features not weighed."""
        if features is None:
            return self.topics.find(question) or self.topics.classify(question)
        return self.topics.governing(question, features["meaning_top"])

    def likelihood(
        self,
        ranking: Ranking,
        lists: Mapping[str, Ranking],
        features: Mapping[str, float] | None,
        *,
        elsewhere: bool,
    ) -> Likelihood:
        """Return the calibrated likelihood of an answer among the first ten of a fused ranking.

        Nothing is known where nothing was calibrated, or a list is missing of those that were fused.
        `elsewhere` tells whether a topic of another law was matched.
        """
        if self.confidence is None or features is None:
            return UNKNOWN
        found = {**features, "elsewhere": float(elsewhere)}
        probability = self.confidence.probability(found)
        if probability < self.confidence.threshold:
            return Likelihood(probability, doubtful=True)
        relevance = self.confidence.relevance
        if relevance is None:
            return Likelihood(probability)
        each = relevance.probabilities(relevance_features(ranking, lists, self.confidence.odds(found)))
        return Likelihood(probability, False, relevance.answer_set(each), relevance.marks(each))


def signals_of(searcher: Searcher, analyser: Analyser, questions: Sequence[Question]) -> Signals | None:
    """Return what makes a confidence's features of a search; None without a BM25 and an encoder.

    `questions` are the annotated ones that the index learnt from.
    """
    keyword, meaning = searcher.keyword, searcher.meaning
    if not isinstance(keyword, BM25) or not isinstance(meaning, Dense):
        return None
    nearest = searcher.nearest_questions
    if nearest is None:
        nearest = QuestionKNN(questions, keyword.order, keyword.mask, analyser, meaning.encoder)
        nearest.vector = meaning.vector
    return Signals(analyser, keyword, meaning.encoder, nearest)
