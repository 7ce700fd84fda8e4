"""A vector for every token of every article, in half precision on disk: what late interaction searches.

For candidates, token vectors are put into neighbourhoods, each of which lists its articles (an inverted
file; Jégou et al. 2011, as in ColBERT's). A question's tokens look into the nearest of them, and an article
counts as the sum of the neighbourhoods that it was found in: MaxSim with each vector moved to its centre
(PLAID, Santhanam et al. 2022).
"""

from __future__ import annotations

import json
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeAlias

import faiss
import numpy as np
import numpy.typing as npt

from rag.errors import DamagedIndex
from rag.retrieval.base import Mask
from rag.types import ArticleOrder, Filter, Floats, Ints, Reals, rank

Halves: TypeAlias = npt.NDArray[np.float16]

BLOCK = 16_384  # tokens compared at once: with 128 numbers each 8 MiB, which a cache may hold
_FORMAT = 1
_VECTORS, _TOKENS, _OFFSETS, _STAMP = "vectors.f16", "tokens.i32", "offsets.npy", "token-vectors.json"


class EncodedText(NamedTuple):
    """The content tokens of one text, with their vectors."""

    vectors: Floats  # (n_tokens, dim), of unit length
    tokens: Ints  # (n_tokens,) numbers in the encoder's vocabulary


@dataclass(frozen=True, repr=False)
class TokenVectors:
    """The token vectors of a corpus: row `offsets[i]` to row `offsets[i + 1]` are those of article i.

    Half precision keeps three digits of a number, so a cosine of unit vectors is off by less than 1e-3.
    """

    vectors: Halves  # (n_tokens, dim)
    tokens: npt.NDArray[np.int32]  # (n_tokens,)
    offsets: Ints  # (n_articles + 1,)

    @classmethod
    def temporary(cls, dim: int, batches: Iterable[Sequence[EncodedText]]) -> TokenVectors:
        """Write token vectors into a temporary folder, which goes when nobody holds them any more."""
        folder = Path(tempfile.mkdtemp(prefix="pandect-tokens-"))
        try:
            vectors = cls.write(folder, dim, batches)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        weakref.finalize(vectors, shutil.rmtree, folder, ignore_errors=True)
        return vectors

    @classmethod
    def write(cls, folder: Path, dim: int, batches: Iterable[Sequence[EncodedText]]) -> TokenVectors:
        """Write the articles' vectors as they come, and open them; only a batch is held in memory.

        What the folder, which is there, holds of former vectors is written over.
        """
        counts = [0]
        with (folder / _VECTORS).open("wb") as vectors, (folder / _TOKENS).open("wb") as tokens:
            for batch in batches:
                for one in batch:
                    vectors.write(np.ascontiguousarray(one.vectors, dtype="<f2").tobytes())
                    tokens.write(np.ascontiguousarray(one.tokens, dtype="<i4").tobytes())
                    counts.append(len(one.tokens))
        np.save(folder / _OFFSETS, np.cumsum(counts, dtype=np.int64), allow_pickle=False)
        (folder / _STAMP).write_text(json.dumps({"format": _FORMAT, "dim": dim}) + "\n", encoding="utf-8")
        return cls.load(folder)

    @classmethod
    def load(cls, folder: Path) -> TokenVectors:
        """Open what `write` wrote; vectors and tokens stay on disk, memory-mapped.

        Where a file lacks, or is not as long as the others say, it is a `DamagedIndex`.
        """
        try:
            stamp = json.loads((folder / _STAMP).read_text(encoding="utf-8"))
            offsets: Ints = np.load(folder / _OFFSETS, allow_pickle=False)
            total, dim = int(offsets[-1]), int(stamp["dim"])
            sizes = {_VECTORS: 2 * total * dim, _TOKENS: 4 * total}
            wrong = [name for name, size in sizes.items() if (folder / name).stat().st_size != size]
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            fault = f"{folder} holds no token vectors ({error}): encode the articles again"
            raise DamagedIndex(fault) from error
        if wrong or stamp.get("format") != _FORMAT:
            name = wrong[0] if wrong else _STAMP
            raise DamagedIndex(f"{folder / name} is not as it was written: encode the articles again")
        if not total:  # an empty file cannot be mapped
            return cls(np.zeros((0, dim), np.float16), np.zeros(0, np.int32), offsets)
        vectors = np.memmap(folder / _VECTORS, dtype="<f2", mode="r", shape=(total, dim))
        tokens = np.memmap(folder / _TOKENS, dtype="<i4", mode="r", shape=(total,))
        return cls(vectors, tokens, offsets)

    @cached_property
    def counts(self) -> Ints:
        """(n_articles,) tokens of each article."""
        return np.diff(self.offsets)

    @property
    def nbytes(self) -> int:
        """Bytes on disk: vectors, tokens, and where each article's begin."""
        return int(self.vectors.nbytes + self.tokens.nbytes + self.offsets.nbytes)

    def rows(self, positions: Ints) -> Halves:
        """Return the vectors of these articles, one article after the other, (n_tokens, dim)."""
        # a view: a slice of a memory-mapped array takes ten times as long to make as one of a plain array
        held, begins, ends = np.asarray(self.vectors), self.offsets[positions], self.offsets[positions + 1]
        if len(positions) and np.array_equal(begins[1:], ends[:-1]):  # side by side: no copy
            return held[begins[0] : ends[-1]]
        spans = [held[b:e] for b, e in zip(begins.tolist(), ends.tolist(), strict=True)]
        return np.concatenate([held[:0], *spans])

    def blocks(self, positions: Ints) -> Iterator[slice]:
        """Yield pieces of `positions` that have about BLOCK tokens, at least one article each."""
        ends = np.cumsum(self.counts[positions])
        begin = 0
        while begin < len(positions):
            done = ends[begin - 1] if begin else 0
            past = max(int(np.searchsorted(ends, done + BLOCK, side="right")), begin + 1)
            yield slice(begin, past)
            begin = past


