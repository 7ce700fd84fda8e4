"""Bring an index up to date with changed law: only what changed is analysed and encoded.

The result is the index that a build from nothing would make of the new law with the same encoder, to
the byte: counts have one form (`indexes.update.term_counts`), the vector of an article depends on it
alone, and both ways end in `indexes.build.build.write_index`. The encoder is kept, because fitting it is
most of a build, and a hundredth of the law changes little of a language; `refit` fits it anew.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexes.build.build import BuildSettings, Ready, analyser_of, write_index
from indexes.build.encoder_choice import Report
from indexes.build.learned_fusion import ranker_of
from indexes.build.score_distributions import load_fusion
from indexes.cli.importing import Imported
from indexes.corpus.card import FILE as CARD
from indexes.corpus.corpus import ARTICLES, QUESTIONS, Corpus, to_learn_from
from indexes.store import paths
from indexes.store.atomic import sync
from indexes.store.keeping import built_from, only_one, recover
from indexes.store.open import damaged_if_unreadable
from indexes.store.versions import KEEP, refuse_to_keep, stamp_now, written
from indexes.update import reuse
from indexes.update.basis import Start
from indexes.update.changes import Changes
from indexes.update.diff import Compared, compare
from indexes.update.renewal import kept_alike
from rag.errors import BadInput
from rag.retrieval.bm25 import BM25Settings
from rag.text import Analyser


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an update found and did."""

    changes: Changes
    version: Path | None = None  # None: nothing changed, and nothing was written
    analysed: int = 0  # articles
    encoded: int = 0
    notes: tuple[str, ...] = ()  # what the changes alone do not ask for, and why it was done


def update(
    name: str,
    imported: Imported,
    start: Start,
    *,
    refit: bool = False,
    keep: int = KEEP,
    report: Report | None = None,
) -> Outcome:
    """Bring corpus and index of a name up to date, and switch both in one step.

    Args:
        name: of the index, under PANDECT_HOME.
        imported: the new law, with the card and the questions that it shall have.
        start: the version in use, from which card and questions were taken.
        refit: fit the encoder anew.
        keep: how many versions are kept, the new one among them.
        report: called as the work goes on.

    Raises:
        BadInput: a setting cannot be used; another command of this name is running, or ran meanwhile.
        MissingIndex, DamagedIndex: there is no index any more, or a file of it cannot be read.
    """
    refuse_to_keep(keep)
    with only_one(name):
        if paths.current(name) != start.folder:
            raise BadInput(f"{name!r} was changed by another command meanwhile: type this one again")
        compared = compare(start.former, imported.corpus)
        if not refit and not compared.changes and is_kept(name, start, imported):
            return Outcome(compared.changes)
        version = f"{stamp_now()}-{imported.corpus.sha256[:8]}"
        waiting = paths.waiting_corpus(name, version)
        try:
            imported.keep(waiting)
            sync(waiting)
            with written(name, version, keep) as part:
                _copy(waiting, part / "corpus")
                done = update_into(part, start, compared, imported.corpus, version, refit, report)
        finally:
            recover(name)  # after an error: the corpus that waits for no switch is taken away
    return done


def update_into(
    part: Path,
    start: Start,
    compared: Compared,
    corpus: Corpus,
    version: str,
    refit: bool = False,
    report: Report | None = None,
) -> Outcome:
    """Write a new version into a folder that holds its corpus; the manifest is its last file.

    Args:
        part: the folder.
        start: the version to start from.
        compared: what the new law is against it.
        corpus: the new law.
        version: its name.
        refit: fit the encoder anew.
        report: called as the work goes on.

    Returns:
        What was done; the version is where it will be when it is switched in.
    """
    tell = report or (lambda what, done, total: None)
    cut, options = _analyser(start, corpus)
    words = reuse.counts(start, compared, corpus, cut, tell)
    made = reuse.vectors(part, start, compared, corpus, cut, tell, refit=refit)
    with damaged_if_unreadable(start.folder, start.again):
        bm25, fusion = BM25Settings(**start.manifest.bm25), load_fusion(start.folder)
        ranker = ranker_of(start.folder)
    settings = BuildSettings(bm25=bm25, vectors=made.kind, fusion=fusion, learned=ranker)
    compared.changes.write(part)
    ready = Ready(
        corpus, to_learn_from(corpus.questions), cut, options, words.counts, made.chosen, made.vectors
    )
    name = start.manifest.name
    write_index(part, ready, name, version, settings, made.known)
    notes = [words.note, made.note]
    if ranker is not None and made.chosen is not None and made.chosen.entry != start.manifest.encoder:
        notes.append(f"its learned fusion knows the former encoder: python -m training.train fusion {name}")
    return Outcome(
        changes=compared.changes,
        version=start.folder.with_name(version),
        analysed=words.analysed,
        encoded=made.encoded,
        notes=tuple(filter(None, notes)),
    )


def is_kept(name: str, start: Start, imported: Imported) -> bool:
    """Tell whether all that lies under a name is what came in, and is read as it was written.

    The corpus of a name is not that of its index after an import without a build.
    """
    place = paths.corpus_folder(name)
    cut, _ = _analyser(start, imported.corpus)
    return (
        cut.id == start.manifest.analyser["id"]
        and place.is_dir()
        and built_from(place, [start.folder]) is not None
        and kept_alike(place, imported)
    )


def _analyser(start: Start, corpus: Corpus) -> tuple[Analyser, Mapping[str, Any]]:
    options = start.manifest.analyser["options"]
    return analyser_of(corpus, {key: value for key, value in options.items() if key != "language"})


def _copy(corpus: Path, to: Path) -> None:
    """Copy into a version what of a corpus an index holds: see `indexes.corpus.corpus.write`."""
    to.mkdir()
    for name in (ARTICLES[0], QUESTIONS[0], CARD):
        if (corpus / name).is_file():
            shutil.copyfile(corpus / name, to / name)
