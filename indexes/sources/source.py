"""What a source is, and what several of them share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from indexes.articles import read_articles
from indexes.card import FILE, CardOptions, read_card, with_options
from indexes.corpus import Corpus, articles_file, counts, gathered, questions_file
from indexes.inspection import ImportReport, Inspection
from indexes.jsonl import Progress
from indexes.nodes import Node
from indexes.questions import read_questions
from rag.card import CorpusCard

Recognise = Callable[[Path], bool]


def _never(path: Path) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Source:
    """A format or a published data set that law comes in."""

    summary: str  # one line for --help: what path it wants
    load: Callable[..., tuple[Corpus, ImportReport]]  # path, lenient, progress, own options, card
    published: Mapping[str, int] = field(default_factory=dict)  # counts to find; keys of `counts`
    counts: Callable[[Corpus], dict[str, int]] = counts
    recognises: Recognise = _never  # whether the files at a path are surely this source's
    nodes: Callable[[Path], tuple[Node, ...]] | None = None  # what else stands in the graph, if anything does


def load_folder(
    path: Path,
    base: CorpusCard | None,
    card: CardOptions,
    *,
    inspection: Inspection,
    questions: str | None = None,
    progress: Progress | None = None,
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
    asked = questions_file(folder, questions)
    found = read_questions(asked, articles, inspection=inspection, progress=progress) if asked else ()
    corpus = gathered(made, articles, found, inspection, folder if file is None else None)
    return corpus, inspection.report(len(articles), len(found))


def card_beside(path: Path) -> CorpusCard | None:
    """Return the card that lies in a folder, or beside a file; None where there is none."""
    file = (path if path.is_dir() else path.parent) / FILE
    return read_card(file) if file.is_file() else None
