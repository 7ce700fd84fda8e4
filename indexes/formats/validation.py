"""What was wrong with a file that came in: an error at once, or counted and skipped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from indexes.store.paths import command
from rag.errors import BadInput

_T = TypeVar("_T")
_SHORT = 24  # characters: states, kinds, regions
Owner: TypeAlias = Literal["article", "question"]


class SkipReason(StrEnum):
    """The kinds of bad input that can be skipped one by one."""

    BROKEN_UTF8 = "broken UTF-8"
    INVALID_JSON = "invalid JSON"
    INVALID_CSV = "invalid CSV"
    INVALID_XML = "invalid XML"
    INVALID_PARQUET = "invalid Parquet"
    UNREADABLE = "unreadable file"
    TOO_LONG = "line or text too long"
    TRUNCATED = "damaged or truncated gzip"
    MISSING_COLUMN = "missing column"
    WRONG_TYPE = "wrong type"
    EMPTY_TEXT = "empty text"
    DUPLICATE_ID = "duplicate id"
    UNKNOWN_GOLD = "gold article not in the corpus"
    UNKNOWN_OWNER = "extra columns of nobody"


class SourceLocation(NamedTuple):
    """A line of a file, counted from 1."""

    path: Path
    line: int

    def __str__(self) -> str:
        """Write it the way editors open it."""
        return f"{self.path}:{self.line}"


class UnfitError(Exception):
    """A record that cannot become an article or a question; whoever knows its place reports it."""

    def __init__(self, reason: SkipReason, problem: str, cure: str) -> None:
        super().__init__(problem)
        self.reason, self.problem, self.cure = reason, problem, cure


@dataclass(frozen=True, slots=True)
class SkipCount:
    """How often one kind of bad input was skipped, and where first."""

    reason: SkipReason
    count: int
    first: str  # file:line
    example: str  # what was wrong there


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import brought in and what it left out."""

    articles: int
    questions: int
    skipped: tuple[SkipCount, ...] = ()
    extra_columns: Mapping[str, int] = field(default_factory=dict)  # column -> records with a value in it
    notes: tuple[str, ...] = ()  # what else the source counted, in words

    def losses(self) -> list[str]:
        """Return what was lost without anybody knowing how much: files that break off."""
        return [
            f"{s.first}: the file breaks off, everything from this line on is lost ({s.example})"
            + (f"; {s.count - 1:,} more files break off" if s.count > 1 else "")
            for s in self.skipped
            if s.reason is SkipReason.TRUNCATED
        ]

    def lines(self) -> list[str]:
        """Return the report for people, one finding a line."""
        found = [f"{self.articles:,} articles, {self.questions:,} questions", *self.losses()]
        found += [
            f"skipped {s.count:,}: {s.reason} (first at {s.first}: {s.example})"
            for s in self.skipped
            if s.reason is not SkipReason.TRUNCATED
        ]
        found += self.notes
        found += [f"column kept, not used: {name} ({n:,} values)" for name, n in self.extra_columns.items()]
        return found


class Inspection:
    """Decides about bad input while files are read: stop with an error, or (lenient) count and go on."""

    def __init__(self, *, lenient: bool = False) -> None:
        self.lenient = lenient
        self._skipped: dict[SkipReason, SkipCount] = {}
        self._counts: dict[str, int] = {}
        self._extra_columns: dict[Owner, dict[str, dict[str, object]]] = {"article": {}, "question": {}}
        self._notes: list[str] = []

    def note(self, line: str) -> None:
        """Keep a line for the report: what a source counted that nobody else can."""
        self._notes.append(line)

    def refuse(self, reason: SkipReason, place: SourceLocation, problem: str, cure: str) -> None:
        """Raise BadInput with file, line and cure; when lenient, count it instead and return."""
        if not self.lenient:
            torn = reason is SkipReason.TRUNCATED
            rest = "keeps what stands before" if torn else "skips and counts such lines"
            raise BadInput(f"{place}: {problem}. {cure}; {command('import ... --lenient')} {rest}.")
        first = self._skipped.get(reason, SkipCount(reason, 0, str(place), problem))
        self._skipped[reason] = replace(first, count=first.count + 1)

    def parsed(
        self,
        found: Iterable[tuple[SourceLocation, Mapping[str, object]]],
        parse: Callable[[Mapping[str, object]], _T],
    ) -> Iterator[tuple[SourceLocation, Mapping[str, object], _T]]:
        """Yield the place of each record, the record and what it was made into; unfit ones are refused."""
        for place, record in found:
            try:
                made = parse(record)
            except UnfitError as unfit:
                self.refuse(unfit.reason, place, unfit.problem, unfit.cure)
                continue
            yield place, record, made

    def keep(self, of: Owner, id_: str, columns: Mapping[str, object]) -> None:
        """Keep and count the columns of a record that nothing uses, where they hold something."""
        for column, value in columns.items():
            filled = value is not None and value != "" and value != []
            self._counts[column] = self._counts.get(column, 0) + filled
            if filled:
                # a name, and a value such as VIGUEUR, is in memory once and not once a record
                if isinstance(value, str) and len(value) <= _SHORT:
                    value = sys.intern(value)
                self._extra_columns[of].setdefault(id_, {})[sys.intern(column)] = value

    def extra_columns(self, of: Owner, ids: Iterable[str]) -> dict[str, dict[str, object]]:
        """Return the columns that were kept of these articles or questions: id -> column -> value."""
        columns = self._extra_columns[of]
        return {id_: columns[id_] for id_ in ids if id_ in columns}

    def report(self, articles: int, questions: int) -> ImportReport:
        """Return what was found so far."""
        skipped, notes = tuple(self._skipped.values()), tuple(self._notes)
        return ImportReport(articles, questions, skipped, dict(self._counts), notes)
