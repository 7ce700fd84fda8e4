"""Which searches of an index go over its bridge, and what of it is told."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag.engine.result import Mode
from rag.ltr.reranker import LearnedReranker
from rag.retrieval.query_expansion import ExpandedBM25
from rag.retrieval.translation_model import KEEP_ALL, ExpansionTerm, Removed, telling

RECENT = 8  # sets of removed pairs whose learned fusion stays at hand, with the candidates that it keeps


@dataclass(frozen=True)
class QueryExpansion:
    """The query expansion chosen for one question."""

    words: ExpandedBM25
    without: Removed

    def told(self, question: str, there: Collection[str]) -> tuple[ExpansionTerm, ...]:
        """Return the pairs that people are told, as `rag.retrieval.translation_model.telling` chooses.

        Who took one out did not want a weaker one of the same word told in its place.
        """
        settled = {lay for lay, _ in self.without}
        return telling([pair for pair in self.words.used(question) if pair.lay not in settled], there)

    def reached(self, question: str) -> frozenset[str]:
        """Return the law's terms that a question is expanded by."""
        return frozenset(pair.law for pair in self.words.used(question))


class QueryExpander:
    """Expands questions with the translation model of an index."""

    def __init__(self, words: ExpandedBM25 | None, learned: LearnedReranker | None) -> None:
        """Take what an index has; without a bridge nothing is searched over it."""
        self.words = words
        self._learned = learned
        self.learned = lru_cache(maxsize=RECENT)(self._learned_without)

    @property
    def ranks_hybrids(self) -> bool:
        """Whether the ranking of a hybrid search depends on the bridge."""
        return self.words is not None and (self._learned is None or self._learned.uses_bridge)

    def over(
        self, mode: Mode, without: Removed = KEEP_ALL, *, known: Sequence[object] = ()
    ) -> QueryExpansion | None:
        """Return the way that a search goes; None where it goes over no bridge.

        A question that names an article by its number is never searched by other words than its own.

        Args:
            mode: how it is searched, in fact.
            without: pairs that are not to be used.
            known: articles that the question names.
        """
        if self.words is None or known or mode == "meaning" or (mode == "hybrid" and not self.ranks_hybrids):
            return None
        return QueryExpansion(self.words.leaving_out(without), without)

    def _learned_without(self, without: Removed | None) -> LearnedReranker | None:
        """Return the learned fusion as it looks over the bridge; None looks over none."""
        if self._learned is None or not self.ranks_hybrids:
            return self._learned
        if without == KEEP_ALL:
            return self._learned
        words = self.words.leaving_out(without) if self.words is not None and without is not None else None
        return self._learned.bridged_by(words)
