"""Asks a writer each question in its context, and keeps what it answered, so that nothing is paid for twice.

What models said is an append-only file of JSON Lines: `{"key": SHA-256 of everything that the reply depends
on, "value": …}`. A line is written whole and flushed to the disk before the next question is asked; a
half-written last line, which a kill may leave, is cut off when the file is next opened.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from rag.answer.types import (
    Answer,
    ClaimPart,
    Ending,
    Fault,
    GapPart,
    LinePart,
    Part,
    Passage,
    PassagePart,
    Quote,
    RejectedSentence,
    Statement,
    Trimmed,
    Usage,
    Verdict,
    Writer,
)
from rag.errors import BadInput, PandectError
from rag.types import Article, Progress, no_progress
from training.answers.contexts import Context

_PARTS = {kind.__name__: kind for kind in (LinePart, PassagePart, ClaimPart, GapPart)}


def to_json(answer: Answer) -> dict[str, Any]:
    """Return an answer in JSON's types, each part with the name of its kind."""
    parts = [{"part": type(part).__name__, **asdict(part)} for part in answer.parts]
    return asdict(answer) | {"parts": parts}


def from_json(record: Mapping[str, Any]) -> Answer:
    """Return the answer that `to_json` took apart; fields of plain values may come and go between the two.

    Raises:
        BadInput: an answer of another form, such as one of sentences that a gate had let through.
    """
    if not isinstance(record.get("parts"), list):
        raise BadInput(f"a kept answer has {', '.join(record)}, and no list of parts: {_CURE}")

    def statement(of: Mapping[str, Any]) -> Statement:
        return Statement(of["text"], tuple(of["article_ids"]), tuple(Quote(**q) for q in of["quotes"]))

    def spans(of: Sequence[Sequence[int]]) -> tuple[tuple[int, int], ...]:
        return tuple((start, end) for start, end in of)

    def part(of: Mapping[str, Any]) -> Part:
        values = {name: value for name, value in of.items() if name != "part"}
        for name in ("spans", "brought"):
            if name in values:
                values[name] = spans(values[name])
        if "passages" in values:
            values |= {
                "article_ids": tuple(values["article_ids"]),
                "passages": tuple(Passage(**p) for p in values["passages"]),
            }
        return _PARTS[of["part"]](**values)

    plain = {f.name: record[f.name] for f in fields(Answer) if f.name in record}
    made: dict[str, Any] = {
        "ending": Ending(record["ending"]),
        "parts": tuple(map(part, record["parts"])),
        "removed": tuple(
            RejectedSentence(
                statement(r["statement"]),
                tuple(Fault(f) for f in r["faults"]),
                None if r["verdict"] is None else Verdict(r["verdict"]),
            )
            for r in record["removed"]
        ),
        "trimmed": tuple(Trimmed(**t) for t in record["trimmed"]),
        "left_out": tuple(record["left_out"]),
        "usage": Usage(**record["usage"]),
    }
    return Answer(**(plain | made))


_CURE = "move the file away (what it holds is then asked anew) or give another --replies"


def key(**parts: object) -> str:
    """Return what a reply is kept under: the SHA-256 of the parts as canonical JSON."""
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Cache:
    """Replies by key; one that is put is on the disk when `put` returns."""

    def __init__(self, file: BinaryIO, values: dict[str, Any]) -> None:
        self._file, self._values = file, values

    def __len__(self) -> int:
        """How many replies are kept."""
        return len(self._values)

    def get(self, name: str) -> Any | None:  # noqa: ANN401 - any value of JSON
        """Return what is kept under this key, None where nothing is."""
        return self._values.get(name)

    def put(self, name: str, value: Mapping[str, Any]) -> None:
        """Keep a reply."""
        line = json.dumps({"key": name, "value": value}, separators=(",", ":")) + "\n"  # ASCII: any text fits
        self._file.write(line.encode("ascii"))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._values[name] = value


@contextmanager
def opened(path: Path) -> Iterator[Cache]:
    """Open a file of replies, made if it is not there; nobody else can while it is open.

    Raises:
        BadInput: another measurement has it open, it cannot be written, or it holds something else.
    """
    import fcntl  # POSIX alone has it; whoever only asks questions does not need it

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b")
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror}). Give another --replies.") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # freed when the process ends, however it ends
        except BlockingIOError:
            raise BadInput(
                f"{path}: another measurement is writing it. Wait until it ends, or give another --replies."
            ) from None
        yield Cache(file, _read(path, file))


