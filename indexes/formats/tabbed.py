"""Lines of cells that tabs or blanks separate, without quotes: MS MARCO's files, qrels and runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from indexes.formats.jsonl import Progress, decode, lines
from indexes.formats.validation import Inspection, Place, Reason


def cells(
    path: Path,
    columns: Sequence[str],
    inspection: Inspection,
    progress: Progress | None = None,
) -> Iterator[tuple[Place, list[str]]]:
    """Yield the cells of each line, as many as there are columns; blank lines are passed over.

    Args:
        path: UTF-8, plain or gzip, without a header.
        columns: what the cells are, for the errors; a tab in the last one belongs to it.
        inspection: told of bad lines.
        progress: called with bytes read and bytes in all.

    Raises:
        BadInput: a line has too few cells or is not UTF-8, and the inspection is not lenient.
    """
    for place, line in lines(path, inspection, progress):
        text = decode(line, place, inspection)
        if text is None or not text.strip():
            continue
        found = text.rstrip("\r\n").split("\t", len(columns) - 1)
        if len(found) != len(columns):
            problem = f"{len(found)} values came for {len(columns)} columns ({', '.join(columns)})"
            cure = "Separate them with a tab"
            inspection.refuse(Reason.INVALID_CSV, place, problem, cure)
            continue
        yield place, found


def words(path: Path, inspection: Inspection) -> Iterator[tuple[Place, list[str]]]:
    """Yield the cells of each line, cut at tabs where it has any, else at blanks; for qrels and runs.

    Raises:
        BadInput: a line is not UTF-8 and the inspection is not lenient.
    """
    for place, line in lines(path, inspection):
        text = decode(line, place, inspection)
        if text is None or not text.strip():
            continue
        found = text.strip("\r\n").split("\t") if "\t" in text else text.split()
        yield place, [cell.strip() for cell in found]
