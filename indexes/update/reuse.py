"""Counts and vectors of changed law: those that the version in use keeps, and new ones for what changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from indexes.build import legislative_graph
from indexes.build.encoder_choice import EncoderChoice, borrow, fit_encoder, pretrained, read_lending_corpora
from indexes.build.fit_settings import FitSettings
from indexes.build.learned_fusion import FOLDER as LEARNED
from indexes.build.score_distributions import FUSION
from indexes.build.shards import count_articles
from indexes.corpus.corpus import Corpus, to_learn_from
from indexes.store import paths
from indexes.store.atomic import link
from indexes.store.manifest import Manifest, read, verify
from indexes.store.model_trust import require_trust
from indexes.store.open_index import damaged_if_unreadable
from indexes.update import term_counts
from indexes.update.diff import CorpusDiff, FormerCorpus
from rag.encoders.static import StaticEncoder
from rag.errors import BadInput
from rag.graph.graph import Graph
from rag.retrieval.dense import Dense, Kind
from rag.retrieval.term_counts import FieldCounts
from rag.text import Analyser
from rag.types import ArticleOrder, Floats, Progress, Question

VECTORS = "vectors.faiss"
ENCODER = "encoder"
EXACT = "vectors.npy"  # (n_articles, dim) float32, where vectors.faiss holds rounded ones
GRAPH = legislative_graph.FOLDER
_READ = ("corpus", term_counts.FOLDER, ENCODER, VECTORS, EXACT, FUSION, LEARNED, GRAPH)


@dataclass(frozen=True, slots=True)
class Start:
    """The version in use, what is read of it held against its manifest, and its corpus."""

    folder: Path
    manifest: Manifest
    cure: str  # the command that builds it from nothing
    former: FormerCorpus

    @classmethod
    def of(cls, name: str) -> Start:
        """Read the version in use of an index; MissingIndex says that there is none, the rest as `at`."""
        return cls.at(paths.current(name), paths.rebuild(name))

    @classmethod
    def at(cls, folder: Path, cure: str) -> Start:
        """Read a version; DamagedIndex or StaleIndex say that nothing can start from it."""
        manifest = read(folder, cure)
        verify(folder, manifest, cure, below=_READ)  # what is wrong here would be stamped as right there
        with damaged_if_unreadable(folder, cure):
            return cls(folder, manifest, cure, FormerCorpus.read(folder))


def store_for_updates(counts: FieldCounts, vectors: Floats | None, kind: Kind, folder: Path) -> None:
    """Store in a version what the next update starts from.

    Vectors of the kind "8bit" are rounded within bounds that depend on all of them, so new ones could
    not join them without changing the others: they are kept as they were encoded, for updates alone.
    """
    term_counts.save(counts, folder / term_counts.FOLDER)
    if vectors is not None and kind == "8bit":
        np.save(folder / EXACT, vectors, allow_pickle=False)


def stored_counts(folder: Path, order: ArticleOrder) -> FieldCounts | None:
    """Return the term counts of a version, or None if not of every field; raises as `term_counts.load`."""
    path = folder / term_counts.FOLDER
    if not path.is_dir():
        return None
    found = term_counts.load(path, order)
    return found if set(found.fields) == set(term_counts.FIELDS) else None  # None: of an earlier release


def _stored_vectors(folder: Path) -> tuple[Floats | None, Kind]:
    """Return the unrounded vectors of a version, None where it has none, and the kind of their index."""
    import faiss

    if not (folder / VECTORS).is_file():
        return None, "flat"
    index = Dense.load_index(folder / VECTORS)
    if isinstance(index, faiss.IndexScalarQuantizer):
        exact = folder / EXACT
        return np.load(exact, allow_pickle=False) if exact.is_file() else None, "8bit"
    return index.reconstruct_n(0, index.ntotal), "hnsw" if isinstance(index, faiss.IndexHNSW) else "flat"


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
    start: Start, compared: CorpusDiff, corpus: Corpus, analyser: Analyser, progress: Progress
) -> tuple[FieldCounts, int, str]:
    """Return the counts that a build would make, analysing what changed alone, and how many articles that is.

    An index of before counts were kept, or of another analyser, is analysed from the beginning: a note tells.
    """
    learnt = to_learn_from(corpus.questions)
    built_with, former = start.manifest.analyser["id"], None
    note = f"it was analysed by {built_with}, here it is {analyser.id}: all articles are analysed again"
    if built_with == analyser.id:
        note = "the version in use keeps no term counts, or not all: all articles are analysed once"
        with damaged_if_unreadable(start.folder, start.cure):
            former = stored_counts(start.folder, ArticleOrder.of(compared.former_ids))
    if former is None:
        made = count_articles(corpus.articles, learnt, analyser, progress)
        return made, len(corpus.articles), note
    cited_by, cited_now = _texts(to_learn_from(start.former.questions)), _texts(learnt)
    same = np.array([cited_by.get(a.id) == cited_now.get(a.id) for a in corpus.articles], dtype=np.bool_)
    rows = compared.same_words, np.where(same, compared.same_id, -1)
    made = term_counts.updated(former, corpus.articles, learnt, analyser, rows, progress)
    return made, int(np.sum(compared.same_words < 0)), ""


def graph(start: Start, compared: CorpusDiff, corpus: Corpus, progress: Progress) -> Graph:
    """Return the graph that a build would make, reading the references of what changed alone where it can.

    Raises:
        DamagedIndex: the former graph cannot be read.
    """
    with damaged_if_unreadable(start.folder, start.cure):
        former = legislative_graph.load(start.folder)
    known = None if former is None else (former, compared.same_words)
    return legislative_graph.build(corpus, known, progress)


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
    analyser: Analyser,
    progress: Progress,
    *,
    refit: bool = False,
) -> ReusedVectors:
    """Return encoder and vectors, encoding what changed alone, and put a static encoder into its place.

    Raises:
        BadInput: it is to be fitted anew and was never fitted; or a pretrained model cannot be loaded.
        DamagedIndex: a file cannot be read.
    """
    entry = start.manifest.encoder
    known: Mapping[str, str] = {}
    note = ""
    with damaged_if_unreadable(start.folder, start.cure):
        stored, kind = _stored_vectors(start.folder)
    if refit and (entry is None or "settings" not in entry or "borrowed_from" in entry):
        what = "no encoder" if entry is None else f"the encoder {entry['name']}, which was not fitted to it"
        raise BadInput(f"--refit: the index has {what}. Choose one with {start.cure} --encoder fit")
    if entry is None:
        return ReusedVectors(kind=kind)
    if entry["kind"] != "static":
        options = dict(entry["options"])  # with the commit of a model on the hub, so that it stays the same
        require_trust(str(options["model"]), start.folder)
        chosen = pretrained(options.pop("model"), options)
        if chosen.entry["sha256"] != entry["sha256"]:
            note = f"the model {entry['name']} is another one than before: all articles are encoded again"
    elif refit or analyser.id != start.manifest.analyser["id"]:
        made = _anew(part, entry, corpus, analyser, progress)
        if made is None:
            note = "no encoder that ships knows these words: keywords only from here"
            return ReusedVectors(kind=kind, note=note)
        chosen, note = made, "the encoder is new: all articles are encoded again"
    else:
        with damaged_if_unreadable(start.folder, start.cure):
            chosen = EncoderChoice(StaticEncoder.load(start.folder / ENCODER, analyser), entry)
        files = [name for name in start.manifest.files if name.startswith(f"{ENCODER}/")]
        known = link_files(start, part, files)
    if not note and stored is None:
        note = "the version in use keeps rounded vectors alone: all articles are encoded once"
    rows = compared.same_words if not note else np.full_like(compared.same_words, -1)
    encoded = np.empty((len(rows), chosen.encoder.dim), dtype=np.float32)
    if stored is not None and not note:
        encoded[rows >= 0] = stored[rows[rows >= 0]]
    fresh = [article for article, row in zip(corpus.articles, rows, strict=True) if row < 0]
    if fresh:
        encoded[rows < 0] = chosen.encoder.encode_articles(fresh)
    progress("encoding articles", len(fresh), len(fresh))
    return ReusedVectors(chosen, encoded, kind, len(fresh), known, note)


def _anew(
    part: Path, entry: Mapping[str, Any], corpus: Corpus, analyser: Analyser, progress: Progress
) -> EncoderChoice | None:
    """Fit an encoder as the former one was fitted, or borrow it as that was, and put it into its place."""
    if "borrowed_from" in entry:
        chosen = borrow(corpus, analyser, required=False)
    else:
        settings, learnt = FitSettings(**entry["settings"]), to_learn_from(corpus.questions)
        lent = read_lending_corpora((each["name"] for each in entry.get("lent", ())), corpus.card.language)
        chosen = EncoderChoice(*fit_encoder(corpus, learnt, analyser, settings, progress, lent))
    if chosen is not None and isinstance(chosen.encoder, StaticEncoder):
        chosen.encoder.save(part / ENCODER)
    return chosen


def link_files(start: Start, part: Path, names: Iterable[str]) -> dict[str, str]:
    """Give files of the former version a second name in the new one, and return their hashes.

    They were hashed when the update began. A file that is the very same under its new name (not a
    copy) has the same hash, and no version is written to once it has its manifest.
    """
    known = {}
    for name in names:
        (part / name).parent.mkdir(parents=True, exist_ok=True)
        if link(start.folder / name, part / name):
            known[name] = str(start.manifest.files[name]["sha256"])
    return known
