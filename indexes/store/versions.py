"""How a corpus or an index is written so that whoever reads it sees the former one or the new one.

An index is a folder of versions. A version is written under a temporary name, its manifest last,
then renamed; the file CURRENT, replaced in one step, names the version that is open for business.
Whatever moment a build is killed at, CURRENT names a whole version: the old one or the new one.

The corpus lies in corpora/NAME, whole, with the columns and nodes that no index holds. When another
version comes into use with a corpus of its own, that corpus first waits beside this place, under the
version's name; the switch of the index makes it the corpus (`indexes.store.paths.corpus_folder`), and it
is then moved in. The corpus that was there goes to indexes/NAME/VERSION.corpus, beside the version
that was built from it, and comes back with it.

Whatever moment a process is killed at, the next one that takes the lock of the name ends what the
switch began, and takes away what was left of what never came to a switch.
"""

from __future__ import annotations

import gzip
import hashlib
import secrets
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from indexes.corpus.corpus import articles_file, questions_file
from indexes.corpus.corpus import read as read_corpus
from indexes.store import paths
from indexes.store.atomic import delete, hidden_sibling, move, switch, sync, sync_one, take_away
from indexes.store.manifest import FILE as MANIFEST
from indexes.store.manifest import read as read_manifest
from rag.errors import BadInput, DamagedIndex, PandectError

CORPUS = ".corpus"  # ends the name of a corpus that is kept beside its version
UNUSED = ".unused"  # ends the name of a mark: this version is not yet switched in


@contextmanager
def only_one(name: str) -> Iterator[None]:
    """Hold the lock of a name; the system frees it when the process ends, however it ends.

    What a killed process left is put right first. BadInput says that another command of this name is running.
    """
    import fcntl  # POSIX alone has it; reading an index does not need it

    folder = paths.home() / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{paths.checked_name(name)}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(
                f"another import, build or removal of {name!r} is running: "
                "wait until it ends, then type the command again"
            ) from None
        recover(name)
        yield


def versions(name: str) -> list[str]:
    """Return the whole versions of an index, the latest first: each stands before the one that it followed.

    Which it followed is in its manifest; what that leaves open goes by the names, which begin with the time.
    """
    folder = paths.index_folder(name)
    found = folder.iterdir() if folder.is_dir() else ()
    left = {path.name: previous(path) for path in found if _is_version(path)}
    ordered: list[str] = []
    while left:
        followed = set(left.values())
        latest = max([each for each in left if each not in followed] or left)
        ordered.append(latest)
        del left[latest]
    return ordered


def previous(version: Path) -> str | None:
    """Return which version was in use before one; None where that is not known."""
    try:
        return read_manifest(version, "").previous
    except PandectError:  # damaged, or of another time
        return None


def _is_version(path: Path) -> bool:
    return "." not in path.name and (path / MANIFEST).is_file()  # a dot is in the names of what is under way


def built_from(corpus: Path, among: Sequence[Path]) -> Path | None:
    """Return the first version that was built from the articles and questions of a corpus folder."""
    wanted: dict[tuple[str, str], Path] = {}
    for version in among:
        with suppress(PandectError):  # damaged, or of another time
            about = read_manifest(version, "").corpus
            wanted.setdefault((str(about["sha256"]), str(about.get("questions_sha256"))), version)
    with suppress(PandectError):
        for found in _identities(corpus) if wanted else ():
            if found in wanted:
                return wanted[found]
    return None


def _identities(corpus: Path) -> Iterator[tuple[str, str]]:
    """Yield the hashes of articles and questions: of the bytes, then of what the bytes mean.

    The bytes tell of whatever `indexes.corpus.corpus.write` wrote, in a tenth of the time.
    """
    yield _sha256(articles_file(corpus)), _sha256(questions_file(corpus))
    found = read_corpus(corpus)
    yield found.sha256, found.questions_sha256


def _sha256(path: Path | None) -> str:
    """Return the SHA-256 of what a file holds, unpacked; that of nothing where there is no file."""
    digest = hashlib.sha256()
    if path is not None:
        try:
            with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
                for piece in iter(lambda: file.read(2**20), b""):
                    digest.update(piece)
        except (OSError, EOFError, zlib.error) as error:
            raise BadInput(f"{path} cannot be read: {error}") from error
    return digest.hexdigest()


def settle(name: str) -> None:
    """Move the corpus of the version in use to its place, if it still waits; whoever calls holds the lock."""
    place = paths.corpus_place(name)
    waiting = paths.corpus_folder(name)
    if waiting != place:
        if place.exists():
            archive_corpus(name, place, in_use_has_one=True)
        waiting.replace(place)
        sync_one(place.parent)


def archive_corpus(name: str, corpus: Path, *, in_use_has_one: bool = False) -> None:
    """Move a corpus that is no longer the one of its name to the version built from it; else delete it.

    Whoever calls holds the lock of the name, and tells whether the version in use has a corpus already.
    """
    folder = paths.index_folder(name)
    in_use = paths.in_use(folder)
    candidates = sorted(versions(name), key=lambda version: version != in_use)  # first the one in use
    if in_use_has_one and in_use in candidates:
        candidates.remove(in_use)
    free = [folder / v for v in candidates if not (folder / f"{v}{CORPUS}").exists()]
    version = built_from(corpus, free)
    if version is None:
        delete(corpus)
    else:
        move(corpus, version.with_name(f"{version.name}{CORPUS}"))


