"""What every retriever that scores a whole corpus shares: filters, the k that is asked for, the sort."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache

from rag.corpus.articles import Articles
from rag.types import EMPTY, Article, ArticleOrder, Bools, Filter, Floats, Ints, Ranking, rank


class Mask:
    """Turns a filter into the positions that it admits; keeps the last few answers."""

    def __init__(self, articles: Sequence[Article]) -> None:
        self.articles = Articles.of(articles)
        self._positions = lru_cache(maxsize=32)(self._admitted)

    def __call__(self, where: Filter | None) -> Bools | None:
        """Return (n_articles,) bool, or None when everything is admitted."""
        return None if where is None or where == Filter() else self._positions(where)

    def _admitted(self, where: Filter) -> Bools:
        return self.articles.admitted(where)


class ScoredRetriever(ABC):
    """A retriever that gives every article a score, -inf where it has none."""

    def __init__(self, order: ArticleOrder, mask: Mask) -> None:
        self.order, self.mask = order, mask

    @abstractmethod
    def scores(self, question: str) -> Floats:
        """Return (n_articles,) float32; -inf marks an article that must not be returned."""

    def scores_at(self, question: str, positions: Ints) -> Floats:
        """Return the scores of the articles at some positions, (n,) float32."""
        return self.scores(question)[positions]

    def search(self, questions: Sequence[str], k: int, where: Filter | None = None) -> list[Ranking]:
        """Return one ranking of at most k hits a question; an unmatched question has none."""
        if k <= 0:
            return [EMPTY for _ in questions]
        keep = self.mask(where)
        return [rank(self.scores(question), self.order, k, keep) for question in questions]
