"""What a source is, and what several of them share."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path

from indexes.corpus import articles as articles_
from indexes.corpus import questions as questions_
from indexes.corpus.articles import read_articles
from indexes.corpus.card import FILE, CardOptions, parse_card, read_card, with_options
from indexes.corpus.corpus import (
    SYNTHETIC,
    Corpus,
    articles_file,
    counts,
    gathered,
    questions_file,
    split_synthetic,
)
from indexes.corpus.extras import Node
from indexes.corpus.questions import read_questions
from indexes.formats.jsonl import Record
from indexes.formats.validation import ImportReport, Inspection, SourceLocation
from rag.corpus.card import CorpusCard
from rag.errors import BadInput
from rag.types import Progress, no_progress

Recognise = Callable[[Path], bool]


def _never(path: Path) -> bool:
    return False


_CORPORA = tomllib.loads((files("indexes.sources") / "corpora.toml").read_text(encoding="utf-8"))


def card_of(name: str) -> CorpusCard:
    """Return the card of a published corpus."""
    record = dict(_CORPORA[name])
    if "law_date" in record:
        record["law_date"] = record["law_date"].isoformat()
    if "contacts" in record:
        record["contacts"] = _CORPORA["contacts"][record["contacts"]]
    return parse_card(record, name)


def published(name: str) -> Mapping[str, int]:
    """Return the counts that were published of a corpus."""
    counts: Mapping[str, int] = _CORPORA["published"][name]
    return counts


@dataclass(frozen=True, slots=True)
class Source:
    """A format or a published data set that law comes in."""

    summary: str  # one line for --help: what path it wants
    load: Callable[..., tuple[Corpus, ImportReport]]  # path, lenient, progress, own options, card
    published: Mapping[str, int] = field(default_factory=dict)  # counts to find; keys of `counts`
    counts: Callable[[Corpus], dict[str, int]] = counts
    recognises: Recognise = _never  # whether the files at a path are surely this source's
    nodes: Callable[..., tuple[Node, ...]] | None = None  # path, lenient: what else stands in the graph


def load_folder(
    path: Path,
    base: CorpusCard | None,
    card: CardOptions,
    *,
    inspection: Inspection,
    questions: str | None = None,
    progress: Progress = no_progress,
) -> tuple[Corpus, ImportReport]:
    """Load JSON Lines of the project's own keys: a folder, or the articles' file itself.

    Args:
        path: folder or file; the questions' file stands beside the articles'.
        base: the card where options say nothing; None asks for a language.
        card: what was typed of the card.
        inspection: told of bad lines.
        questions: name of the questions' file; None takes questions.jsonl if it is there.
        progress: called with bytes read and bytes in all, for each file.
    """
    folder, file = (path, None) if path.is_dir() else (path.parent, path)
    made = with_options(base, card, (folder if file is None else file).resolve().name.split(".")[0])
    articles = read_articles(file or articles_file(folder), inspection=inspection, progress=progress)
    questions_path = questions_file(folder, questions)
    found = (
        read_questions(questions_path, articles, inspection=inspection, progress=progress)
        if questions_path
        else ()
    )
    corpus = gathered(made, articles, found, inspection, folder if file is None else None)
    return corpus, inspection.report(len(articles), len(found))


def assembled(
    card: CorpusCard,
    articles: Iterable[tuple[SourceLocation, Record]],
    questions: Iterable[tuple[SourceLocation, Record]],
    inspection: Inspection,
    path: Path,
) -> tuple[Corpus, ImportReport]:
    """Make a corpus of records that have the project's own keys already.

    Args:
        card: of the corpus.
        articles: all of them are read before the first question is.
        questions: their gold articles are looked up among the articles.
        inspection: told of bad records.
        path: the articles' file, for the errors.

    Raises:
        BadInput: a record is bad and the inspection not lenient; or no article is left.
    """
    law = articles_.collect(articles, inspection, path)
    resolved = questions_.resolve(questions_.collect(questions, inspection), law, inspection)
    return gathered(card, law, resolved, inspection), inspection.report(len(law), len(resolved))


def chosen(splits: str, known: Sequence[str]) -> list[str]:
    """Return the splits that were typed with commas between them, each once.

    Raises:
        BadInput: one of them is unknown; the text lists those there are.
    """
    wanted = [split.strip() for split in splits.split(",") if split.strip()]
    unknown = [split for split in wanted if split not in known]
    if unknown:
        raise BadInput(f"no split {', '.join(unknown)}. Use some of: {', '.join(known)}.")
    return list(dict.fromkeys(wanted))


def first_file(folder: Path, names: Sequence[str], cure: str) -> Path:
    """Return the first of these files that a folder holds, as it is named or with .gz behind.

    Raises:
        BadInput: it holds none; `cure` ends the text.
    """
    for name in names:
        for file in (folder / name, folder / f"{name}.gz"):
            if file.is_file():
                return file
    raise BadInput(f"{folder}: no {' and no '.join(names)} in it. {cure}.")


def published_counts(corpus: Corpus) -> dict[str, int]:
    """Count as papers do: the synthetic questions apart from those that people asked."""
    human, written = split_synthetic(corpus.questions)
    found = counts(replace(corpus, questions=tuple(human), question_extras={}))
    if written:
        found[f"questions ({SYNTHETIC})"] = len(written)
    return found


def read_adjacent_card(path: Path) -> CorpusCard | None:
    """Return the card that lies in a folder, or beside a file; None where there is none."""
    file = (path if path.is_dir() else path.parent) / FILE
    return read_card(file) if file.is_file() else None
