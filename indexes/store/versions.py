"""How a corpus or an index is written so that whoever reads it sees the former one or the new one.

An index is a folder of versions. A version is written under a temporary name, its manifest last,
then renamed; the file CURRENT, replaced in one step, names the version that is open for business.
Whatever moment a build is killed at, CURRENT names a whole version: the old one or the new one.
What a killed process left behind is put right by the next one of the same name: `indexes.store.keeping`.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from indexes.store import keeping, paths
from indexes.store.atomic import (
    aside,
    delete,
    switch,
    sync,
    sync_folder,
    take_away,
)
from indexes.store.keeping import CORPUS, UNUSED, only_one
from indexes.store.manifest import FILE as MANIFEST
from rag.errors import BadInput, DamagedIndex

KEEP = 5  # versions, the one in use among them: a month of weekly law to go back to
LEAST = 2  # a page that was told of the former version just before the switch can still open it


@contextmanager
def new_version(name: str, version: str, keep: int = KEEP) -> Iterator[Path]:
    """Give an empty folder to build in; when the block ends well, it becomes the version in use.

    The block must write the manifest last. Former versions stay, `keep` of all; the oldest go.

    Raises:
        BadInput: another import, build or removal of this name is running.
        DamagedIndex: the block left no manifest.
    """
    with only_one(name), written(name, version, keep) as part:
        yield part


@contextmanager
def written(name: str, version: str, keep: int = KEEP) -> Iterator[Path]:
    """Do as `new_version` does; whoever calls holds the lock of the name.

    Raises:
        BadInput: fewer versions are to be kept than must be.
        DamagedIndex: the block left no manifest.
    """
    refuse_to_keep(keep)
    folder = paths.index_folder(name)
    folder.mkdir(parents=True, exist_ok=True)
    former = paths.in_use(folder)
    part = folder / f"{version}.{secrets.token_hex(4)}.part"
    part.mkdir()
    unused = folder / f"{version}{UNUSED}"
    try:
        yield part
        if not (part / MANIFEST).is_file():
            raise DamagedIndex(f"{part} was left without a manifest: run {paths.rebuild(name)}")
        sync(part)
        unused.touch()  # killed between here and the switch, the version is known as one that nobody used
        sync_folder(folder)
        part.replace(folder / version)
    except BaseException:
        take_away(part)
        take_away(unused)
        raise
    switch(folder, version)
    take_away(unused)
    keeping.settle(name)
    _forget(name, {version, former}, keep)


def refuse_to_keep(keep: int) -> None:
    """Refuse a number of versions that is too small.

    Raises:
        BadInput: it is.
    """
    if keep < LEAST:
        raise BadInput(f"--keep {keep}: keep {LEAST} versions at least, the new one and the former one")


def _forget(name: str, needed: set[str | None], keep: int) -> None:
    """Delete the oldest versions past those that are kept, each with the corpus that it was built from."""
    folder = paths.index_folder(name)
    there = sorted(keeping.versions(name), key=lambda version: version not in needed)  # stable: latest first
    for version in there[keep:]:
        delete(folder / f"{version}{CORPUS}")
        delete(folder / version)


@contextmanager
def new_corpus(name: str, *, replace: bool) -> Iterator[Path]:
    """Give a place to write a corpus folder to, which becomes the corpus when the block ends well.

    Raises:
        BadInput: the corpus is there and may not be replaced; or another import, build or removal
            of this name is running.
    """
    place = paths.corpus_place(name)
    with only_one(name):
        refuse_existing(name, replace=replace)
        place.parent.mkdir(parents=True, exist_ok=True)
        new = aside(place, "new")
        try:
            yield new
            keeping.replace_corpus(name, new)
        finally:
            keeping.recover(name)


def refuse_existing(name: str, *, replace: bool) -> None:
    """Refuse to import over a corpus, unless that is what was asked for.

    Raises:
        BadInput: it is there, or the name is unfit.
    """
    if paths.corpus_folder(name).exists() and not replace:
        raise BadInput(f"a corpus named {name!r} is there already: add --replace, or choose another --name")


def remove(name: str) -> bool:
    """Remove the corpus and the index of a name; tell whether there was one.

    Raises:
        BadInput: another import, build or removal of this name is running.
    """
    if paths.checked_name(name) not in paths.names():  # a lock of a name that is nothing's would stay
        return False
    with only_one(name):
        folders = [f for f in (paths.index_folder(name), paths.corpus_place(name)) if f.exists()]
        for folder in folders:
            delete(folder)
        return bool(folders)


def stamp_now() -> str:
    """Return the time as it stands in a version's name, sortable."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
