"""A corpus cut into words: its counts, how questions to it are read, and the systems that rank by words.

How a benchmark reads questions: typing errors are mended with the words that an index would know.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

from indexes.corpus.corpus import Corpus
from indexes.update import term_counts as counted
from rag.corpus.card import CorpusCard
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25
from rag.retrieval.lexical_baselines import QueryLikelihood, TfIdf
from rag.retrieval.term_counts import ANNOTATED_FIELDS, FieldCounts, count, document_frequency
from rag.text import Analyser
from rag.text.analysers import analyser
from rag.text.spelling import document_frequencies, tolerant
from rag.types import ArticleOrder, Progress, Question, Retriever
from training.eval.context import BenchSettings
from training.eval.encoders import MAX_CACHED_FITS, FitCache


class QuestionAnalysers:
    """The analysers of questions of the last few folds."""

    def __init__(
        self,
        card: CorpusCard,
        cut: Callable[[bool], Analyser],
        counts: Callable[[bool], FieldCounts],
        also: Collection[str],
    ) -> None:
        """Take what the words are known from.

        Args:
            card: of the corpus.
            cut: gives the analyser of the language, with stop words or without.
            counts: gives the law's terms, cut by it.
            also: words of an encoder that is not fitted here.
        """
        self._card, self._cut, self._counts, self._also = card, cut, counts, also
        self._made: OrderedDict[tuple[tuple[Question, ...], bool], Analyser] = OrderedDict()

    def of(self, learn: Sequence[Question], *, stop_words: bool = True) -> Analyser:
        """Return the analyser that knows the words of the law and of these questions, as an index has it."""
        key = tuple(learn), stop_words
        if key not in self._made:
            while len(self._made) >= MAX_CACHED_FITS:
                self._made.popitem(last=False)
            self._made[key] = self._tolerant(*key)
        return self._made[key]

    def _tolerant(self, learn: Sequence[Question], stop_words: bool) -> Analyser:
        cut = self._cut(stop_words)
        if cut.language == "zh":
            return tolerant(cut, {})
        counts = self._counts(stop_words)
        counts = counts.with_questions(learn, cut.terms) if learn else counts
        often = document_frequency(counts.weighted(dict.fromkeys(counts.fields, 1.0))).tolist()
        documents = {term: often[number] for term, number in counts.vocabulary.items()}
        return tolerant(cut, document_frequencies(documents, self._also, self._card, cut))


class Lexicon:
    """The words of one corpus; each way to cut it is counted once."""

    def __init__(
        self,
        corpus: Corpus,
        cache: FitCache,
        options: Mapping[str, Any],
        also: Collection[str],
        progress: Progress,
    ) -> None:
        """Take a corpus.

        Args:
            corpus: its articles are used, its questions are not.
            cache: keeps the counts.
            options: of the analyser; they go before what settings say.
            also: words of an encoder that is not fitted here, which typing errors may mean.
            progress: called as the work goes on.
        """
        self._corpus, self._cache, self._options, self._progress = corpus, cache, options, progress
        self.order = ArticleOrder.of([a.id for a in corpus.articles])
        self.mask = Mask(corpus.articles)
        self._counts: dict[bool, FieldCounts] = {}
        self._asking = QuestionAnalysers(
            corpus.card,
            lambda stop_words: self.analyser(stop_words=stop_words),
            lambda stop_words: self.counts(stop_words=stop_words),
            also,
        )

    def analyser(self, *, stop_words: bool = True) -> Analyser:
        """Return the analyser of the corpus's language."""
        return analyser(**{"language": self._corpus.card.language, "stop_words": stop_words, **self._options})

    def counts(self, *, stop_words: bool = True) -> FieldCounts:
        """Return the term counts of the law's own fields."""
        if stop_words not in self._counts:
            cut, articles = self.analyser(stop_words=stop_words), self._corpus.articles
            self._counts[stop_words] = self._cache(
                f"counts-{cut.id}",
                lambda: count(articles, cut, self._progress),
                counted.save,
                partial(counted.load, order=self.order),
            )
        return self._counts[stop_words]

    def question_analyser(self, learn: Sequence[Question], *, stop_words: bool = True) -> Analyser:
        """Return what reads questions, with the words of the law and of these annotated questions."""
        return self._asking.of(learn, stop_words=stop_words)

    def system(self, name: str, learn: Sequence[Question], chosen: BenchSettings) -> Retriever:
        """Return a system that ranks by words.

        Args:
            name: bm25, bm25+questions, tfidf or ql.
            learn: annotated questions; only bm25+questions learns from them.
            chosen: its settings.
        """
        cut = self.analyser(stop_words=chosen.stop_words)
        counts = self.counts(stop_words=chosen.stop_words)
        learnt = learn if name == "bm25+questions" else ()
        asks = self.question_analyser(learnt, stop_words=chosen.stop_words)
        if name == "bm25+questions":
            return BM25.build(counts.with_questions(learn, cut.terms), chosen.bm25, self.mask, asks)
        law = {f: w for f, w in chosen.bm25.weights.items() if f not in ANNOTATED_FIELDS}
        if name == "bm25":
            return BM25.build(counts, chosen.bm25, self.mask, asks)
        if name == "tfidf":
            return TfIdf(counts, law, self.mask, asks)
        return QueryLikelihood(counts, law, self.mask, asks)
