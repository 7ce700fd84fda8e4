"""The first places of a ranking in another order: a retriever and a reranker are a retriever."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag.types import EMPTY, Filter, Ranking, Reranker, Retriever


@dataclass(frozen=True)
class Reranked:
    """Ranks the first places of a retriever anew; what stands below them stays below, in its order.

    The scores of the former are the reranker's. Those below go down from them in whole steps: they say
    no more than the order.
    """

    retriever: Retriever
    reranker: Reranker
    depth: int = 100

    def search(self, questions: Sequence[str], k: int, where: Filter | None = None) -> list[Ranking]:
        """Return one ranking of at most k hits a question."""
        if k <= 0:
            return [EMPTY for _ in questions]
        found = self.retriever.search(questions, max(k, self.depth), where)
        heads = self.reranker.rerank(questions, [ranking[: self.depth] for ranking in found], self.depth)
        answers: list[Ranking] = []
        for head, ranking in zip(heads, found, strict=True):
            least = head[-1].score if head else 0.0
            below = ranking.positions[self.depth :]
            positions = np.concatenate([head.within(ranking.order).positions, below])
            scores = np.concatenate([head.scores, least - np.arange(1, len(below) + 1)])
            answers.append(Ranking(ranking.order, positions, scores)[:k])
        return answers
