"""Bridges of a bench: learnt from the questions of a fold alone, or the one that an index has."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

from indexes.build import query_expansion as bridge
from rag.encoders.static import StaticEncoder
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.query_expansion import BridgedBM25, LawWords
from rag.retrieval.term_counts import FieldCounts
from rag.retrieval.translation_model import Bridge
from rag.text import Analyser
from rag.types import Article, Question

KEPT = 8  # learnt from different questions: of one fold and its inner folds


class Bridges:
    """Learns bridges and keeps the last few."""

    def __init__(
        self,
        articles: Sequence[Article],
        encoder: Callable[[Sequence[Question]], StaticEncoder],
        given: Bridge | None = None,
    ) -> None:
        """Learn over these articles.

        Args:
            articles: of the corpus.
            encoder: gives the one fitted to these questions and no others.
            given: of an index; nothing is learnt then.
        """
        self.given = given
        self._articles = articles
        self._encoder = encoder
        self._known: OrderedDict[tuple[Question, ...], Bridge] = OrderedDict()

    def over(
        self,
        keyword: BM25,
        counts: FieldCounts,
        cut: Analyser,
        learn: tuple[Question, ...],
        settings: BM25Settings,
    ) -> BridgedBM25:
        """Return this BM25 over the bridge of these questions; of too few, over one without pairs."""
        made = self.given or self._learnt(counts, cut, learn)
        return BridgedBM25(keyword, made, LawWords.of(counts, settings, made.law_terms))

    def _learnt(self, counts: FieldCounts, cut: Analyser, learn: tuple[Question, ...]) -> Bridge:
        if learn not in self._known:
            made = None
            if sum(bool(question.article_ids) for question in learn) >= bridge.LEAST:
                made = bridge.learnt_from(counts, self._articles, learn, cut, self._encoder(learn))
            self._known[learn] = made or Bridge({})
        self._known.move_to_end(learn)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        return self._known[learn]
