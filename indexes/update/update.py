"""Bring an index up to date with changed law: only what changed is analysed and encoded.

The result is the index that a build from nothing would make of the new law with the same encoder, to
the byte: counts have one form (`indexes.update.term_counts`), the vector of an article depends on it
alone, and both ways end in `indexes.build.build.write_index`. The encoder is kept, because fitting it is
most of a build, and a hundredth of the law changes little of a language; `refit` fits it anew.

What stays of a corpus when new law comes: its card, and its questions where the new files bring none. All
but its learned fusion stays of an index that is refined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from indexes.build import learned_fusion, legislative_graph
from indexes.build.build import BuildSettings, IndexParts, resolve_analyser, write_index
from indexes.build.score_distributions import load_fusion
from indexes.build.shards import count_articles
from indexes.cleaning.steps import RemovedArticle, read_removed
from indexes.cli.importing import ImportedCorpus
from indexes.corpus import extras as extras_
from indexes.corpus.card import card_record, parse_card
from indexes.corpus.corpus import Corpus, read, to_learn_from
from indexes.formats.jsonl import dump
from indexes.formats.validation import Inspection
from indexes.store import paths
from indexes.store.atomic import sync
from indexes.store.manifest import stamp, verify
from indexes.store.open_index import damaged_if_unreadable, index_analyser
from indexes.store.versions import DEFAULT_VERSIONS, built_from, new_version, only_one, recover, stamp_now
from indexes.update import reuse
from indexes.update.diff import FILE as CHANGES
from indexes.update.diff import Changes, CorpusDiff, compare
from indexes.update.reuse import Start
from rag.corpus.card import CorpusCard
from rag.errors import BadInput
from rag.graph.graph import Node
from rag.ltr.ranker import Ranker
from rag.retrieval.bm25 import BM25Settings
from rag.text import Analyser
from rag.types import ArticleOrder, Progress, Question, no_progress


def with_former_card(
    imported: ImportedCorpus, former: CorpusCard, typed: Mapping[str, object]
) -> ImportedCorpus:
    """Return what came in under the former card.

    What was typed goes over it (BadInput where a value is unfit), and what it leaves open the new files fill
    in. Of two dates of the law the later one is taken: the card must not say that new law is old.
    """
    old, new = card_record(former), card_record(imported.corpus.card)
    made = {**new, **old}
    if "origin" in new:  # which is of the files that came, not of the corpus
        made["origin"] = new["origin"]
    if "law_date" in made:  # ISO dates sort as days do
        made["law_date"] = max(str(each.get("law_date", "")) for each in (old, new))
    card = parse_card({**made, **typed, "name": former.name}, "the card of the corpus")
    return replace(imported, corpus=replace(imported.corpus, card=card))


def with_former_questions(
    imported: ImportedCorpus, former: Sequence[Question], folder: Path
) -> ImportedCorpus:
    """Return what came in with the questions that the corpus has, if it brings none of its own.

    A gold article that is gone is left out, and so is a question that keeps none. The columns of these
    questions that nothing uses are read from the folder of the corpus.
    """
    corpus = imported.corpus
    if corpus.questions or not former:
        return imported
    present_ids = {article.id for article in corpus.articles}
    carried = []
    for question in former:
        gold = tuple(id_ for id_ in question.article_ids if id_ in present_ids)
        if gold or not question.article_ids:
            carried.append(replace(question, article_ids=gold))
    _, columns = _extras(folder, (), [question.id for question in carried])
    return replace(imported, corpus=replace(corpus, questions=tuple(carried), question_extras=columns))


def _extras(
    folder: Path, ids: Sequence[str], question_ids: Sequence[str]
) -> tuple[extras_.Extras, extras_.Extras]:
    inspection = Inspection(lenient=True)
    if folder.is_dir():
        extras_.read_extras(folder, set(ids), set(question_ids), inspection)
    return inspection.extra_columns("article", ids), inspection.extra_columns("question", question_ids)


def _stored_extras(
    extras: Iterable[extras_.Extras], nodes: Sequence[Node], removed: Sequence[RemovedArticle]
) -> tuple[object, ...]:
    """Return what a corpus has past what an index holds, for a comparison.

    Columns are taken as they are written, which tells 1 from 1.0 and a list from a tuple no more.
    """
    columns = [{id_: _line(of) for id_, of in each.items() if of} for each in extras]
    taken_out = [(r.article, r.removed_for, r.moved_to, _line(r.extras)) for r in removed]
    return columns, tuple(nodes), taken_out


def _line(columns: Mapping[str, object]) -> bytes:
    return dump(dict(sorted(columns.items())))


@dataclass(frozen=True, slots=True)
class UpdateOutcome:
    """What an update found and did."""

    changes: Changes
    version: Path | None = None  # None: nothing changed, and nothing was written
    analysed: int = 0  # articles
    encoded: int = 0
    notes: tuple[str, ...] = ()  # what the changes alone do not ask for, and why it was done


def update(
    name: str,
    imported: ImportedCorpus,
    start: Start,
    *,
    refit: bool = False,
    keep: int = DEFAULT_VERSIONS,
    progress: Progress = no_progress,
) -> UpdateOutcome:
    """Bring corpus and index of a name up to date, and switch both in one step.

    The new law comes with the card and the questions that it shall have, taken from the version in use.

    Raises:
        BadInput: a setting cannot be used; another command of this name is running, or ran meanwhile.
        MissingIndex, DamagedIndex: there is no index any more, or a file of it cannot be read.
    """
    with _unchanged(name, start):
        compared = compare(start.former, imported.corpus)
        if not refit and not compared.changes and is_stored(name, start, imported):
            return UpdateOutcome(compared.changes)
        version = f"{stamp_now()}-{imported.corpus.sha256[:8]}"
        waiting = paths.waiting_corpus(name, version)
        try:
            imported.keep(waiting)
            sync(waiting)
            with new_version(name, version, keep) as part:
                done = update_into(part, start, compared, imported.corpus, version, refit, progress)
        finally:
            recover(name)  # after an error: the corpus that waits for no switch is taken away
    return done


@contextmanager
def _unchanged(name: str, start: Start) -> Iterator[None]:
    """Hold the lock of a name whose version in use is still the one that was read."""
    with only_one(name):
        if paths.current(name) != start.folder:
            raise BadInput(f"{name!r} was changed by another command meanwhile: type this one again")
        yield


def update_into(
    part: Path,
    start: Start,
    compared: CorpusDiff,
    corpus: Corpus,
    version: str,
    refit: bool = False,
    progress: Progress = no_progress,
) -> UpdateOutcome:
    """Write a new version into an empty folder; the manifest is its last file.

    What is returned names the version where it will be when it is switched in.
    """
    analyser, options = _analyser(start, corpus)
    counts, analysed, note = reuse.counts(start, compared, corpus, analyser, progress)
    made = reuse.vectors(part, start, compared, corpus, analyser, progress, refit=refit)
    with damaged_if_unreadable(start.folder, start.cure):
        bm25, fusion = BM25Settings(**start.manifest.bm25), load_fusion(start.folder)
        ranker = learned_fusion.read_ranker(start.folder)
    settings = BuildSettings(bm25=bm25, vectors=made.kind, fusion=fusion, learned=ranker)
    compared.changes.write(part)
    learnt = to_learn_from(corpus.questions)
    graph = reuse.graph(start, compared, corpus, progress)
    ready = IndexParts(corpus, learnt, analyser, options, counts, graph, made.chosen, made.vectors)
    name = start.manifest.name
    write_index(part, ready, name, version, settings, made.known)
    notes = [note, made.note]
    if ranker is not None and made.chosen is not None and made.chosen.entry != start.manifest.encoder:
        notes.append(f"its learned fusion knows the former encoder: python -m training.train fusion {name}")
    version_folder, lines = start.folder.with_name(version), tuple(filter(None, notes))
    return UpdateOutcome(compared.changes, version_folder, analysed, made.encoded, lines)


def is_stored(name: str, start: Start, imported: ImportedCorpus) -> bool:
    """Return whether the stored corpus of a name equals the import, as written.

    The corpus of a name is not that of its index after an import without a build.
    """
    place, corpus = paths.corpus_folder(name), imported.corpus
    analyser, _ = _analyser(start, corpus)
    if (
        analyser.id != start.manifest.analyser["id"]
        or not place.is_dir()
        or not built_from(place, [start.folder])
    ):
        return False
    new = _stored_extras((corpus.extras, corpus.question_extras), corpus.nodes, imported.removed)
    try:
        extras = _extras(place, [a.id for a in corpus.articles], [q.id for q in corpus.questions])
        return _stored_extras(extras, extras_.read_nodes(place), read_removed(place)) == new
    except BadInput:
        return False


def _analyser(start: Start, corpus: Corpus) -> tuple[Analyser, Mapping[str, Any]]:
    options = start.manifest.analyser["options"]
    return resolve_analyser(corpus, {key: value for key, value in options.items() if key != "language"})


def refine(name: str, start: Start, ranker: Ranker | None, keep: int = DEFAULT_VERSIONS) -> Path:
    """Switch in a version that differs by its learned fusion alone, and return its folder.

    It was fitted to the version `start`; None takes away the one that is there. Pages that have the former
    version open keep it.

    Raises:
        BadInput: the index was changed meanwhile, or another command of this name is running.
        DamagedIndex, StaleIndex: a file of the version is not what was built, or cannot be used here.
    """
    with _unchanged(name, start):
        verify(start.folder, start.manifest, start.cure)  # what is copied would be stamped as it is now
        version = f"{stamp_now()}-{start.manifest.corpus['sha256'][:8]}"
        with new_version(name, version, keep) as part:
            # what changed against the version before is not said again: the law is the same
            other = (learned_fusion.FOLDER, CHANGES)
            same = [each for each in start.manifest.files if each.partition("/")[0] not in other]
            known = reuse.link_files(start, part, same)
            if ranker is not None:
                analyser = index_analyser(start.manifest, start.cure)
                with damaged_if_unreadable(start.folder, start.cure):
                    corpus = read(start.folder / "corpus")
                    order = ArticleOrder.of([article.id for article in corpus.articles])
                    counts = reuse.stored_counts(start.folder, order)
                if counts is None:
                    counts = count_articles(corpus.articles, to_learn_from(corpus.questions), analyser)
                settings = BM25Settings(**start.manifest.bm25)
                learned_fusion.save(ranker, corpus, counts, settings, analyser, part)
                if not (part / legislative_graph.FOLDER).is_dir():  # an earlier release built the index
                    legislative_graph.save(legislative_graph.build(corpus), part)
            built = datetime.now(UTC).isoformat(timespec="seconds")
            stamp(replace(start.manifest, version=version, built=built, files={}), part, known)
        return paths.index_folder(name) / version
