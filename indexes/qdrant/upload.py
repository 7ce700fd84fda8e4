"""Bring an index into a vector store, and another version of it into use there.

Points that the collection has already, by their fingerprints, are left alone: so an upload that ended early
goes on, and only what changed is written: the engine without a server copies the collection of the version
before, a server makes the oldest one into the new one.
The name of the index points to the new collection when all of it is there, and not before.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, cast

import numpy as np
import scipy.sparse as sp

from indexes.qdrant.collection import POSITIVE_IDF, collection_name, drift_between, point_ids, version_of
from indexes.qdrant.engines import KEYWORDS, UNDATED, About, Point, VectorStore
from indexes.store.manifest import Manifest
from indexes.store.open_index import assemble
from indexes.store.versions import DEFAULT_VERSIONS
from indexes.update import term_counts
from rag.errors import BadInput, MissingIndex, StoreRefused, StoreUnavailable
from rag.retrieval.bm25 import BM25, PRECEDING, BM25Settings, term_scores
from rag.retrieval.dense import Dense
from rag.retrieval.term_counts import LAW_FIELDS, FieldCounts
from rag.retrieval.vector_store import dimension
from rag.types import Floats, Ints, Progress, no_progress

_log = logging.getLogger(__name__)

BATCH = 500  # points
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)  # seconds before a call is tried again
ONCE = ("clone", "recycle")  # calls that would find their own work and take it for another's
ROUNDS = 3  # of writing what did not become safe: a process that is killed forgets what it did not flush
MAX_DRIFT = 0.05  # more of it, and a store would propose many that are none: all weights are written anew
_T = TypeVar("_T")


@dataclass(frozen=True)
class Contents:
    """An index as a store takes it; row i is article i of its corpus."""

    ids: np.ndarray  # (n,) uint64
    words: sp.csr_array  # (n, n_dimensions) float32
    dimensions: Ints  # (n_dimensions,)
    vectors: Callable[[Ints], Floats] | None  # of some rows, (n, dim)
    payloads: Callable[[int], dict[str, str | int]]
    dim: int | None
    graph: bool

    def points(self, rows: range, stored: Mapping[int, int] = MappingProxyType({})) -> Iterator[Point]:
        """Yield the points of some articles, less those whose fingerprint is stored."""
        begins, indices, weights = self.words.indptr, self.words.indices, self.words.data
        vectors = self.vectors(np.arange(rows.start, rows.stop)) if self.vectors is not None else None
        for row in rows:
            own = slice(int(begins[row]), int(begins[row + 1]))
            words = self.dimensions[indices[own]], weights[own]  # ascending: so alike in every version
            vector = vectors[row - rows.start] if vectors is not None else None
            payload, id_ = self.payloads(row), int(self.ids[row])
            said = blake2b(json.dumps(payload).encode(), digest_size=8)
            for part in (*words, vector):
                said.update(part.tobytes() if part is not None else b"")
            fingerprint = int.from_bytes(said.digest(), "big") >> 1 or 1
            if stored.get(id_) != fingerprint:
                weighted = dict(zip(*(part.tolist() for part in words), strict=True))
                yield Point(id_, weighted, None if vector is None else vector.tolist(), payload, fingerprint)


def read_counts(
    folder: Path, manifest: Manifest, keyword: BM25, cure: str
) -> tuple[FieldCounts, BM25Settings]:
    """Return the counts of an index and the settings of its BM25.

    BadInput: it keeps none, or ranks by a BM25 whose terms may weigh nothing or less.
    """
    settings = BM25Settings(**manifest.bm25)
    if settings.variant not in POSITIVE_IDF:
        raise BadInput(f"BM25 {settings.variant}: a store takes {', '.join(POSITIVE_IDF)}: run {cure}")
    place = folder / term_counts.FOLDER
    if not place.is_dir():
        raise BadInput(f"{folder} keeps no counts of terms (an earlier release built it): run {cure}")
    return term_counts.load(place, keyword.order), settings


def by_field(settings: BM25Settings) -> dict[str, BM25Settings]:
    """Return what weighs the terms of a question, and those of the law that it is expanded by."""
    law = {name: settings.weights.get(name, 0.0) for name in LAW_FIELDS}
    return {"all": settings, "law": replace(settings, weights=law)}


def mean_lengths(counts: FieldCounts, settings: BM25Settings) -> dict[str, float]:
    """Return the mean lengths of articles that weights are made by."""
    n = max(len(counts.order.ids), 1)
    return {name: float(counts.weighted(s.weights).sum()) / n for name, s in by_field(settings).items()}


def contents(
    keyword: BM25,
    counts: FieldCounts,
    settings: BM25Settings,
    law_terms: Sequence[str],
    meaning: Dense | None,
    means: dict[str, float],
) -> Contents:
    """Return what an index becomes: the terms' weights less their idf, by these means, and the vectors."""
    of, vocabulary = by_field(settings), counts.vocabulary
    law = term_scores(counts, of["law"], mean=means["law"], rarity=False)
    law = law[:, [vocabulary[term] for term in law_terms]]
    own = sp.csr_array(term_scores(counts, of["all"], mean=means["all"], rarity=False))
    if keyword.sections is not None:
        own = own + _preceding(own, keyword.following)
    named = [*map(dimension, vocabulary), *(dimension(term, of_law=True) for term in law_terms)]
    dimensions, column = np.unique(np.array(named, dtype=np.int64), return_inverse=True)
    both = sp.csr_array(sp.hstack([own, law], format="csr"))
    del own, law  # of a million articles each takes half a gigabyte
    indices = column.astype(np.int32)[both.indices]
    words = sp.csr_array((both.data, indices, both.indptr), (both.shape[0], len(dimensions)))
    words.sum_duplicates()
    words.eliminate_zeros()
    articles, ids = keyword.mask.articles, point_ids(keyword.order.ids)
    if len(np.unique(ids)) != len(ids) or 0 in ids:
        raise BadInput("two articles would be one point: give one of them another id")
    texts = dict(zip(KEYWORDS, (articles.codes, articles.law_types, articles.regions), strict=True))

    def payload(row: int) -> dict[str, str | int]:
        found: dict[str, str | int] = {name: of.keys[int(of.of[row])] for name, of in texts.items()}
        ends = int(articles.valid_to[row]) or UNDATED
        return found | {"valid_from": int(articles.valid_from[row]), "valid_to": ends}

    if meaning is None:
        return Contents(ids, words, dimensions, None, payload, None, graph=False)
    index: Any = meaning.index
    return Contents(
        ids, words, dimensions, index.reconstruct_batch, payload, index.d,
        graph=hasattr(index, "hnsw"),
    )  # fmt: skip


