"""Which questions a model learnt from, kept as hashes of their texts: so nobody measures it on them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from rag.types import Question

FILE = "learnt.json"


def key(question: Question) -> str:
    """Return the hash of a question's text, case and blanks aside; 64 bits are enough to tell them apart."""
    flat = " ".join(question.text.casefold().split())
    return hashlib.sha256(flat.encode("utf-8", "replace")).hexdigest()[:16]


def keys(questions: Iterable[Question]) -> frozenset[str]:
    """Return the hashes of questions."""
    return frozenset(map(key, questions))


def digest(questions: Iterable[Question]) -> str:
    """Return a hash of questions with their gold articles and parts, in whatever order."""
    records = sorted([q.text, sorted(q.article_ids), q.split or ""] for q in questions)
    return hashlib.sha256(json.dumps(records, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()


def write(folder: Path, questions: Iterable[Question], earlier: frozenset[str] = frozenset()) -> None:
    """Write the hashes into a folder, with those of what the model had learnt before."""
    (folder / FILE).write_text(json.dumps(sorted(keys(questions) | earlier)) + "\n", encoding="utf-8")


def read(folder: Path) -> frozenset[str]:
    """Read what `write` wrote."""
    return frozenset(json.loads((folder / FILE).read_text(encoding="utf-8")))
