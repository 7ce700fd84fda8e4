"""How often the page rightly says that another law governs a question, and how often wrongly."""

from __future__ import annotations

from collections.abc import Sequence

from rag.engine.engine import Engine
from rag.types import Question

ANSWERABLE = "answerable"


def notices(engine: Engine, questions: Sequence[Question]) -> dict[str, dict[str, int]]:
    """Count, by kind of question, those for which a topic of another law is shown.

    Args:
        engine: the opened index.
        questions: with gold articles ("answerable"), or without and then by their category.

    Returns:
        Kind -> {"questions": how many, "told": for how many the notice is shown}.
    """
    counts: dict[str, dict[str, int]] = {}
    for question in questions:
        kind = ANSWERABLE if question.article_ids else question.category or "unanswerable"
        row = counts.setdefault(kind, {"questions": 0, "told": 0})
        row["questions"] += 1
        row["told"] += bool(engine.ask(question.text, k=1).elsewhere)
    return counts
