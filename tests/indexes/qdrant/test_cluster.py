"""Three nodes of a cluster, one of which fails: answers stay right; skipped where there is none."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

import indexes
from indexes.qdrant.engines import ServerStore, connect
from indexes.qdrant.upload import list_collections, upload
from indexes.store.manifest import read
from indexes.store.open_index import assemble
from rag.engine.engine import Engine
from rag.errors import StoreUnavailable
from tests.fakes.law.corpus import GOAT, edition, install

ASKED = (GOAT, "le puits du voisin", "pain brûlé au four", "chien")
T = TypeVar("T")
SECONDS = 60.0  # in which a cluster is to have found out
WANTED = (
    "QDRANT_URLS names no cluster: three addresses qdrant://HOST:PORT with blanks between them, of one that "
    "keeps each point on two nodes, and QDRANT_STOP and QDRANT_START, which stop and start the third"
)


@pytest.fixture
def nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[ServerStore]:
    """The nodes, without the village."""
    urls = os.environ.get("QDRANT_URLS", "").split()
    if len(urls) != 3 or not all(os.environ.get(name) for name in ("QDRANT_STOP", "QDRANT_START")):
        pytest.skip(WANTED)
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    stores = [connect(url) for url in urls]
    stores[0].switch("village", None)
    for collection, _ in list_collections(stores[0], "village"):
        stores[0].delete(collection)
    return [store for store in stores if isinstance(store, ServerStore)]


def command(name: str) -> None:
    subprocess.run(os.environ[name], shell=True, check=True)  # noqa: S602 - whoever runs the test gave it


def told(engine: Engine) -> list[object]:
    results = [engine.ask(question) for question in ASKED]
    return [(replace(result, milliseconds=0), engine.explain(result)) for result in results]


def ask(folder: Path, node: ServerStore) -> list[object]:
    return told(assemble(folder, read(folder, "x"), "x", node))


def keep_asking(engine: Engine, over: threading.Event) -> list[list[object]]:
    """What a node says until it is over, less the times when it says that it cannot."""
    found = []
    while not over.is_set():
        with suppress(StoreUnavailable):
            found.append(told(engine))
    return found


def within(seconds: float, act: Callable[[], T]) -> T:
    """Try again, for so long, what may fail meanwhile."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with suppress(StoreUnavailable):
            return act()
        time.sleep(1)
    return act()


def test_a_node_that_fails_changes_no_answer_and_comes_back(nodes: list[ServerStore]) -> None:
    first, second = (install(edition(n)) for n in (1, 2))
    folders = {folder: read(folder, "x") for folder in (first, second)}
    upload(first, folders[first], "x", nodes[0])
    expected = told(assemble(first, folders[first], "x"))
    for node in nodes:
        assert ask(first, node) == expected
    over, engines = threading.Event(), [assemble(first, folders[first], "x", node) for node in nodes]
    with ThreadPoolExecutor(len(nodes)) as threads:
        asking = [threads.submit(keep_asking, engine, over) for engine in engines]
        try:
            command("QDRANT_STOP")
            for node in nodes[:2]:
                for _ in range(20):
                    assert within(SECONDS, partial(ask, first, node)) == expected
            with pytest.raises(StoreUnavailable):
                nodes[2].aliases()
        finally:
            over.set()
            command("QDRANT_START")
    for each in asking:  # a search that the node's end met is right, or an error
        assert all(answer == expected for answer in each.result())
    assert all(each.result() for each in asking[:2])
    within(SECONDS, partial(upload, second, folders[second], "x", nodes[0]))
    for node in nodes:
        assert within(SECONDS, partial(ask, second, node)) == told(indexes.open("village"))
