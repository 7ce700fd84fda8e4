"""The project's own format: a folder with articles.jsonl(.gz) and, if there is one, its card.json.

The folders for measuring are of it too; their cards and the names of their questions' files are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from indexes.corpus import corpus as corpus_
from indexes.corpus.card import FILE, with_options
from indexes.corpus.corpus import ARTICLES, Corpus
from indexes.sources.source import Reading, Source, card_of, published, read_adjacent_card
from rag.corpus.card import CorpusCard


def read(path: Path, reading: Reading, *, questions: str | None = None) -> Corpus:
    """Read a folder, or an articles.jsonl(.gz) by itself; without a card.json the language must be given.

    `questions` names the questions' file beside the articles; None takes questions.jsonl if it is there.
    """
    base = read_adjacent_card(path) or path.resolve().name.split(".")[0]
    return _read(path, with_options(base, reading.card), reading, questions)


def _read(path: Path, card: CorpusCard, reading: Reading, questions: str | None) -> Corpus:
    inspection, progress = reading.inspection, reading.progress
    return corpus_.read(path, card=card, inspection=inspection, questions=questions, progress=progress)


def _measuring(name: str, questions: str | None, summary: str) -> Source:
    def read(path: Path, reading: Reading) -> Corpus:
        return _read(path, with_options(card_of(name), reading.card), reading, questions)

    def recognises(path: Path) -> bool:
        return path.name.replace("_", "-") == name and (path / (questions or ARTICLES[0])).is_file()

    return Source(summary, read, published(name), recognises=recognises)


SOURCE = Source(
    "a folder with articles.jsonl(.gz), or that file itself",
    read,
    recognises=lambda path: (path / FILE).is_file(),
)
MEASURING: Mapping[str, Source] = MappingProxyType(
    {
        # Its column stard_id stays with the extra ones, which nothing searches: it is filled for gold
        # articles only, so it would give them away.
        "stard": _measuring("stard", "questions_train.jsonl", "the measuring folder of STARD"),
        "fr": _measuring("fr", "questions_dev.jsonl", "the measuring folder of French codes"),
        # Columns that tell how a label was made (coverage, outside, source, date) stay extra ones too.
        "fr-everyday": _measuring(
            "fr-everyday", "questions_dev.jsonl", "the measuring folder of French everyday law"
        ),
        "de": _measuring("de", None, "the measuring folder of German codes"),
    }
)
