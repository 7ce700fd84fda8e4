"""One answer: the prompt within its budget, the call and its retries, each piece to where it belongs."""

from __future__ import annotations

import functools
import math
import random
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

from rag.answer.generation import prompt as prompts
from rag.answer.generation.client import Clients, LangChainClient
from rag.answer.generation.context import PromptContext, fit, tokens
from rag.answer.generation.errors import Failure, FailureReason, Translate, english
from rag.answer.generation.parser import (
    ArticleLabels,
    PieceReader,
    ProseReader,
    StreamReader,
    join_surrogates,
)
from rag.answer.generation.prompt import Messages, Prompt
from rag.answer.generation.rate_limit import RateLimits
from rag.answer.generation.settings import MOST_ARTICLES, ModelSettings
from rag.answer.generation.stream import Call, Cancelled, Patience
from rag.answer.types import (
    AcceptedSentence,
    Answer,
    CoverageRemark,
    Ending,
    Event,
    Gate,
    Piece,
    Refusal,
    RejectedSentence,
    Statement,
    Usage,
    WritingStarted,
)
from rag.answer.verification.sanitise import missing_text
from rag.errors import log_failure
from rag.text import Analyser
from rag.text.analysers import LANGUAGES, analyser
from rag.types import Article

MOST_SENTENCES = 40  # five times what the prompts ask for; a model that goes on is going round in circles
MOST_MISSING = 5
BACKOFF = 0.5  # seconds before the first retry, twice as many before each further one, up to
LONGEST_BACKOFF = 8.0
LONGEST_WAIT = 20.0  # that a server may ask for; more than that is told to the person, who has better to do
_SLACK = 64  # tokens that a server's own template puts around two messages
_analyser: Callable[[str], Analyser] = functools.cache(analyser)