def _read(path: Path, file: BinaryIO) -> dict[str, Any]:
    file.seek(0)
    values: dict[str, Any] = {}
    whole = 0
    for number, line in enumerate(file, 1):
        if not line.endswith(b"\n"):  # the process was killed while it wrote this one
            file.truncate(whole)
            break
        whole += len(line)
        try:
            record = json.loads(line)
            values[str(record["key"])] = record["value"]
        except (ValueError, TypeError, KeyError):
            raise BadInput(f'{path}:{number}: not a kept reply ({{"key": …, "value": …}}): {_CURE}') from None
    file.seek(0, os.SEEK_END)
    return values


RETRIED_ENDINGS = (Ending.FAILED, Ending.LIMITED, Ending.STOPPED)  # not kept: asked anew the next time
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


@dataclass(frozen=True)
class WrittenAnswer:
    """A candidate's answer in one context."""

    context: Context
    answer: Answer
    first_seconds: float | None  # until the first sentence that may be read; None: there was none

    @cached_property
    def sentences(self) -> tuple[ClaimPart, ...]:
        """What a reader sees, but for connecting lines: a passage of law is a sentence that quotes itself."""
        texts = {article.id: article.text for article in self.context.articles}
        found = []
        for part in self.answer.parts:
            if isinstance(part, ClaimPart):
                found.append(part)
            elif isinstance(part, PassagePart):
                text = " ".join(texts.get(part.article_id, "")[start:end] for start, end in part.spans)
                passages = tuple(Passage(part.article_id, *span) for span in part.spans)
                found.append(ClaimPart(text, (part.article_id,), passages, verified=True))
        return tuple(found)

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
    progress: Progress = no_progress,
    give_up: int = GIVE_UP,
    sleep: Callable[[float], object] = time.sleep,
) -> list[WrittenAnswer]:
    """Return what the candidate answers in every context; what is in the cache is not asked again.

    New answers join the cache, failures do not. Where a rate limit says when to come back, it sleeps so many
    seconds.

    Raises:
        TooManyFailuresError: `give_up` failures in a row, 0: never; the last one's reason is in the text.
    """
    found = []
    failures = 0
    for context in contexts:
        name = key(
            what="answer in parts",
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
        cached = cache.get(name)
        if cached is not None:
            written = WrittenAnswer(context, from_json(cached["answer"]), cached["first_seconds"])
        else:
            written = _ask(candidate.writer, context, language)
            wait = written.answer.wait
            if written.answer.ending is Ending.LIMITED and wait is not None and wait <= LONGEST_WAIT:
                sleep(wait)
                written = _ask(candidate.writer, context, language)
            answer = written.answer
            if answer.ending not in RETRIED_ENDINGS:
                failures = 0
                cache.put(name, {"answer": to_json(answer), "first_seconds": written.first_seconds})
            elif (failures := failures + 1) == give_up:
                raise TooManyFailuresError(
                    f"{candidate.name}: {failures} answers in a row failed "
                    f"({answer.reason or answer.ending}). What it answered before is kept: "
                    "type the command again to go on, with --give-up-after 0 to measure failures too"
                )
        found.append(written)
        progress("asking", len(found), len(contexts))
    return found


def _readable(part: object) -> bool:
    return isinstance(part, PassagePart | ClaimPart)


def _ask(writer: Writer, context: Context, language: str) -> WrittenAnswer:
    start = time.perf_counter()
    first: float | None = None
    answer = Answer(Ending.FAILED, reason="the writer ended without an answer")
    for event in writer.write(context.question.text, context.articles, language):
        if isinstance(event, Answer):
            answer = event
        if first is None and any(map(_readable, event.parts if isinstance(event, Answer) else (event,))):
            first = time.perf_counter() - start
    usage = Usage(time.perf_counter() - start, answer.usage.input_tokens, answer.usage.output_tokens)
    return WrittenAnswer(context, replace(answer, usage=usage), first)
