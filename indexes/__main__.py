"""`python -m indexes`: bring law in, build its index, look after both."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from indexes.build import query_expansion
from indexes.build.build import BuildSettings, build
from indexes.build.encoder_choice import read_lending_corpora
from indexes.build.learned_fusion import count_human_questions, is_worthwhile
from indexes.builtin_corpus import complete_corpus, make, renew_graph
from indexes.cli import arguments as grammar
from indexes.cli import feedback, graph, qdrant, results, update
from indexes.cli.importing import bring_in, prepared
from indexes.cli.progress import Bars
from indexes.cli.serve import serve, serve_mcp
from indexes.cli.terminal import explain, guarded, say
from indexes.corpus.card import FILE as CARD
from indexes.corpus.card import read_card
from indexes.corpus.corpus import Corpus, read
from indexes.corpus.export import export
from indexes.download import resolve
from indexes.sources import registry
from indexes.store import paths, versions
from indexes.store.manifest import read as read_manifest
from indexes.store.manifest import verify
from indexes.store.open_index import assemble, index_analyser, open_index
from rag.corpus.licence import licence_of
from rag.engine import receipt as receipts
from rag.errors import BadInput, MissingIndex, PandectError
from rag.fusion.settings import FusionSettings
from rag.retrieval.bm25 import BM25Settings


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; errors that a person can act on are printed without a traceback."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    parsed = parser().parse_args(arguments)
    try:
        status: int | None = parsed.run(parsed)
    except PandectError as error:
        say(f"error: {error}", error=True)
        return 2
    except (OSError, MemoryError, UnicodeEncodeError) as error:  # a full disk, a folder not to be written
        cure = f"make room, or choose another place: PANDECT_HOME=FOLDER (now {paths.home()})"
        say(f"error: {explain(error, f'Check that you may read and write there; {cure}')}", error=True)
        return 2
    except KeyboardInterrupt:
        say("stopped; what was there before still works", error=True)
        return 130
    return status or 0


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar."""
    return grammar.parser(COMMANDS)


def _import(parsed: argparse.Namespace) -> None:
    if parsed.name:  # before minutes are spent on reading
        versions.refuse_existing(parsed.name, replace=parsed.replace)
    building = _settings(parsed)
    imported = prepared(bring_in(parsed), parsed)
    corpus, source, totals = imported.corpus, imported.source, imported.counts()
    building = replace(building, lending=read_lending_corpora(parsed.lent, corpus.card.language))
    name, kept = corpus.card.name, "not kept: a dry run"
    if not parsed.dry_run:
        with versions.new_corpus(name, replace=parsed.replace) as place:
            imported.keep(place)
        kept = f"kept in {paths.corpus_folder(name)}"
    say(f"{name}: read as {source}, sha256 {corpus.sha256[:12]}…, {kept}")
    published = registry.SOURCES[source].published
    for what, found in totals.items():
        published_count = f"   (published: {published[what]:,})" if what in published else ""
        mark = "  <-- differs" if what in published and published[what] != found else ""
        say(f"  {what:36} {found:>9,}{published_count}{mark}")
    say(f"  licence: {licence_of(corpus.card).named}")
    for line in (*imported.report.lines(), *imported.cleaning):
        say(f"  {line}")
    for line in imported.report.losses():
        say(f"WARNING {line}", error=True)
    if parsed.dry_run:
        _print(_previewed(corpus))
    elif parsed.build:
        _build_index(corpus, name, building, parsed.keep)
    else:
        say(f"next: {paths.rebuild(name)}")


PREVIEWED, SHORT = 10, 300  # articles that a dry run shows; characters of each


def _previewed(corpus: Corpus) -> Iterator[str]:
    for article in corpus.articles[:PREVIEWED]:
        place = " > ".join(filter(None, (article.code, *article.headings, article.article_no)))
        text = " ".join(article.text.split())
        yield f"\n[{article.id}] {place}\n{text[:SHORT]}{'…' if len(text) > SHORT else ''}"


def _print(lines: Iterator[str]) -> None:
    for line in lines:
        say(line)  # as it comes: between the lines there may be minutes


