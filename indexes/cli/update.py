"""`python -m indexes update`, `versions` and `rollback`: law that changes, and the way back."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from indexes.cli.importing import ImportedCorpus, bring_in, with_cleaning, with_shipped
from indexes.cli.progress import Bars
from indexes.corpus.card import FILE as CARD
from indexes.corpus.card import read_card
from indexes.corpus.import_record import merge_with_record
from indexes.store import paths
from indexes.store.history import Version, listed, roll_back
from indexes.store.manifest import read as read_manifest
from indexes.store.versions import check_version_count
from indexes.update.diff import Changes, compare
from indexes.update.reuse import Start
from indexes.update.update import UpdateOutcome, is_stored, update, with_former_card, with_former_questions
from rag.corpus.card import CorpusCard


class _New(NamedTuple):
    """New law as it shall be kept, and the version that it is compared with."""

    imported: ImportedCorpus
    start: Start
    questions_kept: int  # of the former corpus, because the new files bring none


def update_law(parsed: argparse.Namespace, typed: Mapping[str, object]) -> Iterator[str]:
    """Bring corpus and index up to date with new law, or say what would change; yield what is to be said.

    Args:
        parsed: name, dry_run, refit, drop_questions, keep, and what `import` is told of the files.
        typed: fields of the card; None for those that were not given.
    """
    check_version_count(parsed.keep)
    new = _read(parsed, typed)
    name, corpus = parsed.name, new.imported.corpus
    yield f"{name}: read as {new.imported.source}, sha256 {corpus.sha256[:12]}…"
    for line in (*new.imported.report.lines(), *new.imported.cleaning):
        yield f"  {line}"
    for line in new.imported.report.losses():
        _warn(line)
    if new.questions_kept:
        yield f"  no questions in the new files: {new.questions_kept:,} kept (--drop-questions drops them)"
    if parsed.dry_run:
        yield from _dry(name, new, parsed.refit)
        return
    bars = Bars()
    try:
        done = update(name, new.imported, new.start, refit=parsed.refit, keep=parsed.keep, progress=bars)
    finally:
        bars.close()
    yield from _summary(name, new, done)


def _read(parsed: argparse.Namespace, typed: Mapping[str, object]) -> _New:
    start = Start.of(parsed.name)
    place = paths.corpus_folder(parsed.name)
    parsed = merge_with_record(parsed, place)  # nobody should have to type each week what they typed once
    card = _card(parsed.name, start)
    imported = bring_in(parsed, typed, {"language": card.language})
    imported = with_former_card(imported, card, typed)
    own = len(imported.corpus.questions)
    if not parsed.drop_questions:
        imported = with_former_questions(imported, start.former.questions, place)
    known = len(imported.corpus.questions) - own
    imported = with_cleaning(imported, parsed.clean)  # by the later day of the law; what questions cite stays
    return _New(imported if parsed.no_shipped_questions else with_shipped(imported), start, known)


def _card(name: str, start: Start) -> CorpusCard:
    """Return the card as it is kept now: a host may have written into it since the build."""
    file = paths.corpus_folder(name) / CARD
    return read_card(file) if file.is_file() else start.former.card


def _dry(name: str, new: _New, refit: bool) -> Iterator[str]:
    changes = compare(new.start.former, new.imported.corpus).changes
    if not refit and not changes and is_stored(name, new.start, new.imported):
        yield f"{name}: nothing changed since version {new.start.former.version}"
        return
    yield from _changes(changes, new)
    yield "dry run: nothing was written"


def _changes(changes: Changes, new: _New) -> Iterator[str]:
    for line in changes.lines():
        yield f"  {line}"
    card = new.imported.corpus.card
    if changes.articles and card.law_date is not None and "law_date" not in changes.card:
        yield f"  the card still says law of {card.law_date}: --law-date YYYY-MM-DD changes it"


def _summary(name: str, new: _New, done: UpdateOutcome) -> Iterator[str]:
    if done.version is None:
        yield f"{name}: nothing changed since version {done.changes.against}; nothing was written"
        return
    yield from _changes(done.changes, new)
    for note in done.notes:
        yield f"  {note}"
    manifest = read_manifest(done.version, paths.rebuild(name))
    encoder = f", {done.encoded:,} encoded by {manifest.encoder['name']}" if manifest.encoder else ""
    yield f"{name}: {done.analysed:,} articles analysed{encoder}; version {done.version.name} is in use"
    yield f"back: {paths.command(f'rollback {name}')}"


def versions(parsed: argparse.Namespace) -> Iterator[str]:
    """Yield the versions of an index, the latest first, a line each; a star marks the one in use."""
    yield from map(_line, listed(parsed.name))


def _line(version: Version) -> str:
    mark = "*" if version.in_use else " "
    manifest = version.manifest
    if manifest is None:
        return f"{mark} {version.name}  damaged"
    corpus, changes = manifest.corpus, version.changes
    against = "" if changes is None else f"  {changes.brief()} (against {changes.against})"
    law = f"{corpus['articles']:>9,} articles  corpus {corpus['sha256'][:12]}"
    return f"{mark} {version.name}  {manifest.built}  {law}{against}"


def rollback(parsed: argparse.Namespace) -> Iterator[str]:
    """Bring another version into use; yield what is to be said."""
    done = roll_back(parsed.name, parsed.version)
    manifest = read_manifest(done.version, paths.rebuild(parsed.name))
    articles = f"{manifest.corpus['articles']:,} articles, built {manifest.built}"
    how = "again, and its corpus with it" if done.done else "already"
    yield f"{parsed.name}: version {done.version.name} is in use {how} ({articles})"
    if not done.whole:
        extra_files = "unused columns, nodes, articles that cleaning took out"
        _warn(f"what no index holds of its corpus was not kept ({extra_files}): import it again to have it")


def _warn(line: str) -> None:
    sys.stderr.write(f"WARNING {line}\n")
