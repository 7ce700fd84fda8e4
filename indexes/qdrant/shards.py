"""One collection over several processes of this machine, each with its shard in Qdrant's engine.

The idf goes with the question and is the whole collection's, so that sums of different shards compare: the
first n of all are among the first n of each. A process that ends is begun again and asked once more; one
that is slow, as it loads a collection, goes on and is asked again when it is through. What does not answer in
time is told (`rag.errors.missing`), never left out in silence.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
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
SEARCH = 10.0  # seconds in which a process is to answer
REST = 3.0  # for which one that ended, and again, is left alone
STALLED = 60.0  # after which one that does nothing is ended: it neither computes nor reads
WRITE = 3_600.0  # and one that does: to arrange a few million articles
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
        self._asked = self._answered = 0  # the last request, and the last one that was answered
        self._asked_at = self._moved_at = 0.0
        self._moved: object = None  # what the process had done then

    def ask(self, method: str, *arguments: object, seconds: float = WRITE, **named: Any) -> Any:  # noqa: ANN401
        """Call a method of its `EdgeStore`; the wait for others and the beginning of a process count, too.

        Raises:
            StoreUnavailable: the engine failed.
            Silent: the process cannot be begun, or ends, or takes longer than this; at once, where a search
                finds it busy with what took too long before.
        """
        until = time.monotonic() + seconds
        if not self._lock.acquire(timeout=seconds):
            raise Silent
        try:
            if time.monotonic() < self._rest_until:
                raise Silent
            for _ in range(2):  # the first call after the process was killed finds out
                try:
                    well, answer = self._call((method, arguments, named), until, hurry=seconds <= SEARCH)
                except (EOFError, ConnectionError):
                    continue
                except TimeoutError:  # it goes on: to begin it again would double what is too much already
                    raise Silent from None
                except OSError:
                    break
                if not well:
                    raise StoreUnavailable(answer)
                return answer
            self._rest_until = time.monotonic() + REST
            raise Silent
        finally:
            self._lock.release()

    def _call(self, request: tuple[object, ...], until: float, *, hurry: bool) -> tuple[bool, Any]:
        try:
            if self._pipe is None:
                self._pipe, hurry = self._begin(), False
            self._wait(self._pipe, time.monotonic() if hurry else until)  # for what was given up
            self._asked += 1
            self._asked_at = self._moved_at = time.monotonic()
            self._pipe.send((self._asked, *request))
            return self._wait(self._pipe, until)
        except TimeoutError:
            raise
        except BaseException:  # half of a request or an answer may be on its way
            self.end()
            raise

    def _wait(self, pipe: Connection[Any, Any], until: float) -> tuple[bool, Any]:
        """Return the answer to the last request, and drop those to the ones before.

        TimeoutError: it has not come; ConnectionError: the process stands still.
        """
        well, answer = True, None
        while self._answered < self._asked:
            left = until - time.monotonic()
            if pipe.poll(max(min(left, 1), 0)):
                self._answered, well, answer = pipe.recv()
                continue
            now, moved = time.monotonic(), self._work()
            if moved != self._moved:
                self._moved, self._moved_at = moved, now
            if now > min(self._moved_at + STALLED, self._asked_at + WRITE):
                raise ConnectionError
            if left <= 0:
                raise TimeoutError
        return well, answer

    def _work(self) -> object:
        """Return what grows while the process computes or reads; the time, where the system does not tell."""
        try:
            stat = Path(f"/proc/{self.process.pid if self.process else 0}/stat").read_text(encoding="utf-8")
        except OSError:
            return time.monotonic()
        return stat.rpartition(")")[2].split()[7:13]  # page faults, and ticks of a core

    def _begin(self) -> Connection[Any, Any]:
        ours, its = socket.socketpair()
        for option in (socket.SO_SNDTIMEO, socket.SO_RCVTIMEO):  # of one that stands still amid a message
            ours.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", int(STALLED), 0))
        with its:
            command = [sys.executable, "-c", _PROCESS, str(self.folder), str(its.fileno())]
            root = Path(__file__).resolve().parents[2]
            self.process = subprocess.Popen(command, cwd=root, pass_fds=[its.fileno()])  # noqa: S603
        self._asked, self._answered = 0, -1  # it says when it is there
        self._asked_at = self._moved_at = time.monotonic()
        return Connection(ours.detach())

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
        self._appear(collection)
        self._each("create", collection, dim, graph=graph)

    def clone(self, source: str, collection: str) -> bool:
        """Copy the shards of another."""
        self._appear(collection)
        self._each("clone", source, collection)
        return True

    def _appear(self, collection: str, source: Path | None = None) -> None:
        """Make its folder before its parts, and delete all parts of collections that are not there."""
        parts = {part.name for shard in self.shards for part in shard.folder.glob("[!.]*")}
        super()._appear(collection, source)
        there = {*self.collections()}
        for left in (collection, *sorted(parts - there if collection in there else ())):
            self._each("delete", left)

    def unload(self, collection: str) -> None:
        """Give the memory of a collection back, as far as there are processes."""

        def part(shard: Shard) -> None:
            with suppress(Silent, StoreUnavailable):
                shard.ask("unload", collection)

        list(self._pool.map(part, [shard for shard in self.shards if shard.process is not None]))

    def _drop(self, collection: str) -> None:
        self._each("delete", collection)
        if left := [str(shard.folder) for shard in self.shards if (shard.folder / collection).exists()]:
            raise StoreUnavailable(f"{', '.join(left)}: another process writes to {collection}: wait for it")
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
    pipe.send((0, True, None))  # it is there
    while True:
        try:
            number, method, arguments, named = pipe.recv()
        except (EOFError, OSError):  # what was flushed is safe; the engine would write more when it closes
            os._exit(0)
        try:
            answer = True, getattr(store, method)(*arguments, **named)
        except Exception as error:  # noqa: BLE001 - the parent raises it
            answer = False, f"{folder}: {error}"
        pipe.send((number, *answer))
