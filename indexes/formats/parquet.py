"""Rows of a Parquet file, read a batch at a time as values of JSON's types, and written likewise."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

from indexes.formats.jsonl import Record
from indexes.formats.limits import Meter
from indexes.formats.parquet_pages import batch_rows
from indexes.formats.validation import Inspection, SkipReason, SourceLocation
from rag.errors import BadInput, MissingExtra
from rag.types import Progress, no_progress

_BUFFER = 2**20  # bytes read ahead of a column, so that a row group of gigabytes is never whole in memory
_ROW_GROUP = 4096
_LONG = 500  # characters; what is shorter repeats in honest files


def rows(
    path: Path,
    inspection: Inspection,
    *,
    required: Collection[str] = (),
    texts: Collection[str] = (),
    progress: Progress = no_progress,
) -> Iterator[tuple[SourceLocation, Record]]:
    """Yield each row as column -> value, with its place: the number of the row, counted from 1.

    Dates become text (2025-01-31), a missing or not-a-number value becomes None.

    Args:
        path: a Parquet file.
        inspection: told of damage; what was read before it is kept when lenient.
        required: columns that must be there.
        texts: columns that hold text if they are there, as the required ones do: bytes that are no text
            are refused, where in other columns they are left out, which the inspection is told.
        progress: called with rows read and rows in all.

    Raises:
        BadInput: it is no Parquet file, lacks a column or unpacks to too much; or it is damaged and the
            inspection not lenient.
        MissingExtra: pyarrow is not installed.
    """
    arrow, parquet = _pyarrow()
    faults = (arrow.ArrowException, OSError, ValueError, OverflowError, MemoryError)
    if not path.is_file():
        raise BadInput(f"{path}: no such file. Check the path.")
    done = 0
    try:
        with parquet.ParquetFile(
            path, buffer_size=_BUFFER, pre_buffer=False, page_checksum_verification=True
        ) as file:
            missing = [name for name in required if name not in file.schema_arrow.names]
            if missing:
                available = ", ".join(file.schema_arrow.names) or "none"
                raise BadInput(
                    f"{path}: no column {', '.join(missing)}; the columns are: {available}. "
                    "Import with --from parquet --column FIELD=COLUMN."
                )
            read, left_out = {*required, *texts}, dict[str, tuple[SourceLocation, int]]()
            total, kept = file.metadata.num_rows, Meter(path)
            for batch in file.iter_batches(batch_size=batch_rows(path, file.metadata)):
                for row in batch.to_pylist():
                    done += 1
                    kept.took(sum(map(_long, row.values())))
                    place = SourceLocation(path, done)
                    binary = [name for name, value in row.items() if _is_binary(value)]
                    if named := [name for name in binary if name in read]:
                        problem = f"{', '.join(named)} holds bytes that are no text in UTF-8"
                        inspection.refuse(SkipReason.BROKEN_UTF8, place, problem, "Write it as text in UTF-8")
                        continue
                    for name in binary:
                        first, count = left_out.get(name, (place, 0))
                        left_out[name] = first, count + 1
                    yield place, {name: plain(value) for name, value in row.items()}
                progress("reading", done, total)
            for name, (first, count) in left_out.items():
                what = f"{count:,} values left out that are no text (first at {first})"
                inspection.note(f"column {name}: {what}")
    except BadInput:  # which is a ValueError, as pyarrow's errors are
        raise
    except faults as error:
        problem = (
            f"not Parquet, or damaged ({str(error).splitlines()[0] if str(error) else type(error).__name__})"
        )
        inspection.refuse(
            SkipReason.INVALID_PARQUET, SourceLocation(path, done + 1), problem, "Fetch the file again"
        )


def write(
    path: Path,
    records: Iterable[Record],
    columns: Mapping[str, str],
    described: Mapping[str, str] | None = None,
) -> None:
    """Write records as a Parquet file; a value that is absent is null.

    `columns` maps names to "text", "texts" (a list) or "day"; `described`, words about the file, is kept
    in its metadata.

    Raises:
        BadInput: a text cannot be written as UTF-8.
        MissingExtra: pyarrow is not installed.
    """
    arrow, parquet = _pyarrow()
    kinds = {"text": arrow.string(), "texts": arrow.list_(arrow.string()), "day": arrow.date32()}
    schema = arrow.schema([(name, kinds[kind]) for name, kind in columns.items()], dict(described or {}))
    remaining = iter(records)
    with parquet.ParquetWriter(path, schema, compression="zstd", write_page_checksum=True) as file:
        while part := list(islice(remaining, _ROW_GROUP)):
            values = [{name: record.get(name) for name in columns} for record in part]
            try:
                table = arrow.Table.from_pylist(values, schema)
            except UnicodeEncodeError as error:
                raise BadInput(f"{path}: a text holds half a surrogate pair ({error}). Remove it.") from None
            file.write_table(table)


def description(path: Path) -> dict[str, str]:
    """Return the words about a file that `write` kept in it.

    Raises:
        BadInput: it is no Parquet file.
        MissingExtra: pyarrow is not installed.
    """
    arrow, parquet = _pyarrow()
    try:
        found = parquet.read_schema(path).metadata or {}
        return {key.decode(): value.decode() for key, value in found.items()}
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise BadInput(f"{path}: not a Parquet file ({error}). Fetch it again.") from None


def _is_binary(value: object) -> bool:
    if isinstance(value, list):
        return any(map(_is_binary, value))
    if isinstance(value, Mapping):
        return any(map(_is_binary, value.values()))
    return isinstance(value, bytes) and _text(value) is None


def _long(value: object) -> int:
    """Count the bytes in memory of long texts: a dictionary of a few bytes may give one to each row."""
    if isinstance(value, list):
        return sum(map(_long, value))
    return sys.getsizeof(value) if isinstance(value, str | bytes) and len(value) > _LONG else 0


def plain(value: object) -> object:
    """Return a value as one of JSON's types; not-a-number and bytes that are no text are None."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, date):  # a datetime is one too
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [plain(part) for part in value]
    return _text(value) if isinstance(value, bytes) else str(value)


def _text(value: bytes) -> str | None:
    """Return text that its writer did not mark as text; None where it is none."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("Parquet needs pyarrow: pip install pyarrow") from error
    return pyarrow, pyarrow.parquet
