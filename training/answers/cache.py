"""What models said, kept: an append-only file of JSON Lines, so that nothing is paid for twice.

A line is `{"key": SHA-256 of everything that the reply depends on, "value": …}`. It is written whole
and flushed to the disk before the next question is asked; a half-written last line, which a kill may
leave, is cut off when the file is next opened.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from rag.errors import BadInput

_CURE = "move the file away (what it holds is then asked anew) or give another --replies"


def key(**parts: object) -> str:
    """Return what a reply is kept under: the SHA-256 of the parts as canonical JSON."""
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Cache:
    """Replies by key; one that is put is on the disk when `put` returns."""

    def __init__(self, file: BinaryIO, values: dict[str, Any]) -> None:
        self._file = file
        self._values = values

    def __len__(self) -> int:
        """How many replies are kept."""
        return len(self._values)

    def get(self, name: str) -> Any | None:  # noqa: ANN401 - any value of JSON
        """Return what is kept under this key, None where nothing is."""
        return self._values.get(name)

    def put(self, name: str, value: Mapping[str, Any]) -> None:
        """Keep a reply."""
        line = json.dumps({"key": name, "value": value}, separators=(",", ":")) + "\n"  # ASCII: any text fits
        self._file.write(line.encode("ascii"))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._values[name] = value


@contextmanager
def opened(path: Path) -> Iterator[Cache]:
    """Open a file of replies, made if it is not there; nobody else can while it is open.

    Raises:
        BadInput: another measurement has it open, it cannot be written, or it holds something else.
    """
    import fcntl  # POSIX alone has it; whoever only asks questions does not need it

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b")
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror}). Give another --replies.") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # freed when the process ends, however it ends
        except BlockingIOError:
            raise BadInput(
                f"{path}: another measurement is writing it. Wait until it ends, or give another --replies."
            ) from None
        yield Cache(file, _read(path, file))


def _read(path: Path, file: BinaryIO) -> dict[str, Any]:
    file.seek(0)
    values: dict[str, Any] = {}
    whole = 0
    for number, line in enumerate(file, 1):
        if not line.endswith(b"\n"):  # the process was killed while it wrote this one
            file.truncate(whole)
            break
        whole += len(line)
        try:
            record = json.loads(line)
            values[str(record["key"])] = record["value"]
        except (ValueError, TypeError, KeyError):
            raise BadInput(f'{path}:{number}: not a kept reply ({{"key": …, "value": …}}): {_CURE}') from None
    file.seek(0, os.SEEK_END)
    return values
