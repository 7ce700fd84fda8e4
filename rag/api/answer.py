"""Answers as they are streamed: the page's gate and limits, a model's events or passages of the law."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from rag.answer.composition import line
from rag.answer.extractive import ExtractiveWriter, Extractor
from rag.answer.generation.context import readable
from rag.answer.generation.errors import english
from rag.answer.generation.session import Draft
from rag.answer.generation.writer import ModelWriter
from rag.answer.types import Answer, ClaimPart, ClaimsRead, Ending, GapPart, LinePart, Part, PassagePart
from rag.api.access import Caller
from rag.api.metrics import Metrics
from rag.api.result import Asked, plain
from rag.engine.engine import Engine
from rag.screening.personal_data import redact
from rag.types import Article

EVENTS = (
    "Events: `found` (what /v1/search answers), `part` (of an answer), `progress` (claims read so far), and "
    "at last `answer`: the whole, and how it ended; `not asked` where no answer may be written, with why."
)
EXAMPLE = 'event: answer\ndata: {"ending": "not asked", "reason": "doubtful", "parts": []}\n\n'


@dataclass(frozen=True, slots=True)
class Passage:
    """Words of an article, and where they stand in its text."""

    article_id: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """A part of an answer, in order."""

    kind: Literal["line", "passages", "claim", "gap"]
    text: str = ""  # of a line, or of a sentence of the model's own
    article_ids: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()  # of the law
    verified: bool = True  # False: the judge did not confirm it, which is to be said beside it
    contradicted: bool = False  # of a gap: the articles say the contrary of what was left out


@dataclass(frozen=True, slots=True)
class Written:
    """A finished answer."""

    ending: str  # a value of rag.answer.types.Ending, or "not asked"
    reason: str = ""  # why nothing was asked, or why it failed
    parts: tuple[AnswerPart, ...] = ()
    model: str = ""
    judge: str = ""
    wait: int | None = None  # seconds after which another try makes sense
    sent: str | None = None  # the question as it was sent, where personal data was taken out


@dataclass
class Answering:
    """One answer that is to be streamed."""

    engine: Engine
    asked: Asked
    found: Any  # what /v1/search answers, of JSON's types
    extractor: Extractor
    writer: ModelWriter | None
    metrics: Metrics
    _draft: Draft | None = field(default=None, init=False)
    _ending: Ending = field(default=Ending.STOPPED, init=False)  # where the client goes before the whole came
    _closed: bool = field(default=False, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def close(self) -> None:
        """End the request to a model, if there is one, and count it; called once, from any thread."""
        with self._lock:
            self._closed, draft = True, self._draft
        if draft is not None:
            draft.close()
            self.metrics.model_calls.labels(str(self._ending)).inc()

    def events(self, caller: Caller, *, remove: bool) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the name and the data of each event; blocks between them, so it is for a thread.

        `remove`: personal data is taken out of the question before a model is asked.
        """
        yield "found", self.found
        decision, result, card = self.asked.decision, self.asked.result, self.engine.card
        if decision.reason is not None or not result.shown:
            self.metrics.refusals.labels(str(decision.reason or "nothing found")).inc()
            yield "answer", plain(Written("not asked", str(decision.reason or "nothing found")))
            return
        question, language = self.asked.question, card.language
        if self.writer is None:
            articles = [shown.article for shown in result.shown]
            written = ExtractiveWriter(self.extractor).write(question, articles, language)
        else:
            articles = readable(result.shown, self.writer.articles)
            question = redact(question, decision.personal, language) if remove else question
            days = card.law_dates(article.code for article in articles)
            as_of = days[0].isoformat() if days else None
            writer = self.writer.for_session(caller.client or caller.address, english, as_of, caller.address)
            written = draft = writer.write(question, articles, language)  # asks nobody before its first event
            with self._lock:
                if not self._closed:
                    self._draft = draft
            if self._draft is None:  # the client went meanwhile, and found nothing to close
                draft.close()
                return
        texts = {article.id: article for article in articles}
        sent = question if question != self.asked.question else None
        with self.metrics.part("answer"):
            for event in written:
                if isinstance(event, Answer):
                    self._ending = event.ending
                    if event.ending is Ending.LIMITED:
                        self.metrics.refusals.labels("model rate").inc()
                    parts = tuple(_part(each, texts, language) for each in event.parts)
                    whole = Written(
                        event.ending, event.reason, parts, event.model, event.judge, event.wait, sent
                    )
                    yield "answer", plain(whole)
                elif isinstance(event, ClaimsRead):
                    yield "progress", {"claims": event.count}
                elif isinstance(event, LinePart | PassagePart | ClaimPart | GapPart):
                    yield "part", plain(_part(event, texts, language))


def _part(part: Part, articles: dict[str, Article], language: str) -> AnswerPart:
    match part:
        case LinePart():
            return AnswerPart("line", line(part.key, language))
        case PassagePart():
            passages = tuple(_passage(part.article_id, *span, articles) for span in part.spans)
            return AnswerPart("passages", "", (part.article_id,), passages)
        case ClaimPart():
            passages = tuple(_passage(p.article_id, p.start, p.end, articles) for p in part.passages)
            return AnswerPart("claim", part.text, part.article_ids, passages, part.verified)
        case GapPart():
            return AnswerPart("gap", contradicted=part.contradicted)


def _passage(article_id: str, start: int, end: int, articles: dict[str, Article]) -> Passage:
    return Passage(article_id, articles[article_id].text[start:end], start, end)
