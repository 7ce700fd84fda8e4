"""Law that comes from somewhere: a path, an archive, an address with its checksum, a name on the hub."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import urllib.parse
from pathlib import Path
from typing import NamedTuple

from indexes.download.archive import is_archive, unpack
from indexes.download.http import FileRequest, check_address, fetch
from indexes.download.hub import (
    DATASETS,
    SCHEME,
    HubDataset,
    dataset_of,
    download,
    download_file,
    downloaded_commit,
    downloaded_file,
)
from indexes.sources import legi
from indexes.sources.akoma_ntoso import source as akoma_ntoso
from indexes.store.paths import home
from rag.errors import BadInput
from rag.types import Progress, named, no_progress

_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_WEB = ("http://", "https://")


class Arrival(NamedTuple):
    """Files that are here now, and the source that reads them where that is known."""

    path: Path
    source: str | None = None
    unpacked: Path | None = None  # folder of what was unpacked for it, to be removed if it is no law


def bring(
    what: str,
    *,
    source: str | None = None,
    sha256: str | None = None,
    revision: str = "main",
    progress: Progress = no_progress,
) -> Arrival:
    """Bring law here and return where it lies; a path that exists is taken as it is.

    What is fetched and unpacked is kept under PANDECT_HOME/downloads and not fetched twice.

    Args:
        what: a path, an address that begins with http, a name of `indexes.download.hub.DATASETS`, or a file
            of another data set there: hf://datasets/OWNER/NAME/FILE.
        source: that shall read it, if a person said so.
        sha256: of the file at an address, where it must be given.
        revision: of a data set on the hub.
        progress: called with what is fetched, bytes there and bytes in all.

    Raises:
        BadInput: it is none of these, or an address without a checksum.
        FetchError: it cannot be fetched.
    """
    folder = home() / "downloads"
    if what.startswith(_WEB):
        return _opened(_from_address(what, sha256, folder, progress), source)
    if what.startswith(SCHEME):
        return _opened(download_file(what, folder, revision=revision, progress=progress), source)
    path = Path(what).expanduser()
    if path.exists():
        return _opened(path, source)
    if what in DATASETS:
        dataset = DATASETS[what]
        place = download(dataset, folder, revision=revision, progress=progress)
        return Arrival(place, source or dataset.source)
    shown = re.sub(r".*:.*@", "…@", what)  # an address that is misspelt may hold a password
    raise BadInput(
        f"{shown} does not exist: give the file or folder that holds the law, an address with --sha256, or a "
        f"data set of the hub: {', '.join(DATASETS)}, or {SCHEME}datasets/OWNER/NAME/FILE"
    )


def present(what: str, sha256: str | None = None) -> Path | None:
    """Return the file that `bring` would take as it is or has fetched before; None where there is none.

    The network is not asked.

    Raises:
        BadInput: it begins as an address of the hub and is none.
    """
    folder = home() / "downloads"
    file: Path | None
    if what.startswith(_WEB):
        file = _target(what, sha256, folder) if sha256 and _SHA256.fullmatch(sha256) else None
    elif what.startswith(SCHEME):
        file = downloaded_file(what, folder)
    else:
        file = Path(what).expanduser()
    return file if file is not None and file.is_file() else None


def hub_dataset(what: str) -> HubDataset | None:
    """Return the data set of the hub that `bring` would fetch this from; None of anything else."""
    return None if what in DATASETS and Path(what).exists() else dataset_of(what)


def fetched_commit(what: str) -> str | None:
    """Return the commit of the hub that `bring` fetched this from last; None of anything else."""
    dataset = hub_dataset(what)
    return None if dataset is None else downloaded_commit(dataset, home() / "downloads")


def clear() -> int:
    """Delete all that was fetched and unpacked, and return how many bytes that were.

    An import that reads it at this moment says what it misses, and is to be typed again.
    """
    folder = home() / "downloads"
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    shutil.rmtree(folder, ignore_errors=True)
    return size


def _from_address(url: str, sha256: str | None, folder: Path, progress: Progress) -> Path:
    check_address(url)
    if sha256 is None or not _SHA256.fullmatch(sha256):
        got = "no checksum came" if sha256 is None else f"{sha256!r} is no SHA-256"
        raise BadInput(
            f"{url}: {got}. Give --sha256 with the 64 digits that its publisher states, or fetch the file "
            "yourself and give its path."
        )
    target = _target(url, sha256, folder)
    fetch(FileRequest(url, sha256), target, progress=named(progress, target.name))
    return target


def _target(url: str, sha256: str, folder: Path) -> Path:
    last = urllib.parse.unquote(urllib.parse.urlsplit(url).path).rpartition("/")[2]
    name = re.sub(r"[^\w.-]", "_", last)[-120:].lstrip(".") or "file"
    return folder / sha256.lower()[:16] / name


def _opened(path: Path, source: str | None) -> Arrival:
    """Unpack an archive, except one that its source reads as it is."""
    if not path.is_file() or not is_archive(path):
        return Arrival(path, source)
    for name, reader in (("legi", legi.SOURCE), ("akoma-ntoso", akoma_ntoso.SOURCE)):
        if source == name or (source is None and reader.recognises(path)):
            return Arrival(path, name)
    stat = path.stat()
    state = f"{path.resolve()} {stat.st_size} {stat.st_mtime_ns}"
    folder = home() / "downloads" / "unpacked" / hashlib.sha256(os.fsencode(state)).hexdigest()[:16]
    fresh = not folder.is_dir()
    if fresh:
        unpack(path, folder)
    inside = [entry for entry in sorted(folder.iterdir()) if not entry.name.startswith((".", "__MACOSX"))]
    if inside and all(entry.is_file() and is_archive(entry) for entry in inside):
        if fresh:
            shutil.rmtree(folder)
        # why not opened too: archives in archives are how a small file becomes any number of bytes
        raise BadInput(
            f"{path}: only another archive is in it ({inside[0].name}). Unpack that one and give the folder."
        )
    return Arrival(inside[0] if len(inside) == 1 else folder, source, folder if fresh else None)