def max_sim(query: Reals, articles: TokenVectors, positions: Ints) -> Reals:
    """Return sum_i max_j query_i . article_j of each article (Khattab & Zaharia 2020), (n_positions,).

    `query` is (n_question_tokens, dim), at least one; its type is that of the arithmetic. Each of the
    articles at `positions` must have a token.
    """
    found = np.zeros(len(positions), dtype=query.dtype)
    for piece in articles.blocks(positions):
        own = positions[piece]
        counts = articles.counts[own]
        # an article's tokens side by side: the other way round numpy takes nine times as long for the maxima
        similar = query @ articles.rows(own).astype(query.dtype).T
        begins = np.cumsum(counts) - counts
        found[piece] = np.maximum.reduceat(similar, begins, axis=1).sum(axis=0)
    return found


PROBES = 8  # neighbourhoods that a token looks into
PER_ROOT = 4  # neighbourhoods a square root of tokens; ColBERTv2's 16 take four times as long to find
SAMPLED = 64  # tokens a neighbourhood that its centre is found from
ROUNDS = 8  # of k-means
# token vectors, which may lie beside them, have offsets too
_FILES = {part: f"neighbourhoods-{part}.npy" for part in ("centres", "listed", "offsets")}


@dataclass(frozen=True, repr=False)
class Neighbourhoods:
    """Centres of token vectors, and the articles that have a token there."""

    centres: Floats  # (n_centres, dim), of unit length
    listed: npt.NDArray[np.int32]  # positions of articles, of one centre after the other
    offsets: Ints  # (n_centres + 1,)

    @classmethod
    def build(cls, articles: TokenVectors, centres: int | None = None, seed: int = 1) -> Neighbourhoods:
        """Find centres by spherical k-means over a sample of the tokens, and list every article.

        None has four centres a square root of tokens; there are never more than tokens.
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
        for part, name in _FILES.items():
            np.save(folder / name, getattr(self, part), allow_pickle=False)

    @classmethod
    def load(cls, folder: Path) -> Neighbourhoods:
        """Open what `save` wrote; it stays on disk, memory-mapped."""
        return cls(*(np.load(folder / name, mmap_mode="r", allow_pickle=False) for name in _FILES.values()))

    @property
    def nbytes(self) -> int:
        """Bytes on disk."""
        return int(self.centres.nbytes + self.listed.nbytes + self.offsets.nbytes)


class TokenSearch:
    """Proposes the articles whose neighbourhoods are nearest to a question's tokens."""

    def __init__(self, near: Neighbourhoods, order: ArticleOrder, mask: Mask, probes: int = PROBES) -> None:
        self.near, self.order, self.mask, self.probes = near, order, mask, probes

    def __call__(self, question: str, query: Floats, n: int, where: Filter | None) -> Ints:
        """Return at most n positions; a filter is applied before they are counted."""
        probes = min(self.probes, len(self.near.centres))
        if n <= 0 or not probes:
            return np.zeros(0, dtype=np.int64)
        cosines = query @ np.asarray(self.near.centres).T
        listed, offsets = np.asarray(self.near.listed), np.asarray(self.near.offsets)
        total = np.zeros(len(self.order.ids))
        matched = np.zeros(len(total), dtype=np.bool_)
        for own in cosines:
            nearest = np.argsort(own, kind="stable")[-probes:]
            best = np.full(len(total), own[nearest[0]])  # who is further away has at most the last one's
            for centre in nearest:  # the nearest last: it stays
                members = listed[offsets[centre] : offsets[centre + 1]]
                best[members] = own[centre]
                matched[members] = True
            total += best
        return rank(np.where(matched, total, -np.inf), self.order, n, self.mask(where)).positions

    @property
    def nbytes(self) -> int:
        """Bytes of centres and lists."""
        return self.near.nbytes
