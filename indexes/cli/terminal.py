"""What commands say: safe on every terminal, whatever the files and the options held."""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TextIO, cast

from rag.errors import PandectError

# Escapes that move the cursor or colour what follows, marks that turn the direction of writing, half pairs.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


_OURS = ("app", "indexes", "rag", "training")  # whose loggers quote names, files and errors


def printable(text: str) -> str:
    """Return a text with every character spelt out that would act on a terminal."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class GuardedStream:
    """A stream of text that spells out what would act on a terminal, and what its encoding lacks."""

    def __init__(self, stream: TextIO) -> None:
        """Guard a stream; `unguarded` is the stream itself, for what draws on the terminal on purpose."""
        self.unguarded = stream

    def write(self, text: str) -> int:
        """Write what can be shown."""
        encoding = getattr(self.unguarded, "encoding", None) or "utf-8"
        self.unguarded.write(printable(text).encode(encoding, "backslashreplace").decode(encoding))
        return len(text)

    def writelines(self, lines: Sequence[str]) -> None:
        """Write what can be shown of each."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the stream has
        """Return what else a stream has."""
        return getattr(self.unguarded, name)


def _guard(stream: TextIO) -> TextIO:
    return stream if isinstance(stream, GuardedStream) else cast(TextIO, GuardedStream(stream))


def unguarded(stream: TextIO) -> TextIO:
    """Return the stream beneath a guard, or the stream."""
    return cast(TextIO, getattr(stream, "unguarded", stream))


def guarded(main: Callable[..., int]) -> Callable[..., int]:
    """Guard what the main function of a command prints and logs; tests/test_terminal.py looks for it at all.

    A PandectError is printed and the status is 2. After another the guards stay, for then the interpreter
    prints what is told of it.
    """

    @wraps(main)
    def run(arguments: Sequence[str] | None = None, *more: object, **named: object) -> int:
        os.environ.setdefault("PYTHON_COLORS", "0")  # of argparse, from Python 3.14 on
        before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = map(_guard, before)
        try:
            status = main(arguments, *more, **named)
        except PandectError as error:
            say(f"error: {error}", error=True)
            status = 2
        sys.stdout, sys.stderr = before
        return status

    run.guarded = True  # type: ignore[attr-defined]
    return run


def guard_log() -> None:
    """Have the messages of our own loggers spelt out, for a server, whose streams are not ours."""
    make = logging.getLogRecordFactory()
    if getattr(make, "guarded", False):
        return

    def record(*given: Any, **named: Any) -> logging.LogRecord:  # noqa: ANN401 - as logging calls it
        made = make(*given, **named)
        if made.name.partition(".")[0] in _OURS:
            made.msg, made.args = printable(made.getMessage()), ()
        return made

    record.guarded = True  # type: ignore[attr-defined]
    logging.setLogRecordFactory(record)


def say(text: object, *, error: bool = False) -> None:
    """Print a line at once, on stderr if it is of an error; what the terminal cannot show is spelt out."""
    print(text, file=_guard(sys.stderr if error else sys.stdout), flush=True)


def explain(error: OSError | MemoryError | UnicodeEncodeError, cure: str) -> str:
    """Return what a person is told of an error that no code of ours raised; `cure` is for the disk."""
    if isinstance(error, MemoryError):
        what = "the memory is used up. Nothing was kept"
        return f"{what}; give the law in smaller parts, or use a machine with more memory."
    if isinstance(error, UnicodeEncodeError):
        held = error.object[error.start : error.end]
        return f"{held!r} came in an option or a file, which UTF-8 cannot write. Remove that character."
    place = f"{error.filename}: " if error.filename else ""
    # numpy says "8 requested and 3 written" of a full disk, without a number of the system
    return f"{place}{error.strerror or error or 'the disk may be full'}. {cure}"
