"""One answer: the prompt within its budget, the call and its retries, each piece to where it belongs."""

from __future__ import annotations

import functools
import logging
import math
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass

from rag.answer.composition import Composer
from rag.answer.generation import prompt as prompts
from rag.answer.generation.claim_reader import ClaimReader, ProseReader
from rag.answer.generation.client import Clients, Delta
from rag.answer.generation.context import PromptContext, fit, tokens
from rag.answer.generation.errors import Failure, FailureReason, Translate, english
from rag.answer.generation.parser import ArticleLabels, join_surrogates
from rag.answer.generation.passage_reader import PassageReader
from rag.answer.generation.prompt import Messages, Prompt
from rag.answer.generation.rate_limit import RateLimits
from rag.answer.generation.settings import MOST_ARTICLES, ModelSettings
from rag.answer.generation.stream import Cancel, Cancelled, request
from rag.answer.types import (
    Answer,
    ChoicePiece,
    ClaimPart,
    ClaimsRead,
    Ending,
    Event,
    LinePart,
    Part,
    Piece,
    Refusal,
    RejectedSentence,
    Statement,
    Usage,
    Verdict,
    WritingStarted,
)
from rag.answer.verification.decision import Claim, decide, law_of
from rag.answer.verification.hard_checks import faults
from rag.answer.verification.judge import NOT_JUDGED, Judge, Judgement, ModelJudge
from rag.errors import PandectError, log_failure
from rag.text import Analyser
from rag.text.analysers import LANGUAGES, analyser
from rag.types import Article

AT_ONCE = 4  # claims that are judged at the same time
_SLACK = 64  # tokens that a server's own template puts around two messages
_NUMBER = tokens("A10.100 \n")  # what stands before each sentence that may be chosen
_log = logging.getLogger(__name__)
_analyser: Callable[[str], Analyser] = functools.cache(analyser)


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
class Endpoint:
    """A language model, and the clients that ask it for one kind of reply."""

    settings: ModelSettings
    clients: Clients

    @property
    def name(self) -> str:
        """The model's name, without its provider."""
        return self.settings.name

    @property
    def local(self) -> bool:
        """Whether it runs on this machine for certain."""
        return self.settings.local

    def room(self) -> int:
        """Return how many tokens it can read beside its answer."""
        return self.settings.window - self.settings.output - _SLACK


