"""An index in a vector store: brought there, searched there, brought up to date and back."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import ClassVar

import pytest

import indexes
from indexes.__main__ import main
from indexes.corpus.corpus import Corpus
from indexes.qdrant import engines
from indexes.qdrant.collection import collection_name, drift_between, version_of
from indexes.qdrant.engines import EdgeStore, Point, ServerStore, VectorStore, connect
from indexes.qdrant.postgres import PostgresStore
from indexes.qdrant.shards import ShardedStore
from indexes.qdrant.upload import PAUSES, UploadCounts, list_collections, roll_back, upload
from indexes.store.atomic import held
from indexes.store.manifest import read
from indexes.store.open_index import assemble
from rag.engine.engine import Engine
from rag.errors import (
    BadInput,
    MissingIndex,
    PandectError,
    StaleIndex,
    StoreBusy,
    StoreRefused,
    StoreUnavailable,
)
from rag.types import Filter
from tests.fakes.law.corpus import FIT, GOAT, NONE, VILLAGE, edition, install
from tests.fakes.ranking.stores import REAL, imitation, in_memory, store
from tests.paths import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Local mode performs exact"),
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local"),
]
ASKED = (GOAT, "le puits du voisin", "pain brûlé au four", "chien", "de la musique, article 10", "xylophone")

AT_ONCE = (0.0,) * len(PAUSES)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    place = in_memory(tmp_path)
    yield place
    shutil.rmtree(place)


@pytest.fixture(params=("client", *REAL, pytest.param("shards", marks=pytest.mark.slow)))
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VectorStore]:
    """A store without the village."""
    made = store(request.param, tmp_path)
    yield made
    made.switch("village", None)
    for collection, _ in list_collections(made, "village"):
        made.delete(collection)


def put(folder: Path, to: VectorStore, keep: int = 3) -> UploadCounts:
    return upload(folder, read(folder, "x"), "x", to, keep=keep, pauses=AT_ONCE)


def opened(folder: Path, from_: VectorStore) -> Engine:
    return assemble(folder, read(folder, "x"), "x", from_)


def told(engine: Engine, questions: Sequence[str] = ASKED, where: Filter | None = None) -> list[object]:
    """All that an engine says of questions, but how long it took."""
    results = [engine.ask(question, where=where) for question in questions]
    return [(replace(result, milliseconds=0), engine.explain(result)) for result in results]


def dated() -> Corpus:
    """The village without questions, so that articles lend their terms to the next; some have ended."""
    ends = {"v-5": date(2020, 1, 1), "v-3": date(2030, 1, 1)}
    articles = tuple(replace(a, valid_to=ends.get(a.id)) for a in VILLAGE.articles)
    return replace(VILLAGE, articles=articles, questions=())


@pytest.mark.parametrize("where", [None, Filter(in_force_on=date(2024, 5, 1)), Filter(frozenset({"other"}))])
def test_a_store_answers_as_the_index_does(place: VectorStore, where: Filter | None) -> None:
    for corpus in (VILLAGE, dated()):
        folder = install(corpus, settings=FIT)
        done = put(folder, place)
        assert (done.written, done.same, done.removed) == (len(VILLAGE.articles), 0, 0)
        assert told(opened(folder, place), where=where) == told(indexes.open("village"), where=where)


def test_an_upload_again_writes_nothing(place: VectorStore) -> None:
    folder = install()
    put(folder, place)
    assert put(folder, place).written == 0


def test_versions_come_into_use_and_back(place: VectorStore) -> None:
    first, second = (install(edition(n)) for n in (1, 2))
    for folder in (first, second):
        done = put(folder, place)
        assert place.aliases()["village"] == done.collection == collection_name(read(folder, "x"))
    assert [version_of(c) for c, _ in list_collections(place, "village")] == [second.name, first.name]
    assert roll_back(place, "village", None) == collection_name(read(first, "x"))
    assert told(opened(first, place)) == told(assemble(first, read(first, "x"), "x"))
    assert version_of(roll_back(place, "village", second.name)) == second.name
    with pytest.raises(MissingIndex, match="no 1999"):
        roll_back(place, "village", "1999")
    with pytest.raises(BadInput, match="begins"):
        roll_back(place, "village", "2")
    with pytest.raises(MissingIndex, match="hamlet"):
        roll_back(place, "hamlet", None)
    put(install(edition(3)), place, keep=1)
    assert len(list_collections(place, "village")) == 1


def test_odd_texts_are_kept_and_filtered_by(place: VectorStore) -> None:
    odd = "Du\0 \\0 village"
    articles = tuple(replace(a, code=odd) for a in VILLAGE.articles[:6]) + VILLAGE.articles[6:]
    folder = install(replace(VILLAGE, articles=articles), settings=NONE)
    put(folder, place)
    where = Filter(frozenset({odd}))
    assert told(opened(folder, place), where=where) == told(indexes.open("village"), where=where)
    nowhere = opened(folder, place).ask(GOAT, where=Filter(frozenset({"half a pair: \ud800"})))
    assert not nowhere.shown
    for field in ("id", "code", "law_type", "region"):  # so none comes into an index
        half = replace(VILLAGE.articles[2], **{field: "v\udc80"})
        with pytest.raises(BadInput, match="half a surrogate pair"):
            install(replace(VILLAGE, articles=(*VILLAGE.articles[:2], half), questions=()))


@pytest.mark.parametrize("place", ["edge", "postgres"], indirect=True)
def test_an_update_writes_what_changed(place: VectorStore) -> None:
    put(install(settings=FIT), place)
    articles = list(VILLAGE.articles)
    articles[3] = replace(articles[3], text="Qui laisse brûler le pain d'un autre lui en doit deux.")
    del articles[8]
    folder = install(replace(VILLAGE, articles=tuple(articles)), settings=NONE)
    assert put(folder, place).written == 11  # of another encoder, and none of the vectors is the same
    articles[0] = replace(articles[0], text=articles[0].text.replace("referme", "ferme"))
    folder = install(replace(VILLAGE, articles=tuple(articles)), settings=NONE)
    done = put(folder, place)
    assert (done.written, done.removed, done.same) == (1, 0, 10)
    about = place.about(done.collection)
    assert about is not None
    assert about["drift"] == 0
    del articles[1]
    folder = install(replace(VILLAGE, articles=tuple(articles)), settings=NONE)
    done = put(folder, place)
    assert (done.written, done.removed, done.same) == (0, 1, 10)
    about = place.about(done.collection)
    assert about is not None
    assert 0 < about["drift"] < 0.05  # its weights are by the mean length of before
    assert told(opened(folder, place)) == told(indexes.open("village"))


def test_a_server_makes_the_oldest_version_the_new_one(place: VectorStore) -> None:
    folders = [install(edition(n)) for n in (1, 2, 3, 4)]
    wholly = len(edition(1).articles)
    counts = [put(folder, place, keep=2) for folder in folders]
    first_of_all, *_ = list_collections(place, "village")
    assert first_of_all[0] == counts[-1].collection
    assert len(list_collections(place, "village")) == 2
    touched = [(each.written, each.removed, each.same) for each in counts]
    if isinstance(place, ServerStore):  # version 3 is written over 1, 4 over 2
        assert touched == [(wholly, 0, 0)] * 2 + [(1, 1, wholly - 1)] * 2
        with pytest.raises(StoreUnavailable):  # whoever still searches it is not given another version
            place.search(counts[0].collection, {1: 1.0}, 1, None, exact=True)
    else:
        assert touched == [(wholly, 0, 0)] + [(1, 1, wholly - 1)] * 3
    for folder in folders[-2:]:
        assert told(opened(folder, place)) == told(assemble(folder, read(folder, "x"), "x"))
    assert roll_back(place, "village", None) == counts[-2].collection


def test_weights_are_written_anew_where_articles_became_much_longer(tmp_path: Path) -> None:
    in_edge = store("edge", tmp_path)
    put(install(), in_edge)
    longer = tuple(replace(a, text=f"{a.text} {a.text}") for a in VILLAGE.articles[:6])
    folder = install(replace(VILLAGE, articles=(*longer, *VILLAGE.articles[6:])))
    assert put(folder, in_edge).written == len(VILLAGE.articles)
    assert told(opened(folder, in_edge)) == told(indexes.open("village"))


def test_drift_is_the_most_that_a_mean_length_has_moved() -> None:
    assert drift_between({"all": 11.0, "law": 9.0}, {"all": 10.0, "law": 9.0}) == pytest.approx(
        0.0953, abs=1e-4
    )
    assert drift_between({"all": 0.0}, {"all": 0.0}) == 0


def test_the_oldest_version_that_nobody_else_takes_becomes_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = store("client", tmp_path)
    assert isinstance(place, ServerStore)
    done = [put(install(edition(n)), place, keep=5) for n in (1, 2, 3, 4)]
    rename, asked = place._rename, list[str]()

    def lose(alias: str, to: str) -> None:
        asked.append(alias)
        if len(asked) == 1:
            rename(alias, "village.0.x")  # another process is first
        rename(alias, to)

    monkeypatch.setattr(place, "_rename", lose)
    folder = install(edition(5))
    put(folder, place, keep=2)
    assert asked == [done[0].collection, done[1].collection]
    assert told(opened(folder, place)) == told(indexes.open("village"))

    def fail(alias: str, to: str) -> None:
        raise StoreUnavailable("no route to host")

    monkeypatch.setattr(place, "_rename", fail)
    with pytest.raises(StoreUnavailable, match="no route"):
        place.recycle(place.aliases()["village"], "village.9.x")


def test_a_collection_is_on_the_disk_before_a_name_points_to_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edge, fsync, synced = EdgeStore(root / "store"), os.fsync, set[int]()

    def sync(handle: int) -> None:
        synced.add(os.fstat(handle).st_ino)
        fsync(handle)

    def complete() -> None:
        [latest] = {*edge.collections()} - {*edge.aliases().values()}
        place = edge.root / latest
        paths = [edge.root, place, *place.rglob("*")]
        assert [p for p in paths if p.stat().st_ino not in synced] == []
        met.append(latest)

    monkeypatch.setattr(os, "fsync", sync)
    for n in (1, 2):
        synced.clear()
        met: list[str] = []
        with monkeypatch.context() as once:
            meet(edge, "switch", complete, once)
            put(install(edition(n)), edge)
        assert met == [edge.aliases()["village"]]


class FakeShard:
    """An engine that waits to be told to go on, where it loads and where it searches."""

    loading: ClassVar[dict[str, threading.Event]] = {}
    begun, asked, searching = (threading.Event() for _ in range(3))

    def __init__(self) -> None:
        self.closed = False

    @classmethod
    def load(cls, place: str) -> FakeShard:
        cls.begun.set()
        assert cls.loading[Path(place).parent.name].wait(60)
        return cls()

    def query(self, _: object) -> list[object]:
        self.asked.set()
        assert self.searching.wait(60)
        assert not self.closed
        return []

    def close(self) -> None:
        self.closed = True


def test_what_loads_keeps_no_other_waiting_and_what_is_searched_stays_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edge, ended = EdgeStore(tmp_path / "store"), list[object]()
    monkeypatch.setattr(edge._q, "EdgeShard", FakeShard)
    monkeypatch.setattr(FakeShard, "loading", {name: threading.Event() for name in ("one", "other")})

    def search(collection: str) -> None:
        ended.append((collection, len(edge.search(collection, {3: 1.0}, 1, None, exact=True)[0])))

    first = threading.Thread(target=search, args=("one",), daemon=True)
    first.start()
    assert FakeShard.begun.wait(60)
    FakeShard.loading["other"].set()
    second = threading.Thread(target=search, args=("other",), daemon=True)
    second.start()
    assert FakeShard.asked.wait(20)  # as it does not wait for the one that loads
    engine = weakref.ref(edge._open["other"].result())
    edge.unload("other")
    FakeShard.searching.set()
    second.join(60)
    assert ended == [("other", 0)]
    assert engine() is None
    FakeShard.loading["one"].set()
    first.join(60)
    assert ended == [("other", 0), ("one", 0)]


class Failing(EdgeStore):
    """Fails at some of the writes."""

    failures: tuple[int, ...] = ()
    writes = 0

    def upsert(self, collection: str, points: Sequence[Point]) -> None:
        self.writes += 1
        if self.writes in self.failures:
            raise StoreUnavailable("no route to host")
        super().upsert(collection, points)


def test_a_write_that_fails_is_tried_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexes.qdrant.upload.BATCH", 4)
    failing = Failing(root / "store")
    failing.failures = (2, 3)
    assert put(install(), failing).written == len(VILLAGE.articles)


@pytest.mark.parametrize("status", [503, 429, 0], ids=["503", "429", "answer lost"])
@pytest.mark.parametrize("place", ["client"], indirect=True)
def test_a_server_that_is_away_for_a_moment_is_asked_again(status: int, place: VectorStore) -> None:
    from tests.fakes.ranking.qdrant_server import each_first

    server = imitation(place)
    server.fault = each_first(status)
    folders = [install(edition(n)) for n in (1, 2)]
    for folder in folders:
        put(folder, place)
    server.fault = lambda _: None
    assert told(opened(folders[1], place)) == told(indexes.open("village"))
    server.fault = each_first(status)
    assert roll_back(place, "village", None, pauses=AT_ONCE) == collection_name(read(folders[0], "x"))
    asked = len(server.asked)
    server.fault = lambda _: 401
    with pytest.raises(StoreRefused, match="401"):
        roll_back(place, "village", None, pauses=AT_ONCE)
    assert len(server.asked) == asked + 1  # nobody lets in later whom they do not let in now
    server.fault = lambda _: None


@pytest.mark.parametrize("place", ["edge", "postgres", "client"], indirect=True)
def test_what_was_created_although_nobody_said_so_is_created_anew(
    place: VectorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    create, failures = place.create, [StoreUnavailable("no answer")]

    def lost(collection: str, dim: int | None, *, graph: bool) -> None:
        create(collection, dim, graph=graph)
        if failures:
            raise failures.pop()

    monkeypatch.setattr(place, "create", lost)
    assert put(install(), place).written == len(VILLAGE.articles)


def test_an_upload_that_ends_early_goes_on(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexes.qdrant.upload.BATCH", 4)
    monkeypatch.setattr(engines, "FLUSHED", 1)
    failing = Failing(root / "store")
    failing.failures = tuple(range(3, 4 + len(AT_ONCE)))
    folder = install()
    with pytest.raises(StoreUnavailable, match="no route"):
        put(folder, failing)
    assert "village" not in failing.aliases()
    with pytest.raises(StaleIndex, match="not all of it"):
        opened(folder, failing)
    failing.failures = ()
    assert put(folder, failing).written == 4
    assert told(opened(folder, failing)) == told(indexes.open("village"))


def test_two_processes_do_not_write_to_one_collection(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = EdgeStore(root / "store"), EdgeStore(root / "store")
    folder = install()
    monkeypatch.setattr("indexes.qdrant.upload.BATCH", 4)
    finish = EdgeStore.finish

    def meet(self: EdgeStore, collection: str) -> int:
        if self is one:
            with pytest.raises(StoreUnavailable, match="another process is writing"):
                other.remove(collection, [1])
        return finish(self, collection)

    monkeypatch.setattr(EdgeStore, "finish", meet)
    put(folder, one)
    for write in (lambda name: other.remove(name, [1]), other.finish):  # readers have its files
        with pytest.raises(StoreUnavailable, match="uploaded by another meanwhile"):
            write(collection_name(read(folder, "x")))
    assert put(folder, other).written == 0  # it is there, and free again


def another(place: VectorStore) -> VectorStore:
    """The store as another process has it."""
    if isinstance(place, ShardedStore):
        return ShardedStore(place.root, len(place.shards))
    return EdgeStore(place.root) if isinstance(place, EdgeStore) else place


def meet(store: VectorStore, method: str, act: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Do something, once, just before a method of a store."""
    of, left = getattr(store, method), [act]

    def meeting(*arguments: object, **named: object) -> object:
        if left:
            with suppress(MissingIndex, StoreUnavailable):
                left.pop()()
        return of(*arguments, **named)

    monkeypatch.setattr(store, method, meeting)


