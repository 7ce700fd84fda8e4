"""How an index stands in a vector store: a collection a version, a point an article; and its search."""

from __future__ import annotations

import logging
import math
import threading
import weakref
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import blake2b
from queue import SimpleQueue

import numpy as np

from indexes.qdrant.engines import Ids, VectorStore
from indexes.store.manifest import Manifest
from rag.errors import PandectError, StaleIndex
from rag.retrieval.bm25 import Variant
from rag.types import ArticleOrder, Doubles, Filter, Floats, Ints

_log = logging.getLogger(__name__)


def collection_name(manifest: Manifest) -> str:
    """Return the collection of a version: its index, its name, and a part of its checksum."""
    return f"{manifest.name}.{manifest.version}.{(manifest.checksum or manifest.corpus['sha256'])[:8]}"


def version_of(collection: str) -> str:
    """Return the version that a collection holds."""
    return collection.split(".")[1]


def point_ids(ids: Sequence[str]) -> Ids:
    """Return the points of articles, (n,); an article has the same in every version."""
    digests = (blake2b(id_.encode("utf-8", "surrogatepass"), digest_size=8).digest() for id_ in ids)
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def drift_between(today: Mapping[str, float], stored: Mapping[str, float]) -> float:
    """Return how far weights by a stored mean length may be below those of today, a natural logarithm.

    The weight of a term is tf / (tf + k1 (1 - b + b length / mean)), or a multiple of it: it grows at most as
    fast as the mean.
    """
    pairs = ((today[name], stored[name]) for name in today)
    return max((abs(math.log(mean / then)) for mean, then in pairs if mean > 0 and then > 0), default=0.0)


class StoreCandidates:
    """The articles of one collection, as positions in the index that it was made from."""

    def __init__(self, store: VectorStore, collection: str, order: ArticleOrder, drift: float = 0.0) -> None:
        """Search a collection; for `drift` see `rag.retrieval.vector_store.Candidates`."""
        self._store, self._collection, self._drift = store, collection, drift
        _closer()
        store.open(collection)
        weakref.finalize(self, _unused.put, (store, collection)).atexit = False
        points = point_ids(order.ids)
        self._positions = np.argsort(points)
        self._points = points[self._positions]

    @classmethod
    def of(cls, store: VectorStore, manifest: Manifest, order: ArticleOrder, cure: str) -> StoreCandidates:
        """Open the collection of a version; StaleIndex says that the store has not all of it."""
        collection = collection_name(manifest)
        about = store.about(collection)
        if about is None or not about["complete"]:
            raise StaleIndex(f"{collection} is not in the store, or not all of it: run {cure}")
        return cls(store, collection, order, float(about["drift"]))

    @property
    def drift(self) -> float:
        """How far the weights of terms may be below those of today, as a natural logarithm."""
        return self._drift

    def by_terms(self, weights: Mapping[int, float], n: int, where: Filter | None) -> tuple[Ints, Doubles]:
        """Return the first n articles by the sum of weighted dimensions: positions, and the sums."""
        ids, sums = self._store.search(self._collection, weights, n, where, exact=True)
        return self._at(ids), sums

    def by_vector(self, vector: Floats, n: int, where: Filter | None, *, exact: bool) -> tuple[Ints, Doubles]:
        """Return the first n articles by inner product with a vector, (dim,): positions, and the products."""
        ids, products = self._store.search(self._collection, vector, n, where, exact=exact)
        return self._at(ids), products

    def _at(self, ids: Ids) -> Ints:
        if not len(self._points):
            return np.full(len(ids), -1)
        at = np.minimum(np.searchsorted(self._points, ids), len(self._points) - 1)
        return np.where(self._points[at] == ids, self._positions[at], -1)


_unused: SimpleQueue[tuple[VectorStore, str]] = SimpleQueue()


@cache
def _closer() -> threading.Thread:
    """Begin to close what nobody searches any more: the collector says so, perhaps while locks are held."""

    def close() -> None:
        while True:
            store, collection = _unused.get()
            try:
                store.close(collection)
            except (PandectError, OSError, RuntimeError):  # others are to be closed all the same
                _log.exception("%s could not be closed", collection)
            del store  # it may be the last who has it

    thread = threading.Thread(target=close, name="close collections", daemon=True)
    thread.start()
    return thread


POSITIVE_IDF: tuple[Variant, ...] = ("lucene", "bm25l", "bm25+")  # whose idf is above 0
