"""The versions of an index: what there is, what changed from one to the next, and the way back."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from indexes.corpus.card import FILE as CARD
from indexes.corpus.corpus import appearing
from indexes.corpus.corpus import read as read_corpus
from indexes.store import paths
from indexes.store.atomic import move, switch
from indexes.store.manifest import Manifest, read
from indexes.store.open_index import open_index
from indexes.store.versions import (
    CORPUS,
    built_from,
    only_one,
    previous,
    recover,
    settle,
    stamp_now,
    versions,
)
from indexes.update.diff import Changes
from rag.errors import BadInput, MissingIndex, PandectError

ASIDE = "set-aside"  # under PANDECT_HOME: corpora that cannot be read, for whoever wants to mend them


@dataclass(frozen=True, slots=True)
class Version:
    """One version of an index."""

    name: str
    in_use: bool
    manifest: Manifest | None  # None: it cannot be read
    changes: Changes | None = None  # against the version that was in use before; None where none was


def listed(name: str) -> list[Version]:
    """Return the versions of an index, the latest first; MissingIndex says that nothing of it is built."""
    folder = paths.index_folder(name)
    in_use, found = paths.in_use(folder), []
    for version in versions(name):
        place, current = folder / version, version == in_use
        try:
            found.append(Version(version, current, read(place, ""), Changes.read(place)))
        except PandectError:
            found.append(Version(version, current, None))
    if not found:
        paths.current(name)  # says what there is, and what to type
        raise MissingIndex(f"no version of {name!r} is whole: run {paths.rebuild(name)}")
    return found


def roll_back(name: str, wanted: str | None = None) -> tuple[Path, bool | None]:
    """Bring another version into use, and the corpus that it was built from with it, in one step.

    `wanted` is the version, or what its name begins with; None takes the one before the one in use. Returns
    the version, and whether its corpus came back with its unused columns, else as the index holds it; None
    where the version was in use already. A corpus that cannot be read is set aside, under PANDECT_HOME.

    Raises:
        BadInput: no such version, or several; or the corpus that lies under the name was imported
            since, and in no version.
        MissingIndex: nothing of this name is built.
        DamagedIndex, StaleIndex: the version cannot be opened.
    """
    paths.current(name)  # before a lock of that name is made
    with only_one(name):
        folder = paths.index_folder(name)
        version = folder / _chosen(name, wanted)
        if version.name == paths.in_use(folder):
            return version, None
        corpus = paths.corpus_place(name)
        folders = [folder / each for each in versions(name)]
        lost = corpus.is_dir() and built_from(corpus, folders) is None
        if lost and _is_readable(corpus):
            raise BadInput(
                f"the corpus of {name!r} was imported since and is in no version, so it would be lost: "
                f"run {paths.rebuild(name)} first"
            )
        open_index(version)  # one that cannot be opened does not come into use
        try:
            if lost:  # no build can read it either: it neither stands in the way nor is lost
                aside = paths.home() / ASIDE / f"{name}-{stamp_now()}"
                aside.parent.mkdir(parents=True, exist_ok=True)
                move(corpus, aside)
            whole = _bring_back(name, version, folders)
            switch(folder, version.name)
            settle(name)
        finally:
            recover(name)
    return version, whole


def _is_readable(corpus: Path) -> bool:
    try:
        read_corpus(corpus)
    except PandectError:
        return False
    return True


def _chosen(name: str, wanted: str | None) -> str:
    names, in_use = versions(name), paths.in_use(paths.index_folder(name))
    listing = paths.command(f"versions {name}")
    if wanted is None:
        before = previous(paths.index_folder(name) / in_use) if in_use else None
        if before in names:
            return before
        earlier = names[names.index(in_use) + 1 :] if in_use in names else names
        if not earlier:
            raise BadInput(f"{name!r} has no version before the one in use: {listing} shows those there are")
        return earlier[0]
    found = [wanted] if wanted in names else [version for version in names if version.startswith(wanted)]
    if len(found) != 1:
        problem = f"{len(found)} versions of {name!r} begin" if found else f"no version of {name!r} begins"
        raise BadInput(f"{problem} with {wanted!r}: {listing} shows those there are")
    return found[0]


def _bring_back(name: str, version: Path, folders: list[Path]) -> bool:
    """Let the corpus of a version wait for the switch to it; tell whether it is whole."""
    waiting = paths.waiting_corpus(name, version.name)
    corpus_folder = version.with_name(f"{version.name}{CORPUS}")
    if corpus_folder.is_dir():
        move(corpus_folder, waiting)
        return True
    for corpus in (paths.corpus_place(name), *(v.with_name(f"{v.name}{CORPUS}") for v in folders)):
        if corpus.is_dir() and built_from(corpus, [version]):  # another version was built from the same law
            with appearing(waiting) as part:
                shutil.copytree(corpus, part, dirs_exist_ok=True)
                shutil.copyfile(version / "corpus" / CARD, part / CARD)
            return True
    with appearing(waiting) as part:
        shutil.copytree(version / "corpus", part, dirs_exist_ok=True)
    return False
