"""Writers that behave: good, lying, slow, breaking, refusing; and a check that only knows ids and quotes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from rag.answer.types import (
    Answer,
    ClaimPart,
    Ending,
    Event,
    Fault,
    Passage,
    Quote,
    Refusal,
    RejectedSentence,
    Statement,
    Usage,
    WritingStarted,
)  # fmt: skip
from rag.types import Article, Question
from training.answers.contexts import Context

Piece = Statement | Refusal
Script = Callable[[str, Sequence[Article]], list[Piece]]

ARTICLES = (
    Article(
        "a1", "Code civil", "1", "Le locataire paie le loyer. Il use de la chose en bon père de famille."
    ),
    Article("a2", "Code civil", "2", "Le bailleur délivre la chose. Il l'entretient."),
    Article("a3", "Code civil", "3", "Le vendeur garantit la chose."),
)


def context(
    question: str = "q1", gold: Sequence[str] = ("a1",), articles: Sequence[Article] = ARTICLES
) -> Context:
    return Context(Question(question, f"Question {question} ?", tuple(gold)), "hybrid", tuple(articles))


def check(statement: Statement, articles: Sequence[Article]) -> ClaimPart | RejectedSentence:
    """Let through what cites shown articles and quotes them word for word."""
    by_id = {a.id: a for a in articles}
    if not statement.article_ids:
        return RejectedSentence(statement, (Fault.UNCITED,))
    if not set(statement.article_ids) <= set(by_id):
        return RejectedSentence(statement, (Fault.NOT_SHOWN,))
    places = [(q.article_id, by_id[q.article_id].text.find(q.text), len(q.text)) for q in statement.quotes]
    if any(at < 0 for _, at, _ in places):
        return RejectedSentence(statement, (Fault.ALTERED,))
    found = tuple(Passage(i, at, at + length) for i, at, length in places)
    return ClaimPart(statement.text, statement.article_ids, found, verified=True)


class Scripted:
    """Writes what a script says, through the check, as a model's writer does."""

    def __init__(self, script: Script, *, ending: Ending | None = None, slow: float = 0.0) -> None:
        self.script, self.ending, self.slow = script, ending, slow
        self.asked: list[str] = []
        self.name = "scripted"

    def write(self, question: str, articles: Sequence[Article], language: str) -> Iterator[Event]:
        self.asked.append(question)
        passed: list[ClaimPart] = []
        removed: list[RejectedSentence] = []
        refused = False
        yield WritingStarted()
        time.sleep(self.slow)
        for piece in self.script(question, articles):
            if isinstance(piece, Refusal):
                refused = True
                continue
            checked = check(piece, articles)
            if isinstance(checked, ClaimPart):
                passed.append(checked)
                yield checked
            else:
                removed.append(checked)
        usual = Ending.REFUSED if refused else Ending.WRITTEN if passed else Ending.EMPTY
        yield Answer(
            self.ending or usual, tuple(passed), removed=tuple(removed), model=self.name,
            usage=Usage(self.slow, 100, 20), reason="broke" if self.ending else "",
        )  # fmt: skip


def first_words(article: Article) -> Statement:
    words = article.text.partition(".")[0]
    return Statement(f"{words}.", (article.id,), (Quote(article.id, words),))


def good(question: str, articles: Sequence[Article]) -> list[Piece]:
    return [first_words(articles[0])] if articles else [Refusal()]


def lying(question: str, articles: Sequence[Article]) -> list[Piece]:
    invented = Statement("La loi punit.", ("a99",), (Quote("a99", "La loi punit"),))
    altered = Statement("Le bailleur paie.", ("a2",), (Quote("a2", "Le bailleur paie"),))
    return [*map(first_words, articles[:1]), invented, altered]


def refusing(question: str, articles: Sequence[Article]) -> list[Piece]:
    return [Refusal()]


class Silent:
    """Ends without an answer."""

    name = "silent"

    def write(self, question: str, articles: Sequence[Article], language: str) -> Iterator[Event]:
        yield WritingStarted()
