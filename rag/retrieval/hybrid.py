"""Several retrievers fused into one, which is a retriever again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from rag.errors import BadInput
from rag.fusion.rank_fusion import Fuse, reciprocal_rank
from rag.fusion.settings import DAMPING
from rag.types import EMPTY, Filter, Ranking, Retriever

DEPTH = 1000  # how far down each list fusion looks
damped: Fuse = partial(reciprocal_rank, c=DAMPING)


class Hybrid:
    """Asks each retriever and fuses what they return."""

    def __init__(self, parts: Mapping[str, Retriever], fuse: Fuse = damped, depth: int = DEPTH) -> None:
        """Refuse fewer than two retrievers, or a depth below 1, as `BadInput`."""
        if len(parts) < 2:
            raise BadInput(f"a hybrid of {list(parts)}: name at least two retrievers")
        if depth < 1:
            raise BadInput(f"a hybrid of depth {depth}: it must look at 1 article or more")
        self.parts, self.fuse, self.depth = dict(parts), fuse, depth

    def search(self, questions: Sequence[str], k: int, where: Filter | None = None) -> list[Ranking]:
        """Return one fused ranking of at most k hits a question."""
        return [fused for fused, _ in self.search_parts(questions, k, where)]

    def search_parts(
        self, questions: Sequence[str], k: int, where: Filter | None = None
    ) -> list[tuple[Ranking, Mapping[str, Ranking]]]:
        """Return with each fused ranking the lists that it was made of, for explanation."""
        if k <= 0:
            return [(EMPTY, dict.fromkeys(self.parts, EMPTY)) for _ in questions]
        depth = max(k, self.depth)
        lists = {name: part.search(questions, depth, where) for name, part in self.parts.items()}
        by_question = [{name: rankings[i] for name, rankings in lists.items()} for i in range(len(questions))]
        return [(self.fuse(list(mine.values()), k), mine) for mine in by_question]