def _preceding(own: sp.csr_array, following: Ints) -> sp.csr_array:
    """Return what terms that an article lacks add to it from the one before."""
    before = np.flatnonzero(following >= 0)
    ones = np.full(len(before), np.float32(PRECEDING))
    shift = sp.csr_array((ones, (following[before], before)), shape=(own.shape[0], own.shape[0]))
    added = sp.csr_array(shift @ own)
    held = sp.csr_array((np.ones_like(own.data), own.indices, own.indptr), own.shape)
    return sp.csr_array(added - added.multiply(held))


@dataclass(frozen=True, slots=True)
class UploadCounts:
    """What an upload did."""

    collection: str
    written: int
    removed: int
    same: int  # points that were there already


def upload(
    folder: Path,
    manifest: Manifest,
    cure: str,
    store: VectorStore,
    progress: Progress = no_progress,
    keep: int = DEFAULT_VERSIONS,
    pauses: Sequence[float] = PAUSES,
) -> UploadCounts:
    """Bring a version into a store and into use there; `keep` collections of the index stay.

    Raises:
        BadInput: the index cannot be searched there.
        StoreUnavailable: the store failed again and again; what it has is kept, and goes on being used.
    """
    store = patient(store, pauses)
    name, collection = manifest.name, collection_name(manifest)
    former = store.aliases().get(name)
    about = store.about(collection) if collection in store.collections() else None
    if about is not None and about["complete"]:
        store.switch(name, collection)
        return UploadCounts(collection, 0, 0, manifest.corpus["articles"])
    engine = assemble(folder, manifest, cure)
    keyword, meaning, expanded = engine.searcher.keyword, engine.searcher.meaning, engine.searcher.expanded
    if not isinstance(keyword, BM25):
        raise BadInput(f"{folder} is searched by no BM25: run {cure}")
    counts, settings = read_counts(folder, manifest, keyword, cure)
    means = mean_lengths(counts, settings)
    dense = meaning if isinstance(meaning, Dense) else None
    if about is None:
        spares = [c for c in _outdated(store, name, keep - 1) if c != former]
        about = _begin(store, collection, former, spares, means, dense)
    drift = drift_between(means, about["means"])
    law_terms = expanded.model.law_terms if expanded is not None else ()
    made = contents(keyword, counts, settings, law_terms, dense, dict(about["means"]))
    written, removed, articles = set[int](), set[int](), len(made.ids)
    for _ in range(ROUNDS):
        expected = _write(store, collection, made, progress, written, removed)
        if store.finish(collection) == articles and store.fingerprints(collection) == expected:
            break
    else:
        raise StoreUnavailable(f"{collection}: not all of {articles:,} points are safe: upload it again")
    now = store.aliases().get(name)  # another may have been switched in since this one was begun
    about = {**about, "previous": now if now not in (None, collection) else about["previous"]}
    made_at = datetime.now(UTC).isoformat(timespec="microseconds")
    store.describe(
        collection, {**about, "complete": True, "drift": drift, "articles": articles, "uploaded": made_at}
    )
    store.switch(name, collection)
    for outdated in _outdated(store, name, keep):
        try:
            store.delete(outdated)
        except StoreUnavailable as error:  # the version is in use all the same; the next upload deletes it
            _log.warning("%s stays: %s", outdated, error)
    return UploadCounts(collection, len(written), len(removed), articles - len(written))