class Cancel:
    """Says whether a person has cancelled, and ends the call that is under way."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._call: Call | None = None

    def watch(self, call: Call) -> None:
        """End this call too, should it come to that."""
        with self._lock:
            self._call = call
            if self._event.is_set():
                call.cancel()

    def cancel(self) -> None:
        """Cancel; a second time does nothing more."""
        with self._lock:
            self._event.set()
            if self._call is not None:
                self._call.cancel()

    def sleep(self, seconds: float) -> None:
        """Wait; raise `Cancelled` if it was cancelled, before or meanwhile."""
        if self._event.wait(seconds):
            raise Cancelled


class Draft(Iterator[Event]):
    """The events of one answer; closing it, or dropping it, ends the request."""

    def __init__(self, events: Iterator[Event], cancel: Cancel) -> None:
        self._events, self._cancel = events, cancel

    def __next__(self) -> Event:
        """Wait for the next event."""
        return next(self._events)

    def close(self) -> None:
        """End the request; may be called from any thread, and more than once."""
        self._cancel.cancel()

    def __del__(self) -> None:
        """End the request: a page that is drawn anew drops what it was reading."""
        self.close()


@dataclass(frozen=True, slots=True)
class AnswerResources:
    """The writer, gate and settings that answers are written with."""

    settings: ModelSettings
    gate: Gate
    limits: RateLimits
    clients: Clients
    prompt: Callable[[str], Prompt]  # for a language
    as_of: str = ""  # the date of the law, for articles that carry none
    say: Translate = english
    session: Hashable = None


class Job:
    """One answer being written, and what has come of it so far."""

    def __init__(
        self,
        means: AnswerResources,
        question: str,
        articles: Sequence[Article],
        language: str,
        cancel: Cancel,
    ) -> None:
        self.means, self.settings, self.cancel = means, means.settings, cancel
        self.question, self.language = join_surrogates(question), language
        most = self.settings.articles or MOST_ARTICLES
        self.articles = tuple(articles[:most])
        self.unseen = tuple(article.id for article in articles[most:])  # beyond what the model is shown
        self.started = 0.0
        self.prompt: Prompt | None = None
        self.reader: StreamReader | None = None
        self.fitted = PromptContext(())
        self.sentences: list[AcceptedSentence] = []
        self.missing: list[str] = []
        self.removed: list[RejectedSentence] = []
        self.refused = self.writing = self.truncated = False
        self.input_tokens: int | None = None
        self.output_tokens: int | None = None

    def events(self) -> Iterator[Event]:
        """Yield all of them; whatever fails becomes an answer that says so."""
        self.started = time.monotonic()
        try:
            if not self.articles:  # there is nothing that an answer could rest on
                yield self.answer(Ending.REFUSED)
                return
            wait = self.means.limits.take(self.means.session)
            if wait > 0:
                yield self.answer(Ending.LIMITED, FailureReason.BUSY, wait)
                return
            yield from self.attempts()
        except Cancelled:
            yield self.answer(Ending.STOPPED)
        except Failure as failure:
            limited = failure.reason is FailureReason.SERVER_BUSY
            ending = Ending.LIMITED if limited else Ending.FAILED
            yield self.answer(ending, failure.reason, (failure.wait or 60.0) if limited else None)
        except Exception as error:  # noqa: BLE001 - its message may quote the question, so nobody above may log it
            log_failure(error, "the answer")
            yield self.answer(Ending.FAILED, FailureReason.UNEXPECTED)
        else:
            if self.sentences:
                yield self.answer(Ending.WRITTEN, FailureReason.CUT if self.truncated else None)
            elif self.refused:
                yield self.answer(Ending.REFUSED)
            else:
                yield self.answer(Ending.EMPTY, FailureReason.UNREADABLE)

    def attempts(self) -> Iterator[Event]:
        """Ask, and ask again where that may help and nothing has been shown yet."""
        until = self.started + self.settings.whole
        clients = self.means.clients
        plain = clients.plain
        tries = 0
        while True:
            self.cancel.sleep(0)
            try:
                yield from self.ask(clients.get(plain), until)
                clients.plain = plain  # it may be tried first from now on
                return
            except Failure as failure:
                if self.writing:
                    raise
                if failure.plainer and not plain:
                    plain = True
                else:
                    tries += 1
                    self.cancel.sleep(self.pause(failure, tries, until))
                if self.means.limits.take(self.means.session, retry=True) > 0:
                    raise

    def pause(self, failure: Failure, tries: int, until: float) -> float:
        """Return the seconds before the next try; raise the failure that came if there shall be none."""
        if not failure.retry or tries > self.settings.retries:
            raise failure
        backoff = min(BACKOFF * 2.0 ** (tries - 1), LONGEST_BACKOFF) * random.uniform(0.5, 1.0)  # noqa: S311
        pause: float = max(backoff, failure.wait or 0.0)
        if pause > LONGEST_WAIT or time.monotonic() + pause >= until:
            raise failure
        return pause

    def ask(self, client: LangChainClient, until: float) -> Iterator[Event]:
        """Make one call and read it."""
        messages, reader = self.prepare(client.schema)
        self.reader = reader
        call = Call(lambda: client.stream(messages))
        self.cancel.watch(call)
        patience = Patience(self.settings.first_token, self.settings.between, until)
        try:
            for delta in call.deltas(patience):
                if delta.token and not self.writing:
                    self.writing = True
                    yield WritingStarted()
                self.truncated = self.truncated or delta.truncated
                self.input_tokens = _more(self.input_tokens, delta.input_tokens)
                self.output_tokens = _more(self.output_tokens, delta.output_tokens)
                yield from self.read(reader.feed(delta.text))
                if self.refused and not self.sentences:
                    return
                if reader.full or len(self.sentences) + len(self.removed) >= MOST_SENTENCES:
                    self.truncated = True
                    return
        finally:
            call.cancel()
        yield from self.read(reader.close())
        self.truncated = self.truncated or reader.unfinished

    def prepare(self, schema: bool) -> tuple[Messages, StreamReader]:
        """Fill the prompt in, within the window; raise a `Failure` where that leaves no room for articles."""
        prompt = self.prompt = self.means.prompt(self.language)
        as_of = self.means.as_of
        empty = prompt.messages(self.question, (), ArticleLabels(()), schema=schema, as_of=as_of)
        room = self.settings.window - self.settings.output - _SLACK
        spoken = next((a.language for a in self.articles if a.language), None) or self.language
        self.fitted = fit(
            self.articles,
            self.question,
            room - tokens(empty.system) - tokens(empty.user),
            _analyser(spoken if spoken in LANGUAGES else prompts.FALLBACK),
            lambda article: tokens(prompt.block(article, "", "A10", "0" * 16, as_of)) + 2,  # blank lines
        )
        excerpts = self.fitted.excerpts
        if not excerpts:
            raise Failure(FailureReason.TOO_LONG)
        labels = ArticleLabels([excerpt.article.id for excerpt in excerpts])
        messages = prompt.messages(self.question, excerpts, labels, schema=schema, as_of=as_of)
        if prompt.reply == "pieces":
            return messages, PieceReader(labels, prompt.refusal)
        return messages, ProseReader(prompt.refusal)

    def read(self, pieces: Iterator[Piece]) -> Iterator[Event]:
        """Put each piece where it belongs; what passes the gate is given out."""
        for piece in pieces:
            match piece:
                case Statement():
                    if any(piece.text == passed.text for passed in self.sentences):
                        continue  # once is enough
                    checked = self.means.gate.check(piece, self.articles)
                    if isinstance(checked, AcceptedSentence):
                        self.sentences.append(checked)
                        yield checked
                    else:
                        self.removed.append(checked)
                case CoverageRemark():
                    text = missing_text(piece.text)
                    if text and text not in self.missing and len(self.missing) < MOST_MISSING:
                        self.missing.append(text)
                case Refusal():
                    self.refused = True

    def answer(
        self, ending: Ending, reason: FailureReason | None = None, wait: float | None = None
    ) -> Answer:
        """Return an answer of what has come so far."""
        seconds = None if wait is None else max(1, math.ceil(wait))
        return Answer(
            ending,
            tuple(self.sentences),
            tuple(self.missing),
            tuple(self.removed),
            0 if self.reader is None else self.reader.unreadable,
            self.fitted.trimmed,
            (*self.fitted.left_out, *self.unseen),
            model=self.settings.name,
            prompt_version="" if self.prompt is None else self.prompt.id,
            usage=Usage(time.monotonic() - self.started, self.input_tokens, self.output_tokens),
            reason="" if reason is None else self.means.say(str(reason), seconds=seconds),
            wait=seconds,
        )


def _more(known: int | None, reported: int | None) -> int | None:
    """Return the larger count: some servers repeat a running total, others tell it once."""
    return max((count for count in (known, reported) if count is not None), default=None)
