"""Lines and JSON records of a file, plain or gzip, read one at a time and written reproducibly."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import math
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from indexes.formats.limits import BLANK, RECORD, Meter, is_pipe
from indexes.formats.validation import Inspection, SkipReason, SourceLocation
from rag.errors import BadInput
from rag.types import Progress, no_progress

Record: TypeAlias = Mapping[str, object]
_Count: TypeAlias = Callable[[bytes], None]

_RECORD = 300  # bytes of memory that an article takes beside its texts
_EVERY = 1000  # lines between two calls of progress: often enough for a bar, too rare to cost time
_CHUNK = 2**20  # bytes read at once from a file that has no lines
_TO_UTF8 = "Save the file as UTF-8 (iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW)"
_GZIP = b"\x1f\x8b"
_DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile)


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


# NaN and Infinity, which pandas writes and JSON does not know, mean that there is no value.
_DECODER = json.JSONDecoder(parse_constant=lambda name: None, parse_float=_finite)
_SURROGATE = re.compile("[\ud800-\udfff]")  # what stands for a byte that is not UTF-8
_ASTRAL = re.compile(rb"[\xf0-\xf4]|\\u[dD][89abAB]")  # what lies beyond U+FFFF, in UTF-8 or escaped
_CONTINUATION = bytes(range(0x80, 0xC0))  # bytes of UTF-8 that begin no character
_LEADING, _BETWEEN = re.compile(r"[ \t\r\n\ufeff]*"), re.compile(r"[ \t\r\n,]*")


def lines(
    path: Path, inspection: Inspection, progress: Progress = no_progress, *, escapes: bool = False
) -> Iterator[tuple[SourceLocation, bytes]]:
    """Yield each line with its place; gzip is recognised by its first bytes, not by its name.

    Only the line feed ends a line, so that U+2028 and the like may stand inside a text. A byte
    order mark is dropped. `escapes` says that the lines are JSON.

    Raises:
        BadInput: the file cannot be opened, unpacks to too much, or has a million blank lines in a row; or
            the gzip is damaged and the inspection not lenient (when lenient, the lines before are kept).
    """
    with _opened(path, escapes=escapes) as (raw, stream, total, count):
        number = blank = 0
        try:
            while line := stream.readline(RECORD):
                count(line)
                number += 1
                place = SourceLocation(path, number)
                blank = blank + 1 if len(line) < 3 and line.isspace() else 0
                if blank > BLANK:
                    raise BadInput(f"{place}: {BLANK:,} blank lines came, then more. Remove blank lines.")
                if len(line) == RECORD and not line.endswith(b"\n"):
                    problem = f"the line is longer than {RECORD // 2**20} MB"
                    inspection.refuse(SkipReason.TOO_LONG, place, problem, "Write one record on each line")
                    while line and not line.endswith(b"\n"):
                        line = stream.readline(RECORD)
                        count(line)
                    continue
                yield place, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                if number % _EVERY == 0:
                    progress("reading", raw.tell(), total)
        except _DAMAGE as error:
            _damaged(error, SourceLocation(path, number + 1), inspection)
        progress("reading", total, total)


def texts(
    path: Path, inspection: Inspection, progress: Progress = no_progress, *, escapes: bool = False
) -> Iterator[tuple[SourceLocation, str]]:
    """Yield the text of each line with its place; blank lines are passed over. `escapes`: as in `lines`.

    Raises:
        BadInput: as `lines`; or a line is not UTF-8 and the inspection is not lenient.
    """
    for place, line in lines(path, inspection, progress, escapes=escapes):
        text = decode(line, place, inspection)
        if text is not None and text.strip():
            yield place, text


def records(
    path: Path, inspection: Inspection, progress: Progress = no_progress
) -> Iterator[tuple[SourceLocation, Record]]:
    """Yield each JSON object of a JSON Lines file with its place; blank lines are passed over.

    Raises:
        BadInput: as `lines`; or a line is not UTF-8, not JSON or not an object and the inspection
            is not lenient.
    """
    for place, text in texts(path, inspection, progress, escapes=True):
        try:
            record = _DECODER.decode(text)
        except (ValueError, RecursionError) as error:  # ValueError: also a number of thousands of digits
            cure = "Write one JSON object on each line, its strings in double quotes"
            inspection.refuse(SkipReason.INVALID_JSON, place, f"not JSON ({error})", cure)
            continue
        if _is_fit(record, place, inspection, escaped="\\u" in text):
            yield place, record


def array(
    path: Path, inspection: Inspection, progress: Progress = no_progress
) -> Iterator[tuple[SourceLocation, Record]]:
    """Yield the objects of a file that is one JSON array, each with the line on which it begins.

    The file is read piece by piece, whether it has line breaks or not.

    Raises:
        BadInput: as `records`; or the file is no array.
    """
    pieces = _pieces(path, inspection, progress)
    text, at, line = "", 0, 1  # what is read, how far it is used up, and the line there
    started = ended = odd = False  # odd: a byte was not UTF-8
    while True:
        found = (_BETWEEN if started else _LEADING).match(text, at)
        line, at = line + text.count("\n", at, found.end() if found else at), found.end() if found else at
        if at < len(text) and not started:
            if text[at] != "[":
                raise BadInput(
                    f"{path}:{line}: a JSON array was expected. Give the file as it was published."
                )
            at, started = at + 1, True
            continue
        if text.startswith("]", at):
            return
        problem = "Expecting value"
        try:
            record, end = _DECODER.raw_decode(text, at)
            if end < len(text) or ended:  # else a number may go on in the next piece
                place, escaped = SourceLocation(path, line), odd or text.find("\\u", at, end) >= 0
                if _is_fit(record, place, inspection, escaped=escaped):
                    yield place, record
                line, at = line + text.count("\n", at, end), end
                continue
        except (ValueError, RecursionError) as error:
            problem = str(error)
        if ended or len(text) - at > RECORD:  # what follows cannot be told apart any more
            place, cure = SourceLocation(path, line), "Fetch the file again: it is cut short or was edited"
            inspection.refuse(SkipReason.INVALID_JSON, place, f"not JSON ({problem})", cure)
            return
        text, at = text[at:], 0
        # As much again as there is: an object of many pieces is not decoded anew for each of them.
        more = list(islice(pieces, 1 + len(text) // _CHUNK))
        text, ended, odd = text + "".join(more), not more, odd or any(map(_SURROGATE.search, more))


def decode(line: bytes, place: SourceLocation, inspection: Inspection) -> str | None:
    """Return the text of a line, or None when it is not UTF-8 and the inspection is lenient."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"byte {line[error.start]:#04x} at column {error.start + 1} is not UTF-8"
        inspection.refuse(SkipReason.BROKEN_UTF8, place, problem, _TO_UTF8)
        return None


def dump(record: Record) -> bytes:
    """Return the one canonical line of a record: UTF-8, no spaces, keys in the order given, a line feed.

    Raises:
        BadInput: a string holds half a surrogate pair, which UTF-8 cannot write.
    """
    try:
        return (json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
    except UnicodeEncodeError:
        problem = f"the record with id {record.get('id', '?')!r} holds half a surrogate pair"
        raise BadInput(f"{problem}. Remove that character.") from None


def write_lines(path: Path, content: Iterable[bytes]) -> None:
    """Write the lines, as gzip when the name ends in .gz: without a date, so the bytes are reproducible."""
    with path.open("wb") as raw:
        if path.suffix == ".gz":
            with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=raw, mtime=0) as zipped:
                zipped.writelines(content)
        else:
            raw.writelines(content)


def _is_fit(record: object, place: SourceLocation, inspection: Inspection, *, escaped: bool) -> bool:
    if not isinstance(record, dict):
        problem = f"a JSON {type(record).__name__} came where an object was expected"
        inspection.refuse(SkipReason.WRONG_TYPE, place, problem, 'Write {"id": ..., ...} there')
        return False
    if escaped:  # only an escape can bring half a surrogate pair, which cannot be written again
        try:
            json.dumps(record, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            problem = "an escape \\ud… stands without its other half, or a byte is not UTF-8"
            inspection.refuse(SkipReason.BROKEN_UTF8, place, problem, _TO_UTF8)
            return False
    return True


def _pieces(path: Path, inspection: Inspection, progress: Progress) -> Iterator[str]:
    """Yield the text of a file, a megabyte at a time; bytes that are not UTF-8 become half surrogates."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    line = 1
    with _opened(path, escapes=True) as (raw, stream, total, count):
        try:
            while chunk := stream.read(_CHUNK):
                count(chunk)
                yield decoder.decode(chunk)
                line += chunk.count(b"\n")
                progress("reading", raw.tell(), total)
        except _DAMAGE as error:
            _damaged(error, SourceLocation(path, line), inspection)
        yield decoder.decode(b"", final=True)


@contextmanager
def _opened(
    path: Path, *, escapes: bool = False
) -> Iterator[tuple[io.BufferedReader, io.BufferedIOBase, int, _Count]]:
    """Open a file; give it as it is, unpacked if it is gzip, its size in bytes, and a counter."""
    if is_pipe(path):
        raise BadInput(f"{path}: a folder, pipe or device came where a file was expected. Give a file.")
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise BadInput(f"{path}: no such file. Check the path.") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}). Give a file that you may read.") from None
    with file as raw:
        packed = raw.peek(2)[:2] == _GZIP
        stream = gzip.GzipFile(fileobj=raw) if packed else raw
        meter = Meter(path) if packed else None  # what is not packed holds what its size says

        def count(part: bytes) -> None:
            if meter is not None:
                meter.took(_held(part, escapes=escapes))

        yield raw, stream, path.stat().st_size, count


def _held(part: bytes, *, escapes: bool) -> int:
    """Return how many bytes a line may take in memory: a character beyond Latin-1 widens its whole text.

    Of JSON's `escapes` six bytes are one character, or half of one.
    """
    width = 4 if _ASTRAL.search(part) else 1 if part.isascii() and b"\\u" not in part else 2
    characters = len(part.translate(None, _CONTINUATION))
    if not escapes:
        return width * max(characters, len(part) // 6)  # whatever the bytes are
    escaped = part.replace(b"\\\\", b"").count(b"\\u")
    return width * max(characters - 5 * escaped, len(part) // 6) + _RECORD * part.count(b"{")


def _damaged(error: Exception, place: SourceLocation, inspection: Inspection) -> None:
    problem = f"the gzip data is damaged or ends too early ({error})"
    cure = f"Fetch the file again (gzip -t {place.path.name} checks it)"
    inspection.refuse(SkipReason.TRUNCATED, place, problem, cure)