def _build(parsed: argparse.Namespace) -> None:
    settings = _settings(parsed)
    name, corpus = parsed.name, None
    if paths.checked_name(name) in paths.names():  # else no lock of that name is made
        with versions.only_one(name):  # so that no import puts another corpus there while this one is read
            folder = paths.corpus_folder(name)
            corpus = _readable(name, folder) if folder.is_dir() else None
    if corpus is None:
        available = ", ".join(n for n in paths.names() if paths.corpus_folder(n).is_dir()) or "none yet"
        cure = paths.command(f"import PATH --name {name}")
        raise MissingIndex(f"no corpus named {name!r} (there: {available}): run {cure}")
    settings = replace(settings, lending=read_lending_corpora(parsed.lent, corpus.card.language))
    _build_index(corpus, name, settings, parsed.keep)


def _readable(name: str, folder: Path) -> Corpus:
    try:
        return read(folder)
    except BadInput as error:
        again, back = paths.command(f"import PATH --name {name} --replace"), paths.command(f"rollback {name}")
        raise BadInput(
            f"the corpus of {name!r} cannot be read: {error} Or import it again: {again}; or go back, "
            f"which sets it aside: {back}"
        ) from error


def _build_index(corpus: Corpus, name: str, settings: BuildSettings, keep: int) -> None:
    with closing(Bars()) as bars:
        made = build(corpus, name, settings, bars, keep)
    manifest = read_manifest(made, paths.rebuild(name))
    encoder = manifest.encoder["name"] if manifest.encoder else "none (keywords only)"
    say(f"{name}: {len(corpus.articles):,} articles, encoder {encoder}, in {made}")
    _print(update.audit_version(made, paths.rebuild(name)))
    if is_worthwhile(manifest):
        count = f"{count_human_questions(manifest):,} annotated questions"
        say(f"to have its {count} decide what counts how much: {paths.learn_fusion(name)}")
    say(f"next: {paths.page(name)}")


def _settings(parsed: argparse.Namespace) -> BuildSettings:
    fusion = FusionSettings(parsed.fusion) if parsed.fusion else None
    chosen = BuildSettings(encoder=parsed.encoder, fit=parsed.fits, vectors=parsed.vectors, fusion=fusion)
    if parsed.bm25 is None:
        return chosen
    bm25, analyser = tuned(parsed.bm25)
    return replace(chosen, bm25=bm25, analyser=analyser)


def tuned(path: Path) -> tuple[BM25Settings, Mapping[str, object]]:
    """Return the BM25 and the analyser's options that a file of training.tune holds; BadInput: it is none."""
    cure = "give a file that python -m training.tune wrote"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return BM25Settings(**record["bm25"]), dict(record.get("analyser") or {})
    except KeyError as error:
        raise BadInput(f"{path}: no {error} in it: {cure}") from error
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise BadInput(f"{path}: {error}: {cure}") from error


def _list(parsed: argparse.Namespace) -> None:
    rows = [(paths.BUILTIN, *paths.locate(paths.BUILTIN))]
    for name in paths.names():
        try:
            rows.append((name, paths.current(name), paths.rebuild(name)))
        except MissingIndex:
            licence = _licence(paths.corpus_folder(name))
            say(f"{name:24} imported, not built: {paths.rebuild(name)}  {licence}")
        except PandectError as error:
            say(f"{name:24} damaged: {error}")
    for name, folder, cure in rows:
        try:
            m = read_manifest(folder, cure)
            verify(folder, m, cure, contents=False)  # hashes would take long: they are for check
        except PandectError as error:
            say(f"{name:24} damaged: {error}")
            continue
        encoder = m.encoder["name"] if m.encoder else "keywords only"
        learnt = f"learnt from {m.corpus['learnt']:,} questions"
        known = f"{encoder}  built {m.built}  {_licence(folder / 'corpus')}"
        say(f"{name:24} {m.corpus['articles']:>9,} articles  {learnt}  {known}")


def _licence(corpus: Path) -> str:
    try:
        return f"licence {licence_of(read_card(corpus / CARD)).named}"
    except PandectError as error:
        return f"licence not readable: {error}"


def _check(parsed: argparse.Namespace) -> None:
    folder, cure = paths.locate(parsed.name)
    manifest = read_manifest(folder, cure)
    verify(folder, manifest, cure)
    engine = assemble(folder, manifest, cure)
    name = folder.parent.name
    place = paths.corpus_folder(name) if folder.parent.parent == paths.home() / "indexes" else None
    if place is not None and place.is_dir() and not versions.built_from(place, [folder]):
        _readable(name, place)
        warning = f"the corpus of {name!r} is not the one that the version in use was built from"
        print(f"WARNING {warning}: run {cure} to search it", file=sys.stderr)
    files = f"{len(manifest.files)} files match their hashes"
    say(f"{manifest.name}: {files}, {engine.info.articles:,} articles open, in {folder}")


