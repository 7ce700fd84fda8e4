"""`python -m indexes update`, `versions` and `rollback`: law that changes, and the way back."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from indexes.cli.importing import ImportedCorpus, bring_in, prepared, typed_card
from indexes.cli.progress import Bars
from indexes.cli.terminal import say
from indexes.corpus.card import FILE as CARD
from indexes.corpus.card import read_card
from indexes.corpus.corpus import Corpus, read
from indexes.corpus.import_record import merge_with_record
from indexes.describing.audit import audit, lines, store
from indexes.store import outdated, paths
from indexes.store.history import listed, roll_back
from indexes.store.manifest import read as read_manifest
from indexes.store.open_index import assemble
from indexes.store.versions import check_version_count, only_one
from indexes.update.diff import Changes, compare
from indexes.update.reuse import Start
from indexes.update.update import is_stored, update, with_former_card, with_former_questions
from rag.corpus.card import CorpusCard


def update_law(parsed: argparse.Namespace) -> Iterator[str]:
    """Bring corpus and index up to date with new law, or say what would change; yield what is to be said."""
    check_version_count(parsed.keep)
    digest = _digest(parsed.name)
    if digest is not None:
        yield from _mark_outdated(parsed, digest)
        return
    imported, start, questions_kept = _read(parsed)
    name, corpus = parsed.name, imported.corpus
    yield f"{name}: read as {imported.source}, sha256 {corpus.sha256[:12]}…"
    for line in (*imported.report.lines(), *imported.cleaning):
        yield f"  {line}"
    for line in imported.report.losses():
        _warn(line)
    if questions_kept:
        yield f"  no questions in the new files: {questions_kept:,} kept (--drop-questions drops them)"
    if parsed.dry_run:
        changes = compare(start.former, corpus).changes
        if not parsed.refit and not changes and is_stored(name, start, imported):
            yield f"{name}: nothing changed since version {changes.against}"
            return
        yield from _changes(changes, corpus.card)
        yield "dry run: nothing was written"
        return
    with closing(Bars()) as bars:
        done = update(name, imported, start, refit=parsed.refit, keep=parsed.keep, progress=bars)
    if done.version is None:
        yield f"{name}: nothing changed since version {done.changes.against}; nothing was written"
        return
    yield from _changes(done.changes, corpus.card)
    for note in done.notes:
        yield f"  {note}"
    manifest = read_manifest(done.version, paths.rebuild(name))
    encoder = f", {done.encoded:,} encoded by {manifest.encoder['name']}" if manifest.encoder else ""
    yield f"{name}: {done.analysed:,} articles analysed{encoder}; version {done.version.name} is in use"
    yield from audit_version(done.version, paths.rebuild(name))
    yield f"back: {paths.command(f'rollback {name}')}"


def audit_version(folder: Path, cure: str) -> Iterator[str]:
    """Look through a version, yield what was found, and keep it beside the version if that is one of ours.

    The doubt of the index that ships stays: it was fitted to more than is in its corpus.
    """
    engine = assemble(folder, read_manifest(folder, cure), cure)
    found = audit(engine, read(folder / "corpus").questions, refit=folder != paths.builtin())
    yield from lines(found)
    if folder.parent.parent == paths.home() / "indexes":
        with only_one(folder.parent.name):
            if folder.is_dir():  # still
                store(found, folder)


def _digest(name: str) -> Corpus | None:
    """Return the corpus of an index whose summaries say what they were written from; None of any other."""
    if name != paths.BUILTIN and paths.in_use(paths.index_folder(name)) is None:
        return None
    corpus = read(paths.locate(name)[0] / "corpus")
    written = corpus.card.text_kind == "summary" and any(facts.official for facts in corpus.facts.values())
    return corpus if written or name == paths.BUILTIN else None


def _mark_outdated(parsed: argparse.Namespace, digest: Corpus) -> Iterator[str]:
    """Hold a digest against newer law, and note which summaries it has left behind."""
    imported = bring_in(parsed, {"language": digest.card.language})
    prints = {id_: facts.official for id_, facts in digest.facts.items() if facts.official}
    found = outdated.compare(digest.articles, prints, imported.corpus.articles)
    yield f"{parsed.name}: held against {imported.source}, sha256 {imported.corpus.sha256[:12]}…"
    for line in outdated.lines(found, {article.id: article for article in digest.articles}):
        yield f"  {line}"
    if parsed.dry_run:
        yield "dry run: nothing was written"
        return
    place = outdated.write(digest.sha256, found, imported.corpus.sha256)
    yield f"{parsed.name}: {len(found.articles):,} summaries are out of date; their time limits are hidden"
    yield f"noted in {place}; an update with a later law notes it anew"


def _read(parsed: argparse.Namespace) -> tuple[ImportedCorpus, Start, int]:
    """Return the new law, the version that it is compared with, and how many questions of that are kept."""
    start = Start.of(parsed.name)
    place = paths.corpus_folder(parsed.name)
    parsed = merge_with_record(parsed, place)  # nobody should have to type each week what they typed once
    file = place / CARD  # a host may have written into it since the build
    card = read_card(file) if file.is_file() else start.former.card
    imported = bring_in(parsed, {"language": card.language})
    imported = with_former_card(imported, card, typed_card(parsed))
    own = len(imported.corpus.questions)
    if not parsed.drop_questions:
        imported = with_former_questions(imported, start.former.questions, place)
    carried = len(imported.corpus.questions) - own
    return (
        prepared(imported, parsed),
        start,
        carried,
    )  # by the later day of the law; what questions cite stays


def _changes(changes: Changes, card: CorpusCard) -> Iterator[str]:
    for line in changes.lines():
        yield f"  {line}"
    if changes.articles and card.law_date is not None and "law_date" not in changes.card:
        yield f"  the card still says law of {card.law_date}: --law-date YYYY-MM-DD changes it"


def versions(parsed: argparse.Namespace) -> Iterator[str]:
    """Yield the versions of an index, the latest first, a line each; a star marks the one in use."""
    for version in listed(parsed.name):
        line = f"{'*' if version.in_use else ' '} {version.name}  "
        if version.manifest is None:
            yield f"{line}damaged"
            continue
        corpus, changes = version.manifest.corpus, version.changes
        against = "" if changes is None else f"  {changes.brief()} (against {changes.against})"
        law = f"{corpus['articles']:>9,} articles  corpus {corpus['sha256'][:12]}"
        yield f"{line}{version.manifest.built}  {law}{against}"


def rollback(parsed: argparse.Namespace) -> Iterator[str]:
    """Bring another version into use; yield what is to be said."""
    version, whole = roll_back(parsed.name, parsed.version)
    manifest = read_manifest(version, paths.rebuild(parsed.name))
    articles = f"{manifest.corpus['articles']:,} articles, built {manifest.built}"
    how = "already" if whole is None else "again, and its corpus with it"
    yield f"{parsed.name}: version {version.name} is in use {how} ({articles})"
    if whole is False:
        extra_files = "unused columns, nodes, articles that cleaning took out"
        _warn(f"what no index holds of its corpus was not kept ({extra_files}): import it again to have it")


def _warn(line: str) -> None:
    say(f"WARNING {line}", error=True)
