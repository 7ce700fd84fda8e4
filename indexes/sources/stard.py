"""STARD as rebuilt for measuring: Chinese national law of mid-2023 and 1,235 lay questions."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from indexes.corpus.card import CardOptions
from indexes.corpus.corpus import Corpus
from indexes.formats.validation import ImportReport, Inspection
from indexes.sources.source import Source, card_of, load_folder, published
from rag.types import Progress, no_progress

CARD = card_of("stard")
PUBLISHED = published("stard")


def load(
    path: Path, *, lenient: bool = False, progress: Progress = no_progress, **card: Unpack[CardOptions]
) -> tuple[Corpus, ImportReport]:
    """Load the folder: articles.jsonl.gz and questions_train.jsonl.

    The column stard_id is kept with the extra columns, which nothing searches: it is filled for gold
    articles only, so it would give them away.
    """
    inspection = Inspection(lenient=lenient)
    questions_file = "questions_train.jsonl"
    return load_folder(path, CARD, card, inspection=inspection, questions=questions_file, progress=progress)


def _recognises(path: Path) -> bool:
    return path.name == "stard" and (path / "questions_train.jsonl").is_file()


SOURCE = Source("the measuring folder of STARD", load, PUBLISHED, recognises=_recognises)
