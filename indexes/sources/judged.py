"""What BEIR and TREC share: queries apart from their judgements, and columns that only we have written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from indexes.formats.jsonl import Record
from indexes.formats.trec import judgements
from indexes.formats.validation import Inspection, SourceLocation

Gold: TypeAlias = Mapping[str, "JudgedQuestion"]  # question id -> its judgements

# How files name the splits that nothing may learn from -> what they are called here.
_HELD_OUT: Mapping[str, str] = MappingProxyType(
    {"test": "test", "dev": "dev", "val": "validation", "valid": "validation", "validation": "validation"}
)


class JudgedQuestion(NamedTuple):
    """What was judged of one question."""

    split: str  # the name of the file of judgements
    article_ids: list[str]  # those with a grade of 1 or more, in the order of the file


def split_name(stem: str) -> str:
    """Return the split that a file of judgements is named by: "dev.small" is dev, "test-2019" is test."""
    words = re.split(r"[._\- ]", stem.casefold())
    return next((_HELD_OUT[word] for word in words if word in _HELD_OUT), stem)


def gold(files: Iterable[tuple[str, Path]], inspection: Inspection) -> Gold:
    """Read files of judgements, each with its split; a question is of the first file that knows it.

    Raises:
        BadInput: a line is bad and the inspection is not lenient.
    """
    found: dict[str, JudgedQuestion] = {}
    for split, path in files:
        for _, judged in judgements(path, inspection):
            of = found.setdefault(judged.question_id, JudgedQuestion(split, []))
            if judged.grade > 0:
                of.article_ids.append(judged.article_id)
    return found


def questions(
    queries: Iterable[tuple[SourceLocation, Record]], found: Gold, records: Mapping[str, Record] | None = None
) -> Iterator[tuple[SourceLocation, Record]]:
    """Yield the judged queries as records of the project's own keys; the others are left out.

    Args:
        queries: with id and question.
        found: their judgements.
        records: id -> what our own export wrote of a question besides; a question named there is
            taken without judgements too.
    """
    records = records or {}
    for place, record in queries:
        id_ = str(record.get("id"))
        judged = found.get(id_)
        if judged is None and id_ not in records and "article_ids" not in record:
            continue
        split = {"split": judged.split} if judged else {}
        ids = list(dict.fromkeys(judged.article_ids)) if judged else []
        yield place, {**split, **record, **records.get(id_, {}), "article_ids": ids}
