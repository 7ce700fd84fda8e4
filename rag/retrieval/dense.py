"""Nearest vectors: dense retrieval on FAISS (Karpukhin et al. 2020; Douze et al. 2024)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, get_args

import faiss
import numpy as np
import numpy.typing as npt

from rag.errors import BadInput
from rag.retrieval.base import Mask
from rag.types import EMPTY, ArticleOrder, Bools, Encoder, Filter, Floats, Ranking, rank

Kind: TypeAlias = Literal["flat", "hnsw", "8bit"]
SPARE = 64  # candidates past k that are scored again, for ties at the edge
WALK = 128  # the fewest articles that a walk through the graph compares
BLOCK = 8192  # vectors that are read at once
RECENT = 8  # questions whose vectors stay at hand: who searches for one has the answer explained next
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


class Dense:
    """Ranks articles by the cosine of their vector with the question's.

    FAISS proposes, row i being the article at position i of the order; the proposed are scored again one
    question at a time, so that neither FAISS's order of ties nor the size of a batch changes a result.
    """

    def __init__(self, encoder: Encoder, index: faiss.Index, order: ArticleOrder, mask: Mask) -> None:
        self.encoder, self.index, self.order, self.mask = encoder, index, order, mask
        self._threads = os.cpu_count() or 1
        self.vector = lru_cache(maxsize=RECENT)(self._vector)

    def save(self, path: Path) -> None:
        """Write the vectors as a FAISS file."""
        faiss.write_index(self.index, str(path))

    @staticmethod
    def load_index(path: Path) -> faiss.Index:
        """Open a FAISS file; its vectors stay on disk, memory-mapped."""
        return faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)  # IO_FLAG_MMAP maps inverted lists alone

    def search(self, questions: Sequence[str], k: int, where: Filter | None = None) -> list[Ranking]:
        """Return one ranking of at most k hits a question; one with no known word has none."""
        if k <= 0 or not self.order.ids or not questions:
            return [EMPTY for _ in questions]
        one = len(questions) == 1
        vectors = self.vector(questions[0])[None] if one else self.encoder.encode_questions(questions)
        return self._nearest(vectors, k, where)

    def _nearest(self, vectors: Floats, k: int, where: Filter | None) -> list[Ranking]:
        keep = self.mask(where)
        known = np.flatnonzero(np.any(vectors != 0, axis=1))
        answers = [EMPTY for _ in vectors]
        if len(known):
            # one thread answers one question faster than two do: starting the others costs more
            faiss.omp_set_num_threads(1 if len(known) < BATCH else self._threads)
            for i, candidates in zip(known, self._propose(vectors[known], k, keep), strict=True):
                positions = np.sort(candidates)
                stored = self.index.reconstruct_batch(positions).astype(np.float64)
                cosines = (stored * vectors[i].astype(np.float64)).sum(axis=1)
                answers[i] = rank(cosines, self.order, k, positions=positions)
        return answers

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

    def _propose(self, vectors: Floats, k: int, keep: Bools | None) -> list[npt.NDArray[np.int64]]:
        """Return candidate positions a question: the best k and every one that may tie with the last.

        Questions whose ties go on past the candidates are asked again for four times as many; the
        others are not, so that what an approximate index finds does not depend on the batch.
        """
        total = len(self.order.ids)
        admitted = np.arange(total) if keep is None else np.flatnonzero(keep)
        n, k = len(admitted), min(k, len(admitted))
        found = [admitted for _ in vectors]
        pending, depth = np.arange(len(vectors)), k + SPARE
        while depth < n and len(pending):
            walk = max(WALK, depth) * total // n  # a filter turns most of those away that the walk meets
            if isinstance(self.index, faiss.IndexHNSW) and walk >= n:
                break  # it would meet more than there are: all that are admitted are scored instead
            selected = None if keep is None else admitted
            params = self._params(walk, selected)
            scores, positions = self.index.search(vectors[pending], depth, params=params)
            done = scores[:, -1] < scores[:, k - 1] - 2e-5  # what rounding to 5 decimals could still tie
            for i, row in zip(pending[done], positions[done], strict=True):
                found[i] = row[row >= 0]
            pending, depth = pending[~done], 4 * depth
        return found

    def _params(self, walk: int, selected: npt.NDArray[np.int64] | None) -> faiss.SearchParameters | None:
        selector = {} if selected is None else {"sel": faiss.IDSelectorBatch(selected)}
        if isinstance(self.index, faiss.IndexHNSW):
            library: Any = faiss  # its stubs leave this out
            return cast(faiss.SearchParameters, library.SearchParametersHNSW(efSearch=walk, **selector))
        return faiss.SearchParameters(**selector) if selector else None
