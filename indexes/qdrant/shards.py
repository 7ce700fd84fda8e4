"""One collection over several processes of this machine, each with its shard in Qdrant's engine.

The idf goes with the question and is the whole collection's, so that sums of different shards compare: the
first n of all are among the first n of each. A process that ends is begun again and asked once more; what
then does not answer is told (`rag.errors.missing`), never left out in silence.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections import ChainMap
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from indexes.qdrant.engines import EdgeStore, Ids, Point, Query
from rag.errors import BadInput, StoreUnavailable, missing
from rag.types import Doubles, Filter

SHARDS = "qdrant+shards"  # qdrant+shards://NUMBER/FOLDER
MOST = 64  # processes
START = 20.0  # seconds for a process to begin, which takes one
SEARCH = 10.0  # and to answer
REST = 3.0  # seconds for which one that did not is left alone
WRITE = 3_600.0  # to arrange a few million articles
_COUNT = "shards.json"
_PROCESS = f"import sys; from {__name__} import serve; serve(*sys.argv[1:])"


class Silent(Exception):
    """A shard does not answer."""


class Shard:
    """A process with a part of the articles; asked by one thread at a time."""

    def __init__(self, folder: Path) -> None:
        """Remember where its part lies; the process begins with the first call."""
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection[Any, Any] | None = None
        self._lock, self._rest_until = threading.Lock(), 0.0

    def ask(self, method: str, *arguments: object, seconds: float = WRITE, **named: Any) -> Any:  # noqa: ANN401
        """Call a method of its `EdgeStore`; the wait for others and the beginning of a process count, too.

        Raises:
            StoreUnavailable: the engine failed.
            Silent: the process cannot be begun, or ends, or takes longer than this.
        """
        until = time.monotonic() + seconds
        if not self._lock.acquire(timeout=seconds):
            raise Silent
        try:
            if time.monotonic() < self._rest_until:
                raise Silent
            for _ in range(2):  # the first call after the process was killed finds out
                try:
                    well, answer = self._call((method, arguments, named), until)
                except (EOFError, ConnectionError):
                    continue
                except OSError:  # a TimeoutError, too: to ask again would double what is too much already
                    break
                if not well:
                    raise StoreUnavailable(answer)
                return answer
            self._rest_until = time.monotonic() + REST
            raise Silent
        finally:
            self._lock.release()

    def _call(self, request: object, until: float) -> tuple[bool, Any]:
        whole = False
        try:
            if self._pipe is None:
                self._pipe = self._begin(until)
            self._pipe.send(request)
            if not self._pipe.poll(max(until - time.monotonic(), 0)):
                raise TimeoutError
            answer: tuple[bool, Any] = self._pipe.recv()
            whole = True
        finally:
            if not whole:  # what comes later would be taken for the answer to another question
                self.end()
        return answer

    def _begin(self, until: float) -> Connection[Any, Any]:
        ours, its = socket.socketpair()
        with its:
            command = [sys.executable, "-c", _PROCESS, str(self.folder), str(its.fileno())]
            root = Path(__file__).resolve().parents[2]
            self.process = subprocess.Popen(command, cwd=root, pass_fds=[its.fileno()])  # noqa: S603
        pipe: Connection[Any, Any] = Connection(ours.detach())
        if not pipe.poll(max(min(START, until - time.monotonic()), 0)):
            pipe.close()
            raise TimeoutError
        pipe.recv()  # it is there
        return pipe

    def end(self) -> None:
        """End the process; the next call begins another."""
        if self._pipe is not None:
            self._pipe.close()
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self._pipe = self.process = None


class ShardedStore(EdgeStore):
    """Shards side by side in a folder; an article is in that of its number, by the remainder."""

    def __init__(self, root: Path, count: int) -> None:
        """Take a folder, and how many shards it has or shall have.

        Raises:
            BadInput: it has another number of them.
            MissingExtra: the engine is not installed.
        """
        super().__init__(root)
        known = (self._read(root / _COUNT) or {}).get("shards")
        if known not in (None, count) or not 1 <= count <= MOST:
            there = known or f"1 to {MOST}"
            raise BadInput(f"{count} shards: {root} has {there}: give {SHARDS}://{there}{root}")
        self.shards = [Shard(root / f".{number}") for number in range(count)]
        self._pool = ThreadPoolExecutor(4 * count, thread_name_prefix="shard")
        weakref.finalize(self, _close, self.shards)

    def create(self, collection: str, dim: int | None, *, graph: bool) -> None:
        """Create one for vectors of this length, with or without a graph of neighbours."""
        self.root.mkdir(parents=True, exist_ok=True)
        self._write(self.root / _COUNT, {"shards": len(self.shards)})
        self._appear(collection)  # before its parts: what ends between them can be seen, and is begun anew
        self._each("delete", collection)
        self._each("create", collection, dim, graph=graph)

    def clone(self, source: str, collection: str) -> bool:
        """Copy the shards of another."""
        self._appear(collection)
        self._each("delete", collection)
        self._each("clone", source, collection)
        return True

    def unload(self, collection: str) -> None:
        """Give the memory of a collection back, as far as processes that are there answer."""

        def part(shard: Shard) -> None:
            with suppress(Silent, StoreUnavailable):
                shard.ask("unload", collection, seconds=SEARCH)

        list(self._pool.map(part, [shard for shard in self.shards if shard.process is not None]))

    def _drop(self, collection: str) -> None:
        self._each("delete", collection)
        super()._drop(collection)

    def fingerprints(self, collection: str) -> Mapping[int, int]:
        """Return the fingerprints of the points that were flushed, by id."""
        return dict(ChainMap(*self._each("fingerprints", collection)))

    def upsert(self, collection: str, points: Sequence[Point]) -> None:
        """Write points; those that are safe have fingerprints from then on."""
        self._hold_unfinished(collection)
        self._parts("upsert", collection, {point.id: point for point in points})

    def remove(self, collection: str, ids: Sequence[int]) -> None:
        """Remove points."""
        self._hold_unfinished(collection)
        self._parts("remove", collection, {id_: id_ for id_ in ids})

    def finish(self, collection: str) -> int:
        """Arrange what was written for search, and return how many points there are."""
        self._hold_unfinished(collection)
        points: int = sum(self._each("finish", collection))
        self._each("release", collection)
        return points

    def search(
        self, collection: str, query: Query, n: int, where: Filter | None, *, exact: bool
    ) -> tuple[Ids, Doubles]:
        """Return ids and inner products of the first n points that hold the query's vector and pass.

        A shard that does not answer is told; where none does it is StoreUnavailable.
        """

        def part(shard: Shard) -> tuple[Ids, Doubles] | None:
            try:
                found: tuple[Ids, Doubles] = shard.ask(
                    "search", collection, query, n, where, exact=exact, seconds=SEARCH
                )
            except (Silent, StoreUnavailable):  # its files may be gone, too
                return None
            return found

        parts = list(self._pool.map(part, self.shards))
        answered = [each for each in parts if each is not None]
        if not answered:
            raise StoreUnavailable(f"{SHARDS}://{len(parts)}{self.root}: no shard answers")
        for number, each in enumerate(parts, start=1):
            if each is None:
                missing(f"shard {number} of {len(parts)}")
        ids, sums = (np.concatenate(column) for column in zip(*answered, strict=True))
        best = np.lexsort((ids, -sums))[:n]
        return ids[best], sums[best]

    def _each(self, method: str, *arguments: object, **named: Any) -> list[Any]:  # noqa: ANN401
        return list(self._pool.map(lambda shard: self._one(shard, method, *arguments, **named), self.shards))

    def _parts(self, method: str, collection: str, of: Mapping[int, object]) -> None:
        def write(number: int) -> None:
            if own := [each for id_, each in of.items() if id_ % len(self.shards) == number]:
                self._one(self.shards[number], method, collection, own)

        list(self._pool.map(write, range(len(self.shards))))

    def _one(self, shard: Shard, method: str, *arguments: object, **named: Any) -> Any:  # noqa: ANN401
        try:
            return shard.ask(method, *arguments, **named)
        except Silent:
            raise StoreUnavailable(f"{shard.folder}: its process does not answer") from None


def _close(shards: Sequence[Shard]) -> None:
    for shard in shards:
        shard.end()


def serve(folder: str, descriptor: str) -> None:
    """Answer what comes through a socket until its other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's
    pipe: Connection[Any, Any] = Connection(int(descriptor))
    store = EdgeStore(Path(folder))
    pipe.send("ready")
    while True:
        try:
            method, arguments, named = pipe.recv()
        except (EOFError, OSError):  # what was flushed is safe; the engine would write more when it closes
            os._exit(0)
        try:
            answer = True, getattr(store, method)(*arguments, **named)
        except Exception as error:  # noqa: BLE001 - the parent raises it
            answer = False, f"{folder}: {error}"
        pipe.send(answer)