@dataclass(frozen=True, slots=True)
class AnswerResources:
    """What answers are written with, and judged by."""

    model: Endpoint
    judge: Judge | Endpoint | None  # None: nothing of the model's own words is shown
    limits: RateLimits
    prompt: Callable[[str], Prompt]  # for a language
    withhold: bool = False  # what is not verified is removed, and not marked
    as_of: str = ""  # the date of the law, for articles that carry none
    say: Translate = english
    session: Hashable = None
    address: str | None = None  # where the person asks from; None: not known


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
        self.means, self.settings, self.cancel = means, means.model.settings, cancel
        self.question, self.language = join_surrogates(question), language
        most = self.settings.articles or MOST_ARTICLES
        self.articles = tuple(articles[:most])
        self.shown = {article.id: article for article in self.articles}
        self.unseen = tuple(article.id for article in articles[most:])  # beyond what the model is shown
        spoken = next((a.language for a in self.articles if a.language), None) or language
        self.analyser = _analyser(spoken if spoken in LANGUAGES else prompts.FALLBACK)
        self.composer = Composer(self.shown, self.question, self.likeness)
        self.started = 0.0
        self.prompt: Prompt | None = None
        self.reader: PassageReader | ClaimReader | ProseReader = ProseReader("")  # until a prompt is made
        self.fitted = PromptContext(())
        self.parts: list[Part] = []
        self.claims: list[Claim] = []
        self.removed: tuple[RejectedSentence, ...] = ()
        self.refused = self.writing = self.truncated = self.judge_failed = False
        self.calls: list[_Counts] = []  # that have given something: the writer's, and the judge's

    def likeness(self, text: str, sentence: str) -> float:
        """Return the share of a text's words that a sentence has."""
        wanted = frozenset(self.analyser.terms(text))
        return len(wanted.intersection(self.analyser.terms(sentence))) / (len(wanted) or 1)

    def events(self) -> Iterator[Event]:
        """Yield all of them; whatever fails becomes an answer that says so."""
        self.started = time.monotonic()
        try:
            if not self.articles:  # there is nothing that an answer could rest on
                yield self.answer(Ending.REFUSED)
                return
            pause = self.means.limits.take(self.means.session, address=self.means.address)
            if pause > 0:
                yield self.answer(Ending.LIMITED, FailureReason.BUSY, pause)
                return
            yield from self.write()
        except Cancelled:
            yield self.answer(Ending.STOPPED)
        except Exception as error:  # noqa: BLE001 - its message may quote the question, so nobody above may log it
            log_failure(error, "the answer")
            yield self.answer(Ending.FAILED, FailureReason.UNEXPECTED)

    def finished(self) -> Answer:
        """Return the answer of a model that wrote to its end."""
        ending = Ending.WRITTEN
        if self.claims:
            ending = self.decide()
        if any(not isinstance(part, LinePart) for part in self.parts):
            if ending is Ending.UNVERIFIED:
                return self.answer(ending, FailureReason.JUDGE if self.judge_failed else None)
            return self.answer(ending, FailureReason.CUT if self.truncated or self.composer.cut else None)
        if self.refused:
            return self.answer(Ending.REFUSED)
        return self.answer(Ending.EMPTY, FailureReason.UNREADABLE)

    def write(self) -> Iterator[Event]:
        """Yield what comes of the model, and its answer."""
        try:
            yield from self.ask()
            answer = self.finished()
        except Failure as failure:
            limited = failure.reason is FailureReason.SERVER_BUSY
            ending = Ending.LIMITED if limited else Ending.FAILED
            self.show_law()
            answer = self.answer(ending, failure.reason, (failure.wait or 60.0) if limited else None)
        yield answer

    def ask(self) -> Iterator[Event]:
        """Ask the model and read it."""
        until = self.started + self.settings.whole
        deltas = request(
            self.settings, self.means.model.clients, self.prepare, until, self.cancel, self.once_more
        )
        self.calls.append(counts := _Counts())
        with closing(deltas):
            for delta in deltas:
                if delta.token and not self.writing:
                    self.writing = True
                    yield WritingStarted()
                self.truncated = self.truncated or delta.truncated
                counts.add(delta)
                yield from self.read(self.reader.feed(delta.text))
                if self.reader.full:
                    self.truncated = True
                    return
        yield from self.read(self.reader.close())
        self.truncated = self.truncated or self.reader.unfinished

    def once_more(self) -> bool:
        """Take one more call from the limits of the host."""
        return self.means.limits.take(self.means.session, address=self.means.address, retry=True) <= 0

    def prepare(self, schema: bool) -> Messages:
        """Fill the prompt in, within the window; raise a `Failure` where that leaves no room for articles."""
        prompt = self.prompt = self.means.prompt(self.language)
        as_of = self.means.as_of
        empty = prompt.messages(self.question, (), ArticleLabels(()), schema=schema, as_of=as_of)
        self.fitted = fit(
            self.articles,
            self.question,
            self.means.model.room() - tokens(empty.system) - tokens(empty.user),
            self.analyser,
            lambda article: tokens(prompt.block(article, "", "A10", "0" * 16, as_of)) + 2,  # blank lines
            _NUMBER if prompt.reply == "quotes" else 0,
        )
        excerpts = self.fitted.excerpts
        if not excerpts:
            raise Failure(FailureReason.TOO_LONG)
        articles = [excerpt.article for excerpt in excerpts]
        labels = ArticleLabels([article.id for article in articles])
        match prompt.reply:
            case "quotes":
                self.reader = PassageReader(labels, articles, prompt.refusal)
            case "claims":
                self.reader = ClaimReader(labels, articles, prompt.refusal)
            case "prose":
                self.reader = ProseReader(prompt.refusal)
        return prompt.messages(self.question, excerpts, labels, schema=schema, as_of=as_of)

    def read(self, pieces: Iterator[ChoicePiece] | Iterator[Piece]) -> Iterator[Event]:
        """Put each piece where it belongs; what may be shown at once is given out."""
        for piece in pieces:
            if isinstance(piece, Refusal):
                self.refused = True
            elif not isinstance(piece, Statement):
                for part in self.composer.add(piece):
                    self.parts.append(part)
                    yield part
            elif isinstance(self.reader, ProseReader):
                self.parts.append(ClaimPart(piece.text, (), (), verified=False))
                yield self.parts[-1]
            elif all(piece.text != claim.statement.text for claim in self.claims):  # once is enough
                self.claims.append(Claim(piece, faults(piece, self.shown, self.question, self.language)))
                yield ClaimsRead(len(self.claims))

    def decide(self) -> Ending:
        """Have the claims judged, and decide by the whole what is shown."""
        withhold, language, unread = self.means.withhold, self.language, self.reader.unreadable
        found = decide(self.judged(), self.shown, withhold=withhold, language=language, unreadable=unread)
        self.parts, self.removed = list(found.parts), found.removed
        if found.parts:
            return Ending.WRITTEN
        self.show_law()
        return Ending.UNVERIFIED

    def show_law(self) -> None:
        """Show the passages that the claims cite, in the claims' place."""
        for choice in law_of(self.claims, self.shown):
            self.parts += self.composer.add(choice)

    def judged(self) -> list[Claim]:
        """Return the claims with what the judge says; it reads several at once, and has its time for all."""
        until = time.monotonic() + self.settings.whole
        judge = self.judge(until)
        if judge is None:
            return self.claims
        with closing(_Pool()) as pool:
            asked = [
                None if claim.faults else pool.submit(judge.judge, claim.statement.text, self.cited(claim))
                for claim in self.claims
            ]
            pending = asked_of = {future for future in asked if future is not None}
            while pending and time.monotonic() < until:
                pending = wait(pending, timeout=0.05).not_done
                self.cancel.sleep(0)
            found = [NOT_JUDGED if future is None else _judgement(future) for future in asked]
        self.judge_failed = bool(asked_of) and all(each.verdict is Verdict.UNKNOWN for each in found)
        return [Claim(c.statement, c.faults, each) for c, each in zip(self.claims, found, strict=True)]

    def cited(self, claim: Claim) -> list[Article]:
        """Return the articles that a claim cites, of those shown."""
        return [self.shown[id_] for id_ in claim.statement.article_ids if id_ in self.shown]

    def judge(self, until: float) -> Judge | None:
        """Return who judges this answer, and until when."""
        judge = self.means.judge
        if not isinstance(judge, Endpoint):
            return judge
        failed: list[Failure] = []  # one is enough: a dead server is not asked again for each claim

        def say(system: str, user: str) -> str:
            if (
                tokens(system) + tokens(user) > judge.room()
            ):  # cut articles would be judged as if they were whole
                raise Failure(FailureReason.TOO_LONG)
            if failed or not self.once_more():
                raise failed[0] if failed else Failure(FailureReason.BUSY)
            ends = min(until, time.monotonic() + judge.settings.whole)
            sent = Messages(system, user)
            try:
                deltas = request(
                    judge.settings, judge.clients, lambda _: sent, ends, self.cancel, self.once_more
                )
                self.calls.append(counts := _Counts())
                reply = "".join(counts.add(delta) for delta in deltas)
                if counts.truncated:  # what it decided in the end is not there
                    raise Failure(FailureReason.TOO_LONG)
                return reply
            except Failure as failure:
                if failure.reason not in (FailureReason.TOO_LONG, FailureReason.REJECTED):
                    failed.append(failure)
                raise

        return ModelJudge(say, judge.name, local=judge.local)

    def answer(
        self, ending: Ending, reason: FailureReason | None = None, wait: float | None = None
    ) -> Answer:
        """Return an answer of what has come so far."""
        seconds = None if wait is None else max(1, math.ceil(wait))
        return Answer(
            ending,
            tuple(self.parts),
            self.removed,
            self.reader.unreadable,
            self.composer.withheld,
            self.fitted.trimmed,
            (*self.fitted.left_out, *self.unseen),
            model=self.settings.name,
            judge=self.means.judge.name if self.means.judge else "",
            prompt_version="" if self.prompt is None else self.prompt.id,
            usage=Usage(
                time.monotonic() - self.started,
                _sum(call.read for call in self.calls),
                _sum(call.written for call in self.calls),
            ),
            reason="" if reason is None else self.means.say(str(reason), seconds=seconds),
            wait=seconds,
        )


