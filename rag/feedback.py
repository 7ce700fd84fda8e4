"""What people say of the articles they were shown: only where a host turns it on.

It is kept in one SQLite file, or in the store that replicas share.

Kept of each word: the day, the index, the articles of the list, which of them is meant, and the reason,
which is one of a few. The question and a free text are kept where the person ticked the one and wrote the
other; nothing of the person is: no address, no time of day, no name of a session. Nothing here is logged.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from pathlib import Path
from typing import cast

from rag.errors import BadInput, BadSetting, PandectError
from rag.shared_state import SharedState, StoreSilent
from rag.shared_state import from_environment as shared_state

SCHEMA = 1  # PRAGMA user_version; another one is refused, never guessed at
APPLICATION = 0x50414E44  # "PAND", PRAGMA application_id: no other program's file is written into
DAYS = 365  # how long a word is kept where a host says nothing else
MOST_DAYS = 3650
BUSY = 5.0  # seconds to wait for another session's write, which takes a few milliseconds
LONGEST_QUESTION = 4000  # characters
LONGEST_COMMENT = 500
MOST_BYTES = 64 * 2**20  # of the file: some 300,000 words; it never fills a disk
MOST_SHARED = 100_000  # words in a shared store, whose memory they take

_TABLE = """
CREATE TABLE word (
    id INTEGER PRIMARY KEY,
    day TEXT NOT NULL,
    index_name TEXT NOT NULL,
    index_version TEXT NOT NULL,
    shown TEXT NOT NULL,
    article_id TEXT,
    reason TEXT NOT NULL,
    question TEXT,
    comment TEXT
);
CREATE INDEX word_day ON word (day);
"""
_COLUMNS = "day, index_name, index_version, shown, article_id, reason, question, comment"


class FeedbackReason(StrEnum):
    """What a person may say."""

    ANSWERS = "answers"  # this article answers my question
    NOT_THE_LAW = "not the law I need"
    WRONG_ARTICLE = "wrong article"
    FALSE_ANSWER = "answer seems false"
    DISLIKE = "I dislike the law"  # of what the law says, which is no fault of the ranking


class FeedbackNotSaved(PandectError):
    """Feedback could not be written or read: a full disk, a read-only file."""


@dataclass(frozen=True, slots=True)
class FeedbackEntry:
    """What somebody said of one article of a list, or of the list."""

    day: date
    index: str  # name of the index
    version: str
    shown: tuple[str, ...]  # article ids, best first
    reason: FeedbackReason
    article_id: str | None = None  # None: the list as a whole
    question: str | None = None  # None: the person did not say that it may be kept
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class Feedback:
    """The file, and how long it keeps what; with a store that replicas share, what is kept lies there."""

    path: Path
    days: int = DAYS
    comments: bool = False  # whether the page offers a free text
    shared: SharedState | None = None

    def __post_init__(self) -> None:
        """Refuse a number of days that keeps nothing, or for ever."""
        if not 1 <= self.days <= MOST_DAYS:
            raise BadInput(f"feedback is kept for {self.days} days: choose 1 to {MOST_DAYS:,}")

    @property
    def place(self) -> str:
        """Where it lies, for a message."""
        return str(self.path) if self.shared is None else self.shared.place

    @property
    def begun(self) -> bool:
        """Whether there is anything to read: a file, or the store."""
        return self.shared is not None or self.path.is_file()

    def keep(self, word: FeedbackEntry) -> None:
        """Write one word; what is older than the days goes in the same breath, so that the promise holds.

        After a gap longer than that it goes with the word of the next day: where a clock has leapt for a
        while, nothing is lost.

        Where it cannot be written (`FeedbackNotSaved`), what was there before is whole.
        """
        shown, comment = json.dumps(word.shown, ensure_ascii=False), word.comment if self.comments else None
        texts = _text(word.question, LONGEST_QUESTION), _text(comment, LONGEST_COMMENT)
        day, reason = word.day.isoformat(), str(word.reason)
        row = (day, word.index, word.version, shown, word.article_id, reason, *texts)
        oldest = word.day - timedelta(days=self.days)
        if self.shared is not None:
            with _answering():
                days = word.day.toordinal(), oldest.toordinal()
                if not self.shared.keep(json.dumps(row, ensure_ascii=False), *days, MOST_SHARED):
                    raise FeedbackNotSaved(f"{self.place}: {MOST_SHARED:,} words are kept. {_MAKE_ROOM}")
            return
        with _opened(self.path, make=True) as db, db:
            db.execute(f"INSERT INTO word ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)  # noqa: S608 - ours
            query = "SELECT 1 FROM word WHERE day >= ? AND day < ? LIMIT 1"
            if db.execute(query, (oldest.isoformat(), day)).fetchone():
                _delete(db, oldest)

    def words(self) -> Iterator[FeedbackEntry]:
        """Yield all that is kept, oldest first; without a file or store of it it is `FeedbackNotSaved`."""
        if self.shared is not None:
            with _answering():
                rows = list(map(json.loads, self.shared.words()))
        else:
            with _opened(self.path) as db:
                rows = db.execute(f"SELECT {_COLUMNS} FROM word ORDER BY id").fetchall()  # noqa: S608 - ours
        for day, index, version, ids, article_id, reason, *texts in rows:
            shown, entry_reason = tuple(json.loads(ids)), FeedbackReason(reason)
            yield FeedbackEntry(
                date.fromisoformat(day), index, version, shown, entry_reason, article_id, *texts
            )

    def prune(self, day: date) -> int:
        """Delete what was said before a day, and return how many words; no trace stays in the file.

        Without a file or store that can be written it is `FeedbackNotSaved`.
        """
        if self.shared is not None:
            with _answering():
                return self.shared.prune(day.toordinal())
        with _opened(self.path) as db:
            with db:
                gone = _delete(db, day)
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # nor in the file of what is written ahead
        return gone


def _text(typed: str | None, most: int) -> str | None:
    """Return what was typed, cut; half a surrogate pair, which no file holds, becomes a question mark."""
    return typed[:most].encode(errors="replace").decode() if typed else None


def _delete(db: sqlite3.Connection, day: date) -> int:
    return db.execute("DELETE FROM word WHERE day < ?", (day.isoformat(),)).rowcount


@contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except StoreSilent as error:
        raise FeedbackNotSaved(str(error)) from None


@contextmanager
def _opened(path: Path, *, make: bool = False) -> Iterator[sqlite3.Connection]:
    """Open the file for one short piece of work; errors of SQLite become ours, with the cure."""
    if not make and not path.is_file():
        raise FeedbackNotSaved(
            f"{path}: no feedback is kept there. PANDECT_FEEDBACK=FILE names the file that the page writes."
        )
    try:
        if make:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)  # whoever else is on the machine has no business there
        with closing(sqlite3.connect(path, timeout=BUSY)) as db:
            _prepare(db, path)
            yield db
    except sqlite3.Error as error:  # its messages name a file's state, never what was to be written
        cure = _CURES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, _WRITABLE)
        raise FeedbackNotSaved(f"{path}: {error}. {cure}") from None
    except OSError as error:
        raise FeedbackNotSaved(f"{path}: {error.strerror}. {_WRITABLE}") from None


_WRITABLE = "Name a place that may be written, with room on its disk: PANDECT_FEEDBACK=FILE"
_MAKE_ROOM = "Export them, then run python -m indexes feedback prune --older-than DAYS"
_FULL = f"{_WRITABLE}; or, where the file has its most, {MOST_BYTES // 2**20} MB: {_MAKE_ROOM}"
_BAD = "Move that file away: a new one is begun"
_HELD = "Another program holds it; try again"
_CURES = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_NOTADB: _BAD, sqlite3.SQLITE_CORRUPT: _BAD,
    sqlite3.SQLITE_BUSY: _HELD, sqlite3.SQLITE_LOCKED: _HELD,
}  # fmt: skip


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    """Make the table in a new file; refuse another program's, and one of another schema."""
    db.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten
    size, most = db.execute("SELECT * FROM pragma_page_size, pragma_max_page_count").fetchone()
    db.execute(f"PRAGMA max_page_count = {min(most, MOST_BYTES // size)}")
    if _stamp(db) == (0, 0) and _empty(db):
        _write_ahead(db)
        db.isolation_level = None
        db.execute("BEGIN IMMEDIATE")  # of two sessions that begin the file at once, one waits
        if _empty(db):
            for statement in _TABLE.split(";"):
                db.execute(statement)
            db.execute(f"PRAGMA application_id = {APPLICATION}")
            db.execute(f"PRAGMA user_version = {SCHEMA}")
        db.execute("COMMIT")
        db.isolation_level = "DEFERRED"
    application, schema = _stamp(db)
    if application != APPLICATION:
        raise FeedbackNotSaved(f"{path}: a file of another program. Name another one: PANDECT_FEEDBACK=FILE")
    if schema != SCHEMA:
        raise FeedbackNotSaved(
            f"{path}: feedback of schema {schema}, this installation reads {SCHEMA}. "
            "Export it with the version that wrote it, or name another file"
        )


