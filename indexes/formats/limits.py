"""The most that comes out of a packed file, and the most that is read as one record, text or table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rag.errors import BadInput, BadSetting

RECORD = 16 * 2**20  # bytes of a line, row or object: a text of TEXT characters, were each an escape
TEXT = 1_000_000  # characters of an article or question, 500 pages; building takes 300 bytes for each
BLANK = 1_000_000  # blank lines one after another
COLUMNS = 10_000  # of a table
BATCH = 32 * 2**20  # bytes of Parquet's rows in memory at once
NODES = (
    1_500_000  # tags and attributes of an XML file: some 200 bytes each in memory; law has one in 26 bytes
)
BETWEEN = 8 * 2**20  # bytes of XML from one article to the next, where a file of any size is read by articles


@dataclass(frozen=True, slots=True)
class Limits:
    """What packed files may hold; the French bulk of all law is 5 million files and some 20 GB."""

    files: int = 10_000_000
    bytes: int = 60 * 10**9  # of all files together, unpacked
    free: int = 256 * 10**6  # of one file, in memory: what it unpacks to, or its pages of Parquet at once
    ratio: int = 60  # a larger file may unpack to so many times its size: law reaches 13, a bomb 1,000
    header: int = 4 * 2**20  # bytes of what a tar says before one file: names and attributes, held in memory


SETTING = "PANDECT_UNPACKED_MB"  # how a host who trusts a file raises `Limits.free`


def limits(environ: Mapping[str, str] = os.environ) -> Limits:
    """Return the limits, with the setting of a host; `BadSetting` says how that is written."""
    text = environ.get(SETTING, "").strip()
    if not text:
        return Limits()
    if not (text.isascii() and text.isdecimal() and int(text[:9]) > 0):
        raise BadSetting(f"{SETTING}: got {text!r}; expected a whole number of megabytes, such as 1024")
    return Limits(free=int(text[:9]) * 10**6)


class Meter:
    """Counts what comes out of one packed file; folders count as files, for they take as much room."""

    def __init__(self, path: Path, most: Limits | None = None) -> None:
        self.path, self.limits = path, most or limits()
        self._packed = max(1, path.stat().st_size)
        self._files = self._bytes = 0

    def member(self) -> None:
        """Count a file or a folder."""
        self._files += 1
        if self._files > self.limits.files:
            self._stop(f"more than {self.limits.files:,} files")

    def took(self, count: int) -> None:
        """Count bytes that came out."""
        self._bytes += count
        if self._bytes > self.limits.bytes:
            self._stop(f"more than {self.limits.bytes / 1e9:.1f} GB")
        if self._bytes > max(self.limits.free, self.limits.ratio * self._packed):
            free = max(1, self.limits.free // 10**6)
            what = f"more than {self.limits.ratio} times its own size, and {free:,} MB"
            self._stop(what, f"if you trust it set {SETTING}={4 * free}")

    def _stop(self, what: str, cure: str = "unpack it yourself") -> None:
        raise BadInput(f"{self.path}: it unpacks to {what}. Do not use it, or {cure}.")


def is_pipe(path: Path) -> bool:
    """Tell whether a path is a pipe, a socket, a device or a folder: opening a pipe waits for its writer."""
    return path.exists() and not path.is_file()