def _begin(
    store: VectorStore, collection: str, former: str | None, spares: Sequence[str],
    means: dict[str, float], dense: Dense | None,
) -> About:  # fmt: skip
    """Create a collection: a copy of the former or, where the engine makes none, the oldest spare one."""
    if collection in store.collections():  # nothing says what it holds: a moment after it was created
        store.delete(collection)
    kind = [dense.index.d, hasattr(dense.index, "hnsw")] if dense is not None else None
    sources = [(former, store.clone)] if former is not None else []
    for source, take in (*sources, *((spare, store.recycle) for spare in reversed(spares))):
        then = store.about(source)
        alike = then is not None and drift_between(means, then["means"]) <= MAX_DRIFT
        if then is not None and alike and then["vectors"] == kind and take(source, collection):
            means = dict(then["means"])
            break
    else:
        store.create(collection, kind[0] if kind else None, graph=bool(kind and kind[1]))
    about = {"complete": False, "means": means, "vectors": kind, "previous": former}
    store.describe(collection, about)
    return about


def _write(
    store: VectorStore, collection: str, made: Contents, progress: Progress,
    written: set[int], removed: set[int],
) -> Mapping[int, int]:  # fmt: skip
    """Write the points that differ, remove those that are none, and return the fingerprints of all then."""
    stored = store.fingerprints(collection)
    total, expected = len(made.ids), dict(stored)
    for begin in range(0, total, BATCH):
        rows = range(begin, min(begin + BATCH, total))
        changed = list(made.points(rows, stored))
        if changed:
            store.upsert(collection, changed)
        expected |= {point.id: point.fingerprint for point in changed}
        written |= {point.id for point in changed}
        progress("uploading articles", rows.stop, total)
    gone = sorted(stored.keys() - set(made.ids.tolist()))
    for begin in range(0, len(gone), BATCH):
        store.remove(collection, gone[begin : begin + BATCH])
    removed |= {*gone}
    return {id_: fingerprint for id_, fingerprint in expected.items() if id_ not in removed}


