"""The words of a corpus: their counts, how questions to it are read, and the systems that rank by words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from indexes.corpus.corpus import Corpus
from indexes.update import term_counts
from rag.corpus.structure import section_numbers
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
from training.eval.system_names import PRECEDING


class Lexicon:
    """The words of one corpus; each way to cut it is counted once."""

    def __init__(
        self,
        corpus: Corpus,
        cache: FitCache,
        options: Mapping[str, Any],
        also: Collection[str],
        progress: Progress,
        given: FieldCounts | None = None,
    ) -> None:
        """Take a corpus, of which the articles alone are used.

        The options of the analyser go before what settings say; `also` are words of an encoder that is not
        fitted here, which typing errors may mean. `given` are counts of an index, which are not made here.
        """
        self._corpus, self._cache, self._options, self._progress = corpus, cache, options, progress
        self._also = also
        self.order = ArticleOrder.of([a.id for a in corpus.articles])
        self.mask = Mask(corpus.articles)
        self._counts: dict[bool, FieldCounts] = {} if given is None else {True: given}
        self._mended = lru_cache(MAX_CACHED_FITS)(self._mend)

    def analyser(self, *, stop_words: bool = True) -> Analyser:
        """Return the analyser of the corpus's language."""
        return analyser(**{"language": self._corpus.card.language, "stop_words": stop_words, **self._options})

    def counts(self, *, stop_words: bool = True) -> FieldCounts:
        """Return the term counts of the law's own fields."""
        if stop_words not in self._counts:
            analyser, articles = self.analyser(stop_words=stop_words), self._corpus.articles
            self._counts[stop_words] = self._cache(
                f"counts-{analyser.id}",
                lambda: count(articles, analyser, self._progress),
                term_counts.save,
                partial(term_counts.load, order=self.order),
            )
        return self._counts[stop_words]

    def question_analyser(self, learn: Sequence[Question], *, stop_words: bool = True) -> Analyser:
        """Return what mends questions by the words of the law and of these questions, as in an index."""
        return self._mended(tuple(learn), stop_words)

    def _mend(self, learn: Sequence[Question], stop_words: bool) -> Analyser:
        analyser = self.analyser(stop_words=stop_words)
        if analyser.language == "zh":
            return tolerant(analyser, {})
        counts = self.counts(stop_words=stop_words)
        counts = counts.with_questions(learn, analyser.terms) if learn else counts
        often = document_frequency(counts.weighted(dict.fromkeys(counts.fields, 1.0))).tolist()
        documents = {term: often[number] for term, number in counts.vocabulary.items()}
        return tolerant(analyser, document_frequencies(documents, self._also, self._corpus.card, analyser))

    def system(self, name: str, learn: Sequence[Question], chosen: BenchSettings) -> Retriever:
        """Return a BM25, tfidf or ql; only bm25+questions learns from the questions."""
        analyser = self.analyser(stop_words=chosen.stop_words)
        counts = self.counts(stop_words=chosen.stop_words)
        learns = name == "bm25+questions"
        asks = self.question_analyser(learn if learns else (), stop_words=chosen.stop_words)
        if learns:
            counts = counts.with_questions(learn, analyser.terms)
        if name in ("bm25", "bm25+questions", PRECEDING):
            sections = partial(section_numbers, self._corpus.articles) if name == PRECEDING else None
            return BM25.build(counts, chosen.bm25, self.mask, asks, sections)
        law = {f: w for f, w in chosen.bm25.weights.items() if f not in ANNOTATED_FIELDS}
        return (TfIdf if name == "tfidf" else QueryLikelihood)(counts, law, self.mask, asks)
