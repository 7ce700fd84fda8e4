"""An index in PostgreSQL with pgvector, behind the protocol of the vector stores.

An address is `postgres://HOST:PORT/DATABASE`; without a host it is libpq's (a socket). Who one is there, and
TLS, are libpq's too: PGUSER, PGPASSWORD or ~/.pgpass, PGSSLMODE.

A collection is a table of articles, each with its terms as an array, and one of postings that is made of it,
ordered by dimension. What is proposed is exact: every posting is summed and every vector compared.

Nothing outlives a transaction: no setting, prepared statement, temporary table or lock. So a pool such as
pgbouncer's may give each transaction another session.
"""

from __future__ import annotations

import json
import re
import weakref
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from indexes.qdrant import engines
from indexes.qdrant.engines import GRAMMAR, KEYWORDS, SECONDS, UNDATED, About, Ids, Point, Query, utf8
from rag.errors import BadInput, MissingExtra, StoreBusy, StoreRefused, StoreUnavailable, install_hint
from rag.types import Doubles, Filter

POSTGRES = ("postgres", "postgresql")
PAGE = 1_900  # numbers of a vector that fit a page of 8 KB beside what stays in a row
BEGIN = "BEGIN; SET LOCAL jit = off; SET LOCAL work_mem = '64MB'; SET LOCAL statement_timeout = '{}s'"
# by the classes of SQLSTATE, and by what a server says while one connects, which has none
BUSY = re.compile(
    r"(?:40|53|55|57)...|.*(?:too many|connection slot|starting up|shutting down|more connections)"
)
REFUSED = re.compile(
    r"(?:0A|22|23|28|3D|3F|42)...|.*(?:authentication failed|does not exist|no pg_hba|denied)"
)
PREPARE = """
    CREATE EXTENSION IF NOT EXISTS vector;
    CREATE SCHEMA IF NOT EXISTS pandect;
    CREATE TABLE IF NOT EXISTS pandect.collections (
        name text PRIMARY KEY, dim integer, about jsonb, written timestamptz DEFAULT now());
    CREATE TABLE IF NOT EXISTS pandect.aliases (
        name text PRIMARY KEY, collection text NOT NULL REFERENCES pandect.collections)"""
# terms are moved out of a row, so that a scan for vectors reads little else
CREATE = """
    CREATE TABLE {articles} (
        id bigint PRIMARY KEY, fingerprint bigint NOT NULL, code text NOT NULL, law_type text NOT NULL,
        region text NOT NULL, valid_from integer NOT NULL, valid_to integer NOT NULL,
        dimensions integer[] NOT NULL, weights real[] NOT NULL, meaning vector{dim}
    ) WITH (toast_tuple_target = 128);
    ALTER TABLE {articles} ALTER meaning SET STORAGE {storage}"""
ARRANGE = """
    DROP TABLE IF EXISTS {postings};
    CREATE TABLE {postings} AS
        SELECT id, dimension, weight FROM {articles}, unnest(dimensions, weights) AS each (dimension, weight)
        ORDER BY dimension, id;
    CREATE INDEX ON {postings} (dimension);
    ANALYZE {postings};
    ANALYZE {articles}"""
SWITCH = """
    INSERT INTO pandect.aliases VALUES (%s, %s)
    ON CONFLICT (name) DO UPDATE SET collection = excluded.collection"""
SERVER = """
    SELECT (SELECT json_object_agg(name, current_setting(name)) FROM unnest(%s::text[]) AS name),
        (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
        pg_total_relation_size('{articles}') + pg_total_relation_size('{postings}'),
        (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()),
        coalesce(host(inet_server_addr()) IN ('127.0.0.1', '::1'), true), pg_backend_pid()"""
TOLD = (
    "server_version", "shared_buffers", "effective_cache_size", "work_mem", "jit", "fsync",
    "max_parallel_workers_per_gather",
)  # fmt: skip
BY_TERMS = """
    SELECT id, sum(weight * factor) AS total
    FROM {postings} JOIN unnest(%s::integer[], %s::float8[]) AS asked (dimension, factor) USING (dimension)
    WHERE {passes} GROUP BY id ORDER BY total DESC LIMIT %s"""
BY_VECTOR = """
    SELECT id, meaning <#> %s::vector AS negative FROM {articles} WHERE meaning IS NOT NULL AND {passes}
    ORDER BY negative LIMIT %s"""