class _Patient:
    """A store whose calls are repeated when it is busy or away, but for those that do harm twice."""

    def __init__(self, store: VectorStore, pauses: Sequence[float]) -> None:
        self._store, self._pauses = store, pauses

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        method = getattr(self._store, name)
        return method if name in ONCE else partial(self._try, method)

    def create(self, collection: str, dim: int | None, *, graph: bool) -> None:
        tried = False

        def make() -> None:
            nonlocal tried
            if tried and collection in self._store.collections() and self._store.about(collection) is None:
                self._store.delete(collection)  # it was made, and the answer was lost
            tried = True
            self._store.create(collection, dim, graph=graph)

        self._try(make)

    def _try(self, act: Callable[..., _T], *arguments: object, **named: object) -> _T:
        for pause in self._pauses:
            try:
                return act(*arguments, **named)
            except StoreRefused:
                raise
            except StoreUnavailable as error:
                _log.warning("%s: trying again in %g s", error, pause)
                time.sleep(pause)
        return act(*arguments, **named)


def patient(store: VectorStore, pauses: Sequence[float] = PAUSES) -> VectorStore:
    """Return a store that repeats calls, after so many seconds each time, while it is busy or away."""
    return cast(VectorStore, _Patient(store, pauses))


def list_collections(store: VectorStore, name: str) -> list[tuple[str, About | None]]:
    """Return the collections of an index, the whole ones by when they were uploaded, the latest first."""
    own = [c for c in store.collections() if c.startswith(f"{name}.")]
    known = [(c, store.about(c)) for c in own]
    return sorted(known, key=lambda of: str((of[1] or {}).get("uploaded", "")), reverse=True)


def _outdated(store: VectorStore, name: str, keep: int) -> list[str]:
    """Return all collections but the one in use, the one before, the latest whole ones, and unfinished work.

    `keep` are left in all, if so many are whole; the latest come first.
    """
    in_use, there = store.aliases().get(name), dict(list_collections(store, name))
    previous, kept = (there.get(in_use or "") or {}).get("previous"), 1
    found = []
    for collection in sorted(there.keys() - {in_use}, key=lambda c: (c != previous, [*there].index(c))):
        about = there[collection]
        whole = about is not None and about["complete"]
        if whole and kept < keep:
            kept += 1
        elif whole or not store.busy(collection):
            found.append(collection)
    return found


def roll_back(store: VectorStore, name: str, version: str | None, pauses: Sequence[float] = PAUSES) -> str:
    """Let the name of an index point to another version, or the one before, and return its collection.

    Raises:
        MissingIndex: the store has no such version.
        BadInput: a version is not named clearly.
    """
    store = patient(store, pauses)
    in_use = store.aliases().get(name)
    if in_use is None:
        raise MissingIndex(f"the store has no index named {name!r} (there: {', '.join(store.aliases())})")
    whole = {
        c: about for c, about in list_collections(store, name) if about is not None and about["complete"]
    }
    if version is None:
        found = [c for c in whole if c == whole.get(in_use, {}).get("previous")]
    else:
        found = [c for c in whole if version_of(c).startswith(version)]
    if not found:
        known = ", ".join(map(version_of, whole))
        raise MissingIndex(f"the store has no {version or 'version before'} of {name!r} (there: {known})")
    if len(found) > 1:
        raise BadInput(f"{version!r} begins {', '.join(map(version_of, found))}: give more of it")
    store.switch(name, found[0])
    return found[0]
