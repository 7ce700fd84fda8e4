"""A few invented articles, what a model writes of them, and writers for a scripted server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rag.answer.generation.rate_limit import RateLimits
from rag.answer.generation.settings import ModelSettings, Secret
from rag.answer.generation.writer import ModelWriter
from rag.answer.types import Answer, ClaimPart, Event, Part, PassagePart, Verdict
from rag.answer.verification.judge import Judge, Judgement, find
from rag.types import Article
from tests.fakes.answers.model_server import Server, quote, say, sentence

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
# strict quoting: what a model chooses, and the law that is shown
KEYS, RENT, NOWHERE = quote("A1.1"), quote("RENT"), quote("A7.1")
LINES = (say("rule"), KEYS, NOWHERE, RENT)
TEXTS = [ARTICLES[0].text, ARTICLES[1].text]
# claims: what it writes of its own
KEYS_CLAIM = sentence(
    "Vous devez rendre les clés dans les trois jours.", ("A1", "restitue les clés dans les trois jours")
)
RENT_CLAIM = sentence("Le loyer se paie en farine.", ("RENT", "Le loyer du moulin se paie en farine"))
LIE = sentence("Le loyer se paie en or.", ("A2", "se paie en or"))
CLAIMS = (KEYS_CLAIM, RENT_CLAIM)
CLAIM_TEXTS = ["Vous devez rendre les clés dans les trois jours.", "Le loyer se paie en farine."]


@dataclass
class WordJudge:
    """Says of each claim what it was told; of others that the law supports them, by its first sentence."""

    said: dict[str, Verdict] = field(default_factory=dict)
    name: str = "word-judge"
    local: bool = True

    def judge(self, claim: str, articles: Sequence[Article]) -> Judgement:
        return Judgement(self.said.get(claim, Verdict.SUPPORTED), find(articles[0].text, articles))


def settings(server: Server, **changes: Any) -> ModelSettings:
    """A model of the scripted server; short waits, so that tests are short."""
    own = ModelSettings(
        "openai:scripted", server.url, Secret(KEY), connect=2.0, first_token=5.0, between=5.0, whole=20.0,
        retries=0, per_session=None, per_host=None,
    )  # fmt: skip
    return replace(own, **changes)


def writer(
    server: Server,
    limits: RateLimits | None = None,
    *,
    judge: Judge | ModelSettings | None = None,
    withhold: bool = False,
    **changes: Any,
) -> ModelWriter:
    return ModelWriter(settings(server, **changes), judge, limits, withhold=withhold)


def events(server: Server, **changes: Any) -> list[Event]:
    return list(writer(server, **changes).write(QUESTION, ARTICLES, "fr"))


def answer(server: Server, **changes: Any) -> Answer:
    """The last event, which is an answer, and the only one."""
    *before, last = events(server, **changes)
    assert isinstance(last, Answer)
    assert not any(isinstance(event, Answer) for event in before)
    return last


def shown(part: Part, articles: Sequence[Article] = ARTICLES) -> str | None:
    """The law or the claim that a part shows; None where it shows neither."""
    if isinstance(part, ClaimPart):
        return part.text
    if isinstance(part, PassagePart):
        text = next(article.text for article in articles if article.id == part.article_id)
        return " […] ".join(text[start:end] for start, end in part.spans)
    return None


def texts(found: Answer) -> list[str]:
    return [text for part in found.parts if (text := shown(part)) is not None]
