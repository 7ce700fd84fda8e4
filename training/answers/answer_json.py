"""An answer as JSON and back, for the file of replies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from rag.answer.types import (
    Answer,
    Ending,
    Fault,
    Passage,
    Passed,
    Quote,
    Removed,
    Statement,
    Trimmed,
    Usage,
)


def to_json(answer: Answer) -> dict[str, Any]:
    """Return everything of an answer, of JSON's types."""
    return asdict(answer)


def from_json(record: Mapping[str, Any]) -> Answer:
    """Return the answer that `to_json` wrote; fields of plain values may come and go between the two."""
    plain = {f.name: record[f.name] for f in fields(Answer) if f.name in record}
    made: dict[str, Any] = {
        "ending": Ending(record["ending"]),
        "sentences": tuple(
            Passed(s["text"], tuple(s["article_ids"]), tuple(Passage(**p) for p in s["passages"]))
            for s in record["sentences"]
        ),
        "missing": tuple(record["missing"]),
        "removed": tuple(
            Removed(_statement(r["statement"]), tuple(Fault(f) for f in r["faults"]))
            for r in record["removed"]
        ),
        "trimmed": tuple(Trimmed(**t) for t in record["trimmed"]),
        "left_out": tuple(record["left_out"]),
        "usage": Usage(**record["usage"]),
    }
    return Answer(**(plain | made))


def _statement(record: Mapping[str, Any]) -> Statement:
    quotes = tuple(Quote(**q) for q in record["quotes"])
    return Statement(record["text"], tuple(record["article_ids"]), quotes)
