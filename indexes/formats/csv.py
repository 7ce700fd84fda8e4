"""Rows of a CSV file, read one at a time, with the line on which each begins.

And lines of cells that tabs or blanks separate, without quotes: MS MARCO's files, and qrels.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from indexes.formats.jsonl import Record, decode, lines, texts
from indexes.formats.limits import COLUMNS, RECORD
from indexes.formats.validation import Inspection, SkipReason, SourceLocation
from rag.errors import BadInput
from rag.types import Progress, no_progress

DELIMITERS = (",", ";", "\t")  # the first wins a tie in the header


def rows(
    path: Path,
    inspection: Inspection,
    *,
    required: Collection[str] = (),
    fields: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    progress: Progress = no_progress,
) -> Iterator[tuple[SourceLocation, Record]]:
    """Yield each row as column -> text, with its place; a row of several lines has its first.

    Args:
        path: CSV in UTF-8, plain or gzip, its first row the names of the columns.
        inspection: told of bad rows.
        required: columns that must be there.
        fields: of the required columns, the field that each fills, for the error; None where the
            columns' names are those of a published data set.
        delimiter: what separates the columns; None takes the one that cuts the header most.
        progress: called with bytes read and bytes in all.

    Raises:
        BadInput: a required column is missing or named twice; a row has no end; or a row is bad and the
            inspection is not lenient.
    """
    text = _Text()
    source = text.lines(path, inspection, progress)
    first = next(source, "")
    mark = delimiter or max(DELIMITERS, key=first.count)
    if len(mark) != 1:
        raise BadInput(f"the delimiter is {mark!r}. Give one character, such as , or ; or a tab.")
    header = _header(path, first, mark, required, fields or {})
    reader = csv.reader(source, delimiter=mark, strict=True)
    while True:
        first_line, text.row = reader.line_num + 2, 0  # the header was line 1
        place = SourceLocation(path, first_line)
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problem = f"not CSV ({error})"
            cure = "Close every quote and double those inside; texts over 131,072 characters need JSON Lines"
            inspection.refuse(SkipReason.INVALID_CSV, place, problem, cure)
            continue
        if not row or text.broken_at >= first_line:
            continue  # blank, or already counted as broken UTF-8
        if len(row) != len(header):
            problem = f"{len(row)} values came for {len(header)} columns"
            cure = f"Quote the values that hold {mark!r} or a line break"
            inspection.refuse(SkipReason.INVALID_CSV, place, problem, cure)
            continue
        yield place, dict(zip(header, row, strict=True))


class _Text:
    """The lines of a CSV file as text, counted."""

    broken_at = 0  # the last line that could not be decoded
    row = 0  # bytes of the row so far: one of many lines is in memory whole

    def lines(self, path: Path, inspection: Inspection, progress: Progress) -> Iterator[str]:
        """Yield each line; one that is not UTF-8 keeps its quotes, so that rows stay in step."""
        for place, line in lines(path, inspection, progress):
            self.row += len(line)
            if self.row > RECORD:
                problem = f"the row that is open here has more than {RECORD // 2**20} MB"
                raise BadInput(f"{place}: {problem}. Close its quotes, or write one record on each line.")
            text = decode(line, place, inspection)
            if text is None:
                self.broken_at = place.line
                text = line.decode("utf-8", errors="replace")
            yield text


def _header(
    path: Path, first: str, delimiter: str, required: Collection[str], fields: Mapping[str, str]
) -> list[str]:
    if (count := first.count(delimiter)) >= COLUMNS:
        problem = f"{count + 1:,} columns came, and {COLUMNS:,} are read at most"
        raise BadInput(f"{path}:1: {problem}. Leave out those that are not needed.")
    try:
        names = [name.strip() for name in next(csv.reader([first], delimiter=delimiter, strict=True), [])]
    except csv.Error as error:
        raise BadInput(f"{path}:1: the header is not CSV ({error}). Name the columns on one line.") from None
    names = [name or f"column {i}" for i, name in enumerate(names, 1)]  # an index column has no name
    missing = [name for name in required if name not in names]
    if missing:
        # field -> column; a field that is the same for all rows may be typed instead
        options = " ".join(dict.fromkeys(f"--column {fields.get(name, name)}=COLUMN" for name in missing))
        table = "" if fields else "--from table "
        same = " (or --column code==TEXT, the same for all)" if "code" in missing else ""
        raise BadInput(
            f"{path}:1: no column {', '.join(missing)}; the columns are: {', '.join(names) or 'none'}. "
            f"Rename the column in the file, or import with {table}{options}{same}."
        )
    twice = ", ".join(sorted(name for name, n in Counter(names).items() if n > 1))
    if twice:
        raise BadInput(f"{path}:1: column {twice} comes twice. Rename or remove one of them.")
    return names


def cells(
    path: Path, columns: Sequence[str], inspection: Inspection, progress: Progress = no_progress
) -> Iterator[tuple[SourceLocation, list[str]]]:
    """Yield the cells of each line, as many as there are columns; blank lines are passed over.

    `columns` says what the cells are, for the errors; a tab in the last one belongs to it.

    Raises:
        BadInput: a line has too few cells or is not UTF-8, and the inspection is not lenient.
    """
    for place, text in texts(path, inspection, progress):
        found = text.rstrip("\r\n").split("\t", len(columns) - 1)
        if len(found) != len(columns):
            problem = f"{len(found)} values came for {len(columns)} columns ({', '.join(columns)})"
            inspection.refuse(SkipReason.INVALID_CSV, place, problem, "Separate them with a tab")
            continue
        yield place, found


def words(path: Path, inspection: Inspection) -> Iterator[tuple[SourceLocation, list[str]]]:
    """Yield the cells of each line, cut at tabs where it has any, else at blanks; for qrels.

    Raises:
        BadInput: a line is not UTF-8 and the inspection is not lenient.
    """
    for place, text in texts(path, inspection):
        found = text.strip("\r\n").split("\t") if "\t" in text else text.split()
        yield place, [cell.strip() for cell in found]
