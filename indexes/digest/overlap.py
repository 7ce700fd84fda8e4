"""How much of a question stands in the words of the law: what a layperson says, the law says otherwise.

Questions written with the law at hand share its words, and make every lexical system look good. So
the share is reported for the test questions that ship beside that of questions which citizens asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

from rag.errors import BadInput
from rag.types import Question

Terms = Callable[[str], Iterable[str]]


def shared(question: str, texts: Iterable[str], terms: Terms) -> float | None:
    """Return the share of a question's distinct content terms that stand in any of the texts, 0 to 1.

    Args:
        question: as it was asked.
        texts: official texts of the articles that answer it.
        terms: cuts a text into content terms; an analyser's `terms`.

    Returns:
        None for a question of stop words alone.
    """
    asked = set(terms(question))
    if not asked:
        return None
    return len(asked & {term for text in texts for term in terms(text)}) / len(asked)


def mean_shared(questions: Sequence[Question], texts: Mapping[str, str], terms: Terms) -> float:
    """Return the mean share over the questions with gold articles.

    Args:
        questions: those without gold are passed over.
        texts: article id -> official text.
        terms: as for `shared`.

    Raises:
        BadInput: no question has gold articles and a content term.
    """
    shares = [
        share
        for question in questions
        if question.article_ids
        and (share := shared(question.text, (texts[i] for i in question.article_ids), terms)) is not None
    ]
    if not shares:
        raise BadInput("no question with gold articles: give questions that the law answers")
    return fmean(shares)
