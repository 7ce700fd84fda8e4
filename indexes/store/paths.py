"""Where corpora and indexes lie, and what they may be called."""

from __future__ import annotations

import math
import os
import re
import threading
import time
from concurrent.futures import Future
from pathlib import Path

from indexes.qdrant.address import is_address, parse_address
from indexes.qdrant.engines import SERVERS
from indexes.qdrant.postgres import POSTGRES
from indexes.store.atomic import CURRENT
from rag.errors import BadInput, DamagedIndex, MissingIndex, PandectError, in_clone

BUILTIN = "builtin"
DEFAULT = "default"  # under PANDECT_HOME: the name of the index that an operator chose
AUDIT, CONFIDENCE = "audit.json", "confidence.json"  # beside a version, of its name: VERSION.audit.json
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
REMEMBERED, PATIENCE = 1.0, 2.0  # seconds: that a server's word of a version holds, and that it may take
_told: dict[str, tuple[float, Future[str | None]]] = {}  # address -> when it was asked, and what it says
_asking = threading.Lock()


def home() -> Path:
    """Return the folder of the person's own corpora and indexes: PANDECT_HOME, else the XDG place."""
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(os.environ.get("PANDECT_HOME") or f"{data}/pandect").expanduser()


def builtin() -> Path:
    """Return the index that ships; it is only ever read."""
    return Path(__file__).parents[1] / BUILTIN / "index"


def corpus_folder(name: str) -> Path:
    """Return where the corpus of this name is kept.

    That is corpora/NAME. Between the switch to another version and the move of its corpus to that
    place it is where the corpus waits: so corpus and index change in one step, which is the switch. Where an
    import was killed between the two renames by which it replaces a corpus, it is where the former one is.
    """
    version = in_use(index_folder(name))
    if version is not None and (waiting := waiting_corpus(name, version)).is_dir():
        return waiting
    place = corpus_place(name)
    if not place.exists():  # an import was killed between its two renames, or is between them now
        for former in sorted(place.parent.glob(f".{name}.*.old")):
            return former
    return place


def corpus_place(name: str) -> Path:
    """Return where a corpus of this name is put."""
    return home() / "corpora" / checked_name(name)


def waiting_corpus(name: str, version: str) -> Path:
    """Return where the corpus of a version waits for the switch to it."""
    return home() / "corpora" / f".{checked_name(name)}.{version}.next"


def index_folder(name: str) -> Path:
    """Return where the versions of the index of this name are kept."""
    return home() / "indexes" / checked_name(name)


def checked_name(name: str) -> str:
    """Return the name if it is fit to be a folder's; BadInput says why it is not."""
    if name == BUILTIN:
        raise BadInput(
            f"{BUILTIN!r} is the index that ships and is only read: import the law under another name, "
            f"{command('import PATH --name NAME')}"
        )
    if not NAME.fullmatch(name):
        raise BadInput(
            f"{name!r} cannot name a corpus or an index: use small letters, digits and hyphens, 64 at most "
            f"({command('list')} shows those there are)"
        )
    return name


def names() -> list[str]:
    """Return the names of the installed corpora and indexes, sorted."""
    found = {p.name for kind in ("corpora", "indexes") for p in (home() / kind).glob("*") if p.is_dir()}
    # put aside by an import that was killed; the next command for it puts it back
    found |= {p.name.split(".")[1] for p in (home() / "corpora").glob(".*.old")}
    return sorted(name for name in found if NAME.fullmatch(name))


def command(words: str = "") -> str:
    """Return a command of `python -m indexes` as it can be typed here: by ./pandect in a clone of its own."""
    return f"{'./pandect ' if in_clone() else ''}python -m indexes {words}".rstrip()


def page(name: str) -> str:
    """Return the command that opens the page with the index of this name."""
    return f"PANDECT_INDEX={name} {'./pandect' if in_clone() else 'streamlit run app.py'}"


def learn_fusion(name: str) -> str:
    """Return the command that fits a learned fusion to the index of this name."""
    return f"{'./pandect ' if in_clone() else ''}python -m training.train fusion {name}"


def rebuild(name: str) -> str:
    """Return the command that builds the index of this name."""
    return command(f"build {name}")


def current(name: str) -> Path:
    """Return the folder of the version in use; MissingIndex or DamagedIndex say that it cannot be told."""
    folder = index_folder(name)
    if not (folder / CURRENT).is_file():
        available = ", ".join([BUILTIN, *(n for n in names() if (index_folder(n) / CURRENT).is_file())])
        imported = corpus_folder(name).is_dir()
        cure = rebuild(name) if imported else command(f"import PATH --name {name} --build")
        raise MissingIndex(
            f"no index named {name!r} under {home() / 'indexes'} (there: {available}): run {cure}"
        )
    return _pointed_to(folder, rebuild(name))


def default_index() -> str:
    """Return what None opens: PANDECT_INDEX, else the index an operator chose, else the one that ships."""
    return os.environ.get("PANDECT_INDEX") or in_use(home(), DEFAULT) or BUILTIN


