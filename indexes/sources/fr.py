"""Eight French codes for measuring, and 70 questions of citizens from service-public.fr."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from indexes.corpus.card import CardOptions
from indexes.corpus.corpus import Corpus
from indexes.formats.validation import ImportReport, Inspection
from indexes.sources.source import Source, card_of, load_folder, published
from rag.types import Progress, no_progress

CARD = card_of("fr")
PUBLISHED = published("fr")


def load(
    path: Path, *, lenient: bool = False, progress: Progress = no_progress, **card: Unpack[CardOptions]
) -> tuple[Corpus, ImportReport]:
    """Load the folder: articles.jsonl.gz and questions_dev.jsonl."""
    inspection = Inspection(lenient=lenient)
    questions_file = "questions_dev.jsonl"
    return load_folder(path, CARD, card, inspection=inspection, questions=questions_file, progress=progress)


def _recognises(path: Path) -> bool:
    return path.name == "fr" and (path / "questions_dev.jsonl").is_file()


SOURCE = Source("the measuring folder of French codes", load, PUBLISHED, recognises=_recognises)
