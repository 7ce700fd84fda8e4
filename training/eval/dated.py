"""Measuring the law in force on a day: which articles are searched, and what gold is lost by it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from indexes.corpus.corpus import Corpus
from rag.errors import BadInput
from rag.types import Filter, Question, in_force


def searched(corpus: Corpus, day: date | None) -> Filter | None:
    """Return the filter that leaves the law in force on a day; None without a day.

    Raises:
        BadInput: no article of the corpus says from when to when it is in force.
    """
    if day is None:
        return None
    if not any(article.valid_from or article.valid_to for article in corpus.articles):
        raise BadInput(
            f"no article of {corpus.card.name} has valid_from or valid_to: leave --in-force-on away, or "
            "import a corpus with dates"
        )
    return Filter(in_force_on=day)


def lost_gold(corpus: Corpus, questions: Sequence[Question], day: date) -> int:
    """Count the questions of which some gold article is not in force on a day, and so cannot be found."""
    held = {article.id for article in corpus.articles if in_force(article, day)}
    return sum(any(id_ not in held for id_ in question.article_ids) for question in questions)


def told(corpus: Corpus, questions: Sequence[Question], day: date) -> str:
    """Return the line that says what was searched."""
    held = sum(in_force(article, day) for article in corpus.articles)
    lost = lost_gold(corpus, questions, day)
    said = f"law in force on {day.isoformat()}: {held:,} of {len(corpus.articles):,} articles"
    return f"{said}; {lost} questions have gold articles that are not among them" if lost else said


def about(day: date | None) -> dict[str, str]:
    """Return what a result file says of the day; nothing without one."""
    return {} if day is None else {"in_force_on": day.isoformat()}