def _write_ahead(db: sqlite3.Connection) -> None:
    # readers and a writer are not to wait for each other; where another session has begun the file in this
    # instant SQLite does not wait by itself, but says at once that the file is locked
    until = time.monotonic() + BUSY
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
        time.sleep(0.01)


def _empty(db: sqlite3.Connection) -> bool:
    return not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]


def _stamp(db: sqlite3.Connection) -> tuple[int, int]:
    stamp = db.execute("SELECT * FROM pragma_application_id, pragma_user_version").fetchone()
    return cast(tuple[int, int], stamp)


def count_feedback(words: Sequence[FeedbackEntry]) -> Mapping[str, Mapping[FeedbackReason, int]]:
    """Return index name -> reason -> number of votes."""
    found: defaultdict[str, Counter[FeedbackReason]] = defaultdict(Counter)
    for word in words:
        found[word.index][word.reason] += 1
    return dict(found)


def from_environment(environ: Mapping[str, str]) -> Feedback | None:
    """Return where feedback is stored; None where the host has not turned it on.

    PANDECT_FEEDBACK is the file, whose place a store that PANDECT_SHARED_STATE names takes,
    PANDECT_FEEDBACK_DAYS how long a word is kept (`BadSetting` where it is no such number),
    PANDECT_FEEDBACK_COMMENTS=1 offers a free text.
    """
    named = environ.get("PANDECT_FEEDBACK", "").strip()
    if not named:
        return None
    days = environ.get("PANDECT_FEEDBACK_DAYS", "").strip() or str(DAYS)
    if not (days.isascii() and days.isdecimal() and 1 <= int(days[:9]) <= MOST_DAYS):
        raise BadSetting(
            f"PANDECT_FEEDBACK_DAYS={days}: a whole number of days was expected, 1 to {MOST_DAYS:,}"
        )
    comments = environ.get("PANDECT_FEEDBACK_COMMENTS", "").strip().casefold() in ("1", "true", "yes", "on")
    return Feedback(Path(named).expanduser(), int(days), comments, shared_state(environ))
