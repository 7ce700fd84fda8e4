"""The files inside an archive, taken out safely: no path that leads outside, no link, no bomb.

What comes out is counted while it is read, for an archive may lie about every size.
"""

from __future__ import annotations

import bz2
import errno
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
from pathlib import Path, PurePosixPath
from typing import IO, Any

from indexes.corpus.corpus import appearing
from indexes.formats.limits import Limits, Meter
from rag.errors import BadInput

CHUNK = 2**20
FILES = (
    20_000  # and folders, of one archive on the disk; bulks of law have millions, and are read where they lie
)
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError)
# What the two modules raise besides, on headers that were tampered with; RuntimeError: encrypted.
_STRANGE = (ValueError, TypeError, LookupError, RuntimeError, OverflowError, MemoryError)


class Metered:
    """A file whose reading is counted; enough of one for a parser."""

    def __init__(self, file: IO[bytes], meter: Meter) -> None:
        self._file, self._meter = file, meter

    def read(self, size: int = -1) -> bytes:
        """Return at most so many bytes, all that are left where none are told; b"" at the end."""
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(CHUNK), b""))
        with sound(self._meter.path):  # who reads is no longer inside `members`
            found = self._file.read(min(size, CHUNK) if size else 0)
        self._meter.took(len(found))
        return found

    def drain(self) -> None:
        """Read what is left, and keep nothing of it."""
        while self.read(CHUNK):
            pass


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
            if self._count > self._meter.limits.header:
                problem = f"{self._count:,} bytes of headers before one file"
                raise BadInput(f"{self._meter.path}: {problem}. Do not use this archive.")
        return found

    @contextmanager
    def header(self) -> Iterator[None]:
        """Count what is read inside as one header."""
        self._inside, self._count = True, 0
        try:
            yield
        finally:
            self._inside = False


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


_SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_DRIVE = re.compile(r"[A-Za-z]:")
_UNPACKED_BY: Mapping[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
}
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM)


def is_archive(path: Path) -> bool:
    """Tell whether a path is named as an archive that `members` reads."""
    return path.name.lower().endswith(_SUFFIXES)


def safe_name(name: str, where: str) -> PurePosixPath:
    """Return the relative path of a name that leads nowhere else; `where` begins the error.

    Raises:
        BadInput: it is absolute, climbs with "..", or cannot name a file on every system.
    """
    path = PurePosixPath(name)
    odd = not path.parts or path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name
    if odd or _DRIVE.match(name):
        raise BadInput(f"{where}: it holds the path {name!r}, which leads outside. Do not use this archive.")
    return path


def members(path: Path, limits: Limits | None = None) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield the name of each file in a zip or tar and the file, open only until the next one is taken.

    Nothing is written and never more than a piece of one file is in memory. What is read is counted, so
    that an archive which lies about sizes is found out too.

    Raises:
        BadInput: it is no archive, damaged or encrypted, holds a link, a device or a path that leads
            outside, or unpacks to more than the limits allow.
    """
    with sound(path):
        meter = Meter(path, limits)
        if zipfile.is_zipfile(path):
            yield from _zipped(path, meter)
        else:
            yield from _tarred(path, meter)


def unpack(path: Path, folder: Path, limits: Limits | None = None) -> Path:
    """Unpack an archive into a new folder, whole or not at all, and return the folder.

    Raises:
        BadInput: as `members`; or two files have the same name, or the folder is there already.
    """
    places: set[PurePosixPath] = set()  # a name may make folders without end
    with appearing(folder) as part, sound(path):
        for name, file in members(path, limits):
            place = PurePosixPath(name)
            places.update((place, *place.parents[:-1]))
            if len(places) > FILES:
                problem = f"more than {FILES:,} files and folders"
                raise BadInput(f"{path}: {problem}. Unpack it yourself, and give the folder.")
            target = part / place
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("xb") as out:
                    shutil.copyfileobj(file, out, CHUNK)
            except OSError as error:  # reading raises BadInput; a disk that is full is no damaged archive
                if error.errno not in _NO_ROOM:
                    raise
                problem = f"{target}: cannot be written ({error.strerror})"
                cure = "Make room, or give another place with PANDECT_HOME=FOLDER"
                raise BadInput(f"{problem}. {cure}.") from None
    return folder


def _zipped(path: Path, meter: Meter) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            safe = safe_name(member.filename, str(path))
            if member.external_attr >> 28 not in (0, 0o4, 0o10):  # Unix's type; 0: another system wrote it
                raise BadInput(f"{path}: {member.filename!r} is a link or a device. Do not use this archive.")
            meter.member()
            if member.is_dir():
                continue
            with archive.open(member) as file:
                yield str(safe), Metered(file, meter)  # type: ignore[misc]


def _tarred(path: Path, meter: Meter) -> Iterator[tuple[str, IO[bytes]]]:
    with _unpacked(path) as raw:
        stream = Headers(raw, meter)
        with stream.header():
            opened = tarfile.open(fileobj=stream, mode="r|")  # type: ignore[call-overload]  # noqa: SIM115
        with opened as archive:
            while True:
                with stream.header():
                    member = archive.next()
                if member is None:
                    break
                meter.member()
                safe = PurePosixPath(".") if member.name in (".", "./") else safe_name(member.name, str(path))
                if not (member.isfile() or member.isdir()):
                    raise BadInput(f"{path}: {member.name!r} is a link or a device. Do not use this archive.")
                file = archive.extractfile(member) if member.isfile() else None
                if file is not None:
                    metered = Metered(file, meter)
                    yield str(safe), metered  # type: ignore[misc]
                    metered.drain()  # what nobody read counts too, and the next header begins here
                archive.members.clear()  # else every name stays in memory
        Metered(raw, meter).drain()  # tarfile takes a file that was cut off for its end; the checksum tells


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
