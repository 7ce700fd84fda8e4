"""Steps on the disk that are done wholly or not at all, and the names of what is under way."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

CURRENT = "CURRENT"  # the file of an index folder that names the version in use
_FRESH = 60.0  # seconds
_NO_LINKS = (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.EOPNOTSUPP)


def switch(folder: Path, version: str, file: str = CURRENT) -> None:
    """Make a version the one in use, in one step."""
    with replacing(folder / file) as pointer:
        pointer.write_text(version + "\n", encoding="utf-8")
    sync_one(folder)


def sync(folder: Path) -> None:
    """Make sure that a folder and all below it is on the disk."""
    for path in (*sorted(folder.rglob("*")), folder):
        sync_one(path)


def sync_one(path: Path) -> None:
    """Make sure that what is in a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a place to write a file to, which takes the place of `path`, whole, when the block ends well."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        yield part
        sync_one(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def hidden_sibling(folder: Path, kind: str) -> Path:
    """Return a new hidden name beside a folder, which tells what it is for."""
    return folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.{kind}")


def sweep(parent: Path, pattern: str) -> None:
    """Take away folders under temporary names that a killed process left: those whose lock nobody holds."""
    for path in parent.glob(pattern):
        with suppress(OSError):  # of somebody else, or gone by now
            if path.is_symlink() or not path.is_dir():
                continue
            if time.time() - path.stat().st_mtime < _FRESH:  # made, and not yet locked
                continue
            with held(path):
                take_away(path)


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder while it is written to; BlockingIOError says that another process does.

    The system frees it when the process ends, however it ends.
    """
    import fcntl  # POSIX alone has it; reading an index does not need it

    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def move(folder: Path, to: Path) -> None:
    """Rename a folder, for good; to another file system it is copied first, and appears there whole."""
    try:
        folder.replace(to)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        part = to.with_name(f"{to.name}.{secrets.token_hex(4)}.part")
        shutil.copytree(folder, part)
        sync(part)
        part.replace(to)
        delete(folder)
    for parent in {folder.parent, to.parent}:
        sync_one(parent)


def delete(path: Path) -> None:
    """Delete a file, or a folder: out of sight in one step, so that no half of it is ever seen."""
    if path.is_dir():
        gone = hidden_sibling(path, "gone")
        path.replace(gone)
        path = gone
    take_away(path)


def take_away(path: Path) -> None:
    """Delete what nobody looks at, as far as that can be done."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def link(file: Path, to: Path) -> bool:
    """Give a file a second name, or copy it where the file system has no hard links.

    Returns whether it is the very same file, of which what is known of the one is known of the other.
    """
    try:
        os.link(file, to)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        shutil.copyfile(file, to)
        return False
    return file.samefile(to)
