"""What is said beside the articles: another law governs, typing errors were read, an answer is unlikely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag.corpus.out_of_scope import Topics
from rag.engine.confidence import Confidence, Signals
from rag.engine.searcher import Searcher
from rag.ltr.reranker import KEYWORD, MEANING
from rag.retrieval.bm25 import BM25
from rag.retrieval.dense import Dense
from rag.retrieval.question_knn import QuestionKNN
from rag.text import Analyser, SpellingCorrection
from rag.text.spelling import TolerantAnalyser
from rag.types import Question, Ranking


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

    def probability(self, question: str, lists: Mapping[str, Ranking], *, elsewhere: bool) -> float | None:
        """Return the calibrated probability, 0 to 1, that one of the first ten answers.

        None where nothing was calibrated, or a list is missing of those that were fused. `elsewhere` tells
        whether a topic of another law was matched.
        """
        if self.confidence is None or self.signals is None or not {KEYWORD, MEANING} <= set(lists):
            return None
        features = self.signals(question, lists[KEYWORD], lists[MEANING], elsewhere=elsewhere)
        return self.confidence.probability(features)

    def doubtful(self, probability: float | None) -> bool:
        """Tell whether to say that there is probably no relevant article."""
        if probability is None or self.confidence is None:
            return False
        return probability < self.confidence.threshold


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
