"""Lines and JSON records of a file, plain or gzip, read one at a time and written reproducibly."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from indexes.inspection import Inspection, Place, Reason
from rag.errors import BadInput

Record: TypeAlias = Mapping[str, object]
Progress: TypeAlias = Callable[[int, int | None], None]  # bytes read so far, bytes in all

_EVERY = 1000  # lines between two calls of progress: often enough for a bar, too rare to cost time
_TO_UTF8 = "Save the file as UTF-8 (iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW)"
_GZIP = b"\x1f\x8b"


def lines(
    path: Path, inspection: Inspection, progress: Progress | None = None
) -> Iterator[tuple[Place, bytes]]:
    """Yield each line with its place; gzip is recognised by its first bytes, not by its name.

    Only the line feed ends a line, so that U+2028 and the like may stand inside a text. A byte
    order mark is dropped.

    Raises:
        BadInput: the file cannot be opened; or the gzip is damaged and the inspection not lenient
            (when lenient, the lines before the damage are kept).
    """
    with _open(path) as raw:
        total = path.stat().st_size
        stream: Iterable[bytes] = gzip.GzipFile(fileobj=raw) if raw.peek(2)[:2] == _GZIP else raw
        number = 0
        try:
            for line in stream:
                number += 1
                yield Place(path, number), line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                if progress is not None and number % _EVERY == 0:
                    progress(raw.tell(), total)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            problem = f"the gzip data is damaged or ends too early ({error})"
            cure = f"Fetch the file again (gzip -t {path.name} checks it)"
            inspection.refuse(Reason.TRUNCATED, Place(path, number + 1), problem, cure)
        if progress is not None:
            progress(total, total)


def records(
    path: Path, inspection: Inspection, progress: Progress | None = None
) -> Iterator[tuple[Place, Record]]:
    """Yield each JSON object of a JSON Lines file with its place; blank lines are passed over.

    Raises:
        BadInput: as `lines`; or a line is not UTF-8, not JSON or not an object and the inspection
            is not lenient.
    """
    for place, line in lines(path, inspection, progress):
        text = decode(line, place, inspection)
        if text is None or not text.strip():
            continue
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:  # ValueError: also a number of thousands of digits
            cure = "Write one JSON object on each line, its strings in double quotes"
            inspection.refuse(Reason.INVALID_JSON, place, f"not JSON ({error})", cure)
            continue
        if _is_fit(record, place, inspection, escaped="\\u" in text):
            yield place, record


def array(path: Path, inspection: Inspection) -> Iterator[tuple[Place, Record]]:
    """Yield the objects of a file that is one JSON array, each with the line on which it begins."""
    text = "".join(decode(line, place, inspection) or "\n" for place, line in lines(path, inspection))
    if not text.lstrip().startswith("["):
        raise BadInput(f"{path}:1: a JSON array was expected. Give the file as it was published.")
    decoder, at, line, counted = json.JSONDecoder(), text.index("[") + 1, 1, 0
    while True:
        while at < len(text) and text[at] in ", \t\r\n":
            at += 1
        line, counted = line + text.count("\n", counted, at), at
        if text[at : at + 1] == "]":
            return
        try:
            record, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:  # what follows cannot be told apart any more
            cure = "Fetch the file again: it is cut short or was edited"
            inspection.refuse(Reason.INVALID_JSON, Place(path, line), f"not JSON ({error})", cure)
            return
        if isinstance(record, dict):
            yield Place(path, line), record
        else:
            problem = f"a JSON {type(record).__name__} came where an object was expected"
            inspection.refuse(
                Reason.WRONG_TYPE, Place(path, line), problem, "Give the file as it was published"
            )


def decode(line: bytes, place: Place, inspection: Inspection) -> str | None:
    """Return the text of a line, or None when it is not UTF-8 and the inspection is lenient."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"byte {line[error.start]:#04x} at column {error.start + 1} is not UTF-8"
        inspection.refuse(Reason.BROKEN_UTF8, place, problem, _TO_UTF8)
        return None


def dump(record: Record) -> bytes:
    """Return the one canonical line of a record: UTF-8, no spaces, keys in the order given, a line feed.

    Raises:
        BadInput: a string holds half a surrogate pair, which UTF-8 cannot write.
    """
    try:
        return (json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
    except UnicodeEncodeError:
        who = record.get("id", "?")
        raise BadInput(
            f"the record with id {who!r} holds half a surrogate pair. Remove that character."
        ) from None


def write_lines(path: Path, content: Iterable[bytes]) -> None:
    """Write the lines, as gzip when the name ends in .gz: without a date, so the bytes are reproducible."""
    with path.open("wb") as raw:
        if path.suffix == ".gz":
            with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=raw, mtime=0) as zipped:
                zipped.writelines(content)
        else:
            raw.writelines(content)


def _is_fit(record: object, place: Place, inspection: Inspection, *, escaped: bool) -> bool:
    if not isinstance(record, dict):
        problem = f"a JSON {type(record).__name__} came where an object was expected"
        inspection.refuse(Reason.WRONG_TYPE, place, problem, 'Write {"id": ..., ...} there')
        return False
    if escaped:  # only an escape can bring half a surrogate pair, which cannot be written again
        try:
            json.dumps(record, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            problem = "an escape \\ud… stands without its other half"
            inspection.refuse(Reason.BROKEN_UTF8, place, problem, _TO_UTF8)
            return False
    return True


def _open(path: Path) -> io.BufferedReader:
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise BadInput(f"{path}: no such file. Check the path.") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}). Give a file that you may read.") from None