class _Pool(ThreadPoolExecutor):
    """Threads that judge; what has not begun when it is closed never will, and nobody waits for the rest."""

    def __init__(self) -> None:
        super().__init__(AT_ONCE, thread_name_prefix="judge")

    def close(self) -> None:
        """Let go of it."""
        self.shutdown(wait=False, cancel_futures=True)


def _judgement(future: Future[Judgement]) -> Judgement:
    """Return what a judge said in time; whatever it raised is no judgement."""
    if not future.done():
        return NOT_JUDGED
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, PandectError):  # its message is ours: it holds no claim
        _log.error("the judge is not set up: %s", error)
    else:
        log_failure(error, "the judge")
    return NOT_JUDGED


@dataclass(slots=True)
class _Counts:
    """The tokens of one call; of each count the larger: some servers repeat a total, others tell it once."""

    read: int | None = None
    written: int | None = None
    truncated: bool = False  # it reached the bound of its output

    def add(self, delta: Delta) -> str:
        """Count a chunk, and return its text."""
        self.read = max(self.read or 0, delta.input_tokens or 0) or None
        self.written = max(self.written or 0, delta.output_tokens or 0) or None
        self.truncated = self.truncated or delta.truncated
        return delta.text


def _sum(counts: Iterable[int | None]) -> int | None:
    """Return all of them together; None if one is not known."""
    known = list(counts)
    return sum(filter(None, known)) if known and None not in known else None
