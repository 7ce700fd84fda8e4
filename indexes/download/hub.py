"""Data sets from the Hugging Face hub, by the plain addresses that it offers: no library of its own."""

from __future__ import annotations

import glob
import http.client
import json
import os
import re
import time
import urllib.error
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType

from indexes.download.archive import safe_name
from indexes.download.http import (
    LONGEST_WAIT,
    RETRY_STATUS,
    FetchError,
    FileRequest,
    check_address,
    fetch,
    opened,
    refusal,
    retry_after,
)
from indexes.sources.table import is_table
from indexes.store.atomic import replacing
from rag.errors import BadInput
from rag.types import Progress, named, no_progress

ENDPOINT = "https://huggingface.co"  # HF_ENDPOINT names a mirror
_LARGEST_LISTING = 32 * 2**20  # bytes
_PAUSES = (1.0, 2.0, 4.0)  # seconds between the times that a busy hub is asked
_NEXT = re.compile(r'<([^>]+)>;\s*rel="next"')
_COMMIT = re.compile(r"[0-9a-f]{40}")
SCHEME = "hf://"  # as the hub's own library names a file: hf://datasets/OWNER/NAME/FILE
_PART = r"\w+(?:[.-]\w+)*"  # of a data set's id: the hub has no ".." and no "--" in it
_FILE = re.compile(rf"{SCHEME}datasets/(?P<id>{_PART}/{_PART})(?:/(?P<file>.*))?", re.ASCII)
_LISTED = 20  # files that an error names


@dataclass(frozen=True, slots=True)
class HubDataset:
    """A data set on the hub, and the source that reads it."""

    id: str
    source: str | None  # a key of indexes.sources.registry.SOURCES; None: nobody has said
    files: tuple[str, ...]  # patterns of the paths that are needed
    gated: bool = False


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


def listing(
    hub: Hub, dataset: HubDataset, revision: str, sleep: Callable[[float], None]
) -> Iterator[tuple[str, FileRequest]]:
    """Yield path and request of each file of a data set at a commit; a hub that is busy is asked again.

    Raises:
        FetchError: the hub does not answer, refuses access, or has no such data set.
    """
    url: str | None = _address(hub, "api", "datasets", dataset.id, "tree", revision) + "?recursive=true"
    while url:
        entries, url = _get_json(hub, dataset, url, sleep)
        if not isinstance(entries, list):
            raise FetchError(f"{hub.endpoint}: no list of files came for {dataset.id}. Try again later.")
        for entry in entries:
            if not isinstance(entry, dict) or entry.get("type") != "file":
                continue
            path, size, large, blob = (entry.get(key) for key in ("path", "size", "lfs", "oid"))
            sha256 = large.get("oid") if isinstance(large, dict) else None
            file = FileRequest(
                _address(hub, "datasets", dataset.id, "resolve", revision, str(path)),
                sha256 if isinstance(sha256, str) and re.fullmatch(r"[0-9a-f]{64}", sha256) else None,
                size if isinstance(size, int) else None,
                hub.headers,
                blob if isinstance(blob, str) and not isinstance(large, dict) else None,
            )
            yield str(path), file


def _commit(hub: Hub, dataset: HubDataset, revision: str, sleep: Callable[[float], None]) -> str:
    """Return the commit that a branch, a tag or a commit names."""
    if _COMMIT.fullmatch(revision):
        return revision
    url = _address(hub, "api", "datasets", dataset.id, "revision", revision)
    about, _ = _get_json(hub, dataset, url, sleep)
    commit = about.get("sha") if isinstance(about, dict) else None
    if not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
        raise FetchError(f"{hub.endpoint}: no commit came for {dataset.id} at {revision}. Try again later.")
    return commit


def _get_json(
    hub: Hub, dataset: HubDataset, url: str, sleep: Callable[[float], None]
) -> tuple[object, str | None]:
    """Return what the hub answers, and the address of the next page if there is one."""
    check_address(url)
    pauses = iter(_PAUSES)
    while True:
        try:
            with opened(FileRequest(url, headers=hub.headers), timeout=30.0) as answer:
                content = answer.read(_LARGEST_LISTING)
                following = _NEXT.search(answer.headers.get("Link") or "")
            after = urllib.parse.urljoin(url, following[1]) if following else None
            if after and urllib.parse.urlsplit(after).netloc != urllib.parse.urlsplit(url).netloc:
                after = None  # a token must not follow it there
            return json.loads(content), after
        except urllib.error.HTTPError as error:
            error.close()
            refused, pause = explained(refusal(url, error), hub, dataset), next(pauses, None)
            if error.code not in RETRY_STATUS or pause is None:
                raise refused from None
            wait = retry_after(error.headers.get("Retry-After"))
            if wait is not None and wait > LONGEST_WAIT:
                raise FetchError(f"{refused} It asks to wait {wait:,.0f} seconds.") from None
            sleep(pause if wait is None else wait)
        except FetchError:
            raise
        except (OSError, http.client.HTTPException) as error:
            problem = getattr(error, "reason", None) or error
            cure = "Check the network; HF_ENDPOINT names a mirror, and a folder fetched by hand does as well"
            raise FetchError(f"{hub.endpoint}: cannot be reached ({problem}). {cure}.") from None
        except (ValueError, RecursionError) as error:
            raise FetchError(f"{url}: no JSON came ({error}). Check HF_ENDPOINT.") from None


