"""A few invented articles, a gate that only looks for the quotes, and writers for a scripted server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rag.answer.generation.rate_limit import RateLimits
from rag.answer.generation.settings import ModelSettings, Secret
from rag.answer.generation.writer import ModelWriter
from rag.answer.types import AcceptedSentence, Answer, Event, Fault, Passage, RejectedSentence, Statement
from rag.types import Article
from tests.fakes.answers.model_server import Server, missing, sentence

QUESTION = "Quand dois-je rendre les clés du moulin ?"
KEY = "clef-tres-secrete-0123456789"
ARTICLES = (
    Article(
        "KEYS", "Code des moulins", "7", "L'occupant restitue les clés dans les trois jours de son départ."
    ),
    Article(
        "RENT", "Code des moulins", "8", "Le loyer du moulin se paie en farine, le premier de chaque mois."
    ),
    Article("WIND", "Code des moulins", "9", "Le vent appartient à tous. Nul ne peut le détourner."),
)
KEYS = sentence(
    "Vous devez rendre les clés dans les trois jours.", ("A1", "restitue les clés dans les trois jours")
)
RENT = sentence("Le loyer se paie en farine.", ("RENT", "Le loyer du moulin se paie en farine"))
LIE = sentence("Le loyer se paie en or.", ("A2", "se paie en or"))
LINES = (KEYS, LIE, RENT, missing("Les articles ne précisent pas le prix d'une serrure."))
TEXTS = ["Vous devez rendre les clés dans les trois jours.", "Le loyer se paie en farine."]


class QuoteGate:
    """Lets a sentence pass if every article that it cites is shown and holds its quote."""

    def check(self, statement: Statement, articles: Sequence[Article]) -> AcceptedSentence | RejectedSentence:
        shown = {article.id: article for article in articles}
        if not statement.article_ids:
            return RejectedSentence(statement, (Fault.UNCITED,))
        if not set(statement.article_ids) <= set(shown):
            return RejectedSentence(statement, (Fault.NOT_SHOWN,))
        passages = []
        for quote in statement.quotes:
            start = shown[quote.article_id].text.find(quote.text)
            if start < 0:
                return RejectedSentence(statement, (Fault.ALTERED,))
            passages.append(Passage(quote.article_id, start, start + len(quote.text)))
        return AcceptedSentence(statement.text, statement.article_ids, tuple(passages))


def settings(server: Server, **changes: Any) -> ModelSettings:
    """A model of the scripted server; short waits, so that tests are short."""
    own = ModelSettings(
        "openai:scripted", server.url, Secret(KEY), connect=2.0, first_token=5.0, between=5.0, whole=20.0,
        retries=0, per_session=None, per_host=None,
    )  # fmt: skip
    return replace(own, **changes)


def writer(server: Server, limits: RateLimits | None = None, **changes: Any) -> ModelWriter:
    return ModelWriter(settings(server, **changes), QuoteGate(), limits)


def events(server: Server, **changes: Any) -> list[Event]:
    return list(writer(server, **changes).write(QUESTION, ARTICLES, "fr"))


def answer(server: Server, **changes: Any) -> Answer:
    """The last event, which is an answer, and the only one."""
    *before, last = events(server, **changes)
    assert isinstance(last, Answer)
    assert not any(isinstance(event, Answer) for event in before)
    return last


def texts(found: Answer) -> list[str]:
    return [passed.text for passed in found.sentences]