def test_two_versions_that_are_uploaded_at_a_time_leave_each_other_alone(
    place: VectorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [install(edition(n)) for n in (1, 2, 3, 4)]
    for folder in folders[:2]:
        put(folder, place, keep=2)
    meet(place, "finish", lambda: put(folders[3], another(place), keep=1), monkeypatch)
    put(folders[2], place, keep=2)
    assert place.aliases()["village"] == collection_name(read(folders[2], "x"))
    for folder in folders[2:]:
        assert told(opened(folder, place)) == told(assemble(folder, read(folder, "x"), "x"))


@pytest.mark.parametrize("method", ["recycle", "finish", "delete"])
def test_a_rollback_beside_an_upload_keeps_what_is_in_use(
    place: VectorStore, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [install(edition(n)) for n in (1, 2, 3)]
    for folder in folders[:2]:
        put(folder, place, keep=2)
    meet(place, method, lambda: roll_back(another(place), "village", folders[0].name), monkeypatch)
    with suppress(StoreUnavailable):
        put(folders[2], place, keep=2)
    by_collection = {collection_name(read(folder, "x")): folder for folder in folders}
    in_use = by_collection[place.aliases()["village"]]
    assert told(opened(in_use, place)) == told(assemble(in_use, read(in_use, "x"), "x"))


def test_what_was_left_unfinished_goes_after_an_hour(
    place: VectorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(install(edition(1)), place)
    place.create("village.2.x", None, graph=False)
    place.describe("village.2.x", {"complete": False, "means": {"all": 1.0, "law": 1.0}})
    place.upsert("village.2.x", [Point(5, {3: 1.0}, None, {}, 7)])
    if isinstance(place, ServerStore | PostgresStore):
        put(install(edition(2)), place)
        assert "village.2.x" in place.collections()  # an upload, as far as can be seen
        monkeypatch.setattr(engines, "WRITING", 0.0)
    elif isinstance(place, EdgeStore):
        place.release("village.2.x")  # its process ended
    put(install(edition(3)), place)
    assert "village.2.x" not in place.collections()


KILLED = """
import os, signal, sys
from indexes.__main__ import main
from indexes.qdrant import engines, upload
engines.FLUSHED, upload.BATCH, left = 1, 2, int(sys.argv[1])
flush = engines.EdgeStore._flush
def counted(store, collection):
    global left
    left -= 1
    if left == 0:
        store._shard(collection).flush()  # its points are there, and nothing says so yet
        os.kill(os.getpid(), signal.SIGKILL)
    flush(store, collection)
engines.EdgeStore._flush = counted
main(sys.argv[2:])
"""


@pytest.mark.slow
@pytest.mark.parametrize("flush", [1, 4, 8])  # the last one is that of `finish`
def test_a_process_that_is_killed_leaves_the_former_version_in_use(
    tmp_path: Path, root: Path, flush: int
) -> None:
    address = f"qdrant+edge://{tmp_path / 'store'}"
    former = install(edition(1))
    command = ["qdrant", "upload", "village", "--to", address]
    assert main(command) == 0
    longer = tuple(replace(a, text=f"{a.text} {a.text}") for a in edition(2).articles)
    install(replace(edition(2), articles=longer))  # so that all is written anew
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(flush), *command], cwd=ROOT, capture_output=True, check=False
    )
    assert killed.returncode == -9, killed.stderr.decode()
    assert indexes.open(f"{address}/village").info.version == former.name
    assert main(command) == 0
    engine = indexes.open(f"{address}/village")
    assert engine.info.version != former.name
    assert told(engine) == told(indexes.open("village"))


def test_commands_say_what_they_did(tmp_path: Path, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    address = f"qdrant+edge://{tmp_path / 'store'}"
    versions = [install(edition(n)).name for n in (1, 2)]
    assert main(["qdrant", "upload", "village", "--to", address]) == 0
    said = capsys.readouterr().out
    assert "13 articles written" in said
    assert f"PANDECT_INDEX={address}/village" in said
    assert main(["qdrant", "status", "village", "--to", address]) == 0
    assert capsys.readouterr().out.startswith(f"* {versions[1]}  ")
    assert main(["qdrant", "rollback", "village", "--to", address]) == 2
    assert "no version before" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("qdrant://", "give qdrant://HOST:PORT"),
        ("qdrant+edge://host/place/village", "give qdrant"),
        ("qdrant://host:port/village", "give qdrant"),
        ("qdrant+edge:///nowhere/at/all/village", "no index named 'village'"),
        ("qdrant+edge:///village", "give qdrant"),
        ("qdrant://me:secret@host/village", "^the address of a store holds no name or password"),
        ("qdrant://me:secret@host:6333", "^the address of a store holds no name or password"),
        ("qdrant+shards://me:secret@4/village", "^the address of a store holds no name or password"),
        ("qdrant://127.0.0.1:1/village", "127.0.0.1:1"),
        ("postgres://host/village", "give qdrant.* or postgres://HOST:PORT/DATABASE, then /NAME"),
        ("postgres://[host/base/village", "give qdrant"),
        ("postgres://me:secret@host/base/village", "^the address of a store holds no name or password"),
        ("postgres://host/base?password=secret/village", "^the address of a store holds no name or password"),
        ("postgres://127.0.0.1:1/base/village", "postgres://127.0.0.1:1/base: .* refused"),
    ],
)
def test_an_address_that_leads_nowhere(
    address: str, error: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if address.startswith("postgres"):
        pytest.importorskip("psycopg", reason="needs the extra [postgres]")
    monkeypatch.setenv("PGPASSWORD", "secret")
    with pytest.raises(PandectError, match=error) as raised:
        indexes.open(address)
    assert "secret" not in f"{raised.value}{caplog.text}"


def test_a_version_that_is_not_here(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"qdrant+edge://{tmp_path / 'store'}"
    folder = install()
    put(folder, connect(address))
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "elsewhere"))
    with pytest.raises(MissingIndex, match=f"{folder.name}.* is not here: copy it"):
        indexes.open(f"{address}/village")


