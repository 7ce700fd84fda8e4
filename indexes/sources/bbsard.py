"""bBSARD as published: Belgian law and citizens' questions in French and in Dutch (Lotfi et al. 2025)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Unpack

from indexes.corpus.card import CardOptions, with_options
from indexes.corpus.corpus import Corpus
from indexes.formats.csv import rows
from indexes.formats.jsonl import Record
from indexes.formats.validation import ImportReport, Inspection, SourceLocation
from indexes.sources import bsard
from indexes.sources.source import Source, assembled, card_of, chosen, published
from indexes.sources.tags import NONE as NO_TAGS
from indexes.sources.tags import chosen_tags
from rag.errors import BadInput
from rag.types import Progress, no_progress

CARDS = {language: card_of(f"bbsard-{language}") for language in ("fr", "nl")}
PUBLISHED = published("bbsard")
SPLITS = ("train", "test")


def load(
    path: Path,
    *,
    lenient: bool = False,
    progress: Progress = no_progress,
    splits: str = "train,test",
    tags: str = NO_TAGS,
    **card: Unpack[CardOptions],
) -> tuple[Corpus, ImportReport]:
    """Load one language: the folder fr or nl, or the folder of both with the language given.

    Args:
        path: the folder.
        lenient: skip and count bad rows.
        progress: called with bytes read and bytes in all, for each file.
        splits: which questions, of train and test, with commas.
        tags: what goes in front of the question: see `bsard.load`.
        card: what the card shall say instead; its language chooses the folder.
    """
    folder, language = _folder(path, card.get("language"))
    inspection = Inspection(lenient=lenient)
    file = folder / "corpus.csv"
    found = rows(file, inspection, required=("id", "article"), progress=progress)
    articles = ((place, _article(row)) for place, row in found)
    questions = _questions(folder, splits, chosen_tags(tags, bsard.TAGS, bsard.TAG_COLUMNS), inspection)
    made = with_options(CARDS[language], card, CARDS[language].name)
    return assembled(made, articles, questions, inspection, file)


def _folder(path: Path, language: str | None) -> tuple[Path, str]:
    """Return the folder of one language and the language."""
    here = (path / "corpus.csv").is_file()
    wanted = language or (path.resolve().name if here else None)
    if wanted is None or wanted not in CARDS:
        came = f"the language is {language!r}" if language else f"{path} does not tell the language"
        raise BadInput(f"{came}. Pass --language fr or --language nl.")
    folder = path if here else path / wanted
    if not (folder / "corpus.csv").is_file():
        raise BadInput(
            f"{folder}: no corpus.csv in it. Give the folder that holds fr and nl, or one of them."
        )
    return folder, wanted


def _article(row: Record) -> Record:
    """Read a row as BSARD's; where no column names the code, the reference does, behind its first comma."""
    code = str(row.get("code") or "").strip()
    if not code:
        code = str(row.get("reference") or row.get("description") or "").partition(",")[2].strip()
    return bsard.article_record({**row, "code": code})


def _questions(
    folder: Path, splits: str, tags: Sequence[str], inspection: Inspection
) -> Iterator[tuple[SourceLocation, Record]]:
    for split in chosen(splits, SPLITS):
        file = folder / f"{split}.csv"
        for place, row in rows(file, inspection, required=("id", "question", "article_ids")):
            yield place, bsard.question_record(row, split, tags)


def _recognises(path: Path) -> bool:
    names = ("corpus.csv", "train.csv", "test.csv")
    return any(
        all((folder / name).is_file() for name in names) for folder in (path, path / "fr", path / "nl")
    )


SOURCE = Source("the folder of bBSARD, with --language fr or nl", load, PUBLISHED, recognises=_recognises)
