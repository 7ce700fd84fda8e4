"""What `import` and `update` share: law is brought here, read, and becomes a corpus."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from indexes.cleaning.clean import ALL, clean, would_find
from indexes.cleaning.steps import RemovedArticle, read_removed, write_removed
from indexes.cli.arguments import CARD_OPTIONS
from indexes.cli.progress import Bars
from indexes.corpus import import_record
from indexes.corpus.corpus import Corpus, write
from indexes.download import resolve
from indexes.formats.validation import ImportReport
from indexes.shipped_questions import with_shipped_questions
from indexes.sources import registry
from indexes.store.paths import command
from rag.errors import BadInput


@dataclass(frozen=True, slots=True)
class ImportedCorpus:
    """An imported corpus and the report of reading it."""

    corpus: Corpus
    report: ImportReport
    source: str  # that read it: a key of `registry.SOURCES`
    found: Mapping[str, int]  # what papers count, of that which was read
    options: import_record.ImportOptions  # what an update needs to read the law in the same way
    attached: int = 0  # shipped questions
    cleaning: tuple[str, ...] = ()  # what was cleaned, or would be, in words
    removed: tuple[RemovedArticle, ...] = ()  # what cleaning took out

    def keep(self, place: Path) -> None:
        """Write the corpus folder."""
        write(self.corpus, place)
        write_removed(place, self.removed)
        import_record.write_import(place, self.options, self.corpus.sha256)

    def counts(self) -> dict[str, int]:
        """Return what papers count too, and how much was put beside it."""
        found = dict(self.found)
        if self.attached:
            found["shipped questions attached"] = self.attached
        if registry.SOURCES[self.source].nodes is not None:
            found["nodes kept apart"] = len(self.corpus.nodes)
        return found


def typed_card(parsed: argparse.Namespace) -> dict[str, object]:
    """Return the fields of the card that were typed."""
    fields = (name.replace("-", "_") for name in CARD_OPTIONS)
    return {field: value for field in fields if (value := getattr(parsed, field)) is not None}


def bring_in(parsed: argparse.Namespace, card: Mapping[str, object] | None = None) -> ImportedCorpus:
    """Bring law here and read it; it is not cleaned yet.

    What was typed of the card goes over that of the corpus that is there already.

    Raises:
        BadInput: the files cannot be used.
        FetchError: they cannot be fetched.
    """
    dataset = resolve.hub_dataset(parsed.path)
    if parsed.column and dataset is not None and dataset.source is not None and parsed.format is None:
        raise BadInput(  # before gigabytes are fetched
            f"{parsed.path} is read as it was published, and --column came: give one file of it, "
            f"hf://datasets/{dataset.id}/FILE (without /FILE the error lists those there are)"
        )
    with closing(Bars("B")) as bars:
        path, known, unpacked = resolve.bring(
            parsed.path, source=parsed.format, sha256=parsed.sha256, revision=parsed.revision, progress=bars
        )
    try:
        return _read(path, known, parsed, card or {})
    except BaseException:
        if unpacked is not None:  # of an archive that held no law nothing is left behind
            shutil.rmtree(unpacked, ignore_errors=True)
        raise


def _read(
    path: Path, known: str | None, parsed: argparse.Namespace, card: Mapping[str, object]
) -> ImportedCorpus:
    """Read the law that lies here."""
    name = known or _format(path, columns=bool(parsed.column))
    typed = typed_card(parsed)
    given = {**card, **typed, "column": parsed.column, **dict(map(_option, parsed.option))}
    try:
        with closing(Bars("B")) as bars:
            corpus, report = registry.load(
                name, path, lenient=parsed.lenient, name=parsed.name, progress=bars, **given
            )
    except BadInput as error:
        if known is not None or registry.recognise(path):
            raise
        cure = f"name it with --from ({command('import --help')} lists them)"
        raise BadInput(f"{error} The format was not recognised and taken for {name}: {cure}.") from error
    source = registry.SOURCES[name]
    if source.nodes is not None:
        corpus = replace(corpus, nodes=source.nodes(path, lenient=parsed.lenient))
    removed = read_removed(path) if name == "pandect" and path.is_dir() else ()  # by an earlier import
    options = import_record.import_options(parsed, name, typed)
    return ImportedCorpus(corpus, report, name, source.counts(corpus), options, removed=removed)


def prepared(imported: ImportedCorpus, parsed: argparse.Namespace) -> ImportedCorpus:
    """Clean the corpus, or only say what cleaning would be for, and attach the questions that ship, as typed.

    Its card must have the day of its law by then, and its questions must be there: what they cite stays.
    """
    corpus, removed = imported.corpus, imported.removed
    if parsed.clean:
        done = clean(corpus, parsed.clean)
        corpus, removed = done.corpus, (*removed, *done.removed)
        cleaning = tuple(tally.line() for tally in done.tallies)
    else:
        found = ", ".join(f"{kind} {n:,}" for kind, n in would_find(corpus).items())
        note = f"not cleaned; articles that --clean KIND, or --clean {ALL}, is for: {found}"
        cleaning = (note,) if found else ()
    whole = corpus if parsed.no_shipped_questions else with_shipped_questions(corpus)
    attached = len(whole.questions) - len(corpus.questions)
    return replace(imported, corpus=whole, attached=attached, cleaning=cleaning, removed=removed)


def _format(path: Path, *, columns: bool) -> str:
    """Return the format of what came; whoever names columns of a file has a table."""
    found = registry.recognise(path)
    if columns and (found is None or (path.is_file() and "column" not in registry.options(found))):
        return "table"
    return found or registry.detect(path)


def _option(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise BadInput(f"--option {text}: expected KEY=VALUE, such as --option questions=questions_dev.jsonl")
    return key.replace("-", "_"), value
