"""PostgreSQL as a store: what the tests of all stores do not tell of it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from indexes.qdrant import engines
from indexes.qdrant.engines import Point
from indexes.qdrant.postgres import PostgresStore
from indexes.qdrant.upload import patient
from rag.errors import StoreBusy, StoreRefused, StoreUnavailable
from rag.types import Filter
from tests.fakes.ranking.stores import store

DATED = {"valid_from": 1, "valid_to": 9}


@pytest.fixture
def base(tmp_path: Path) -> PostgresStore:
    made = store("postgres", tmp_path)
    assert isinstance(made, PostgresStore)
    return made


@pytest.fixture
def name(base: PostgresStore) -> Iterator[str]:
    """A collection for vectors of two numbers, whose name is longer than PostgreSQL's may be."""
    made = f"{'n' * 80}.{uuid.uuid4().hex}.x"
    base.create(made, 2, graph=False)
    yield made
    base.delete(made)


def point(id_: int, words: dict[int, float], meaning: tuple[float, float] | None, code: str = "c") -> Point:
    return Point(id_, words, meaning, {"code": code, "law_type": "", "region": "", **DATED}, id_ % 7 + 1)


@pytest.mark.slow
def test_numbers_have_no_sign(base: PostgresStore, name: str) -> None:
    most, dimension = 2**64 - 1, 2**32 - 1
    base.upsert(name, [point(most, {dimension: 0.5, 0: 0.25}, (1, 0)), point(1, {0: 1.0}, (0.5, 0))])
    base.upsert(name, [point(most, {dimension: 2.0, 0: 0.25}, None)])  # it takes the place of the former
    assert base.finish(name) == 2
    assert base.fingerprints(name) == {most: most % 7 + 1, 1: 2}
    ids, sums = base.search(name, {dimension: 1.0, 0: 3.0}, 5, None, exact=True)
    assert (ids.tolist(), sums.tolist()) == ([1, most], [3.0, 2.75])
    ids, products = base.search(name, np.array([2, 0], np.float32), 5, None, exact=True)
    assert (ids.tolist(), products.tolist()) == ([1], [1.0])


def test_texts_that_postgresql_cannot_keep_are_found_all_the_same(base: PostgresStore, name: str) -> None:
    odd = "a\0b\ud800c"
    base.upsert(name, [point(1, {3: 1.0}, (1, 1), odd), point(2, {3: 1.0}, (1, 1), "a")])
    base.finish(name)
    ids, _ = base.search(name, {3: 1.0}, 5, Filter(frozenset({odd})), exact=True)
    assert ids.tolist() == [1]


def test_a_connection_that_was_lost_is_made_again(base: PostgresStore, name: str) -> None:
    assert base.finish(name) == 0
    other = PostgresStore(base._address)
    select = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ANY(%s)"
    other._list(select, ([each.info.backend_pid for each in base._idle],))
    assert base.finish(name) == 0


def test_a_collection_in_use_is_not_deleted_nor_one_that_is_gone_used(base: PostgresStore, name: str) -> None:
    alias = uuid.uuid4().hex
    base.switch(alias, name)
    base.delete(name)
    assert name in base.collections()
    base.switch(alias, None)
    assert alias not in base.aliases()
    with pytest.raises(StoreUnavailable, match="gone"):
        base.switch(alias, "gone")
    with pytest.raises(StoreUnavailable, match="does not exist"):
        base.search("gone", {1: 1.0}, 1, None, exact=True)


def test_who_uploads_is_busy_for_an_hour(
    base: PostgresStore, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert base.busy(name)
    base.describe(name, {"complete": False})
    assert base.busy(name)
    monkeypatch.setattr(engines, "WRITING", 0)
    assert not base.busy(name)
    monkeypatch.undo()
    base.describe(name, {"complete": True})
    assert not base.busy(name)


def test_a_search_that_takes_too_long_is_given_up(base: PostgresStore) -> None:
    impatient = PostgresStore(base._address)
    with pytest.raises(StoreBusy, match="statement timeout"):
        impatient._call(lambda c: c.execute("SELECT pg_sleep(5)"), 0.05)
    assert impatient._idle == []
    impatient._call(lambda c: c.execute("SELECT pg_sleep(0.1)"), 0)


@pytest.mark.parametrize(("state", "kind"), [
    ("40001", StoreBusy), ("53300", StoreBusy), ("55P03", StoreBusy), ("57P01", StoreBusy),
    ("28000", StoreRefused), ("42501", StoreRefused), ("XX000", StoreUnavailable),
])  # fmt: skip
def test_what_ends_soon_is_told_from_what_does_not(
    base: PostgresStore, state: str, kind: type[Exception]
) -> None:
    fail = f"DO $$ BEGIN RAISE 'no' USING errcode = '{state}'; END $$"
    with pytest.raises(StoreUnavailable, match="no") as raised:
        base._call(lambda c: c.execute(fail))
    assert type(raised.value) is kind


def test_a_server_with_too_many_connections_is_busy_and_asked_again(
    base: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    role = f"r{uuid.uuid4().hex}"
    base._call(lambda c: c.execute(f"CREATE ROLE {role} LOGIN CONNECTION LIMIT 0 IN ROLE pg_read_all_data"))
    monkeypatch.setenv("PGUSER", role)
    crowded = PostgresStore(base._address)
    for call in (
        crowded.aliases,
        crowded.collections,
        lambda: crowded.about("x"),
        lambda: crowded.delete("x"),
    ):
        with pytest.raises(StoreBusy, match="too many connections"):
            call()

    def leave(_: float) -> None:
        base._call(lambda c: c.execute(f"ALTER ROLE {role} CONNECTION LIMIT -1"))

    monkeypatch.setattr("indexes.qdrant.upload.time.sleep", leave)
    assert patient(crowded, (1,)).collections() == base.collections()
    monkeypatch.setenv("PGUSER", f"{role}x")
    with pytest.raises(StoreRefused, match="does not exist"):
        patient(PostgresStore(base._address)).collections()
    base._call(lambda c: c.execute(f"DROP ROLE {role}"))


def test_nothing_stays_in_a_session(base: PostgresStore, name: str) -> None:
    """As pgbouncer gives each transaction another one."""
    base.finish(name)
    for _ in range(12):  # psycopg prepares what is asked five times
        base.search(name, {1: 1.0}, 1, None, exact=True)
    [connection] = base._idle
    [[prepared]] = connection.execute("SELECT count(*) FROM pg_prepared_statements")
    [[session]] = connection.execute(
        "SELECT count(*) FROM pg_settings WHERE source = 'session' AND name <> 'application_name'"
    )
    assert (prepared, session) == (0, 0)
