"""Asks a writer each question in its context, keeping what it answered."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rag.answer.types import Answer, Ending, Passed, Usage, Writer
from rag.errors import PandectError
from rag.types import Article
from training.answers.answer_json import from_json, to_json
from training.answers.cache import Cache, key
from training.answers.contexts import Context

AGAIN = (Ending.FAILED, Ending.LIMITED, Ending.STOPPED)  # not kept: asked anew the next time
LONGEST_WAIT = 120  # seconds that a server may ask for before it is tried once more
GIVE_UP = 5  # answers in a row that fail: the server is gone, and the rest would fail as slowly


class TooManyFailuresError(PandectError):
    """A model that failed several times in a row; what it had answered before is kept."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A writer that is measured, and what its answers depend on beside the question and the articles."""

    name: str
    writer: Writer
    prompt_version: str = ""
    settings: Mapping[str, Any] | None = None  # of JSON's types; no key, for it is written to files


@dataclass(frozen=True, slots=True)
class Written:
    """What a candidate answered in one context."""

    context: Context
    answer: Answer
    first_seconds: float | None  # until the first sentence that may be read; None: there was none

    @property
    def seen(self) -> Mapping[str, Article]:
        """The articles that the writer was given, by id, without those it had to leave out."""
        return {a.id: a for a in self.context.articles if a.id not in self.answer.left_out}


def ask(
    candidate: Candidate,
    contexts: Sequence[Context],
    language: str,
    cache: Cache,
    *,
    tell: Callable[[int], object] = lambda done: None,
    give_up: int = GIVE_UP,
    sleep: Callable[[float], object] = time.sleep,
) -> list[Written]:
    """Return what the candidate answers in every context; what is in the cache is not asked again.

    Args:
        candidate: whom to ask.
        contexts: questions with their articles.
        language: of the questions.
        cache: what it answered before; new answers join it, failures do not.
        tell: called with how many are answered.
        give_up: after how many failures in a row to stop; 0 never does.
        sleep: waits so many seconds, where a rate limit says when to come back.

    Raises:
        TooManyFailuresError: so many; the last failure's reason is in the text.
    """
    found = []
    failures = 0
    for context in contexts:
        name = _key(candidate, context, language)
        kept = cache.get(name)
        if kept is not None:
            written = Written(context, from_json(kept["answer"]), kept["first_seconds"])
        else:
            written = _ask(candidate.writer, context, language)
            wait = written.answer.wait
            if written.answer.ending is Ending.LIMITED and wait is not None and wait <= LONGEST_WAIT:
                sleep(wait)
                written = _ask(candidate.writer, context, language)
            failures = failures + 1 if written.answer.ending in AGAIN else 0
            if failures and failures == give_up:
                raise TooManyFailuresError(
                    f"{candidate.name}: {failures} answers in a row failed "
                    f"({written.answer.reason or written.answer.ending}). What it answered before is kept: "
                    "type the command again to go on, with --give-up-after 0 to measure failures too"
                )
            if written.answer.ending not in AGAIN:
                cache.put(name, {"answer": to_json(written.answer), "first_seconds": written.first_seconds})
        found.append(written)
        tell(len(found))
    return found


def _key(candidate: Candidate, context: Context, language: str) -> str:
    return key(
        what="answer",
        model=candidate.name,
        prompt=candidate.prompt_version,
        settings=dict(candidate.settings or {}),
        question=context.question.text,
        language=language,
        articles=[
            [a.id, a.code, a.article_no, *a.headings, a.text, a.valid_from and a.valid_from.isoformat()]
            for a in context.articles
        ],
    )


def _ask(writer: Writer, context: Context, language: str) -> Written:
    begun = time.perf_counter()
    first: float | None = None
    answer = Answer(Ending.FAILED, reason="the writer ended without an answer")
    for event in writer.write(context.question.text, context.articles, language):
        if isinstance(event, Passed) and first is None:
            first = time.perf_counter() - begun
        elif isinstance(event, Answer):
            answer = event
    usage = Usage(time.perf_counter() - begun, answer.usage.input_tokens, answer.usage.output_tokens)
    return Written(context, replace(answer, usage=usage), first)
