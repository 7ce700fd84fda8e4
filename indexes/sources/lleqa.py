"""LLeQA as published: Belgian law in French, questions with long answers, in JSON (Louis et al. 2024)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Unpack

from indexes.corpus.card import CardOptions, with_options
from indexes.corpus.corpus import Corpus
from indexes.formats.jsonl import Record, array, lines, records
from indexes.formats.validation import ImportReport, Inspection, SourceLocation
from indexes.sources import bsard
from indexes.sources.source import Source, assembled, card_of, chosen, first_file, published
from indexes.sources.tags import NONE as NO_TAGS
from indexes.sources.tags import chosen_tags, tagged
from rag.types import Progress, no_progress

CARD = card_of("lleqa")
PUBLISHED = published("lleqa")
# split -> the names its file has had, on the hub and in the authors' repository
FILES: Mapping[str, tuple[str, ...]] = {
    "train": ("questions_train.json",),
    "validation": ("questions_validation.json", "questions_dev.json"),
    "test": ("questions_test.json",),
}
TAGS = ("regions", "topics")
_ARTICLES = ("articles.json", "corpus.json")
_USED = ("article", "code", "article_no", "reference", "description", "law_type", *bsard.HEADINGS)


def load(
    path: Path,
    *,
    lenient: bool = False,
    progress: Progress = no_progress,
    splits: str = "train,validation,test",
    tags: str = NO_TAGS,
    **card: Unpack[CardOptions],
) -> tuple[Corpus, ImportReport]:
    """Load the folder of JSON files, each an array or JSON Lines.

    Paragraphs of articles, and the topics, regions and paragraph ids ("article§paragraph") of
    questions, are kept with the extra columns; the first topic is the question's category.

    Args:
        path: the folder.
        lenient: skip and count bad records.
        progress: called with bytes read and bytes in all, for each file.
        splits: which questions, of train, validation (or dev) and test, with commas.
        tags: true puts regions and topics in front of the question; or the columns to put there.
        card: what the card shall say instead.
    """
    inspection = Inspection(lenient=lenient)
    file = _file(path, _ARTICLES)
    found = objects(file, inspection, progress)
    articles = ((place, _article(record)) for place, record in found)
    questions = _questions(path, splits, chosen_tags(tags, TAGS, TAGS), inspection, progress)
    return assembled(with_options(CARD, card, CARD.name), articles, questions, inspection, file)


def objects(
    path: Path, inspection: Inspection, progress: Progress = no_progress
) -> Iterator[tuple[SourceLocation, Record]]:
    """Yield the objects of a file that is one JSON array or JSON Lines, told apart by its first character."""
    first = next(
        (line.lstrip()[:1] for _, line in lines(path, Inspection(lenient=True)) if line.strip()), b""
    )
    if first == b"[":
        return array(path, inspection, progress)
    return records(path, inspection, progress)


def _article(record: Record) -> Record:
    """Name the columns as the project does; values of another type are left for the check of all articles."""
    code, reference = record.get("code"), record.get("reference")
    law_type, region = (
        bsard.classify_law(code, _text(record, "law_type")) if isinstance(code, str) else ("", None)
    )
    numbered = isinstance(code, str) and isinstance(reference, str)
    headings = [heading for key in bsard.HEADINGS if (heading := _text(record, key))]
    if not headings and _text(record, "description"):
        headings = [_text(record, "description")]
    return {
        **{key: value for key, value in record.items() if key not in _USED},
        "code": code,
        "article_no": record.get("article_no")
        or (bsard.article_number(str(reference), str(code)) if numbered else ""),
        "text": record.get("article") or _joined(record.get("paragraphs")),
        "headings": headings,
        "law_type": law_type,
        "region": region,
    }


def _questions(
    folder: Path, splits: str, tags: Sequence[str], inspection: Inspection, progress: Progress
) -> Iterator[tuple[SourceLocation, Record]]:
    typed = ",".join("validation" if split.strip() == "dev" else split for split in splits.split(","))
    for split in chosen(typed, list(FILES)):
        for place, record in objects(_file(folder, FILES[split]), inspection, progress):
            topics = record.get("topics")
            first = topics[0] if isinstance(topics, list) and topics else topics
            gold = record.get("article_ids")
            yield (
                place,
                {
                    **record,
                    "question": tagged(record, tags),
                    "article_ids": gold if gold is None else bsard.parse_ids(gold),
                    "category": first if isinstance(first, str) else None,
                    "split": split,
                },
            )


def _file(folder: Path, names: tuple[str, ...]) -> Path:
    spelt = [spelling for name in names for spelling in (name, f"{name}l")]  # an array, or JSON Lines
    return first_file(folder, spelt, "Give the folder of LLeQA's JSON files")


def _text(record: Record, key: str) -> str:
    value = record.get(key)
    return value.strip() if isinstance(value, str) else ""


def _joined(paragraphs: object) -> object:
    """Return the text of paragraphs {"1": text, ...}; what is no such object is left for the check."""
    if isinstance(paragraphs, Mapping) and all(isinstance(part, str) for part in paragraphs.values()):
        return "\n".join(paragraphs.values())
    return paragraphs


def _recognises(path: Path) -> bool:
    return (path / "articles.json").is_file() and any(
        (path / name).is_file() for names in FILES.values() for name in names
    )


SOURCE = Source("the folder of LLeQA's JSON files", load, PUBLISHED, recognises=_recognises)