def _recover_versions(name: str) -> None:
    folder = paths.index_folder(name)
    in_use = paths.in_use(folder)
    for mark in sorted(folder.glob(f"*{UNUSED}")):
        if mark.stem != in_use:  # killed before the switch
            take_away(folder / mark.stem)
        take_away(mark)
    for path in sorted(folder.glob("*")):
        if path.is_dir() and path.suffix == CORPUS:
            if not _is_version(folder / path.stem):
                archive_corpus(name, path, in_use_has_one=True)
        elif path.is_dir():
            if not _is_version(path):
                take_away(path)
        elif path.suffix == ".tmp" or (
            path.name.endswith((paths.AUDIT, paths.CONFIDENCE))
            and not _is_version(folder / path.name.partition(".")[0])
        ):
            take_away(path)
    _take_away_left(folder)


def recover(name: str) -> None:
    """Put right what a killed process left; whoever calls holds the lock of the name."""
    _recover_versions(name)
    place = paths.corpus_place(name)
    settle(name)
    folder = paths.index_folder(name)
    for waiting in place.parent.glob(f".{name}.*.next"):  # of a switch that never came
        version = waiting.name.split(".")[2]
        corpus = folder / f"{version}{CORPUS}"
        if (folder / version / MANIFEST).is_file() and not corpus.exists():
            move(waiting, corpus)
        else:
            take_away(waiting)
    for old in place.parent.glob(f".{name}.*.old"):
        if place.exists():
            archive_corpus(name, old)
        else:  # killed between the two renames: the former one is put back
            old.replace(place)
    _take_away_left(place)


def _take_away_left(folder: Path) -> None:
    """Take away what lies beside a folder under names that begin with its own."""
    # a corpus written under .name.x.new is first ..name.x.new.y.part: see indexes.corpus.corpus
    for path in list(folder.parent.glob("*")):
        if path.name.lstrip(".").startswith(f"{folder.name}."):
            take_away(path)


DEFAULT_VERSIONS = 5  # versions, the one in use among them: a month of weekly law to go back to
LEAST = 2  # a page that was told of the former version just before the switch can still open it


@contextmanager
def new_version(name: str, version: str, keep: int = DEFAULT_VERSIONS) -> Iterator[Path]:
    """Give an empty folder to build in; when the block ends well, it becomes the version in use.

    Whoever calls holds the lock of the name. The block must write the manifest last, else DamagedIndex is
    raised. Former versions stay, `keep` of all; the oldest go.
    """
    check_version_count(keep)
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
        sync_one(folder)
        part.replace(folder / version)
    except BaseException:
        take_away(part)
        take_away(unused)
        raise
    switch(folder, version)
    take_away(unused)
    settle(name)
    by_age = sorted(versions(name), key=lambda each: each not in (version, former))  # stable: latest first
    for old in by_age[keep:]:
        delete(folder / old)  # first: a version that stays must not be left without its corpus
        corpus = folder / f"{old}{CORPUS}"
        if corpus.is_dir():
            archive_corpus(name, corpus, in_use_has_one=True)


def check_version_count(keep: int) -> None:
    """Refuse, as BadInput, to keep fewer versions than must be."""
    if keep < LEAST:
        raise BadInput(f"--keep {keep}: keep {LEAST} versions at least, the new one and the former one")


@contextmanager
def new_corpus(name: str, *, replace: bool) -> Iterator[Path]:
    """Give a place to write a corpus folder to, which becomes the corpus when the block ends well.

    BadInput says that the corpus is there and may not be replaced, or that another command is running.
    """
    place = paths.corpus_place(name)
    with only_one(name):
        refuse_existing(name, replace=replace)
        place.parent.mkdir(parents=True, exist_ok=True)
        new = hidden_sibling(place, "new")
        try:
            yield new
            if place.exists():
                place.replace(hidden_sibling(place, "old"))
            new.replace(place)
            sync_one(place.parent)
        finally:
            recover(name)


def refuse_existing(name: str, *, replace: bool) -> None:
    """Refuse, as BadInput, to import over a corpus, unless that is what was asked for, and an unfit name."""
    if paths.corpus_folder(name).exists() and not replace:
        raise BadInput(f"a corpus named {name!r} is there already: add --replace, or choose another --name")


def remove(name: str) -> bool:
    """Remove the corpus and index of a name, and what a killed removal left; tell whether there was any."""
    places = paths.index_folder(paths.checked_name(name)), paths.corpus_place(name)
    left = [path for place in places for path in place.parent.glob(f".{name}.*")]
    if name not in paths.names() and not left:  # a lock of a name that is nothing's would stay
        return False
    with only_one(name):
        folders = [folder for folder in places if folder.exists()]
        for folder in folders:
            delete(folder)
        return bool(folders or left)


def stamp_now() -> str:
    """Return the time as it stands in a version's name, sortable."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
