"""The addresses of vector stores, followed by the name of an index where one is to be opened."""

from __future__ import annotations

import threading
from functools import lru_cache
from pathlib import Path
from weakref import WeakValueDictionary

from indexes.qdrant import engines
from indexes.qdrant.engines import EDGE, GRAMMAR, SERVERS, VectorStore, refuse_password
from indexes.qdrant.postgres import POSTGRES, PostgresStore
from indexes.qdrant.shards import SHARDS, ShardedStore
from rag.errors import BadInput


def is_address(name: object) -> bool:
    """Tell whether what names an index is an address of a store."""
    return isinstance(name, str) and name.partition("://")[0] in (EDGE, SHARDS, *SERVERS, *POSTGRES)


def connect(address: str) -> VectorStore:
    """Return the store at an address without the name of an index.

    As long as somebody has it, everybody in this process gets the same, with its processes and its memory.

    Raises:
        BadInput: it is no such address.
        MissingExtra: the engine is not installed.
    """
    refuse_password(address)
    scheme, _, rest = address.partition("://")
    count, slash, folder = rest.partition("/")
    if scheme in (*SERVERS, *POSTGRES):
        return _server(address)
    with _connecting:
        if (store := _stores.get(address)) is None:
            if scheme != SHARDS:
                store = engines.connect(address)
            elif count.isascii() and count.isdigit() and folder.strip("/"):
                store = ShardedStore(Path(slash + folder), int(count[:9]))
            else:
                raise BadInput(f"{address!r}: {GRAMMAR}")
            _stores[address] = store
        return store


_stores: WeakValueDictionary[str, VectorStore] = WeakValueDictionary()
_connecting = threading.Lock()


@lru_cache(maxsize=8)  # its connections are no burden to keep
def _server(address: str) -> VectorStore:
    return PostgresStore(address) if address.startswith(POSTGRES) else engines.connect(address)


def parse_address(address: str) -> tuple[VectorStore, str]:
    """Return the store and the name of the index that an address ends with; raises as `connect`."""
    refuse_password(address)
    place, _, name = address.rstrip("/").rpartition("/")
    if place.endswith(("/", ":")) or not name:
        raise BadInput(f"{address!r} names no index: {GRAMMAR}")
    return connect(place), name
