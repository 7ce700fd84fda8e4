"""What comes out of an archive, counted while it is read: an archive may lie about every size."""

from __future__ import annotations

import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rag.errors import BadInput

CHUNK = 2**20
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError)
# What the two modules raise besides, on headers that were tampered with; RuntimeError: encrypted.
_STRANGE = (ValueError, TypeError, LookupError, RuntimeError, OverflowError, MemoryError)


@dataclass(frozen=True, slots=True)
class Limits:
    """What an archive may hold; the French bulk of all law is 5 million files and some 20 GB."""

    files: int = 10_000_000
    bytes: int = 60 * 10**9  # of all files together, unpacked
    ratio: int = 200  # unpacked to packed bytes; text reaches 30, a bomb 1,000
    free: int = 50 * 10**6  # below this many unpacked bytes the ratio does not count
    header: int = 4 * 2**20  # bytes of what a tar says before one file: names and attributes, held in memory


LIMITS = Limits()


class Meter:
    """Counts what comes out of one archive: folders count as files, for they take as much room."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path, self._limits = path, limits
        self._packed = max(1, path.stat().st_size)
        self._files = self._bytes = 0

    def member(self) -> None:
        """Count a file or a folder."""
        self._files += 1
        if self._files > self._limits.files:
            self._stop(f"more than {self._limits.files:,} files")

    def header(self, count: int) -> None:
        """Refuse so many bytes of headers if they are too many."""
        if count > self._limits.header:
            raise BadInput(
                f"{self._path}: {count:,} bytes of headers before one file. Do not use this archive."
            )

    def took(self, count: int) -> None:
        """Count bytes that came out."""
        self._bytes += count
        if self._bytes > self._limits.bytes:
            self._stop(f"more than {self._limits.bytes / 1e9:.1f} GB")
        if self._bytes > max(self._limits.free, self._limits.ratio * self._packed):
            self._stop(f"more than {self._limits.ratio} times its own size")

    def reading(self) -> AbstractContextManager[None]:
        """Turn the errors of damaged data into one that names the archive."""
        return sound(self._path)

    def _stop(self, what: str) -> None:
        raise BadInput(f"{self._path}: it unpacks to {what}. Do not use it, or unpack it yourself.")


class Metered:
    """A file whose reading is counted; enough of one for a parser."""

    def __init__(self, file: IO[bytes], meter: Meter) -> None:
        self._file, self._meter = file, meter

    def read(self, size: int = -1) -> bytes:
        """Return at most so many bytes, all that are left where none are told; b"" at the end."""
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(CHUNK), b""))
        with self._meter.reading():  # who reads is no longer inside `members`
            found = self._file.read(min(size, CHUNK) if size else 0)
        self._meter.took(len(found))
        return found


class Headers:
    """The stream of a tar; refuses headers that would fill the memory, which tarfile reads whole."""

    def __init__(self, stream: IO[bytes], meter: Meter) -> None:
        self._stream, self._meter = stream, meter
        self._inside = False  # whether a header is being read
        self._count = 0

    def read(self, size: int) -> bytes:
        """Return at most so many bytes."""
        found = self._stream.read(size)
        if self._inside:
            self._count += len(found)
            self._meter.header(self._count)
        return found

    def opened(self) -> tarfile.TarFile:
        """Open the tar; that reads its first header."""
        with self._header():
            return tarfile.open(fileobj=self, mode="r|")  # type: ignore[call-overload,no-any-return]

    def next(self, archive: tarfile.TarFile) -> tarfile.TarInfo | None:
        """Return the next member."""
        with self._header():
            return archive.next()

    @contextmanager
    def _header(self) -> Iterator[None]:
        self._inside, self._count = True, 0
        try:
            yield
        finally:
            self._inside = False


def drain(file: Metered) -> None:
    """Read what is left of a file, and keep nothing of it."""
    while file.read(CHUNK):
        pass


@contextmanager
def sound(path: Path) -> Iterator[None]:
    """Turn the many errors of damaged archives into one."""
    try:
        yield
    except BadInput:
        raise
    except FileExistsError as error:
        raise BadInput(f"{path}: two files in it have one name ({error.filename}). Do not use it.") from None
    except (*_BROKEN, *_STRANGE) as error:
        problem = "encrypted" if "password" in str(error) or "encrypted" in str(error) else "damaged"
        raise BadInput(f"{path}: {problem}, or no zip or tar ({error}). Fetch it again.") from None