def test_a_version_that_another_process_brings_is_not_deleted(root: Path) -> None:
    one, other = EdgeStore(root / "store"), EdgeStore(root / "store")
    one.create("village.1.x", None, graph=False)
    other.delete("village.1.x")
    assert other.collections() == ["village.1.x"]
    with pytest.raises(StoreUnavailable, match="cannot be made"):
        other.create("village.1.x", None, graph=False)
    with held(root / "store"), pytest.raises(StoreUnavailable, match="another process switches"):
        other.switch("village", "village.1.x")
    one.describe("village.1.x", {"complete": True})
    other.delete("village.1.x")
    assert other.collections() == []


def test_a_list_of_fingerprints_that_a_full_disk_cut_goes_on(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edge = EdgeStore(root / "store")
    edge.create("village.1.x", None, graph=False)
    edge.upsert("village.1.x", [Point(1, {3: 1.0}, None, {}, 7)])
    with monkeypatch.context() as full:
        full.setattr("indexes.qdrant.engines.os.fsync", fail)
        with pytest.raises(StoreUnavailable, match="No space"):
            edge.finish("village.1.x")
    flushed = root / "store" / "village.1.x" / "flushed"
    flushed.write_bytes(flushed.read_bytes()[:5])
    assert edge.finish("village.1.x") == 1
    assert edge.fingerprints("village.1.x") == {1: 7}


def fail(_: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_what_others_keep_in_a_server_is_no_index(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = store("client", root)
    assert isinstance(client, ServerStore)
    models = pytest.importorskip("qdrant_client").models
    sparse = {engines.WORDS: models.SparseVectorParams()}
    client._call("create_collection", "theirs", vectors_config={}, sparse_vectors_config=sparse)
    client.upsert("theirs", [Point(engines.ABOUT, {3: 1.0}, None, {}, 7)])
    assert client.about("theirs") is None
    client.switch("village", "theirs")
    monkeypatch.setattr("indexes.qdrant.address.connect", lambda _: client)
    with pytest.raises(MissingIndex, match="'village' names 'theirs'"):
        indexes.open("qdrant://host/village")


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_server_is_never_told_to_lack_something(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    client = store("client", Path())
    assert isinstance(client, ServerStore)
    put(install(), client)
    monkeypatch.setattr("indexes.qdrant.address.connect", lambda _: client)
    assert indexes.open("qdrant://host/village").ask(GOAT).shown
    name = client.aliases()["village"]
    imitation(client).fault = lambda _: status
    calls: list[Callable[[], object]] = [
        client.aliases, client.collections,
        *(partial(call, name) for call in (client.about, client.fingerprints, client.finish, client.busy)),
        *(partial(call, name) for call in (client.delete, partial(client.recycle, "village.0.x"))),
        partial(client.create, name, 2, graph=False), partial(client.switch, "village", None),
        partial(client.describe, name, {"complete": False}), partial(client.remove, name, [1]),
        partial(client.upsert, name, [Point(1, {1: 1.0}, None, {}, 7)]),
        partial(client.search, name, {1: 1.0}, 1, None, exact=True),
        partial(indexes.open, "qdrant://host/village"),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(StoreBusy, match=r"is busy .* try again in a moment"):
            call()


def test_a_real_server_is_asked_where_there_is_one(tmp_path: Path) -> None:
    real = store("server", tmp_path)  # the tests above run on it too
    with pytest.raises(StoreUnavailable, match="none"):
        real.search("none", {1: 1.0}, 1, None, exact=True)