class PostgresStore:
    """Collections in the schema `pandect` of a database; the first of them makes it."""

    def __init__(self, address: str) -> None:
        """Speak with the database at an address; connections are made when they are needed.

        Raises:
            BadInput: it is no such address.
            MissingExtra: psycopg is not installed.
        """
        try:
            database = urlsplit(address).path.removeprefix("/")
        except ValueError as error:
            raise BadInput(f"{address!r} ({error}): {GRAMMAR}") from error
        if not database or "/" in database:
            raise BadInput(f"{address!r}: {GRAMMAR}")
        try:
            import psycopg
        except ImportError as error:
            raise MissingExtra(f"psycopg is not installed: {install_hint('postgres')}") from error
        self._pg: Any = psycopg
        self._address = address
        self._idle: list[Any] = []  # connections: a call takes one, and puts it back
        weakref.finalize(self, _close, self._idle)

    def aliases(self) -> Mapping[str, str]:
        return dict(self._list("SELECT name, collection FROM pandect.aliases"))

    def switch(self, alias: str, collection: str | None) -> None:
        if collection is None:
            self._call(lambda c: c.execute("DELETE FROM pandect.aliases WHERE name = %s", (alias,)))
        else:
            self._call(lambda c: c.execute(SWITCH, (alias, collection)))

    def collections(self) -> list[str]:
        return sorted(name for (name,) in self._list("SELECT name FROM pandect.collections"))

    def create(self, collection: str, dim: int | None, *, graph: bool) -> None:
        self._call(lambda c: _create(c, collection, dim))

    def clone(self, source: str, collection: str) -> bool:
        def copy(c: Any) -> bool:  # noqa: ANN401
            found = c.execute("SELECT dim FROM pandect.collections WHERE name = %s", (source,)).fetchone()
            if found is None:  # another upload has deleted it
                return False
            _create(c, collection, found[0])
            c.execute(_of("INSERT INTO {articles} TABLE ", collection) + _of("{articles}", source))
            return True

        return bool(self._call(copy, 0))

    def recycle(self, spare: str, collection: str) -> bool:
        return False  # it is copied

    def busy(self, collection: str) -> bool:
        select = """
            SELECT FROM pandect.collections WHERE name = %s AND written > now() - make_interval(secs => %s)
            AND about -> 'complete' IS DISTINCT FROM 'true'"""
        return bool(self._list(select, (collection, engines.WRITING)))

    def delete(self, collection: str) -> None:
        def drop(c: Any) -> None:  # noqa: ANN401
            c.execute("DELETE FROM pandect.collections WHERE name = %s", (collection,))
            c.execute(_of("DROP TABLE IF EXISTS {postings}, {articles}", collection))

        try:
            self._call(drop)
        except StoreUnavailable as error:  # a name points to it
            if not isinstance(error.__cause__, self._pg.errors.ForeignKeyViolation):
                raise

    def about(self, collection: str) -> About | None:
        found = self._list("SELECT about FROM pandect.collections WHERE name = %s", (collection,))
        return found[0][0] if found else None

    def describe(self, collection: str, about: About) -> None:
        update = "UPDATE pandect.collections SET about = %s, written = now() WHERE name = %s"
        self._call(lambda c: c.execute(update, (json.dumps(about), collection)))

    def fingerprints(self, collection: str) -> Mapping[int, int]:
        select = _of("SELECT id, fingerprint FROM {articles}", collection)
        rows = self._call(lambda c: c.execute(select).fetchall(), 0)
        return {id_ % 2**64: fingerprint for id_, fingerprint in rows}

    def upsert(self, collection: str, points: Sequence[Point]) -> None:
        def write(c: Any) -> None:  # noqa: ANN401
            c.execute("UPDATE pandect.collections SET written = now() WHERE name = %s", (collection,))
            _remove(c, collection, [each.id for each in points])
            with c.cursor().copy(_of("COPY {articles} FROM STDIN", collection)) as copy:
                for each in points:
                    copy.write_row(_row(each))

        self._call(write)

    def remove(self, collection: str, ids: Sequence[int]) -> None:
        self._call(lambda c: _remove(c, collection, ids))

    def finish(self, collection: str) -> int:
        def arrange(c: Any) -> int:  # noqa: ANN401
            c.execute(_of(ARRANGE, collection))
            [[n]] = c.execute(_of("SELECT count(*) FROM {articles}", collection))
            return int(n)

        return int(self._call(arrange, 0))

    def server(self, collection: str) -> tuple[dict[str, Any], int, int | None]:
        """Return what a measurement tells of the server, its transactions, and a process of it if here."""
        select = _of(SERVER, collection)
        [row] = self._call(lambda c: c.execute(select, (list(TOLD),)).fetchall())
        settings, pgvector, size, transactions, here, process = row
        return (
            {**settings, "pgvector": pgvector, "tables_bytes": size},
            transactions,
            process if here else None,
        )

    def open(self, collection: str) -> None:
        """Do nothing: the server has the memory."""

    def close(self, collection: str) -> None:
        """Do nothing, too."""

    def search(
        self, collection: str, query: Query, n: int, where: Filter | None, *, exact: bool
    ) -> tuple[Ids, Doubles]:
        passes, wanted = _filter(where)
        words = isinstance(query, Mapping)
        if isinstance(query, Mapping):
            asked: list[object] = [[_signed(each, 32) for each in query], list(query.values())]
            if wanted:
                passes = _of("id IN (SELECT id FROM {articles} WHERE {passes})", collection, passes=passes)
        else:
            asked = [str(query.tolist())]
        select = _of(BY_TERMS if words else BY_VECTOR, collection, passes=passes)
        rows = self._call(lambda c: c.execute(select, [*asked, *wanted, n]).fetchall())
        ids = np.array([id_ for id_, _ in rows], dtype=np.int64).view(np.uint64)
        return ids, np.array([score if words else -score for _, score in rows], dtype=np.float64)

    def _list(self, query: str, parameters: Sequence[object] = ()) -> list[Any]:
        """Return rows of a table that says what is there; in a new database there are none."""
        found: list[Any] = self._call(lambda c: list(c.execute(query, parameters)) if _prepared(c) else [])
        return found

    def _call(self, act: Callable[[Any], Any], seconds: float = SECONDS) -> Any:  # noqa: ANN401
        """Return what is done in one transaction, in which a statement may take so long, 0 for any time.

        An idle connection that is lost is not the last.
        """
        while True:
            connection, idle = None, True
            try:
                connection, idle = self._connection()
                connection.execute(BEGIN.format(seconds))
                found = act(connection)
                connection.commit()
                self._idle.append(connection)
                connection = None
                return found
            except self._pg.Error as error:
                if not (idle and connection is not None and connection.broken):
                    raise self._failure(error) from error
            finally:
                if connection is not None:  # something failed
                    connection.close()

    def _failure(self, error: Any) -> StoreUnavailable:  # noqa: ANN401
        said = " ".join(str(error).split())
        if BUSY.match(error.sqlstate or said):
            return StoreBusy(f"{self._address} is busy ({said}): try again in a moment")
        kind = StoreRefused if REFUSED.match(error.sqlstate or said) else StoreUnavailable
        return kind(f"{self._address}: {said}")

    def _connection(self) -> tuple[Any, bool]:
        """Return a connection, and whether it was there already."""
        try:
            return self._idle.pop(), True
        except IndexError:
            named = {"connect_timeout": SECONDS, "tcp_user_timeout": SECONDS * 1000}
            return self._pg.connect(
                self._address, autocommit=True, application_name="pandect", prepare_threshold=None, **named
            ), False


