"""The two engines of Qdrant behind one protocol: the one in this process, and a server or cluster.

An address is `qdrant://HOST:PORT` (`qdrant+https://` with TLS) or `qdrant+edge:///FOLDER`.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias
from urllib.parse import unquote, urlsplit

import numpy as np
import numpy.typing as npt

from indexes.store.atomic import delete, held, replacing, sweep, sync, sync_one, take_away
from rag.errors import BadInput, MissingExtra, StoreBusy, StoreRefused, StoreUnavailable, install_hint
from rag.types import Doubles, Filter, Floats

EDGE, SERVERS = "qdrant+edge", {"qdrant": "http", "qdrant+http": "http", "qdrant+https": "https"}
PORT = 6333
SECONDS = 30  # that a server may take
BUSY, REFUSED = (429, 502, 503, 504), (400, 401, 403, 405, 409, 413, 422)  # a node told late says 404
WORDS, MEANING = "words", "meaning"  # the vectors of a point
UNDATED = 4_000_000  # a day after all others: of an article that does not end
ABOUT = 0  # the point of a server's collection that says what it holds
KEYWORDS, DAYS = ("code", "law_type", "region"), ("valid_from", "valid_to")
FLUSHED = 10_000  # points that are flushed at once: it takes the disk a second
PAGE = 10_000  # points whose fingerprints are read at once
TOLD, WRITING = 60.0, 3_600.0  # seconds between signs of an upload, and for which it is left alone without
HEX = re.compile(r"[0-9a-f]{15,16}")  # of nanoseconds
Query: TypeAlias = Mapping[int, float] | Floats  # weighted dimensions, or a vector, (dim,)
About: TypeAlias = Mapping[str, Any]
Ids: TypeAlias = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Point:
    """What a store holds of an article."""

    id: int
    words: Mapping[int, float]  # dimension -> weight
    meaning: Sequence[float] | None
    payload: Mapping[str, str | int]
    fingerprint: int  # below 2 ** 63, of all the rest


class VectorStore(Protocol):
    """Collections of points, and names that point to one of them.

    StoreUnavailable: it cannot be reached; StoreBusy: not now; StoreRefused: nor later.
    """

    def aliases(self) -> Mapping[str, str]:
        """Return name -> collection."""

    def switch(self, alias: str, collection: str | None) -> None:
        """Let a name point to a collection that is described, or to none, in one step."""

    def collections(self) -> list[str]:
        """Return the collections, sorted."""

    def create(self, collection: str, dim: int | None, *, graph: bool) -> None:
        """Create one for vectors of this length, with or without a graph of neighbours."""

    def clone(self, source: str, collection: str) -> bool:
        """Create one with the points of another; False where the engine cannot."""

    def recycle(self, spare: str, collection: str) -> bool:
        """Let one that nobody needs become another, which is not whole; False where that cannot be."""

    def busy(self, collection: str) -> bool:
        """Tell whether somebody may be writing to one of which nothing else tells that."""

    def delete(self, collection: str) -> None:
        """Delete one, unless a name points to it, or another process is known to write to it."""

    def about(self, collection: str) -> About | None:
        """Return what was written of a collection; None where nothing was, or it is not there."""

    def describe(self, collection: str, about: About) -> None:
        """Write what a collection holds."""

    def fingerprints(self, collection: str) -> Mapping[int, int]:
        """Return the fingerprints of the points that are safe, by id."""

    def upsert(self, collection: str, points: Sequence[Point]) -> None:
        """Write points; those that are safe have fingerprints from then on."""

    def remove(self, collection: str, ids: Sequence[int]) -> None:
        """Remove points."""

    def finish(self, collection: str) -> int:
        """Arrange what was written for search, and return how many points there are."""

    def open(self, collection: str) -> None:
        """Count one more who searches a collection."""

    def close(self, collection: str) -> None:
        """Count one less; what nobody searches any more takes no memory here."""

    def search(
        self, collection: str, query: Query, n: int, where: Filter | None, *, exact: bool
    ) -> tuple[Ids, Doubles]:
        """Return ids and inner products of the first n points that hold the query's vector and pass."""


