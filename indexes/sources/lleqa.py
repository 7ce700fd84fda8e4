"""LLeQA as published: Belgian law in French, questions with long answers, in JSON (Louis et al. 2024)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from indexes.corpus.corpus import Corpus
from indexes.formats.jsonl import Record, array, lines, records
from indexes.formats.validation import Inspection, SourceLocation
from indexes.sources import bsard
from indexes.sources.source import Reading, Records, Source, card_of, chosen, first_file, published
from indexes.sources.tags import NO_TAGS, chosen_tags, tagged
from rag.types import Progress, no_progress

CARD = card_of("lleqa")
# split -> the names its file has had, on the hub and in the authors' repository
FILES: Mapping[str, tuple[str, ...]] = {
    "train": ("questions_train.json",),
    "validation": ("questions_validation.json", "questions_dev.json"),
    "test": ("questions_test.json",),
}
_TAGS = ("regions", "topics")
_USED = ("article", "code", "article_no", "reference", "description", "law_type", *bsard.HEADINGS)


def read(
    path: Path, reading: Reading, *, splits: str = "train,validation,test", tags: str = NO_TAGS
) -> Corpus:
    """Read the folder of JSON files, each an array or JSON Lines.

    Paragraphs of articles, and the topics, regions and paragraph ids ("article§paragraph") of
    questions, are kept with the extra columns; the first topic is the question's category.

    `splits` names train, validation (or dev) and test, with commas; `tags`, if true, puts regions and
    topics in front of the question, or else the columns that it names.
    """
    law = _file(path, ("articles.json", "corpus.json"))
    articles = ((at, _article(record)) for at, record in objects(law, reading.inspection, reading.progress))
    questions = _questions(path, splits, chosen_tags(tags, _TAGS, _TAGS), reading)
    return reading.corpus(CARD, articles, questions, path=law)


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
    code, reference, number = record.get("code"), record.get("reference"), record.get("article_no")
    law_type: str | None
    law_type, region = "", None
    if isinstance(code, str):
        law_type, region = bsard.classify_law(code, _text(record, "law_type"))
        if not number and isinstance(reference, str):
            number = bsard.article_number(reference, code)
    headings = [heading for key in bsard.HEADINGS if (heading := _text(record, key))]
    paragraphs = record.get("paragraphs")
    if isinstance(paragraphs, Mapping) and all(isinstance(part, str) for part in paragraphs.values()):
        paragraphs = "\n".join(paragraphs.values())
    return {
        **{key: value for key, value in record.items() if key not in _USED},
        "code": code,
        "article_no": number or "",
        "text": record.get("article") or paragraphs,
        "headings": headings or list(filter(None, [_text(record, "description")])),
        "law_type": law_type,
        "region": region,
    }


def _questions(folder: Path, splits: str, tags: Sequence[str], reading: Reading) -> Records:
    typed = ",".join("validation" if split.strip() == "dev" else split for split in splits.split(","))
    for split in chosen(typed, list(FILES)):
        file = _file(folder, FILES[split])
        for place, record in objects(file, reading.inspection, reading.progress):
            topics, gold = record.get("topics"), record.get("article_ids")
            first = topics[0] if isinstance(topics, list) and topics else topics
            made = {
                "question": tagged(record, tags),
                "article_ids": gold if gold is None else bsard.parse_ids(gold),
                "category": first if isinstance(first, str) else None,
                "split": split,
            }
            yield place, {**record, **made}


def _file(folder: Path, names: tuple[str, ...]) -> Path:
    spelt = [spelling for name in names for spelling in (name, f"{name}l")]  # an array, or JSON Lines
    return first_file(folder, spelt, "Give the folder of LLeQA's JSON files")


def _text(record: Record, key: str) -> str:
    value = record.get(key)
    return value.strip() if isinstance(value, str) else ""


def _recognises(path: Path) -> bool:
    return (path / "articles.json").is_file() and any(
        (path / name).is_file() for names in FILES.values() for name in names
    )


SOURCE = Source("the folder of LLeQA's JSON files", read, published("lleqa"), recognises=_recognises)
