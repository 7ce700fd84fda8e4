"""A reranked retriever: the first places anew, the rest below as they were."""

from __future__ import annotations

from collections.abc import Sequence

from rag.retrieval.rerank import Reranked
from rag.types import EMPTY, Filter, Hit, Ranking


class Letters:
    """Finds a, b, c, d, e for everything."""

    def search(self, questions: Sequence[str], k: int, where: Filter | None = None) -> list[Ranking]:
        return [
            Ranking.of((id_, 9.0 - n) for n, id_ in enumerate("abcde"))[:k] if q else EMPTY for q in questions
        ]


class Reversed:
    """Turns rankings round."""

    def rerank(self, questions: Sequence[str], rankings: Sequence[Ranking], k: int) -> list[Ranking]:
        return [Ranking.of((hit.article_id, 0.5 - n) for n, hit in enumerate(r[::-1]))[:k] for r in rankings]


def test_the_first_places_are_ranked_anew_and_the_others_stay_below() -> None:
    found = Reranked(Letters(), Reversed(), depth=3)
    assert found.search(["q"], 5) == [
        (Hit("c", 0.5), Hit("b", -0.5), Hit("a", -1.5), Hit("d", -2.5), Hit("e", -3.5))
    ]
    assert found.search(["q"], 2) == [(Hit("c", 0.5), Hit("b", -0.5))]  # three are read, two are shown
    assert found.search(["q", ""], 0) == [(), ()]
    assert found.search([""], 5) == [()]
