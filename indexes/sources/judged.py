"""What BEIR and TREC share: queries apart from their judgements, and columns that only we have written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from indexes.formats.jsonl import Record
from indexes.formats.trec import judgements
from indexes.formats.validation import Inspection
from indexes.sources.source import Records

# How files name the splits that nothing may learn from -> what they are called here.
_HELD_OUT = {"test": "test", "dev": "dev"} | dict.fromkeys(("val", "valid", "validation"), "validation")


def split_name(stem: str) -> str:
    """Return the split that a file of judgements is named by: "dev.small" is dev, "test-2019" is test."""
    words = re.split(r"[._\- ]", stem.casefold())
    return next((_HELD_OUT[word] for word in words if word in _HELD_OUT), stem)


def questions(
    queries: Records,
    files: Iterable[tuple[str, Path]],
    inspection: Inspection,
    more: Mapping[str, Record] | None = None,
) -> Records:
    """Return the judged queries as records of the project's own keys; the others are left out.

    Judgements are read at once, so that a bad line is told before a collection is read. Each file comes
    with its split; a question is of the first one that knows it. `more` has, by id, what our own export
    wrote of a question besides: one named there is taken without judgements too.
    """
    splits: dict[str, str] = {}
    gold: dict[str, dict[str, None]] = {}  # ids of articles with a grade of 1 or more, in the file's order
    for split, path in files:
        for _, judged in judgements(path, inspection):
            splits.setdefault(judged.question_id, split)
            found = gold.setdefault(judged.question_id, {})
            if judged.grade > 0:
                found[judged.article_id] = None
    return _known_queries(queries, splits, gold, more or {})


def _known_queries(
    queries: Records, splits: Mapping[str, str], gold: Mapping[str, Iterable[str]], more: Mapping[str, Record]
) -> Records:
    for place, record in queries:
        id_ = str(record.get("id"))
        if id_ in gold or id_ in more or "article_ids" in record:
            known = {"split": splits[id_]} if id_ in splits else {}
            ids = list(gold.get(id_, ()))
            yield place, {**known, **record, **more.get(id_, {}), "article_ids": ids}
