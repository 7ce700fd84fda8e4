"""What commands say: safe on every terminal, whatever the files and the options held."""

from __future__ import annotations

import re
import sys

# Escapes that move the cursor or colour what follows, marks that turn the direction of writing, half pairs.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def say(text: object, *, error: bool = False) -> None:
    """Print a line at once, on stderr if it is of an error; what the terminal cannot show is spelt out."""
    stream = sys.stderr if error else sys.stdout
    line = _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), str(text))
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    stream.flush()


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