def explained(error: FetchError, hub: Hub, dataset: HubDataset) -> FetchError:
    """Return the error that says of a refusal what the hub means by it."""
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


def _address(hub: Hub, *parts: str) -> str:
    return "/".join((hub.endpoint, *(urllib.parse.quote(part) for part in parts)))


_MMARCO = (
    "data/google/collections/french_collection.tsv",
    "data/google/queries/dev/french_queries.dev*.tsv",
    "*qrels.dev.small.tsv",
)
_MMARCO_TRAIN = (  # 0.9 GB more
    "data/google/queries/train/french_queries.train.tsv",
    "*triples.train.ids.small.tsv",
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
        "mmarco-train": HubDataset("unicamp-dl/mmarco", "mmarco", (*_MMARCO, *_MMARCO_TRAIN)),
    }
)


def download(
    dataset: HubDataset,
    folder: Path,
    *,
    hub: Hub | None = None,
    revision: str = "main",
    progress: Progress = no_progress,
    sleep: Callable[[float], None] = time.sleep,
) -> Path:
    """Bring the files of a data set into a folder and return the one that holds the revision.

    The revision (a branch, a tag or a commit) is resolved to a commit first, so that all files are of one
    state; each commit has a folder of its own. Files that are there and right are not fetched again.
    `progress` is called with the path of a file, bytes there and bytes in all.

    Raises:
        FetchError: the hub does not answer, refuses access, or has no such data set or files.
    """
    hub = hub or Hub.from_environment()
    commit = _commit(hub, dataset, revision, sleep)
    place = _folder(dataset, folder) / commit
    listed = dict(listing(hub, dataset, commit, sleep))
    wanted = {path: file for path, file in listed.items() if any(fnmatchcase(path, p) for p in dataset.files)}
    if not wanted:
        raise _missing(hub, dataset, revision, list(listed))
    for path, file in wanted.items():
        try:
            target = place / safe_name(path, dataset.id)
            fetch(file, target, progress=named(progress, path), sleep=sleep)
        except FetchError as error:
            raise explained(error, hub, dataset) from None
    state = _state(dataset, folder, revision)
    state.parent.mkdir(exist_ok=True)
    with replacing(state) as part:
        part.write_text(commit, encoding="ascii")
    return place


def download_file(
    address: str,
    folder: Path,
    *,
    revision: str = "main",
    progress: Progress = no_progress,
    sleep: Callable[[float], None] = time.sleep,
) -> Path:
    """Bring a file hf://datasets/OWNER/NAME/FILE of any data set as `download` does; return where it lies.

    Raises:
        BadInput: the address is another, or the path in it leads outside.
        FetchError: as `download`; where there is no such file it lists those there are.
    """
    dataset, file = _parted(address)
    return download(dataset, folder, revision=revision, progress=progress, sleep=sleep) / file


def downloaded_file(address: str, folder: Path) -> Path | None:
    """Return where the file lies that `download_file` brought last, or None; the hub is not asked."""
    dataset, file = _parted(address)
    commit = downloaded_commit(dataset, folder)
    return _folder(dataset, folder) / commit / file if commit else None


def downloaded_commit(dataset: HubDataset, folder: Path, revision: str = "main") -> str | None:
    """Return the commit that a revision was when `download` was last asked for it; None if it never was."""
    state = _state(dataset, folder, revision)
    found = state.read_text(encoding="ascii", errors="replace") if state.is_file() else ""
    return found if _COMMIT.fullmatch(found) else None


def dataset_of(what: str) -> HubDataset | None:
    """Return the data set of a name of `DATASETS` or of hf://datasets/OWNER/NAME/FILE, or None."""
    return _parted(what)[0] if what.startswith(SCHEME) else DATASETS.get(what)


def _parted(address: str) -> tuple[HubDataset, str]:
    found = _FILE.fullmatch(address)
    file = (found["file"] or "") if found else ""
    try:
        path = str(safe_name(file, address)) if file else ""
    except BadInput:
        found = None
    if found is None:
        example = f"{SCHEME}datasets/{DATASETS['bbsard'].id}/fr/articles.csv"
        raise BadInput(f"{address!r} came: {SCHEME}datasets/OWNER/NAME/FILE was expected, such as {example}")
    return HubDataset(found["id"], None, (glob.escape(path),)), path


def _missing(hub: Hub, dataset: HubDataset, revision: str, listed: list[str]) -> FetchError:
    """Return the error of a data set that holds none of the files that are wanted."""
    page = f"{hub.endpoint}/datasets/{dataset.id}"
    if dataset.source is not None:
        none = f"none of {', '.join(dataset.files)} at {revision}"
        return FetchError(f"{page}: {none}. Its layout has changed: fetch it by hand and give the folder.")
    found = [path for path in listed if is_table(path)] or listed
    names = ", ".join(found[:_LISTED]) + (f" and {len(found) - _LISTED:,} more" if found[_LISTED:] else "")
    typed = f"type {SCHEME}datasets/{dataset.id}/{found[0]}" if found else "name another data set"
    what = f"no such file at {revision}" if any(dataset.files) else "no file of it was named"
    return FetchError(f"{page}: {what}; it holds {names or 'none'}: {typed}")


def _folder(dataset: HubDataset, folder: Path) -> Path:
    return folder / dataset.id.replace("/", "--")


def _state(dataset: HubDataset, folder: Path, revision: str) -> Path:
    return _folder(dataset, folder) / "refs" / urllib.parse.quote(revision, safe="")