def connect(address: str) -> VectorStore:
    """Return the store at an address without the name of an index.

    Raises:
        BadInput: it is no such address.
        MissingExtra: the engine is not installed.
    """
    refuse_password(address)
    try:
        parts = urlsplit(address)
        port = parts.port or PORT
    except ValueError as error:
        raise BadInput(f"{address!r} ({error}): {GRAMMAR}") from error
    if parts.scheme == EDGE and not parts.netloc and parts.path.strip("/"):
        return EdgeStore(Path(parts.path))
    if parts.scheme not in SERVERS or not parts.hostname or parts.path.strip("/"):
        raise BadInput(f"{address!r}: {GRAMMAR}")
    with _extra("qdrant_client"):
        from qdrant_client import QdrantClient
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    key = os.environ.get("PANDECT_QDRANT_KEY") or None
    url = f"{SERVERS[parts.scheme]}://{host}:{port}"
    return ServerStore(QdrantClient(url, api_key=key, timeout=SECONDS, check_compatibility=False), address)


def refuse_password(address: str) -> None:
    """Raise BadInput, which does not repeat it, for an address that may hold a password."""
    plain = unquote(address)
    if "@" in plain or "password=" in plain or "api_key=" in plain:
        cure = "set PANDECT_QDRANT_KEY, or PGUSER and PGPASSWORD"
        raise BadInput(f"the address of a store holds no name or password: {cure}")


GRAMMAR = (
    "give qdrant://HOST:PORT, qdrant+https://HOST:PORT, qdrant+edge:///FOLDER, qdrant+shards://4/FOLDER or "
    "postgres://HOST:PORT/DATABASE, then /NAME to open one"
)


@contextmanager
def _extra(module: str) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise MissingExtra(f"{module} is not installed: {install_hint('qdrant')}") from error


def _filter(lib: Any, range_: Any, where: Filter | None) -> Any:  # noqa: ANN401
    """Return what a payload must be to pass, in an engine's own words; None where all may."""
    where = where or Filter()
    texts = {"code": where.codes, "law_type": where.law_types, "region": where.regions}
    must = [
        # one that tells no law type or region is never shut out by it
        lib.FieldCondition(
            key=field, match=lib.MatchAny(any=[*map(utf8, sorted(wanted)), *([""] * (field != "code"))])
        )
        for field, wanted in texts.items()
        if wanted
    ]
    if where.in_force_on is not None:
        day = where.in_force_on.toordinal()
        must += [
            lib.FieldCondition(key="valid_from", range=range_(lte=day)),
            lib.FieldCondition(key="valid_to", range=range_(gt=day)),
        ]
    return lib.Filter(must=must) if must else None


def utf8(text: str) -> str:
    """Return what UTF-8 can hold of a text: half a surrogate pair as its escape."""
    return text.encode("utf-8", "backslashreplace").decode()


def _payload(of: Point) -> dict[str, str | int]:
    return {name: utf8(value) if isinstance(value, str) else value for name, value in of.payload.items()}


def _vectors(lib: Any, of: Point) -> dict[str, Any]:  # noqa: ANN401
    words = lib.SparseVector(indices=list(of.words), values=list(of.words.values()))
    return {WORDS: words, MEANING: list(of.meaning)} if of.meaning else {WORDS: words}


def _found(points: Iterable[Any]) -> tuple[Ids, Doubles]:
    pairs = [(point.id, point.score) for point in points]
    ids = np.array([id_ for id_, _ in pairs], dtype=np.uint64)
    return ids, np.array([score for _, score in pairs], dtype=np.float64)


# --- in this process ---


