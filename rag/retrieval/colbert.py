"""Late interaction: a vector a token, each token of the question finds its best one of the article.

    s(q, a) = sum_i max_j q_i . a_j     (MaxSim; ColBERT, Khattab & Zaharia 2020)

over unit vectors, so that every term of the sum is a cosine. All articles are compared, or those that
a `Propose` gives by position: the tokens' neighbourhoods (`rag.retrieval.token_index`), or any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Protocol, TypeAlias

import numpy as np

from rag.retrieval.base import Mask
from rag.retrieval.token_index import EncodedText, TokenVectors, max_sim
from rag.types import EMPTY, ArticleOrder, Filter, Floats, Ints, Ranking, rank

# question, its vectors, how many, filter -> positions of articles that are admitted, in any order
Propose: TypeAlias = Callable[[str, Floats, int, Filter | None], Ints]

RECENT = 8  # questions whose vectors stay at hand: who searches for one has the answer explained next
# a token of the question: scores as near to the last place are computed again; 32 bits err by less
SLACK = 2e-5


class TokenEncoder(Protocol):
    """Turns questions into a vector a token."""

    def encode_questions(self, questions: Sequence[str]) -> list[EncodedText]:
        """Return the tokens of each question; none for a blank one."""


class ColBERT:
    """Ranks articles by MaxSim; what is proposed is scored exactly, one question at a time.

    First in 32 bits, then what may reach the last place once more in 64, so that neither the size of a
    batch nor which articles stand beside each other changes a result.
    """

    def __init__(
        self,
        encoder: TokenEncoder,
        articles: TokenVectors,
        order: ArticleOrder,
        mask: Mask,
        propose: Propose | None = None,
        depth: int = 1000,
    ) -> None:
        """Search the token vectors of articles, in the positions of `order`.

        Without something that proposes candidates every article is compared. They are `depth`, or as many
        as are asked for where these are more.
        """
        self.encoder, self.articles, self.order, self.mask = encoder, articles, order, mask
        self.propose, self.depth = propose, depth
        self._held = articles.counts > 0
        self.encoded = lru_cache(maxsize=RECENT)(self._encoded)

    def search(self, questions: Sequence[str], k: int, where: Filter | None = None) -> list[Ranking]:
        """Return one ranking of at most k hits a question; one without tokens has none."""
        return [self._best(question, k, where) for question in questions]

    def _best(self, question: str, k: int, where: Filter | None) -> Ranking:
        if k <= 0 or not self.order.ids:
            return EMPTY
        query = self.encoded(question).vectors
        positions = self._candidates(question, query, k, where) if len(query) else EMPTY.positions
        if not len(positions):
            return EMPTY
        if len(positions) > 2 * k:  # else twice is not quicker
            rough = max_sim(query, self.articles, positions)
            last = np.partition(rough, len(rough) - k)[len(rough) - k]
            positions = positions[rough >= last - SLACK * len(query)]
        exact = max_sim(query.astype(np.float64), self.articles, positions)
        return rank(exact, self.order, k, positions=positions)

    def scores(self, question: str) -> Floats:
        """Return every article's MaxSim, (n_articles,) float32; -inf where either side has no token.

        It reads all vectors, whatever proposes candidates: for estimates, not for answers.
        """
        found = np.full(len(self.order.ids), -np.inf, dtype=np.float32)
        query, held = self.encoded(question).vectors, np.flatnonzero(self._held)
        if len(query) and len(held):
            found[held] = max_sim(query.astype(np.float32), self.articles, held)
        return found

    @property
    def nbytes(self) -> int:
        """Bytes of the index on disk, with what proposes where that tells."""
        return self.articles.nbytes + int(getattr(self.propose, "nbytes", 0))

    def _candidates(self, question: str, query: Floats, k: int, where: Filter | None) -> Ints:
        if self.propose is not None:
            found = self.propose(question, query, max(k, self.depth), where)
            return np.sort(found[self._held[found]])
        keep = self.mask(where)
        return np.flatnonzero(self._held if keep is None else self._held & keep)

    def _encoded(self, question: str) -> EncodedText:
        """Return the tokens of one question; `encoded` keeps the last few. Not to be written to."""
        return self.encoder.encode_questions([question])[0]