def _close(connections: list[Any]) -> None:
    while connections:
        connections.pop().close()


def _of(statement: str, collection: str, **named: str) -> str:
    """Return a statement with the tables of a collection; their names may have 63 bytes."""
    own = blake2b(collection.encode(), digest_size=8).hexdigest()
    return statement.format(articles=f"pandect.articles_{own}", postings=f"pandect.postings_{own}", **named)


def _prepared(c: Any) -> bool:  # noqa: ANN401
    [[table]] = c.execute("SELECT to_regclass('pandect.aliases')")
    return table is not None


def _create(c: Any, collection: str, dim: int | None) -> None:  # noqa: ANN401
    if not _prepared(c):  # what needs rights that a user may lack afterwards
        c.execute(PREPARE)
    c.execute("INSERT INTO pandect.collections VALUES (%s, %s)", (collection, dim))
    storage = "PLAIN" if (dim or 0) <= PAGE else "EXTERNAL"
    c.execute(_of(CREATE, collection, dim=f"({dim})" if dim else "", storage=storage))


def _remove(c: Any, collection: str, ids: Sequence[int]) -> None:  # noqa: ANN401
    delete = _of("DELETE FROM {articles} WHERE id = ANY(%s::bigint[])", collection)
    c.execute(delete, ([_signed(id_, 64) for id_ in ids],))


def _row(of: Point) -> list[object]:
    """Return a row, what is not a number as text."""
    texts = [_text(str(of.payload.get(name, ""))) for name in KEYWORDS]
    arrays = [
        f"{{{str(list(each))[1:-1]}}}" for each in ((_signed(n, 32) for n in of.words), of.words.values())
    ]
    vector = str(list(of.meaning)) if of.meaning else None
    return [
        _signed(of.id, 64),
        of.fingerprint,
        *texts,
        of.payload.get("valid_from", 0),
        of.payload.get("valid_to", UNDATED),
        *arrays,
        vector,
    ]


def _signed(number: int, bits: int) -> int:
    """Return what PostgreSQL, which has no other integers, keeps of a number below 2 ** bits."""
    return number - 2**bits if number >= 2 ** (bits - 1) else number


def _text(text: str) -> str:
    """Return what PostgreSQL can keep of a text: it takes no NUL and no half of a surrogate pair."""
    return utf8(text.replace("\0", "\\0"))


def _filter(where: Filter | None) -> tuple[str, list[object]]:
    """Return what an article must be to pass, and the parameters of that."""
    where = where or Filter()
    passes, wanted = ["true"], list[object]()
    for name, texts in zip(KEYWORDS, (where.codes, where.law_types, where.regions), strict=True):
        if texts:  # one that tells no law type or region is never shut out by it
            passes.append(f"{name} = ANY(%s)")
            wanted.append([_text(each) for each in (*sorted(texts), *([""] * (name != "code")))])
    if where.in_force_on is not None:
        passes.append("valid_from <= %s AND valid_to > %s")
        wanted += [where.in_force_on.toordinal()] * 2
    return " AND ".join(passes), wanted
