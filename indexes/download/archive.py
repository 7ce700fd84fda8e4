"""The files inside an archive, taken out safely: no path that leads outside, no link, no bomb."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

from indexes.corpus.folder import appearing
from indexes.download.metered import (
    CHUNK,
    LIMITS,
    Headers,
    Limits,
    Meter,
    Metered,
    drain,
    sound,
)
from rag.errors import BadInput

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
    with sound(path):
        meter = Meter(path, limits)
        if zipfile.is_zipfile(path):
            yield from _zipped(path, meter)
        else:
            yield from _tarred(path, meter)


def unpack(path: Path, folder: Path, limits: Limits = LIMITS) -> Path:
    """Unpack an archive into a new folder, whole or not at all, and return the folder.

    Raises:
        BadInput: as `members`; or two files have the same name, or the folder is there already.
    """
    with appearing(folder) as part, sound(path):
        for name, file in members(path, limits):
            target = part / name
            with _written(target):
                target.parent.mkdir(parents=True, exist_ok=True)
                out = target.open("xb")
            with out:
                while piece := file.read(CHUNK):
                    with _written(target):
                        out.write(piece)
                with _written(target):
                    out.flush()
    return folder


@contextmanager
def _written(target: Path) -> Iterator[None]:
    """Tell a disk that is full, or that may not be written, from an archive that is damaged."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        problem = f"{target}: cannot be written ({error.strerror})"
        raise BadInput(f"{problem}. Make room, or give another place with PANDECT_HOME=FOLDER.") from None


def _zipped(path: Path, meter: Meter) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            safe = safe_name(member.filename, str(path))
            kind = member.external_attr >> 28  # the file type of Unix, 0 where another system wrote it
            if kind not in (0, 0o4, 0o10):
                raise BadInput(f"{path}: {member.filename!r} is a link or a device. Do not use this archive.")
            meter.member()
            if member.is_dir():
                continue
            with archive.open(member) as file:
                yield str(safe), Metered(file, meter)  # type: ignore[misc]


def _tarred(path: Path, meter: Meter) -> Iterator[tuple[str, IO[bytes]]]:
    with _unpacked(path) as raw:
        stream = Headers(raw, meter)
        with stream.opened() as archive:
            while (member := stream.next(archive)) is not None:
                meter.member()
                safe = PurePosixPath(".") if member.name in (".", "./") else safe_name(member.name, str(path))
                if not (member.isfile() or member.isdir()):
                    raise BadInput(f"{path}: {member.name!r} is a link or a device. Do not use this archive.")
                file = archive.extractfile(member) if member.isfile() else None
                if file is not None:
                    metered = Metered(file, meter)
                    yield str(safe), metered  # type: ignore[misc]
                    drain(metered)  # what nobody read counts too, and the next header begins here
                archive.members.clear()  # type: ignore[attr-defined]  # else every name stays in memory
        drain(Metered(raw, meter))  # tarfile takes a file that was cut off for its end; the checksum tells


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
