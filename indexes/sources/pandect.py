"""The project's own format: a folder with articles.jsonl(.gz) and, if there is one, its card.json."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from indexes.corpus.card import FILE, CardOptions, read_card
from indexes.corpus.corpus import Corpus
from indexes.formats.validation import ImportReport, Inspection
from indexes.sources.source import Source, load_folder
from rag.types import Progress, no_progress


def load(
    path: Path,
    *,
    lenient: bool = False,
    progress: Progress = no_progress,
    questions: str | None = None,
    **card: Unpack[CardOptions],
) -> tuple[Corpus, ImportReport]:
    """Load a folder, or an articles.jsonl(.gz) by itself; without a card.json the language must be given.

    Args:
        path: the folder or the file.
        lenient: skip and count bad lines.
        progress: called with bytes read and bytes in all, for each file.
        questions: name of the questions' file beside the articles; None takes questions.jsonl if it is there.
        card: what the card shall say instead.
    """
    described = path if path.is_dir() else path.parent
    base = read_card(described / FILE) if (described / FILE).is_file() else None
    inspection = Inspection(lenient=lenient)
    return load_folder(path, base, card, inspection=inspection, questions=questions, progress=progress)


def _recognises(path: Path) -> bool:
    return (path / FILE).is_file()


SOURCE = Source("a folder with articles.jsonl(.gz), or that file itself", load, recognises=_recognises)
