"""Candidates for late interaction: articles with a token near one of the question's.

Token vectors are put into neighbourhoods, each of which lists its articles (an inverted file; Jégou et
al. 2011, as in ColBERT's). A question's tokens look into the nearest of them, and an article counts as
the sum of the neighbourhoods that it was found in: MaxSim with each vector moved to its centre (PLAID,
Santhanam et al. 2022).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import faiss
import numpy as np
import numpy.typing as npt

from rag.retrieval.base import Mask
from rag.retrieval.token_index import BLOCK, TokenVectors
from rag.types import ArticleOrder, Filter, Floats, Ints, first

PROBES = 8  # neighbourhoods that a token looks into
PER_ROOT = 4  # neighbourhoods a square root of tokens; ColBERTv2's 16 take four times as long to find
SAMPLED = 64  # tokens a neighbourhood that its centre is found from
ROUNDS = 8  # of k-means
_PARTS = ("centres", "listed", "offsets")


@dataclass(frozen=True)
class Neighbourhoods:
    """Centres of token vectors, and the articles that have a token there."""

    centres: Floats = field(repr=False)  # (n_centres, dim), of unit length
    listed: npt.NDArray[np.int32] = field(repr=False)  # positions of articles, of one centre after the other
    offsets: Ints = field(repr=False)  # (n_centres + 1,)

    @classmethod
    def build(cls, articles: TokenVectors, centres: int | None = None, seed: int = 1) -> Neighbourhoods:
        """Find centres by spherical k-means over a sample of the tokens, and list every article.

        Args:
            articles: of the corpus.
            centres: how many; None has four a square root of tokens. Never more than tokens.
            seed: of sample and first centres.
        """
        total, dim = articles.vectors.shape
        wanted = min(centres or round(PER_ROOT * np.sqrt(total)), total)
        if not wanted:
            return cls(np.zeros((0, dim), np.float32), np.zeros(0, np.int32), np.zeros(1, np.int64))
        drawn = np.random.default_rng(seed).permutation(total)[: SAMPLED * wanted]
        sample = articles.vectors[np.sort(drawn)].astype(np.float32)
        means = faiss.Kmeans(
            dim, wanted, niter=ROUNDS, spherical=True, seed=seed, min_points_per_centroid=1,
            max_points_per_centroid=SAMPLED,
        )  # fmt: skip
        means.train(sample)
        found = np.asarray(means.centroids, dtype=np.float32)
        nearest = faiss.IndexFlatIP(dim)
        nearest.add(found)
        own = np.empty(total, dtype=np.int64)
        for begin in range(0, total, BLOCK):
            block = articles.vectors[begin : begin + BLOCK].astype(np.float32)
            own[begin : begin + BLOCK] = nearest.search(block, 1)[1][:, 0]
        n_articles = len(articles.counts)
        pairs = np.unique(own * n_articles + np.repeat(np.arange(n_articles), articles.counts))
        ends = np.searchsorted(pairs, np.arange(wanted + 1) * n_articles)
        return cls(found, (pairs % n_articles).astype(np.int32), ends.astype(np.int64))

    def save(self, folder: Path) -> None:
        """Write centres and lists into a folder that is there."""
        for part in _PARTS:
            np.save(folder / _file(part), getattr(self, part), allow_pickle=False)

    @classmethod
    def load(cls, folder: Path) -> Neighbourhoods:
        """Open what `save` wrote; it stays on disk, memory-mapped."""
        return cls(*(np.load(folder / _file(part), mmap_mode="r", allow_pickle=False) for part in _PARTS))

    @property
    def nbytes(self) -> int:
        """Bytes on disk."""
        return int(self.centres.nbytes + self.listed.nbytes + self.offsets.nbytes)


def _file(part: str) -> str:
    return f"neighbourhoods-{part}.npy"  # token vectors, which may lie beside them, have offsets too


class TokenSearch:
    """Proposes the articles whose neighbourhoods are nearest to a question's tokens."""

    def __init__(self, near: Neighbourhoods, order: ArticleOrder, mask: Mask, probes: int = PROBES) -> None:
        """Search these lists, whose positions are those of `order`."""
        self.near, self.order, self.mask, self.probes = near, order, mask, probes

    def __call__(self, question: str, asked: Floats, n: int, where: Filter | None) -> Ints:
        """Return at most n positions; a filter is applied before they are counted."""
        probes = min(self.probes, len(self.near.centres))
        if n <= 0 or not probes:
            return np.zeros(0, dtype=np.int64)
        cosines = asked @ np.asarray(self.near.centres).T
        listed, offsets = np.asarray(self.near.listed), np.asarray(self.near.offsets)
        total = np.zeros(len(self.order.ids))
        matched = np.zeros(len(total), dtype=np.bool_)
        for own in cosines:
            nearest = np.argsort(own, kind="stable")[-probes:]
            best = np.full(len(total), own[nearest[0]])  # who is further away has at most the last one's
            for centre in nearest:  # the nearest last: it stays
                there = listed[offsets[centre] : offsets[centre + 1]]
                best[there] = own[centre]
                matched[there] = True
            total += best
        positions, _ = first(np.where(matched, total, -np.inf), self.order.by_id, n, self.mask(where))
        return positions

    @property
    def nbytes(self) -> int:
        """Bytes of centres and lists."""
        return self.near.nbytes