class EdgeStore:
    """Qdrant's engine in this process: a folder a collection, read by as many processes as like to.

    There is no log of writes: points are safe when they are flushed, and their fingerprints are written then.
    One process writes to a collection at a time.
    """

    def __init__(self, root: Path) -> None:
        """Keep collections in a folder, which is made with the first of them."""
        with _extra("qdrant_edge"):
            import qdrant_edge
        self._q: Any = qdrant_edge
        self.root = root
        self._open: dict[str, Future[Any]] = {}  # engines that are loaded, or are being
        self._pending: dict[str, list[int]] = {}  # ids and fingerprints of what is not flushed
        self._opening = threading.Lock()  # held for no longer than it takes to look
        self._writing: dict[str, ExitStack] = {}
        self._users: Counter[str] = Counter()

    def aliases(self) -> Mapping[str, str]:
        found: dict[str, str] = self._read(self.root / "aliases.json") or {}
        return found

    def switch(self, alias: str, collection: str | None) -> None:
        try:
            with held(self.root):
                others = {name: of for name, of in self.aliases().items() if name != alias}
                if collection is not None and self.about(collection) is None:
                    raise StoreRefused(f"{EDGE}://{self.root}: {collection} went away: try again")
                new = {alias: collection} if collection is not None else {}
                self._write(self.root / "aliases.json", others | new)
        except BlockingIOError as error:
            raise StoreUnavailable(f"another process switches a version of {self.root}: try again") from error

    def collections(self) -> list[str]:
        return sorted(p.name for p in self.root.glob("*") if p.is_dir() and not p.name.startswith("."))

    def create(self, collection: str, dim: int | None, *, graph: bool) -> None:
        q = self._q
        self._appear(collection)
        place = self.root / collection / "shard"
        config = q.EdgeConfig(
            {MEANING: q.EdgeVectorParams(dim, q.Distance.Dot)} if dim else None,
            {WORDS: q.EdgeSparseVectorParams()},
            hnsw_config=q.HnswIndexConfig(32 if graph else 0, 200, 10_000),
            wal_enabled=False,
        )
        shard = self._call(q.EdgeShard.create, str(place), config)
        self._open[collection] = Future()
        self._open[collection].set_result(shard)
        for fields, kind in ((KEYWORDS, q.PayloadSchemaType.Keyword), (DAYS, q.PayloadSchemaType.Integer)):
            for field in fields:
                self._call(shard.update, q.UpdateOperation.create_field_index(field, kind))
        self._call(shard.flush)

    def clone(self, source: str, collection: str) -> bool:
        self._appear(collection, self.root / source)
        return True

    def recycle(self, spare: str, collection: str) -> bool:
        return False  # its readers would see the points of another version: it is copied

    def busy(self, collection: str) -> bool:
        return False  # who writes holds it, so that it is not deleted

    def delete(self, collection: str) -> None:
        with ExitStack() as alone:
            try:
                self._hold(collection)
                alone.callback(self.release, collection)
                with held(self.root):  # nobody switches to it meanwhile, nor later
                    if collection in self.aliases().values():
                        return
                    (self.root / collection / "about.json").unlink(missing_ok=True)
            except (StoreUnavailable, BlockingIOError):  # brought here, or gone; or a switch
                return
            self._drop(collection)

    def _drop(self, collection: str) -> None:
        self.unload(collection)
        self._pending.pop(collection, None)
        delete(self.root / collection)

    def release(self, collection: str) -> None:
        """Let other processes write to a collection."""
        self._writing.pop(collection, ExitStack()).close()

    def about(self, collection: str) -> About | None:
        found: About | None = self._read(self.root / collection / "about.json")
        return found

    def describe(self, collection: str, about: About) -> None:
        self._write(self.root / collection / "about.json", about)
        if about["complete"]:
            self.release(collection)
            self._shut(collection)

    def fingerprints(self, collection: str) -> Mapping[int, int]:
        file = self.root / collection / "flushed"
        pairs = np.fromfile(file, dtype=np.uint64) if file.exists() else np.zeros(0, np.uint64)
        whole = pairs[: len(pairs) // 2 * 2].tolist()
        found = dict(zip(whole[::2], whole[1::2], strict=True))  # of an id the last
        return {id_: fingerprint for id_, fingerprint in found.items() if fingerprint}

    def upsert(self, collection: str, points: Sequence[Point]) -> None:
        q = self._q
        written = [q.Point(each.id, _vectors(q, each), _payload(each)) for each in points]
        self._update(
            collection, q.UpdateOperation.upsert_points(written),
            [number for each in points for number in (each.id, each.fingerprint)],
        )  # fmt: skip

    def remove(self, collection: str, ids: Sequence[int]) -> None:
        gone = [number for id_ in ids for number in (id_, 0)]
        self._update(collection, self._q.UpdateOperation.delete_points(list(ids)), gone)

    def finish(self, collection: str) -> int:
        self._hold_unfinished(collection)
        shard = self._shard(collection)
        self._flush(collection)
        while self._call(shard.optimize):
            pass
        self._call(shard.flush)
        points = int(self._call(shard.count, self._q.CountRequest()))
        self.unload(collection)
        del shard  # the engine writes once more when it ends
        self._call(sync, self.root / collection)  # what was copied, too, before a name points to it
        return points

    def open(self, collection: str) -> None:
        with self._opening:
            self._users[collection] += 1

    def close(self, collection: str) -> None:
        with self._opening:
            self._users[collection] -= 1
        self._shut(collection)

    def _shut(self, collection: str) -> None:
        """Unload a collection that nobody searches."""
        with self._opening:
            used = self._users[collection] > 0
            if not used:
                del self._users[collection]
        if not used:
            self.unload(collection)

    def unload(self, collection: str) -> None:
        """Give the memory of a collection back once no search needs it; the next one loads it again."""
        with self._opening:
            self._open.pop(collection, None)  # whoever has the engine in hand is the last to let it go

    def search(
        self, collection: str, query: Query, n: int, where: Filter | None, *, exact: bool
    ) -> tuple[Ids, Doubles]:
        q = self._q
        if isinstance(query, Mapping):
            nearest = q.Query.Nearest(q.SparseVector(list(query), list(query.values())), using=WORDS)
        else:
            nearest = q.Query.Nearest(query.tolist(), using=MEANING)
        request = q.QueryRequest(
            n, query=nearest, filter=_filter(q, q.RangeFloat, where), params=q.SearchParams(exact=exact)
        )
        return _found(self._call(self._shard(collection).query, request))

    def _update(self, collection: str, operation: object, marks: Sequence[int]) -> None:
        self._hold_unfinished(collection)
        self._call(self._shard(collection).update, operation)
        pending = self._pending.setdefault(collection, [])
        pending += marks
        if len(pending) >= 2 * FLUSHED:
            self._flush(collection)

    def _hold_unfinished(self, collection: str) -> None:
        """Hold a collection that nobody has completed: readers have the files of one that is."""
        self._hold(collection)
        about = self.about(collection)
        if about is not None and about["complete"]:
            self.release(collection)
            raise StoreUnavailable(f"{collection} has been uploaded by another meanwhile: upload it again")

    def _hold(self, collection: str, folder: Path | None = None) -> None:
        """Hold a collection until it is released."""
        if collection in self._writing:
            return
        lock = ExitStack()
        try:
            lock.enter_context(held(folder or self.root / collection))
        except BlockingIOError as error:
            raise StoreUnavailable(f"another process is writing to {collection}: wait for it") from error
        except OSError as error:
            raise StoreUnavailable(f"{EDGE}://{self.root}: {error}") from error
        self._writing[collection] = lock

    def _appear(self, collection: str, source: Path | None = None) -> None:
        """Make the folder of a collection, which is held from the moment it can be seen."""
        part = self.root / f".{collection}.part"
        sweep(self.root, ".*.gone")
        sweep(self.root, ".*.part")
        try:
            part.mkdir(parents=True, exist_ok=True)
            self._hold(collection, part)
            for left in part.iterdir():  # by a process that was killed
                take_away(left)
            if source is not None:
                shutil.copytree(source, part, ignore=shutil.ignore_patterns("about.json"), dirs_exist_ok=True)
            else:
                (part / "shard").mkdir()
            part.replace(self.root / collection)  # which fails where there is one
            sync_one(self.root)
            self._open.pop(collection, None)  # of the same name, which another process deleted
        except OSError as error:
            shutil.rmtree(part, ignore_errors=True)
            self.release(collection)
            raise StoreUnavailable(f"{part} cannot be made {collection}: {error}") from error

    def _flush(self, collection: str) -> None:
        self._call(self._shard(collection).flush)
        marks = np.array(self._pending.get(collection, []), dtype=np.uint64)
        try:
            with (self.root / collection / "flushed").open("ab") as file:
                file.truncate(
                    file.tell() // (2 * marks.itemsize) * 2 * marks.itemsize
                )  # half a pair, by a full disk
                file.write(marks.tobytes())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StoreUnavailable(f"{EDGE}://{self.root}: {error}") from error
        self._pending.pop(collection, None)

    def _shard(self, collection: str) -> Any:  # noqa: ANN401
        """Return the engine of a collection; one thread loads it, and who wants the same waits."""
        with self._opening:
            first = collection not in self._open
            made = self._open.setdefault(collection, Future())
        if first:
            place = str(self.root / collection / "shard")
            try:
                made.set_result(self._call(self._q.EdgeShard.load, place))
            except BaseException as error:  # noqa: BLE001 - whoever waits is told, this thread too
                with self._opening:
                    if self._open.get(collection) is made:
                        del self._open[collection]
                made.set_exception(error)
        return made.result()

    def _call(self, act: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401
        try:
            return act(*arguments)
        except Exception as error:  # the engine has no exceptions of its own
            raise StoreUnavailable(f"{EDGE}://{self.root}: {error}") from error

    def _read(self, file: Path) -> Any:  # noqa: ANN401
        try:
            return json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise StoreUnavailable(f"{file} cannot be read: {error}") from error

    def _write(self, file: Path, content: About) -> None:
        with replacing(file) as part:
            part.write_text(json.dumps(content) + "\n", encoding="utf-8")
        sync_one(file.parent)


# --- a server, or several that are one ---


class ServerStore:
    """A Qdrant server or cluster, by its client.

    What is a collection to others is an alias here, with dots in its name, of a collection whose name ends
    with the time when it was created: so that one can become another, in one step, and whoever still searches
    the former is told that it is gone. The alias of an index has no dot, and points to the same.
    """

    def __init__(self, client: Any, address: str) -> None:  # noqa: ANN401
        """Speak through a `QdrantClient`; the address is for errors."""
        from qdrant_client import models

        self._client, self._m, self._address = client, models, address
        self._told: dict[str, float] = {}

    def aliases(self) -> Mapping[str, str]:
        pairs = self._pairs()
        versions = {place: alias for alias, place in pairs.items() if "." in alias}
        return {alias: versions.get(place, place) for alias, place in pairs.items() if "." not in alias}

    def switch(self, alias: str, collection: str | None) -> None:
        pairs, name = self._pairs(), collection or ""
        place, former = pairs.get(name, collection), pairs.get(alias)
        self._point(alias, place, former)
        if self._pairs().get(name, collection) != place:  # somebody deletes it, or makes it another one
            self._point(alias, former, place)
            raise StoreRefused(f"{self._address}: {collection} went away meanwhile: try again")

    def collections(self) -> list[str]:
        pairs = {alias: place for alias, place in self._pairs().items() if "." in alias}
        places = {each.name for each in self._call("get_collections").collections}
        return sorted(places - {*pairs.values()} | pairs.keys())

    def create(self, collection: str, dim: int | None, *, graph: bool) -> None:
        m, place = self._m, f"{collection}.{time.time_ns():x}"
        self._call(
            "create_collection",
            place,
            vectors_config={MEANING: m.VectorParams(size=dim, distance=m.Distance.DOT)} if dim else {},
            sparse_vectors_config={WORDS: m.SparseVectorParams()},
            hnsw_config=m.HnswConfigDiff(m=32 if graph else 0, ef_construct=200),
        )
        for fields, kind in ((KEYWORDS, m.PayloadSchemaType.KEYWORD), (DAYS, m.PayloadSchemaType.INTEGER)):
            for field in fields:
                self._call("create_payload_index", place, field, field_schema=kind)
        self._point(collection, place, None)

    def clone(self, source: str, collection: str) -> bool:
        return False  # a snapshot is of one node, and the address of each would have to be known

    def recycle(self, spare: str, collection: str) -> bool:
        if spare not in self._pairs():
            return False
        try:
            self._tell(spare)
            self._rename(spare, collection)
        except StoreUnavailable:
            if spare in self._pairs():
                raise
            return False  # of two who try it at a time, the other one has it
        if not self._named(collection):
            return True
        self._rename(collection, spare)
        return False

    def busy(self, collection: str) -> bool:
        point = self._about_point(collection)
        if point.get("about", {}).get("complete") and point.get("of", collection) == collection:
            return False
        begun = self._pairs().get(collection, collection).rpartition(".")[2]
        written = point.get("written", int(begun, 16) / 1e9 if HEX.fullmatch(begun) else 0.0)
        return bool(time.time() - written < WRITING)

    def delete(self, collection: str) -> None:
        place = self._pairs().get(collection, collection)
        if place != collection:
            self._point(collection, None, place)  # from here on nobody who switches finds it
        if place not in self._pairs().values():
            self._call("delete_collection", place)
        elif place != collection:
            self._point(collection, place, None)

    def about(self, collection: str) -> About | None:
        point = self._about_point(collection)
        about: About | None = point.get("about")
        if about and point.get("of", collection) != collection:  # it was another one, and holds its points
            return {**about, "complete": False}
        return about or None  # a foreign point says nothing

    def describe(self, collection: str, about: About) -> None:
        said = {"about": about, "of": collection, "written": time.time()}
        self._call("upsert", collection, [self._m.PointStruct(id=ABOUT, vector={}, payload=said)], wait=True)
        self._told[collection] = time.monotonic()

    def fingerprints(self, collection: str) -> Mapping[int, int]:
        found: dict[int, int] = {}
        offset = None
        while True:
            points, offset = self._call(
                "scroll", collection, limit=PAGE, offset=offset, with_payload=["fingerprint"]
            )
            found |= {p.id: p.payload["fingerprint"] for p in points if p.id != ABOUT}
            if offset is None:
                return found

    def upsert(self, collection: str, points: Sequence[Point]) -> None:
        m, now = self._m, time.monotonic()
        if now - self._told.get(collection, -math.inf) > TOLD and self._about_point(collection):
            self._tell(collection)
        written = [
            m.PointStruct(
                id=each.id,
                vector=_vectors(m, each),
                payload={**_payload(each), "fingerprint": each.fingerprint},
            )
            for each in points
        ]
        self._call("upsert", collection, written, wait=True)

    def remove(self, collection: str, ids: Sequence[int]) -> None:
        self._call("delete", collection, list(ids), wait=True)

    def finish(self, collection: str) -> int:
        return int(self._call("count", collection, exact=True).count) - 1  # less the one that says what it is

    def open(self, collection: str) -> None:
        pass  # nothing of it lies here

    def close(self, collection: str) -> None:
        pass

    def search(
        self, collection: str, query: Query, n: int, where: Filter | None, *, exact: bool
    ) -> tuple[Ids, Doubles]:
        m = self._m
        words = isinstance(query, Mapping)
        answer = self._call(
            "query_points",
            collection,
            query=m.SparseVector(indices=list(query), values=list(query.values()))
            if isinstance(query, Mapping)
            else query.tolist(),
            using=WORDS if words else MEANING,
            limit=n,
            query_filter=_filter(m, m.Range, where),
            search_params=m.SearchParams(exact=True) if exact and not words else None,  # words always are
            with_payload=False,
        )
        return _found(answer.points)

    def _tell(self, collection: str) -> None:
        """Let others see that it is being written to."""
        self._call("set_payload", collection, {"written": time.time()}, points=[ABOUT], wait=True)
        self._told[collection] = time.monotonic()

    def _about_point(self, collection: str) -> Mapping[str, Any]:
        if collection not in self.collections():
            return {}
        found = self._call("retrieve", collection, [ABOUT], with_payload=True)
        return (found[0].payload or {}) if found else {}

    def _pairs(self) -> dict[str, str]:
        return {each.alias_name: each.collection_name for each in self._call("get_aliases").aliases}

    def _named(self, collection: str) -> bool:
        """Tell whether the name of an index points to a collection."""
        pairs = self._pairs()
        return any(alias != collection and place == pairs.get(collection) for alias, place in pairs.items())

    def _point(self, alias: str, place: str | None, former: str | None) -> None:
        m = self._m
        if (
            place is not None
        ):  # it takes the place of the former one: a deletion beside it would not be undone
            new = m.CreateAlias(collection_name=place, alias_name=alias)
            self._change(m.CreateAliasOperation(create_alias=new))
        elif former is not None:
            self._change(m.DeleteAliasOperation(delete_alias=m.DeleteAlias(alias_name=alias)))

    def _rename(self, alias: str, to: str) -> None:
        m = self._m
        rename = m.RenameAlias(old_alias_name=alias, new_alias_name=to)
        self._change(m.RenameAliasOperation(rename_alias=rename))

    def _change(self, *operations: object) -> None:
        self._call("update_collection_aliases", list(operations))

    def _call(self, method: str, *arguments: object, **named: object) -> Any:  # noqa: ANN401
        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http.exceptions import ApiException

        try:
            return getattr(self._client, method)(*arguments, **named)
        except (ApiException, QdrantException, OSError) as error:  # the client's own one says 429
            status = getattr(error, "status_code", 429 if isinstance(error, QdrantException) else None)
            said = " ".join(str(error).split())
            if status in BUSY:
                raise StoreBusy(f"{self._address} is busy ({said}): try again in a moment") from error
            kind = StoreRefused if status in REFUSED else StoreUnavailable
            raise kind(f"{self._address}: {said}") from error
