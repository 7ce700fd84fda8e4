"""Data sets from the Hugging Face hub, by the plain addresses that it offers: no library of its own."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import re
import urllib.error
import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from indexes.archive import safe_name
from indexes.fetch import fetch
from indexes.web import FetchError, Wanted, check_address, opened, refusal

ENDPOINT = "https://huggingface.co"  # HF_ENDPOINT names a mirror
_LARGEST_LISTING = 32 * 2**20  # bytes
_NEXT = re.compile(r'<([^>]+)>;\s*rel="next"')


@dataclass(frozen=True, slots=True)
class HubDataset:
    """A data set on the hub, and the source that reads it."""

    id: str
    source: str  # a key of indexes.sources.SOURCES
    files: tuple[str, ...]  # patterns of the paths that are needed
    gated: bool = False


_MMARCO = (
    "data/google/collections/french_collection.tsv",
    "data/google/queries/dev/french_queries.dev*.tsv",
    "data/qrels.dev.small.tsv",
)
DATASETS: Mapping[str, HubDataset] = MappingProxyType(
    {
        "bsard": HubDataset("maastrichtlawtech/bsard", "bsard", ("articles*.csv", "questions*.csv")),
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
                "data/triples.train.ids.small.tsv",
            ),
        ),
    }
)


class Listed(NamedTuple):
    """A file of a data set as the hub lists it."""

    path: str
    size: int | None
    sha256: str | None  # of large files
    blob: str | None  # of the others: the SHA-1 by which git knows the content


@dataclass(frozen=True, slots=True)
class Hub:
    """Where the hub is and who asks."""

    endpoint: str = ENDPOINT
    token: str | None = None

    @classmethod
    def from_environment(cls) -> Hub:
        """Take HF_ENDPOINT and HF_TOKEN."""
        endpoint = os.environ.get("HF_ENDPOINT") or ENDPOINT
        return cls(endpoint.rstrip("/"), os.environ.get("HF_TOKEN") or None)

    @property
    def headers(self) -> Mapping[str, str]:
        """What goes along with each question to the hub."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}


def download(
    dataset: HubDataset,
    folder: Path,
    *,
    hub: Hub | None = None,
    revision: str = "main",
    progress: Callable[[str, int, int | None], None] | None = None,
    fetching: Callable[..., str] = fetch,
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

    Raises:
        FetchError: the hub does not answer, refuses access, or has no such data set or files.
    """
    hub = hub or Hub.from_environment()
    commit = _commit(hub, dataset, revision)
    place = folder / dataset.id.replace("/", "--") / commit
    wanted = [listed for listed in listing(hub, dataset, commit) if _matches(listed.path, dataset.files)]
    if not wanted:
        raise FetchError(
            f"{hub.endpoint}/datasets/{dataset.id}: none of {', '.join(dataset.files)} at {revision}. "
            "Its layout has changed: fetch it by hand and give the folder."
        )
    for listed in wanted:
        target = place / safe_name(listed.path, dataset.id)
        if target.is_file() and not _fault(target, listed):
            continue
        url = _address(hub, "datasets", dataset.id, "resolve", commit, listed.path)
        told = (lambda done, total, path=listed.path: progress(path, done, total)) if progress else None
        file = Wanted(url, listed.sha256, listed.size, hub.headers)
        try:
            fetching(file, target, progress=told)
        except FetchError as error:
            raise _explained(error, hub, dataset) from None
        fault = _fault(target, listed)
        if fault:
            target.unlink(missing_ok=True)
            raise FetchError(f"{url}: {fault}. It was changed or damaged on its way; nothing was kept.")
    return place


def listing(hub: Hub, dataset: HubDataset, revision: str) -> list[Listed]:
    """Return the files of a data set.

    Raises:
        FetchError: the hub does not answer, refuses access, or has no such data set.
    """
    url: str | None = _address(hub, "api", "datasets", dataset.id, "tree", revision) + "?recursive=true"
    found: list[Listed] = []
    while url:
        entries, url = _asked(hub, dataset, url)
        if not isinstance(entries, list):
            raise FetchError(f"{hub.endpoint}: no list of files came for {dataset.id}. Try again later.")
        found += [
            _listed(entry) for entry in entries if isinstance(entry, dict) and entry.get("type") == "file"
        ]
    return found


def _commit(hub: Hub, dataset: HubDataset, revision: str) -> str:
    if re.fullmatch(r"[0-9a-f]{40}", revision):
        return revision
    about, _ = _asked(hub, dataset, _address(hub, "api", "datasets", dataset.id, "revision", revision))
    commit = about.get("sha") if isinstance(about, dict) else None
    if not isinstance(commit, str) or not re.fullmatch(r"[0-9a-f]{40}", commit):
        raise FetchError(f"{hub.endpoint}: no commit came for {dataset.id} at {revision}. Try again later.")
    return commit


def _asked(hub: Hub, dataset: HubDataset, url: str) -> tuple[object, str | None]:
    """Return what the hub answers, and the address of the next page if there is one."""
    check_address(url)
    try:
        with opened(Wanted(url, headers=hub.headers), timeout=30.0) as answer:
            content = answer.read(_LARGEST_LISTING)
            following = _NEXT.search(answer.headers.get("Link") or "")
        after = urllib.parse.urljoin(url, following[1]) if following else None
        if after and urllib.parse.urlsplit(after).netloc != urllib.parse.urlsplit(url).netloc:
            after = None  # a token must not follow it there
        return json.loads(content), after
    except urllib.error.HTTPError as error:
        error.close()
        raise _explained(refusal(url, error), hub, dataset) from None
    except FetchError:
        raise
    except (OSError, http.client.HTTPException) as error:
        problem = getattr(error, "reason", None) or error
        cure = "Check the network; HF_ENDPOINT names a mirror, and a folder fetched by hand does as well"
        raise FetchError(f"{hub.endpoint}: cannot be reached ({problem}). {cure}.") from None
    except (ValueError, RecursionError) as error:
        raise FetchError(f"{url}: no JSON came ({error}). Check HF_ENDPOINT.") from None


def _explained(error: FetchError, hub: Hub, dataset: HubDataset) -> FetchError:
    """Say of a refusal what the hub means by it."""
    page = f"{hub.endpoint}/datasets/{dataset.id}"
    if not re.search(r": 40[134] ", str(error)):
        return error
    if dataset.gated:
        token = "with the token in HF_TOKEN" if hub.token else "and no token was given in HF_TOKEN"
        return FetchError(
            f"{dataset.id} is given only to those who signed its agreement, {token} the hub refuses: ask for "
            f"access on {page}, then set HF_TOKEN to a token of that account."
        )
    return FetchError(f"{error} The data set is at {page}; a private one needs HF_TOKEN.")


def _listed(entry: Mapping[str, object]) -> Listed:
    large = entry.get("lfs")
    size, path, blob = entry.get("size"), entry.get("path"), entry.get("oid")
    sha256 = large.get("oid") if isinstance(large, dict) else None
    return Listed(
        str(path),
        size if isinstance(size, int) else None,
        sha256 if isinstance(sha256, str) and re.fullmatch(r"[0-9a-f]{64}", sha256) else None,
        blob if isinstance(blob, str) and not isinstance(large, dict) else None,
    )


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


def _address(hub: Hub, *parts: str) -> str:
    return "/".join((hub.endpoint, *(urllib.parse.quote(part) for part in parts)))