def _audit(parsed: argparse.Namespace) -> None:
    _print(update.audit_version(*paths.locate(parsed.name)))


def _verify(parsed: argparse.Namespace) -> int:
    record = receipts.read(parsed.receipt)
    engine = open_index(parsed.index or record.index.name)
    told = list(receipts.changes(record, engine))
    if not told:
        articles = f"{len(record.articles)} articles, their texts and scores"
        say(f"{record.code}: {articles} are those that {engine.info.name} {engine.info.version} finds")
    _print(iter(told))
    return 1 if told else 0


def _bridge(parsed: argparse.Namespace) -> None:
    folder, cure = paths.locate(parsed.name)
    manifest = read_manifest(folder, cure)
    verify(folder, manifest, cure, below=(query_expansion.FOLDER,))
    _print(query_expansion.format_pairs(folder, index_analyser(manifest, cure), parsed.words))


def _results(parsed: argparse.Namespace) -> None:
    place = results.install(parsed.name, parsed.file, parsed.confidence, parsed.system, parsed.output)
    say(f"{parsed.name}: what was measured is in {place}; the page Quality shows it")


def _export(parsed: argparse.Namespace) -> None:
    if parsed.name == paths.BUILTIN:
        corpus = complete_corpus(paths.builtin(), written=True)
    elif not (place := paths.corpus_folder(parsed.name)).is_dir():
        raise MissingIndex(f"no corpus named {parsed.name!r}: {paths.command('list')} shows those there are")
    else:
        corpus = read(place)
    folder = export(corpus, parsed.folder, parsed.to, extras=not parsed.no_extras)
    licence = licence_of(corpus.card).named
    say(f"{parsed.name}: written as {parsed.to} to {folder}; its licence goes with it: {licence}")


def _describe(parsed: argparse.Namespace) -> None:
    from indexes.describing.command import describe

    with closing(Bars("B")) as bars:
        lines = describe(parsed.name, parsed.output, parsed.tokenizer, bars)
    say(lines)


def _remove(parsed: argparse.Namespace) -> None:
    if parsed.downloads:
        size = resolve.clear()
        print(f"downloads: {size / 1e6:,.1f} MB removed; what is needed again is fetched again")
    if parsed.name is None:
        if not parsed.downloads:
            raise BadInput(
                f"nothing to remove was named: give a NAME ({paths.command('list')}), or --downloads"
            )
        return
    if not versions.remove(parsed.name):
        list_command = paths.command("list")
        raise MissingIndex(f"nothing named {parsed.name!r} is installed: {list_command} shows what is")
    say(f"{parsed.name}: removed")


def _make_builtin(parsed: argparse.Namespace) -> None:
    with closing(Bars()) as bars:
        if parsed.graph:
            manifest = renew_graph(parsed.law, parsed.folder, bars)
        else:
            manifest = make(parsed.law, parsed.folder, bars, parsed.written, same_encoder=parsed.same_encoder)
    size = sum(int(f["bytes"]) for f in manifest.files.values()) / 1e6
    say(f"{paths.BUILTIN}: {manifest.corpus['articles']:,} articles, {size:.1f} MB in {parsed.folder}")


def _check_builtin(parsed: argparse.Namespace) -> int:
    from indexes.digest.command import check_builtin

    with closing(Bars()) as bars:
        checked = check_builtin(parsed.law, parsed.folder, bars)
    _print(checked.lines(listed=parsed.list))
    return 0 if checked.settled.clean else 1


COMMANDS: Mapping[str, grammar.Command] = {
    "import": _import,
    "build": _build,
    "update": lambda parsed: _print(update.update_law(parsed)),
    "versions": lambda parsed: _print(update.versions(parsed)),
    "rollback": lambda parsed: _print(update.rollback(parsed)),
    "describe": _describe,
    "results": _results,
    "export": _export,
    "feedback": lambda parsed: _print(feedback.feedback(parsed)),
    "graph": lambda parsed: _print(graph.graph(parsed.name, parsed.graphml)),
    "list": _list,
    "check": _check,
    "audit": _audit,
    "verify": _verify,
    "bridge": _bridge,
    "postgres": lambda parsed: _print(qdrant.qdrant(parsed)),
    "qdrant": lambda parsed: _print(qdrant.qdrant(parsed)),
    "remove": _remove,
    "serve": serve,
    "mcp": serve_mcp,
    "make-builtin": _make_builtin,
    "check-builtin": _check_builtin,
}


if __name__ == "__main__":
    sys.exit(main())
