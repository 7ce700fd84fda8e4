"""How a corpus or an index is written so that whoever reads it sees the former one or the new one.

An index is a folder of versions. A version is written under a temporary name, its manifest last,
then renamed; the file CURRENT, replaced in one step, names the version that is open for business.
Whatever moment a build is killed at, CURRENT names a whole version: the old one or the new one.
What a killed process left behind is taken away by the next one of the same name.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from indexes import places
from indexes.manifest import FILE as MANIFEST
from indexes.places import CURRENT
from rag.errors import BadInput, DamagedIndex


@contextmanager
def only_one(name: str) -> Iterator[None]:
    """Hold the lock of a name; the system frees it when the process ends, however it ends.

    A corpus that a killed import had put aside is put back first.

    Raises:
        BadInput: another import, build or removal of this name is running.
    """
    import fcntl  # POSIX alone has it; reading an index does not need it

    folder = places.home() / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{places.checked_name(name)}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(
                f"another import, build or removal of {name!r} is running: "
                "wait until it ends, then type the command again"
            ) from None
        _recover(places.corpus_folder(name))
        _recover(places.index_folder(name))
        yield


@contextmanager
def new_version(name: str, version: str) -> Iterator[Path]:
    """Give an empty folder to build in; when the block ends well, it becomes the version in use.

    The block must write the manifest last. The former version stays, for pages that have it open;
    older ones go.

    Raises:
        BadInput: another import, build or removal of this name is running.
        DamagedIndex: the block left no manifest.
    """
    folder = places.index_folder(name)
    with only_one(name):
        folder.mkdir(parents=True, exist_ok=True)
        former = _in_use(folder)
        for path in list(folder.iterdir()):
            unfinished = path.is_dir() and not (path / MANIFEST).is_file()
            if unfinished or path.suffix in (".part", ".tmp"):
                _take_away(path)
        part = folder / f"{version}.{secrets.token_hex(4)}.part"
        part.mkdir()
        try:
            yield part
            if not (part / MANIFEST).is_file():
                raise DamagedIndex(f"{part} was left without a manifest: run {places.rebuild(name)}")
            sync(part)
            part.replace(folder / version)
        except BaseException:
            _take_away(part)
            raise
        switch(folder, version)
        for outdated in list(folder.iterdir()):
            if outdated.is_dir() and outdated.name not in (version, former):
                _take_away(outdated)


def switch(folder: Path, version: str) -> None:
    """Make a version the one in use, in one step."""
    pointer = folder / f"{CURRENT}.{secrets.token_hex(4)}.tmp"
    with pointer.open("w", encoding="utf-8") as file:
        file.write(version + "\n")
        file.flush()
        os.fsync(file.fileno())
    pointer.replace(folder / CURRENT)
    _sync_folder(folder)


def sync(folder: Path) -> None:
    """Make sure that every file below the folder is on the disk."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
        else:
            _sync_folder(path)
    _sync_folder(folder)


@contextmanager
def new_corpus(name: str, *, replace: bool) -> Iterator[Path]:
    """Give a place to write a corpus folder to, which becomes the corpus when the block ends well.

    Raises:
        BadInput: the corpus is there and may not be replaced; or another import, build or removal
            of this name is running.
    """
    folder = places.corpus_folder(name)
    with only_one(name):
        refuse_existing(name, replace=replace)
        folder.parent.mkdir(parents=True, exist_ok=True)
        new = _aside(folder, "new")
        try:
            yield new
            if folder.exists():
                folder.replace(_aside(folder, "old"))
            new.replace(folder)
            _sync_folder(folder.parent)
        finally:
            _recover(folder)


def refuse_existing(name: str, *, replace: bool) -> None:
    """Refuse to import over a corpus, unless that is what was asked for.

    Raises:
        BadInput: it is there, or the name is unfit.
    """
    if places.corpus_folder(name).exists() and not replace:
        raise BadInput(f"a corpus named {name!r} is there already: add --replace, or choose another --name")


def remove(name: str) -> bool:
    """Remove the corpus and the index of a name; tell whether there was one.

    Raises:
        BadInput: another import, build or removal of this name is running.
    """
    if places.checked_name(name) not in places.names():  # a lock of a name that is nothing's would stay
        return False
    with only_one(name):
        folders = [f for f in (places.index_folder(name), places.corpus_folder(name)) if f.exists()]
        for folder in folders:
            gone = _aside(folder, "gone")  # out of sight in one step, then deleted
            folder.replace(gone)
            shutil.rmtree(gone)
        return bool(folders)


def stamp_now() -> str:
    """Return the time as it stands in a version's name, sortable."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")


def _in_use(folder: Path) -> str | None:
    try:
        return (folder / CURRENT).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):  # nothing built yet, or not readable: the build makes it good
        return None


def _aside(folder: Path, kind: str) -> Path:
    return folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.{kind}")


def _recover(folder: Path) -> None:
    """Undo what a killed process left beside a folder; whoever calls holds the lock of its name."""
    if not folder.parent.is_dir():
        return
    # a corpus written under .name.x.new is first ..name.x.new.y.part: see indexes.folder
    left = [p for p in folder.parent.iterdir() if p.name.lstrip(".").startswith(f"{folder.name}.")]
    for old in left:  # killed between the two renames: the former one is put back
        if old.suffix == ".old" and not folder.exists():
            old.replace(folder)
    for path in left:
        if path.exists():
            _take_away(path)


def _take_away(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
