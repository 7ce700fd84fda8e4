"""The addresses of vector stores, followed by the name of an index where one is to be opened."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from indexes.qdrant import engines
from indexes.qdrant.engines import EDGE, GRAMMAR, SERVERS, VectorStore, refuse_password
from indexes.qdrant.shards import SHARDS, ShardedStore
from rag.errors import BadInput


def is_address(name: object) -> bool:
    """Tell whether what names an index is an address of a store."""
    return isinstance(name, str) and name.partition("://")[0] in (EDGE, SHARDS, *SERVERS)


@lru_cache(maxsize=8)  # so that an index that is opened again finds its connections
def connect(address: str) -> VectorStore:
    """Return the store at an address without the name of an index.

    Raises:
        BadInput: it is no such address.
        MissingExtra: the engine is not installed.
    """
    refuse_password(address)
    scheme, _, rest = address.partition("://")
    count, slash, folder = rest.partition("/")
    if scheme != SHARDS:
        return engines.connect(address)
    if not (count.isascii() and count.isdigit() and folder.strip("/")):
        raise BadInput(f"{address!r}: {GRAMMAR}")
    return ShardedStore(Path(slash + folder), int(count[:9]))


def parse_address(address: str) -> tuple[VectorStore, str]:
    """Return the store and the name of the index that an address ends with; raises as `connect`."""
    refuse_password(address)
    place, _, name = address.rstrip("/").rpartition("/")
    if place.endswith(("/", ":")) or not name:
        raise BadInput(f"{address!r} names no index: {GRAMMAR}")
    return connect(place), name
