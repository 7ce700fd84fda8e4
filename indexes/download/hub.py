"""Data sets from the Hugging Face hub, by the plain addresses that it offers: no library of its own."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType

from indexes.download.archive import safe_name
from indexes.download.http import fetch
from indexes.download.hub_api import (
    Hub,
    HubDataset,
    Listed,
    address,
    commit_of,
    explained,
    listing,
)
from indexes.download.web import FetchError, Wanted

__all__ = ["DATASETS", "Hub", "HubDataset", "download"]

_MMARCO = (
    "data/google/collections/french_collection.tsv",
    "data/google/queries/dev/french_queries.dev*.tsv",
    "*qrels.dev.small.tsv",
)
DATASETS: Mapping[str, HubDataset] = MappingProxyType(
    {
        "bsard": HubDataset(
            "maastrichtlawtech/bsard", "bsard", ("articles*.csv", "questions*.csv", "negatives/*.json")
        ),
        "lleqa": HubDataset(
            "maastrichtlawtech/lleqa",
            "lleqa",
            ("articles.json*", "corpus.json*", "questions*.json*"),
            gated=True,
        ),
        "bbsard": HubDataset("clips/bBSARD", "bbsard", ("fr/*.csv", "nl/*.csv")),
        "jurifindit": HubDataset("jurifindit/JuriFindIT", "jurifindit", ("*.parquet",)),
        "mmarco": HubDataset("unicamp-dl/mmarco", "mmarco", _MMARCO),
        "mmarco-train": HubDataset(  # 0.9 GB more
            "unicamp-dl/mmarco",
            "mmarco",
            (
                *_MMARCO,
                "data/google/queries/train/french_queries.train.tsv",
                "*triples.train.ids.small.tsv",
            ),
        ),
    }
)


def download(
    dataset: HubDataset,
    folder: Path,
    *,
    hub: Hub | None = None,
    revision: str = "main",
    progress: Callable[[str, int, int | None], None] | None = None,
    fetching: Callable[..., str] = fetch,
    sleep: Callable[[float], None] = time.sleep,
) -> Path:
    """Bring the files of a data set into a folder and return the one that holds the revision.

    The revision is resolved to a commit first, so that all files are of one state; each commit has a
    folder of its own. Files that are there and right are not fetched again.

    Args:
        dataset: which.
        folder: where data sets of the hub are kept.
        hub: None takes the environment's.
        revision: branch, tag or commit.
        progress: called with the path of a file, bytes there and bytes in all.
        fetching: brings one file.
        sleep: waits.

    Raises:
        FetchError: the hub does not answer, refuses access, or has no such data set or files.
    """
    hub = hub or Hub.from_environment()
    commit = commit_of(hub, dataset, revision, sleep)
    place = folder / dataset.id.replace("/", "--") / commit
    wanted = [
        listed for listed in listing(hub, dataset, commit, sleep) if _matches(listed.path, dataset.files)
    ]
    if not wanted:
        raise FetchError(
            f"{hub.endpoint}/datasets/{dataset.id}: none of {', '.join(dataset.files)} at {revision}. "
            "Its layout has changed: fetch it by hand and give the folder."
        )
    for listed in wanted:
        target = place / safe_name(listed.path, dataset.id)
        if target.is_file() and not _fault(target, listed):
            continue
        url = address(hub, "datasets", dataset.id, "resolve", commit, listed.path)
        told = (lambda done, total, path=listed.path: progress(path, done, total)) if progress else None
        file = Wanted(url, listed.sha256, listed.size, hub.headers)
        try:
            fetching(file, target, progress=told)
        except FetchError as error:
            raise explained(error, hub, dataset) from None
        fault = _fault(target, listed)
        if fault:
            target.unlink(missing_ok=True)
            raise FetchError(f"{url}: {fault}. It was changed or damaged on its way; nothing was kept.")
    return place


def _fault(path: Path, listed: Listed) -> str:
    """Return in what a file differs from what the hub lists; nothing if in nothing."""
    size = path.stat().st_size
    if listed.size is not None and size != listed.size:
        return f"{size:,} bytes came of {listed.size:,}"
    digest = hashlib.sha256() if listed.sha256 else hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(2**20):
            digest.update(chunk)
    right = listed.sha256 or listed.blob
    return (
        f"its checksum is {digest.hexdigest()} and should be {right}"
        if right not in (None, digest.hexdigest())
        else ""
    )


def _matches(path: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)
