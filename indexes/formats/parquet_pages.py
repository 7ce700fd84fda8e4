"""The pages of a Parquet file, by their own headers: what reading it will take, before it is read.

The footer may say anything of sizes; what is unpacked is what the header of each page says (parquet.thrift,
in Thrift's compact protocol). Only the headers are read here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from indexes.formats.limits import BATCH, SETTING, Meter
from rag.errors import BadInput

MOST_ROWS = 256  # in memory at once: articles can be long
_DICTIONARY = 2  # a page's type
_DELTA_BYTES = "DELTA_BYTE_ARRAY"  # a value may repeat the one before it, as one of a dictionary does
_WINDOW = 2**16  # bytes in which a header ends: statistics in it may hold long values
_LONGEST = 2**24  # bytes of a header, which pyarrow reads too


class _Page(NamedTuple):
    kind: int
    unpacked: int  # bytes
    packed: int
    values: int
    header: int  # bytes


def batch_rows(path: Path, metadata: Any) -> int:  # noqa: ANN401  # pyarrow has no types
    """Return how many rows may be read at once; `metadata` is the file's, as pyarrow has it.

    A value of a dictionary may stand in each row, and the whole dictionary may be one value; of other pages
    a row takes its share.

    Raises:
        BadInput: a page is too large, or all together unpack to too much.
    """
    meter, row = Meter(path), 1
    with path.open("rb") as file:
        for group in range(metadata.num_row_groups):
            largest = held = 0  # bytes of a row, and of the pages that are open at once, of all columns
            for column in range(metadata.num_columns):
                chunk = metadata.row_group(group).column(column)
                delta = _DELTA_BYTES in chunk.encodings
                sizes, pages, dictionary = [0], [0], 0
                for page in _pages(path, file, chunk):
                    meter.took(page.unpacked)
                    if page.kind == _DICTIONARY:
                        dictionary = page.unpacked
                    else:
                        pages.append(page.unpacked)
                    whole = page.kind == _DICTIONARY or delta
                    sizes.append(page.unpacked if whole else page.unpacked // page.values)
                largest += max(sizes)
                held += dictionary + max(pages)
                if held > meter.limits.free:
                    problem = f"pages of {held / 1e6:,.0f} MB at once, up to column {chunk.path_in_schema}"
                    cure = f"Write it anew with smaller pages, or set {SETTING}={2 * held // 10**6}"
                    most = meter.limits.free // 10**6
                    raise BadInput(f"{path}: {problem}, where {most:,} MB is the most. {cure}.")
            row = max(row, largest)
    return max(1, min(MOST_ROWS, BATCH // row))


def _pages(path: Path, file: IO[bytes], chunk: Any) -> Iterator[_Page]:  # noqa: ANN401
    starts = [chunk.data_page_offset]
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        starts.append(chunk.dictionary_page_offset)
    at, values = min(starts), chunk.num_values
    end = min(at + chunk.total_compressed_size, os.fstat(file.fileno()).st_size)
    while values and at < end:
        page = _page(path, file, at)
        yield page
        at += page.header + page.packed


def _page(path: Path, file: IO[bytes], at: int) -> _Page:
    window = _WINDOW
    while True:
        file.seek(at)
        found = file.read(window)
        try:
            fields, header = _struct(found, 0)
            values = fields.get(5, fields.get(7, fields.get(8, {}))).get(1, 1)  # by the kind of page
            page = _Page(fields[1], fields[2], fields[3], max(1, values), header)
            if min(page.unpacked, page.packed) < 0:
                raise ValueError("a size below nothing")
            return page
        except IndexError:  # the header goes on
            if len(found) < window or window >= _LONGEST:
                break
            window *= 16
        except (KeyError, ValueError, AttributeError, TypeError, RecursionError):
            break
    raise BadInput(f"{path}: damaged, no header of a page is at byte {at:,}. Fetch the file again.")


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise ValueError("a number without an end")


def _struct(content: bytes, at: int) -> tuple[dict[int, Any], int]:
    """Return the whole numbers and structs of a struct by their field, and where it ends."""
    found: dict[int, Any] = {}
    field = 0
    while head := content[at]:
        at += 1
        kind = head & 0x0F
        if head >> 4:
            field += head >> 4
        else:
            number, at = _varint(content, at)
            field = (number >> 1) ^ -(number & 1)
        if kind in (4, 5, 6):
            number, at = _varint(content, at)
            found[field] = (number >> 1) ^ -(number & 1)
        elif kind == 12:
            found[field], at = _struct(content, at)
        else:
            at = _skipped(content, at, kind)
    return found, at + 1


def _skipped(content: bytes, at: int, kind: int) -> int:
    """Return where a value ends that a page's header may hold besides whole numbers and structs."""
    match kind:
        case 1 | 2:  # true, false
            return at
        case 3:
            return at + 1
        case 7:
            return at + 8
        case 8:  # bytes
            length, at = _varint(content, at)
            return at + length
    raise ValueError(f"a value of type {kind}")
