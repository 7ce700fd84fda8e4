"""The files inside an archive, taken out safely: no path that leads outside, no link, no bomb."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import shutil
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from indexes.folder import appearing
from rag.errors import BadInput

_SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_DRIVE = re.compile(r"[A-Za-z]:")
_CHUNK = 2**20
_UNPACKED_BY: Mapping[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
}
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


LIMITS = Limits()


def is_archive(path: Path) -> bool:
    """Tell whether a path is named as an archive that `members` reads."""
    return path.name.lower().endswith(_SUFFIXES)


def safe_name(name: str, where: str) -> PurePosixPath:
    """Return the relative path of a name that leads nowhere else.

    Args:
        name: as an archive or a server tells it.
        where: begins the error.

    Raises:
        BadInput: it is absolute, climbs with "..", or cannot name a file on every system.
    """
    path = PurePosixPath(name)
    odd = not path.parts or path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name
    if odd or _DRIVE.match(name):
        raise BadInput(f"{where}: it holds the path {name!r}, which leads outside. Do not use this archive.")
    return path


def members(path: Path, limits: Limits = LIMITS) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield the name of each file in a zip or tar and the file, open only until the next one is taken.

    Nothing is written and never more than a piece of one file is in memory. What is read is counted, so
    that an archive which lies about sizes is found out too.

    Raises:
        BadInput: it is no archive, damaged or encrypted, holds a link, a device or a path that leads
            outside, or unpacks to more than the limits allow.
    """
    with _sound(path):
        meter = _Meter(path, limits)
        if zipfile.is_zipfile(path):
            yield from _zipped(path, meter)
        else:
            yield from _tarred(path, meter)


def unpack(path: Path, folder: Path, limits: Limits = LIMITS) -> Path:
    """Unpack an archive into a new folder, whole or not at all, and return the folder.

    Raises:
        BadInput: as `members`; or two files have the same name, or the folder is there already.
    """
    with appearing(folder) as part, _sound(path):
        for name, file in members(path, limits):
            target = part / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as out:
                shutil.copyfileobj(file, out, _CHUNK)
    return folder


class _Meter:
    """Counts what comes out of one archive."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path, self._limits = path, limits
        self._packed = max(1, path.stat().st_size)
        self._files = self._bytes = 0

    def file(self) -> None:
        self._files += 1
        if self._files > self._limits.files:
            self._stop(f"more than {self._limits.files:,} files")

    def took(self, count: int) -> None:
        self._bytes += count
        if self._bytes > self._limits.bytes:
            self._stop(f"more than {self._limits.bytes / 1e9:.1f} GB")
        if self._bytes > max(self._limits.free, self._limits.ratio * self._packed):
            self._stop(f"more than {self._limits.ratio} times its own size")

    def _stop(self, what: str) -> None:
        raise BadInput(f"{self._path}: it unpacks to {what}. Do not use it, or unpack it yourself.")


class _Metered:
    """A file whose reading is counted; enough of one for a parser."""

    def __init__(self, file: IO[bytes], meter: _Meter) -> None:
        self._file, self._meter = file, meter

    def read(self, size: int = -1) -> bytes:
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(_CHUNK), b""))
        found = self._file.read(min(size, _CHUNK) if size else 0)
        self._meter.took(len(found))
        return found


def _zipped(path: Path, meter: _Meter) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            safe = safe_name(member.filename, str(path))
            kind = member.external_attr >> 28  # the file type of Unix, 0 where another system wrote it
            if kind not in (0, 0o4, 0o10):
                raise BadInput(f"{path}: {member.filename!r} is a link or a device. Do not use this archive.")
            if member.is_dir():
                continue
            meter.file()
            with archive.open(member) as file:
                yield str(safe), _Metered(file, meter)  # type: ignore[misc]


def _tarred(path: Path, meter: _Meter) -> Iterator[tuple[str, IO[bytes]]]:
    with _unpacked(path) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        while (member := archive.next()) is not None:
            safe = PurePosixPath(".") if member.name in (".", "./") else safe_name(member.name, str(path))
            if not (member.isfile() or member.isdir()):
                raise BadInput(f"{path}: {member.name!r} is a link or a device. Do not use this archive.")
            file = archive.extractfile(member) if member.isfile() else None
            if file is not None:
                meter.file()
                yield str(safe), _Metered(file, meter)  # type: ignore[misc]
            archive.members.clear()  # type: ignore[attr-defined]  # else every name stays in memory
        rest = _Metered(stream, meter)
        while rest.read(_CHUNK):  # tarfile takes a file that was cut off for its end; the checksum tells
            pass


@contextmanager
def _unpacked(path: Path) -> Iterator[IO[bytes]]:
    with path.open("rb") as raw:
        first = raw.read(6)
        raw.seek(0)
        kind = next((kind for magic, kind in _UNPACKED_BY.items() if first.startswith(magic)), None)
        if kind is None:
            yield raw
        else:
            with kind(raw) as stream:
                yield stream


@contextmanager
def _sound(path: Path) -> Iterator[None]:
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
