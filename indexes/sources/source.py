"""What a source is, and what several of them share."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias

from indexes.corpus import articles as articles_
from indexes.corpus import questions as questions_
from indexes.corpus.card import FILE, CardOptions, parse_card, read_card, with_options
from indexes.corpus.corpus import SYNTHETIC, Corpus, counts, gathered, split_synthetic
from indexes.formats.jsonl import Record
from indexes.formats.validation import Inspection, SourceLocation
from rag.corpus.card import CorpusCard
from rag.errors import BadInput
from rag.graph.graph import Node
from rag.types import Progress

Records: TypeAlias = Iterable[tuple[SourceLocation, Record]]

_CORPORA = tomllib.loads((files("indexes.sources") / "corpora.toml").read_text(encoding="utf-8"))


def card_of(name: str) -> CorpusCard:
    """Return the card of a published corpus."""
    record = dict(_CORPORA[name])
    if "contacts" in record:
        record["contacts"] = _CORPORA["contacts"][record["contacts"]]
    return parse_card(record, name)


def published(name: str) -> Mapping[str, int]:
    """Return the counts that were published of a corpus."""
    counts: Mapping[str, int] = _CORPORA["published"][name]
    return counts


@dataclass(frozen=True, slots=True)
class Reading:
    """One import: where bad records go, who hears how far it is, and what was typed of the card."""

    inspection: Inspection
    progress: Progress  # called with bytes (of Parquet: rows) read and in all, for each file
    card: CardOptions

    def corpus(
        self, base: CorpusCard | str, articles: Records, questions: Records = (), *, path: Path
    ) -> Corpus:
        """Make a corpus of records that have the project's own keys already.

        All articles are read before the first question is, whose gold articles are looked up among them.
        `base` is the card where nothing was typed, or the name of a corpus that has none; `path` is that of
        the articles, for the errors.

        Raises:
            BadInput: a record is bad and the inspection not lenient; or no article is left.
        """
        card = with_options(base, self.card)
        law = articles_.collect(articles, self.inspection, path)
        resolved = questions_.resolve(questions_.collect(questions, self.inspection), law, self.inspection)
        return gathered(card, law, resolved, self.inspection)


@dataclass(frozen=True, slots=True)
class Source:
    """A format or a published data set that law comes in."""

    summary: str  # one line for --help: what path it wants
    read: Callable[..., Corpus]  # path, reading; what is keyword-only are the source's own options
    published: Mapping[str, int] = field(default_factory=dict)  # counts to find; keys of `counts`
    counts: Callable[[Corpus], dict[str, int]] = counts
    recognises: Callable[[Path], bool] = lambda path: False  # whether files are surely this source's
    nodes: Callable[..., tuple[Node, ...]] | None = None  # path, lenient: what else stands in the graph


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


def first_file(folder: Path, names: Sequence[str], cure: str, below: Sequence[str] = (".",)) -> Path:
    """Return the first of these files in a folder, or in those `below` it, as named or with .gz behind.

    Raises:
        BadInput: it holds none; `cure` ends the text.
    """
    for name in names:
        for part in below:
            for file in (folder / part / name, folder / part / f"{name}.gz"):
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
