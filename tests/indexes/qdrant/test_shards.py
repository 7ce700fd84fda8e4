"""A collection over several processes: the ranking of one, and what is missing is told."""

from __future__ import annotations

import gc
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

import indexes
from indexes.__main__ import main
from indexes.cli.serve import InstalledIndex
from indexes.corpus.corpus import Corpus
from indexes.qdrant.address import connect, is_address
from indexes.qdrant.collection import point_ids
from indexes.qdrant.engines import Point
from indexes.qdrant.shards import Shard, ShardedStore, Silent
from indexes.qdrant.upload import upload
from indexes.store.manifest import read
from indexes.store.open_index import assemble
from rag.engine.engine import Engine
from rag.engine.result import Result
from rag.errors import BadInput, StoreUnavailable, missing, watching
from rag.types import Article, Filter, Hit
from tests.fakes.law.corpus import FIT, NONE, VILLAGE, install

WORDS = ("puits", "four", "chien", "chèvre", "jardin", "pain", "voisin", "linge", "foyer", "conseil")
ASKED = (
    "le chien du voisin",
    "puits",
    "un pain au four",
    "la chèvre dans le jardin du conseil",
    "linge foyer",
)


def crowd(n: int) -> Corpus:
    """Articles of few words, most of which another one shares word for word: scores tie across shards."""
    draw = random.Random(7)
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(1, 4))) for _ in range(n // 3)]
    ids = draw.sample([f"a-{i}" for i in range(n)], n)
    codes = ("Du village", "Des bêtes")
    articles = tuple(Article(id_, codes[i % 2], id_, draw.choice(texts)) for i, id_ in enumerate(ids))
    return replace(VILLAGE, articles=articles, questions=(), extras={})


@pytest.fixture
def village(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Engine, Engine, ShardedStore]]:
    """An index as it is opened here, over three shards, and their store."""
    pytest.importorskip("qdrant_edge", reason="needs the extra [qdrant]")
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    folder = install(crowd(120), settings=FIT)
    store = ShardedStore(tmp_path / "store", 3)
    upload(folder, read(folder, "x"), "x", store)
    yield indexes.open("village"), assemble(folder, read(folder, "x"), "x", store), store
    for shard in store.shards:
        shard.end()


def told(engine: Engine, question: str, where: Filter | None = None, k: int = 10) -> Result:
    return replace(engine.ask(question, where=where, k=k), milliseconds=0)


def words(engine: Engine, question: str, k: int, gone: AbstractSet[str] = frozenset()) -> list[Hit]:
    """The ranking by words alone, less the articles of shards that are gone."""
    hits = list(engine.searcher.keyword.search([question], 120)[0])
    shards = (point_ids([hit.article_id for hit in hits]) % 3 + 1).tolist()
    return [hit for hit, n in zip(hits, shards, strict=True) if f"shard {n} of 3" not in gone][:k]


def pid(store: ShardedStore, number: int) -> int | None:
    process = store.shards[number].process
    return process.pid if process is not None else None


def processes(root: Path) -> set[int]:
    """The processes of all shards below a folder."""
    found = set()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            if f"{root}/".encode() in (place / "cmdline").read_bytes():
                found.add(int(place.name))
    return found


def mapped(pids: Iterable[int], collection: str) -> bool:
    """Whether one of some processes has files of a collection in its memory."""
    return any(f"/{collection}/" in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8") for pid in pids)


def eventually(is_so: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 120
    while not is_so() and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.05)
    return is_so()


needs_proc = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="looks at /proc")


@needs_proc
@pytest.mark.slow
def test_sessions_and_an_api_share_the_processes_which_end_with_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("qdrant_edge", reason="needs the extra [qdrant]")
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    root = tmp_path / "store"
    address = f"qdrant+shards://2{root}"
    install(crowd(60), settings=NONE)
    assert main(["qdrant", "upload", "village", "--to", address]) == 0
    assert eventually(lambda: not processes(root))  # an upload leaves none behind

    def ask(api: InstalledIndex | None) -> Engine:
        engine = api.engine() if api is not None else indexes.open(f"{address}/village")
        assert engine.ask(ASKED[0]).shown
        return engine

    serving = [None, None, InstalledIndex(f"{address}/village"), None, None]
    with ThreadPoolExecutor(len(serving)) as sessions:
        engines = list(sessions.map(ask, serving))
    assert len(processes(root)) == 2
    told_by_all = [told(engine, ASKED[1]) for engine in engines]
    assert told_by_all == [told_by_all[0]] * 5
    engines.clear()
    gc.collect()
    assert len(processes(root)) == 2  # the API has it open
    serving.clear()
    assert eventually(lambda: not processes(root))


