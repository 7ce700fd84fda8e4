"""Nearest vectors: dense retrieval on FAISS (Karpukhin et al. 2020; Douze et al. 2024)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, get_args

import faiss
import numpy as np

from rag.errors import BadInput
from rag.retrieval.base import Mask
from rag.storage import mapped
from rag.types import DECIMALS, EMPTY, ArticleOrder, Doubles, Encoder, Filter, Floats, Ints, Ranking, rank

Kind: TypeAlias = Literal["flat", "hnsw", "8bit"]
SPARE = 64  # candidates past k that are scored again, for ties at the edge
WALK = 128  # the fewest articles that a walk through the graph compares
WARMED = 256 * 2**20  # bytes of vectors
BLOCK = 8192  # vectors that are read at once
RECENT = 8  # questions whose vectors stay at hand: who searches for one has the answer explained next
INT8_FILE = "vectors-int8.faiss"
# articles for each that is asked for, from which on bytes pay: twice as many are proposed, and scored again
INT8_PAYS = 32
INT8_FROM = 32_000  # articles, from which on an index keeps them: fusion asks for a thousand
BATCH = 8  # from so many questions on, more threads pay


def build_vectors(vectors: Floats, kind: Kind = "flat") -> faiss.Index:
    """Index unit vectors, (n_articles, dim) float32, by inner product.

    "flat" is exact; "hnsw" a navigable graph (Malkov & Yashunin 2020), approximate and fast, which may miss
    some of many articles of one and the same vector; "8bit" exact search over vectors rounded to bytes, a
    quarter of the memory. Another kind is `BadInput`.
    """
    dim = vectors.shape[1]
    index: Any  # what each kind has of its own
    if kind == "flat":
        index = faiss.IndexFlatIP(dim)
    elif kind == "hnsw":
        index = faiss.IndexHNSWFlat(dim, 32, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = 200
        index.hnsw.efSearch = WALK
    elif kind == "8bit":
        index = faiss.IndexScalarQuantizer(dim, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT)
        if len(vectors):
            index.train(vectors)
    else:
        raise BadInput(f"vector index {kind!r}: choose one of {', '.join(get_args(Kind))}")
    if len(vectors):
        index.add(np.ascontiguousarray(vectors, dtype=np.float32))
    return cast(faiss.Index, index)


@dataclass(frozen=True)
class Int8Vectors:
    """Vectors rounded to bytes, which find what is then scored exactly: a quarter of the memory is read.

    How far rounding may move a cosine is known, so that nothing is missed (scalar quantisation with
    re-scoring).
    """

    index: faiss.Index
    scale: float  # a byte is a number of the vector times this
    error: float  # the largest distance of a vector from its bytes

    @classmethod
    def of(cls, vectors: Floats) -> Int8Vectors:
        """Round unit vectors, (n_articles, dim) float32, all with one scale."""
        largest = max((float(np.abs(block).max()) for block in _blocks(vectors)), default=0.0)
        scale = 127 / (largest or 1.0)
        library: Any = faiss.ScalarQuantizer  # its stubs leave some kinds out
        index = faiss.IndexScalarQuantizer(
            vectors.shape[1], library.QT_8bit_direct_signed, faiss.METRIC_INNER_PRODUCT
        )
        error = 0.0
        for block in _blocks(vectors):
            codes = np.round(block * np.float32(scale))
            index.add(codes)
            error = max(error, float(np.linalg.norm(block - codes / np.float32(scale), axis=1).max()))
        return cls(index, scale, error)

    def search(
        self, questions: Floats, n: int, params: faiss.SearchParameters | None = None
    ) -> tuple[Floats, Ints, Doubles]:
        """Return the n nearest of each question, (n_questions, n) cosines and positions.

        Questions, (n_questions, dim), not zeros, are rounded too: FAISS multiplies bytes. Last comes how far
        the cosine of any article may be off, (n_questions,): the bound of Cauchy and Schwarz.
        """
        scale = 127 / np.abs(questions).max(axis=1, keepdims=True)
        rounded = np.round(questions * scale)
        found, positions = self.index.search(rounded, n, params=params)
        lost = np.linalg.norm(questions - rounded / scale, axis=1)
        off = lost * (1 + self.error) + np.linalg.norm(questions, axis=1) * self.error
        return found / (scale * np.float32(self.scale)), positions, off.astype(np.float64)

    def save(self, folder: Path) -> None:
        """Write it into a folder."""
        faiss.write_index(self.index, str(folder / INT8_FILE))
        about = {"scale": self.scale, "error": self.error}
        (folder / INT8_FILE).with_suffix(".json").write_text(json.dumps(about) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Int8Vectors | None:
        """Open what `save` wrote, memory-mapped; None where there is none."""
        if not (folder / INT8_FILE).is_file():
            return None
        about = json.loads((folder / INT8_FILE).with_suffix(".json").read_text(encoding="utf-8"))
        return cls(Dense.load_index(folder / INT8_FILE), float(about["scale"]), float(about["error"]))


def _blocks(vectors: Floats) -> Iterator[Floats]:
    return (vectors[begin : begin + BLOCK] for begin in range(0, len(vectors), BLOCK))


class Dense:
    """Ranks articles by the cosine of their vector with the question's.

    FAISS proposes, row i being the article at position i of the order; the proposed are scored again one
    question at a time, so that neither FAISS's order of ties nor the size of a batch changes a result.
    """

    def __init__(
        self,
        encoder: Encoder,
        index: faiss.Index,
        order: ArticleOrder,
        mask: Mask,
        int8: Int8Vectors | None = None,
    ) -> None:
        """Search an index, or the bytes of the same vectors before it."""
        self.encoder, self.index, self.order, self.mask = encoder, index, order, mask
        self.int8 = int8
        self._threads = os.cpu_count() or 1
        self.vector = lru_cache(maxsize=RECENT)(self._vector)

    def save(self, path: Path) -> None:
        """Write the vectors as a FAISS file."""
        faiss.write_index(self.index, str(path))

    @staticmethod
    def load_index(path: Path) -> faiss.Index:
        """Open a FAISS file; its vectors stay on disk, memory-mapped."""
        flag = faiss.IO_FLAG_MMAP_IFC if mapped() else 0  # IO_FLAG_MMAP maps inverted lists alone
        return faiss.read_index(str(path), flag)

    def search(self, questions: Sequence[str], k: int, where: Filter | None = None) -> list[Ranking]:
        """Return one ranking of at most k hits a question; one with no known word has none."""
        if k <= 0 or not self.order.ids or not questions:
            return [EMPTY for _ in questions]
        one = len(questions) == 1
        vectors = self.vector(questions[0])[None] if one else self.encoder.encode_questions(questions)
        return self._nearest(vectors, k, where)

    def _nearest(self, vectors: Floats, k: int, where: Filter | None) -> list[Ranking]:
        """Return the rankings of vectors, (n_questions, dim).

        What is proposed is as many as are asked for and a few more. Where others could still be as good, the
        question is asked again for four times as many; the others are not, so that what an approximate
        index finds does not depend on the batch.
        """
        keep = self.mask(where)
        admitted = np.arange(len(self.order.ids)) if keep is None else np.flatnonzero(keep)
        answers = [EMPTY for _ in vectors]
        pending = np.flatnonzero(np.any(vectors != 0, axis=1))
        # one thread answers one question faster than two do: starting the others costs more
        faiss.omp_set_num_threads(1 if len(pending) < BATCH else self._threads)
        graph = isinstance(self.index, faiss.IndexHNSW)
        int8 = self.int8 if len(admitted) >= INT8_PAYS * k else None
        depth = k + max(SPARE, k if int8 is not None else 0)
        while len(pending):
            walk = max(WALK, depth) * len(self.order.ids) // max(len(admitted), 1)  # a filter turns most away
            if depth >= len(admitted) or (graph and walk >= len(admitted)):
                for i in pending:
                    answers[i] = self._exact(vectors[i], admitted, k)
                break
            params = self._params(walk, None if keep is None else admitted)
            asked, off = vectors[pending], np.zeros(len(pending))
            if int8 is not None:
                scores, positions, off = int8.search(asked, depth, params)
            else:
                scores, positions = self.index.search(asked, depth, params=params)
            for i, found in zip(pending, positions, strict=True):
                answers[i] = self._exact(vectors[i], found[found >= 0], k)
            # what was not proposed has at most this, and what rounding could still tie is proposed
            rest = scores[:, -1] + off + 2 * 10.0**-DECIMALS
            worst = [answers[i].scores[-1] if len(answers[i]) else -np.inf for i in pending]
            pending, depth = pending[rest >= worst], 4 * depth
        return answers

    def _exact(self, vector: Floats, candidates: Ints, k: int) -> Ranking:
        positions = np.sort(candidates)
        stored = self.index.reconstruct_batch(positions).astype(np.float64)
        return rank(np.vecdot(stored, vector.astype(np.float64)), self.order, k, positions=positions)

    def warm(self) -> None:
        """Read the vectors, as many as `WARMED` bytes: a page of a file is slow when it is first read."""
        size = min(len(self.order.ids), WARMED // max(4 * self.index.d, 1))
        for begin in range(0, size, BLOCK):
            self.index.reconstruct_n(begin, min(BLOCK, size - begin))
        if self.int8 is not None:
            self.int8.search(np.ones((1, self.index.d), np.float32), 1)

    def _vector(self, question: str) -> Floats:
        """Return the vector of one question, (dim,); `vector` keeps the last few. Not to be written to."""
        vector: Floats = self.encoder.encode_questions([question])[0]
        vector.flags.writeable = False
        return vector

    def scores(self, question: str) -> Floats:
        """Return every article's cosine, (n_articles,) float32; -inf throughout for no known word.

        Exact whatever the kind of index. It reads all vectors: for estimates, not for answers.
        """
        total = len(self.order.ids)
        vector = self.vector(question)
        found = np.full(total, -np.inf, dtype=np.float32)
        if vector.any():
            for begin in range(0, total, BLOCK):
                size = min(BLOCK, total - begin)
                found[begin : begin + size] = self.index.reconstruct_n(begin, size) @ vector
        return found

    def _params(self, walk: int, selected: Ints | None) -> faiss.SearchParameters | None:
        selector = {} if selected is None else {"sel": faiss.IDSelectorBatch(selected)}
        if isinstance(self.index, faiss.IndexHNSW):
            library: Any = faiss  # its stubs leave this out
            return cast(faiss.SearchParameters, library.SearchParametersHNSW(efSearch=walk, **selector))
        return faiss.SearchParameters(**selector) if selector else None
