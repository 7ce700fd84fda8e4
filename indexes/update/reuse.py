"""Counts and vectors of changed law: those of the former version, and new ones for what changed.

What an update starts from: the term counts and vectors that the version in use keeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from indexes.build.encoder_choice import EncoderChoice, borrow, fit_encoder, pretrained, read_lending_corpora
from indexes.build.fit_settings import FitSettings
from indexes.build.learned_fusion import FOLDER as LEARNED
from indexes.build.score_distributions import FUSION
from indexes.corpus.corpus import Corpus, to_learn_from
from indexes.store import paths
from indexes.store.atomic import link
from indexes.store.manifest import Manifest, read, verify
from indexes.store.open_index import damaged_if_unreadable
from indexes.update import term_counts as counted
from indexes.update.diff import CorpusDiff, FormerCorpus
from rag.encoders.static import StaticEncoder
from rag.errors import BadInput
from rag.retrieval.dense import Dense, Kind
from rag.retrieval.term_counts import FieldCounts, count
from rag.text import Analyser
from rag.types import ArticleOrder, Floats, Ints, Progress, Question

VECTORS = "vectors.faiss"
ENCODER = "encoder"
EXACT = "vectors.npy"  # (n_articles, dim) float32, where vectors.faiss holds rounded ones
_READ = ("corpus", counted.FOLDER, ENCODER, VECTORS, EXACT, FUSION, LEARNED)


@dataclass(frozen=True, slots=True)
class Start:
    """The version in use, what is read of it held against its manifest, and its corpus."""

    folder: Path
    manifest: Manifest
    again: str  # the command that builds it from nothing
    former: FormerCorpus

    @classmethod
    def of(cls, name: str) -> Start:
        """Read the version in use of an index.

        Raises:
            MissingIndex, DamagedIndex, StaleIndex: there is none, or nothing can start from it.
        """
        return cls.at(paths.current(name), paths.rebuild(name))

    @classmethod
    def at(cls, folder: Path, again: str) -> Start:
        """Read a version; `again` is the command that builds it from nothing.

        Raises:
            DamagedIndex, StaleIndex: nothing can start from it.
        """
        manifest = read(folder, again)
        verify(folder, manifest, again, below=_READ)  # what is wrong here would be stamped as right there
        with damaged_if_unreadable(folder, again):
            return cls(folder, manifest, again, FormerCorpus.read(folder))


class StoredVectors(NamedTuple):
    """The unrounded vectors of a version, and the kind of their index."""

    vectors: Floats | None  # None where only rounded ones are left
    kind: Kind


def store_for_updates(counts: FieldCounts, vectors: Floats | None, kind: Kind, folder: Path) -> None:
    """Store in a version what the next update starts from.

    Vectors of the kind "8bit" are rounded within bounds that depend on all of them, so new ones could
    not join them without changing the others: they are kept as they were encoded, for updates alone.
    """
    counted.save(counts, folder / counted.FOLDER)
    if vectors is not None and kind == "8bit":
        np.save(folder / EXACT, vectors, allow_pickle=False)


def stored_counts(folder: Path, order: ArticleOrder) -> FieldCounts | None:
    """Return the term counts that a version keeps; None where it keeps none.

    Raises:
        OSError, ValueError: they cannot be read.
    """
    path = folder / counted.FOLDER
    return counted.load(path, order) if path.is_dir() else None


def stored_vectors(folder: Path) -> StoredVectors | None:
    """Return the vectors of a version; None where it has none.

    Raises:
        OSError, RuntimeError, ValueError: they cannot be read.
    """
    import faiss

    if not (folder / VECTORS).is_file():
        return None
    index = Dense.load_index(folder / VECTORS)
    if isinstance(index, faiss.IndexScalarQuantizer):
        exact = folder / EXACT
        return StoredVectors(np.load(exact, allow_pickle=False) if exact.is_file() else None, "8bit")
    kind: Kind = "hnsw" if isinstance(index, faiss.IndexHNSW) else "flat"
    return StoredVectors(index.reconstruct_n(0, index.ntotal), kind)


@dataclass(frozen=True, slots=True)
class ReusedCounts:
    """Term counts of the new law, and how many were reused."""

    counts: FieldCounts = field(repr=False)
    analysed: int  # articles
    note: str = ""  # why all of them were, if they were


@dataclass(frozen=True, slots=True)
class ReusedVectors:
    """Encoder and vectors of the new law, and how many were reused."""

    chosen: EncoderChoice | None = None
    vectors: Floats | None = field(default=None, repr=False)  # (n_articles, dim)
    kind: Kind = "flat"
    encoded: int = 0  # articles
    known: Mapping[str, str] = field(default_factory=dict)  # path -> SHA-256 of a file that is the former one
    note: str = ""  # why all of them were, if they were


def counts(
    start: Start, compared: CorpusDiff, corpus: Corpus, cut: Analyser, progress: Progress
) -> ReusedCounts:
    """Return the counts that a build would make, analysing what changed alone.

    An index of before counts were kept, or of another analyser, is analysed from the beginning.
    """
    learnt = to_learn_from(corpus.questions)
    was, former = start.manifest.analyser["id"], None
    note = f"it was analysed by {was}, here it is {cut.id}: all articles are analysed again"
    if was == cut.id:
        note = "the version in use keeps no term counts, or not all: all articles are analysed once"
        with damaged_if_unreadable(start.folder, start.again):
            former = stored_counts(start.folder, ArticleOrder.of(compared.former_ids))
    if former is None or set(former.fields) != set(counted.FIELDS):  # of an earlier release
        made = count(corpus.articles, cut, progress)
        return ReusedCounts(
            counted.canonical(made.with_questions(learnt, cut.terms)), len(corpus.articles), note
        )
    same_questions = _same_questions(to_learn_from(start.former.questions), learnt, corpus, compared.same_id)
    fresh = int(np.sum(compared.same_words < 0))
    made = counted.updated(
        former, corpus.articles, learnt, cut, (compared.same_words, same_questions), progress
    )
    return ReusedCounts(made, fresh)


def _same_questions(
    former: Iterable[Question], learnt: Iterable[Question], corpus: Corpus, same_id: Ints
) -> Ints:
    """Return the former row of each article that the same questions cite, -1 for the others."""
    was, now = _texts(former), _texts(learnt)
    same = [was.get(a.id) == now.get(a.id) for a in corpus.articles]
    return np.where(np.array(same, dtype=np.bool_), same_id, -1)


def _texts(questions: Iterable[Question]) -> dict[str, list[tuple[str, str]]]:
    """Return the questions that cite each article with their answers, in an order of their own."""
    found: dict[str, list[tuple[str, str]]] = {}
    for question in questions:
        for id_ in set(question.article_ids):
            found.setdefault(id_, []).append((question.text, question.answer or ""))
    return {id_: sorted(texts) for id_, texts in found.items()}


def vectors(
    part: Path,
    start: Start,
    compared: CorpusDiff,
    corpus: Corpus,
    cut: Analyser,
    progress: Progress,
    *,
    refit: bool = False,
) -> ReusedVectors:
    """Return encoder and vectors, encoding what changed alone, and put a static encoder into its place.

    Args:
        part: the new version's folder.
        start: the former version.
        compared: with which the new law was compared.
        corpus: the new law.
        cut: its analyser.
        progress: called as the work goes on.
        refit: fit the encoder anew.

    Raises:
        BadInput: it is to be fitted anew and was never fitted; or a pretrained model cannot be loaded.
        DamagedIndex: a file cannot be read.
    """
    entry = start.manifest.encoder
    known: Mapping[str, str] = {}
    note = ""
    with damaged_if_unreadable(start.folder, start.again):
        former_vectors = stored_vectors(start.folder)
    kind: Kind = former_vectors.kind if former_vectors is not None else "flat"
    if refit and (entry is None or "settings" not in entry or "borrowed_from" in entry):
        what = "no encoder" if entry is None else f"the encoder {entry['name']}, which was not fitted to it"
        raise BadInput(f"--refit: the index has {what}. Choose one with {start.again} --encoder fit")
    if entry is None:
        return ReusedVectors(kind=kind)
    if entry["kind"] != "static":
        options = dict(entry["options"])
        chosen = pretrained(options.pop("model"), options)
        note = _other_model(entry, chosen)
    elif refit or cut.id != start.manifest.analyser["id"]:
        made = _anew(entry, corpus, cut, progress)
        if made is None:
            return ReusedVectors(
                kind=kind, note="no encoder that ships knows these words: keywords only from here"
            )
        chosen, note = made, "the encoder is new: all articles are encoded again"
        if isinstance(chosen.encoder, StaticEncoder):
            chosen.encoder.save(part / ENCODER)
    else:
        with damaged_if_unreadable(start.folder, start.again):
            chosen = EncoderChoice(StaticEncoder.load(start.folder / ENCODER, cut), entry)
        known = _linked(start, part)
    rows = compared.same_words
    if not note and (former_vectors is None or former_vectors.vectors is None):
        note = "the version in use keeps rounded vectors alone: all articles are encoded once"
    if note or former_vectors is None or former_vectors.vectors is None:
        rows, stored = np.full_like(rows, -1), np.zeros((0, chosen.encoder.dim), dtype=np.float32)
    else:
        stored = former_vectors.vectors
    made_of, fresh = _filled(stored, rows, corpus, chosen)
    progress("encoding articles", fresh, fresh)
    return ReusedVectors(chosen, made_of, kind, fresh, known, note)


def _filled(stored: Floats, rows: Ints, corpus: Corpus, chosen: EncoderChoice) -> tuple[Floats, int]:
    """Return the stored vectors at these rows, where they are not negative, and new ones elsewhere."""
    fresh = [article for article, row in zip(corpus.articles, rows, strict=True) if row < 0]
    made = np.empty((len(rows), chosen.encoder.dim), dtype=np.float32)
    made[rows >= 0] = stored[rows[rows >= 0]]
    if fresh:
        made[rows < 0] = chosen.encoder.encode_articles(fresh)
    return made, len(fresh)


def _other_model(entry: Mapping[str, Any], chosen: EncoderChoice) -> str:
    if chosen.entry["sha256"] == entry["sha256"]:
        return ""
    return f"the model {entry['name']} is another one than before: all articles are encoded again"


def _anew(
    entry: Mapping[str, Any], corpus: Corpus, cut: Analyser, progress: Progress
) -> EncoderChoice | None:
    """Fit an encoder as the former one was fitted, or borrow as it was borrowed."""
    if "borrowed_from" in entry:
        return borrow(corpus, cut, required=False)
    settings = FitSettings(**entry["settings"])
    corpora = read_lending_corpora((each["name"] for each in entry.get("lent", ())), corpus.card.language)
    return EncoderChoice(
        *fit_encoder(corpus, to_learn_from(corpus.questions), cut, settings, progress, corpora)
    )


def _linked(start: Start, part: Path) -> dict[str, str]:
    """Give the former encoder's files a second name in the new version, and return their hashes.

    They were hashed when the update began. A file that is the very same under its new name (not a
    copy) has the same hash, and no version is written to once it has its manifest.
    """
    known = {}
    (part / ENCODER).mkdir()
    for file in sorted((start.folder / ENCODER).iterdir()):
        name = f"{ENCODER}/{file.name}"
        if name in start.manifest.files and link(file, part / name):
            known[name] = str(start.manifest.files[name]["sha256"])
    return known