@needs_proc
@pytest.mark.parametrize("kind", ["edge", pytest.param("shards", marks=pytest.mark.slow)])
def test_a_version_that_is_no_longer_open_takes_no_memory(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("qdrant_edge", reason="needs the extra [qdrant]")
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    root = tmp_path / "store"
    address = f"qdrant+edge://{root}" if kind == "edge" else f"qdrant+shards://2{root}"

    def come() -> tuple[Engine, str]:
        """Upload the next version, open it as a page does, and ask."""
        assert main(["qdrant", "upload", "village", "--to", address]) == 0
        engine = indexes.open(f"{address}/village")
        assert engine.ask(ASKED[0]).shown
        return engine, connect(address).aliases()["village"]

    def there(collection: str) -> bool:
        return mapped([os.getpid(), *processes(root)], collection)

    install(crowd(60), settings=NONE)
    before, first = come()
    same = indexes.open(f"{address}/village")
    install(crowd(63), settings=NONE)
    after, second = come()
    assert first != second
    assert there(first)
    assert there(second)
    expected = told(before, ASKED[1])
    del before
    gc.collect()
    assert told(same, ASKED[1]) == expected  # somebody still reads in it
    del same
    assert eventually(lambda: not there(first))
    assert told(after, ASKED[1]) == told(indexes.open("village"), ASKED[1])
    assert there(second)
    del after
    assert eventually(lambda: not there(second))
    assert eventually(lambda: not processes(root))


@pytest.mark.slow
def test_shards_rank_as_one_ties_and_all(village: tuple[Engine, Engine, ShardedStore]) -> None:
    here, sharded, store = village
    sizes = [len(store.shards[i].ask("fingerprints", store.aliases()["village"])) for i in range(3)]
    assert sum(sizes) == 120
    assert min(sizes) > 20
    ties = 0
    for question in ASKED:
        for where in (None, Filter(frozenset({"Des bêtes"}))):
            for k in (1, 10, 120):
                expected = told(here, question, where, k)
                assert told(sharded, question, where, k) == expected
                ties += len(expected.shown) - len({shown.score for shown in expected.shown})
    assert ties > 100


@pytest.mark.slow
def test_under_load_and_kills_answers_are_right_or_say_what_is_missing(
    village: tuple[Engine, Engine, ShardedStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, sharded, store = village
    monkeypatch.setattr("indexes.qdrant.shards.SEARCH", 3.0)
    monkeypatch.setattr("indexes.qdrant.shards.STALLED", 5.0)
    expected = {question: told(here, question) for question in ASKED}
    told(sharded, ASKED[0])
    wrong: list[Result] = []
    ranks: list[tuple[list[Hit], list[Hit]]] = []
    right, partial, until = [0], [0], time.monotonic() + 20

    def ask(seed: int) -> None:
        draw = random.Random(seed)
        while time.monotonic() < until:
            question = draw.choice(ASKED)
            result = told(sharded, question)
            if result.missing:
                partial[0] += 1
            elif result == expected[question]:
                right[0] += 1
            else:
                wrong.append(result)
            with watching() as gone:
                ranked = list(sharded.searcher.keyword.search([question], 10)[0])
            ranks.append((ranked, words(here, question, 10, gone)))

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    killed, draw = 0, random.Random(1)
    stopped = pid(store, 0)
    assert stopped is not None
    os.kill(stopped, signal.SIGSTOP)  # it stands still for longer than may be
    while time.monotonic() < until - 5:  # the last seconds pass without
        if (victim := pid(store, draw.randrange(1, 3))) is not None:
            os.kill(victim, draw.choice((signal.SIGKILL, signal.SIGTERM)))
            killed += 1
        time.sleep(draw.uniform(0.5, 3))
    for thread in threads:
        thread.join()

    assert wrong == []
    found, due = zip(*ranks, strict=True)
    assert found == due  # scores and all
    assert killed > 3
    assert right[0] > 10
    assert partial[0] > 0
    deadline = time.monotonic() + 120
    while told(sharded, ASKED[1]) != expected[ASKED[1]]:
        assert time.monotonic() < deadline, "the shards did not come back"


@pytest.mark.slow
def test_a_shard_that_cannot_be_read_is_missing_until_it_can(
    village: tuple[Engine, Engine, ShardedStore],
) -> None:
    here, sharded, store = village
    expected = told(here, ASKED[0])
    folder = store.shards[1].folder
    folder.rename(folder.with_name("gone"))
    store.shards[1].end()

    result = told(sharded, ASKED[0])
    assert result.missing == ("shard 2 of 3",)
    assert result.shown
    assert result.confidence is None  # it was calibrated on the whole law
    assert not {1} & {int(point) % 3 for point in point_ids([shown.article.id for shown in result.shown])}
    with pytest.raises(StoreUnavailable, match="shard 2 of 3: no answer"):
        sharded.searcher.keyword.search([ASKED[0]], 10)  # nobody would be told
    folder.with_name("gone").rename(folder)
    for shard in store.shards:
        shard.end()
        shard.folder.rename(shard.folder.with_name(f"away-{shard.folder.name}"))
    with pytest.raises(StoreUnavailable, match="no shard answers"):
        sharded.ask(ASKED[0])
    for shard in store.shards:
        shard.folder.with_name(f"away-{shard.folder.name}").rename(shard.folder)
    assert told(sharded, ASKED[0]) == expected


def test_a_folder_keeps_its_number_of_shards(tmp_path: Path) -> None:
    pytest.importorskip("qdrant_edge", reason="needs the extra [qdrant]")
    (tmp_path / "shards.json").write_text('{"shards": 3}')
    assert len(ShardedStore(tmp_path, 3).shards) == 3
    with pytest.raises(BadInput, match=rf"2 shards: .* has 3: give qdrant\+shards://3{tmp_path}"):
        connect(f"qdrant+shards://2{tmp_path}")
    for address in ("qdrant+shards://many/folder", "qdrant+shards:///folder", "qdrant+shards://3/"):
        assert is_address(address)
        with pytest.raises(BadInput, match=r"give qdrant://HOST:PORT"):
            connect(address)
    with pytest.raises(BadInput, match="1 to 64"):
        connect(f"qdrant+shards://65{tmp_path / 'new'}")


def test_a_part_that_is_missing_is_told_to_whoever_watches_and_else_an_error() -> None:
    with watching() as outer:
        with watching() as inner:
            missing("shard 1 of 2")
        assert inner == {"shard 1 of 2"}
        assert outer == set()
        missing(*inner)
        assert outer == inner
    missing()
    with pytest.raises(StoreUnavailable, match="shard 1 of 2"):
        missing("shard 1 of 2")


@pytest.mark.slow
def test_what_a_shard_forgets_is_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("qdrant_edge", reason="needs the extra [qdrant]")
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("indexes.qdrant.upload.BATCH", 20)
    store, law = ShardedStore(tmp_path / "store", 2), crowd(60)
    folder = install(law, settings=NONE)
    with monkeypatch.context() as ends:
        ends.setattr(store.shards[1], "ask", interrupted)
        with pytest.raises(KeyboardInterrupt):
            upload(folder, read(folder, "x"), "x", store)
    assert upload(folder, read(folder, "x"), "x", store).written == 60  # nothing is in its way

    texts = [article.text for article in law.articles]
    moved = zip(law.articles, texts[1:] + texts[:1], strict=True)
    folder = install(replace(law, articles=tuple(replace(a, text=text) for a, text in moved)), settings=NONE)
    batches, upsert = [], store.upsert

    def kill(collection: str, points: Sequence[Point]) -> None:
        upsert(collection, points)
        batches.append(len(points))
        if len(batches) == 2 and (victim := pid(store, 1)) is not None:
            os.kill(victim, signal.SIGKILL)

    monkeypatch.setattr(store, "upsert", kill)
    done = upload(folder, read(folder, "x"), "x", store)
    assert 20 < done.written < 60  # the rest is the former version's
    assert sum(batches) > done.written
    whole = assemble(folder, read(folder, "x"), "x", store)
    for question in ASKED:
        assert told(whole, question, k=60) == told(indexes.open("village"), question, k=60)
    for shard in store.shards:
        shard.end()


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


LOADS_SLOWLY = """
import sys, time
from indexes.qdrant.engines import EdgeStore
from indexes.qdrant.shards import serve
load = EdgeStore._shard
def slowly(store, collection):
    if collection not in store._open:
        with (store.root / "loads").open("a") as file:
            file.write("x")
        while not (store.root / "go").exists():
            time.sleep(0.01)
    return load(store, collection)
EdgeStore._shard = slowly
serve(*sys.argv[1:])
"""


@pytest.mark.slow
def test_a_shard_that_loads_for_longer_than_a_search_may_take_gets_through(
    village: tuple[Engine, Engine, ShardedStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, sharded, store = village
    slow = store.shards[1]
    told(sharded, ASKED[0])  # the others have it loaded
    slow.end()
    monkeypatch.setattr("indexes.qdrant.shards._PROCESS", LOADS_SLOWLY)
    monkeypatch.setattr("indexes.qdrant.shards.SEARCH", 3.0)
    while not (slow.folder / "loads").exists():
        assert "shard 2 of 3" in told(sharded, ASKED[0]).missing
    loading = pid(store, 1)
    for question in ASKED:
        assert "shard 2 of 3" in told(sharded, question).missing
    (slow.folder / "go").touch()
    monkeypatch.undo()
    for question in reversed(ASKED):  # no answer to what was asked before is taken for one of these
        assert eventually(lambda asked=question: told(sharded, asked) == told(here, asked))  # type: ignore[misc]
    assert pid(store, 1) == loading
    assert (slow.folder / "loads").read_text(encoding="utf-8") == "x"


@pytest.mark.slow
def test_a_part_that_was_not_deleted_is_told_or_goes_with_the_next_upload(tmp_path: Path) -> None:
    pytest.importorskip("qdrant_edge", reason="needs the extra [qdrant]")
    one, other = (ShardedStore(tmp_path / "store", 2) for _ in range(2))
    one.create("village.1.x", None, graph=False)
    one.release("village.1.x")  # its process was killed: those of the shards are still at work
    with pytest.raises(StoreUnavailable, match="another process writes to village"):
        other.delete("village.1.x")
    assert other.collections() == ["village.1.x"]
    for shard in one.shards:
        shard.end()
    away = other.shards[1].folder.rename(tmp_path / "away")
    other.delete("village.1.x")
    assert other.collections() == []
    away.rename(other.shards[1].folder)
    assert (other.shards[1].folder / "village.1.x").exists()
    other.create("village.2.x", None, graph=False)
    assert [sorted(p.name for p in s.folder.iterdir()) for s in other.shards] == [["village.2.x"]] * 2
    for shard in other.shards:
        shard.end()


@pytest.mark.slow
def test_a_slow_shard_is_waited_for_and_one_that_was_killed_or_stands_still_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("qdrant_edge", reason="needs the extra [qdrant]")
    shard = Shard(tmp_path / "0")
    assert shard.ask("collections") == []
    assert shard.process is not None
    former = shard.process.pid
    os.kill(former, signal.SIGKILL)
    assert shard.ask("collections") == []
    assert shard.process.pid != former
    former = shard.process.pid
    os.kill(former, signal.SIGSTOP)
    for _ in range(2):
        with pytest.raises(Silent):
            shard.ask("collections", seconds=1.0)
    os.kill(former, signal.SIGCONT)
    assert shard.ask("aliases") == {}  # and not the collections
    assert shard.process.pid == former
    os.kill(former, signal.SIGSTOP)
    monkeypatch.setattr("indexes.qdrant.shards.STALLED", 0.5)
    patience = time.monotonic() + 60
    while shard.process.pid == former and time.monotonic() < patience:
        with suppress(Silent):  # the first may see what it did before it was stopped; the next do not wait
            shard.ask("collections", seconds=0.8)
        time.sleep(0.1)
    assert shard.process.pid != former
    monkeypatch.undo()
    assert shard.ask("aliases") == {}
    shard.end()
