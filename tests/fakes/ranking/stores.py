"""An index in a vector store: the engine in this process, the client's own imitation, or a real server."""

from __future__ import annotations

import math
import os
import shutil
import tempfile
import uuid
import weakref
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from indexes.qdrant.collection import StoreCandidates
from indexes.qdrant.engines import EdgeStore, ServerStore, VectorStore, connect
from indexes.qdrant.shards import ShardedStore
from indexes.qdrant.upload import contents, mean_lengths
from rag.errors import StoreUnavailable
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.dense import Dense
from rag.retrieval.term_counts import FieldCounts

STORES = ("edge", "shards", "client", "server")  # the client imitates a server in memory
REAL = ("edge", "server")


def in_memory(folder: Path) -> Path:
    """Make a folder in memory, if there is such a place: waiting for the disk is most of a test."""
    memory = Path("/dev/shm")  # noqa: S108
    return Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else folder))


class Imitation(ServerStore):
    """The client's own imitation of a server, in memory."""

    def _call(self, method: str, *arguments: object, **named: object) -> Any:
        try:
            return super()._call(method, *arguments, **named)
        except (KeyError, ValueError) as error:  # where a server says 404
            raise StoreUnavailable(str(error)) from error


def store(kind: str, folder: Path) -> VectorStore:
    """Open an empty store; a real server is skipped where QDRANT_URL names none."""
    if kind == "shards":
        pytest.importorskip("qdrant_edge", reason="needs the extra [qdrant]")
        return _shards()
    if kind == "edge":
        pytest.importorskip("qdrant_edge", reason="needs the extra [qdrant]")
        place = in_memory(folder)
        made = EdgeStore(place)
        weakref.finalize(made, shutil.rmtree, place, ignore_errors=True)
        return made
    client = pytest.importorskip("qdrant_client", reason="needs the extra [qdrant]")
    if kind == "client":
        return Imitation(client.QdrantClient(":memory:"), "memory")
    if not os.environ.get("QDRANT_URL"):
        pytest.skip("QDRANT_URL names no Qdrant server: qdrant://HOST:PORT")
    return connect(os.environ["QDRANT_URL"])


@lru_cache
def _shards() -> ShardedStore:
    """Two processes for all tests that need no store of their own: each takes a second to begin."""
    place = in_memory(Path(tempfile.gettempdir()))
    made = ShardedStore(place, 2)
    weakref.finalize(made, shutil.rmtree, place, ignore_errors=True)
    return made


def fill(
    stored: VectorStore,
    keyword: BM25,
    counts: FieldCounts,
    law_terms: Sequence[str] = (),
    dense: Dense | None = None,
    stale: float = 1.0,
) -> StoreCandidates:
    """Write an index into a new collection; `stale` times the mean lengths of today are the stored ones."""
    settings = BM25Settings(weights=keyword.weights)
    means = {name: stale * mean for name, mean in mean_lengths(counts, settings).items()}
    made = contents(keyword, counts, settings, law_terms, dense, means)
    collection = f"test.{uuid.uuid4().hex}.x"
    stored.create(collection, made.dim, graph=made.graph)
    stored.upsert(collection, list(made.points(range(len(made.ids)))))
    stored.finish(collection)
    found = StoreCandidates(stored, collection, keyword.order, abs(math.log(stale)))
    if isinstance(stored, ServerStore):
        weakref.finalize(found, stored.delete, collection)
    return found
