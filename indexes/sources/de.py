"""Eight German codes for measuring; no questions."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from indexes.corpus.card import CardOptions
from indexes.corpus.corpus import ARTICLES, Corpus
from indexes.formats.validation import ImportReport, Inspection
from indexes.sources.source import Source, card_of, load_folder, published
from rag.types import Progress, no_progress

CARD = card_of("de")
PUBLISHED = published("de")


def load(
    path: Path, *, lenient: bool = False, progress: Progress = no_progress, **card: Unpack[CardOptions]
) -> tuple[Corpus, ImportReport]:
    """Load the folder: articles.jsonl.gz."""
    inspection = Inspection(lenient=lenient)
    return load_folder(path, CARD, card, inspection=inspection, progress=progress)


def _recognises(path: Path) -> bool:
    return path.name == "de" and (path / ARTICLES[0]).is_file()


SOURCE = Source("the measuring folder of German codes", load, PUBLISHED, recognises=_recognises)