def locate(name_or_path: str | Path | None = None) -> tuple[Path, str]:
    """Return the folder of an index's version in use, and the command that builds it again.

    A string with a slash is the path of an index folder, another one a name under PANDECT_HOME or
    "builtin"; one that begins with qdrant or postgres is the address of a store and, after the last slash,
    such a name: then the version is the one in use there, whose folder must be here too. None takes
    what `default_index` names.

    Raises:
        MissingIndex, DamagedIndex: there is none, or the file that names the version cannot be read.
        BadInput: what came is neither a name nor a path.
    """
    wanted = name_or_path if name_or_path is not None else default_index()
    if str(wanted) == BUILTIN:
        return builtin(), "git checkout indexes/builtin (or, without a clone, install the wheel again)"
    if is_address(wanted):
        return _in_store(str(wanted))
    if isinstance(wanted, str) and not any(mark and mark in wanted for mark in (os.sep, os.altsep)):
        return current(wanted), rebuild(wanted)
    path = Path(wanted).expanduser()
    if (path / CURRENT).is_file():
        path = _pointed_to(path, rebuild(path.name))
    if not path.is_dir():
        raise MissingIndex(f"{path} is no index folder: run {command('list')} to see those there are")
    return path, rebuild(path.absolute().parent.name)


def version_file(version: Path, what: str) -> Path:
    """Return where something of a version lies that is made after it, and of it alone.

    Of the index that ships it has no other name than `what`.
    """
    return version.with_name(what if version == builtin() else f"{version.name}.{what}")


def _in_store(address: str) -> tuple[Path, str]:
    store, name = parse_address(address)
    collection, place = store.aliases().get(name), address.rpartition("/")[0]
    kind = "postgres" if place.startswith(POSTGRES) else "qdrant"
    cure = command(f"{kind} upload {name} --to {place}")
    if collection is None:
        raise MissingIndex(f"{place} has no index named {name!r}: run {cure}")
    if not collection.startswith(f"{name}."):
        raise MissingIndex(f"{place}: {name!r} names {collection!r}, which is no index: run {cure}")
    version = collection.split(".")[1]
    folder = builtin() if name == BUILTIN else index_folder(name) / version
    if not folder.is_dir():
        raise MissingIndex(
            f"{place} has version {version} of {name!r} in use, and {folder} is not here: copy it there from "
            f"where it was built, or run {cure}"
        )
    return folder, cure


def in_use(folder: Path, file: str = CURRENT) -> str | None:
    """Return the version that an index folder names as the one in use; None where it names none."""
    try:
        return (folder / file).read_text(encoding="utf-8").strip() or None
    except (OSError, ValueError):  # nothing built yet, or not readable: a build makes it good
        return None


def current_version(name_or_path: str | Path | None = None) -> str | None:
    """Return which version of an index would be opened now; None where none would be. It is quick to tell.

    One whose doubt was fitted since is another. What a server said is remembered for a second; one that takes
    longer than two to say is as good as none, and is asked once at a time.
    """
    address = str(name_or_path or os.environ.get("PANDECT_INDEX"))
    if address.partition("://")[0] not in (*SERVERS, *POSTGRES):
        return _version(name_or_path)
    with _asking:
        now = time.monotonic()
        at, told = _told.get(address, (-math.inf, None))
        if told is None or (told.done() and now - at >= REMEMBERED):
            at, told = _told[address] = now, Future()
            # a daemon, which keeps no process from its end
            threading.Thread(target=_tell, args=(address, told), name="version", daemon=True).start()
    try:
        return told.result(timeout=max(at + PATIENCE - now, 0))
    except TimeoutError:
        return None


def _tell(address: str, told: Future[str | None]) -> None:
    try:
        told.set_result(_version(address))
    except Exception as error:  # noqa: BLE001 - whoever asked raises it
        told.set_exception(error)


def _version(name_or_path: str | Path | None) -> str | None:
    try:
        folder, _ = locate(name_or_path)
    except PandectError:
        return None
    doubt = version_file(folder, CONFIDENCE)
    if folder == builtin() or not doubt.is_file():
        return str(folder)
    return f"{folder} {doubt.stat().st_mtime_ns}"


def file_state(name_or_path: str | Path | None = None) -> object:
    """Return what tells that the files of an index, or those beside it, were changed: sizes and times.

    None where they are not there, or cannot be looked at.
    """
    try:
        folder, _ = locate(name_or_path)
        paths = sorted((*folder.parent.iterdir(), *folder.rglob("*")))
        found = [(path, path.stat()) for path in paths if path.is_file()]
    except (PandectError, OSError):
        return None
    return [(str(path), at.st_size, at.st_mtime_ns, at.st_ctime_ns, at.st_ino) for path, at in found]


def _pointed_to(folder: Path, cure: str) -> Path:
    try:
        version = (folder / CURRENT).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:  # ValueError: not UTF-8
        raise DamagedIndex(f"{folder / CURRENT} cannot be read ({error}): run {cure}") from error
    if not version or version != Path(version).name or not (folder / version).is_dir():
        raise DamagedIndex(f"{folder / CURRENT} names {version!r}, which is not there: run {cure}")
    return folder / version
