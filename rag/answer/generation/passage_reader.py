"""Which passages a model chose, however it wrote that: JSON as it was asked for, prose, bullets, labels.

Nothing of a model's own words is ever given out: what is read are names of passages (A1.2), of articles (A1,
an id, "article 1907"), sentences of law that were copied, and keys of connecting lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from rag.answer.generation.names import Names
from rag.answer.generation.parser import MOST, ArticleLabels, Objects, Record
from rag.answer.screening.patterns import any_of, data, plain
from rag.answer.types import LINES, Choice, ChoicePiece, ConnectingLine, Refusal
from rag.text.highlight import sentences
from rag.types import Article

KEYS = frozenset({"say", "quote", "refusal"})  # one of them makes an object ours
MOST_CHOICES = 40  # a model that goes on is going round in circles
SHORT = 900  # characters of a reply that may refuse in its own words
_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_NONE = re.compile(r"\"(?:answer|passages|quotes)\"\s*:\s*\[\s*\]")
_LINE = re.compile(r"\"say\"\s*:\s*\"([a-z_]+)\"")


def thoughtless(raw: str) -> str:
    """Return a reply without the thoughts that a model wrote beside it."""
    return _THOUGHTS.sub(" ", raw[:MOST])


def refuses(raw: str, refusal: str = "") -> bool:
    """Tell whether a reply that says nothing else says that nothing answers, in whatever words."""
    bare = plain(raw[: SHORT + 1])
    if _NONE.search(raw) or (refusal and plain(refusal).rstrip(".。") in bare):
        return True
    return len(bare) <= SHORT and _refusing().search(bare) is not None


class PassageReader:
    """Turns a stream into choices of passages, connecting lines and refusals, however the stream is cut.

    Objects are read as they end. Where none came, the whole is read as prose when it has ended.
    """

    def __init__(self, labels: ArticleLabels, articles: Sequence[Article], refusal: str = "") -> None:
        """Take the labels of the articles that the model is shown, and these articles in the same order."""
        self._objects, self._names = Objects(KEYS), Names(labels, articles)
        self._refusal = refusal
        self._raw: list[str] = []
        self._found = self._misread = 0
        self.unfinished = False  # the stream ended inside an object; known after `close`

    @property
    def unreadable(self) -> int:
        """How many objects, or names of passages, could not be read."""
        return self._objects.unreadable + self._misread

    @property
    def full(self) -> bool:
        """Whether more came than is read: the call can be ended."""
        return self._objects.full or self._found >= MOST_CHOICES

    def feed(self, text: str) -> Iterator[ChoicePiece]:
        """Yield what the objects that end in this part of the stream say."""
        if not self._objects.full:
            self._raw.append(text)
        yield from self._pieces(self._objects.feed(text))

    def close(self) -> Iterator[ChoicePiece]:
        """Yield what stands in an object that never ended; of prose, all that it names."""
        yield from self._pieces(self._objects.close())
        self.unfinished = self._objects.unfinished
        raw = thoughtless("".join(self._raw))
        if not self._found:
            for piece in self._prose(raw):
                self._found += 1
                yield piece
        if not self._found and refuses(raw, self._refusal):
            yield Refusal()
        elif not self._found:
            yield from dict.fromkeys(filter(None, (self._names.like(raw[a:b]) for a, b in sentences(raw))))

    def _pieces(self, records: Iterator[Record]) -> Iterator[ChoicePiece]:
        for record in records:
            for piece in self._of(record):
                if self._found < MOST_CHOICES:
                    self._found += 1
                    yield piece

    def _of(self, record: Record) -> Iterator[ChoicePiece]:
        said, quoted = record.get("say"), record.get("quote")
        if isinstance(said, str) and said.strip().lower() in LINES:
            yield ConnectingLine(said.strip().lower())
        elif said is not None:
            self._misread += 1
        for one in quoted if isinstance(quoted, list) else [quoted]:
            if isinstance(one, str):
                choices = self._names.choices(one)
                self._misread += not choices
                yield from choices
            elif one is not None:
                self._misread += 1
        if record.get("refusal") is True:
            yield Refusal()

    def _prose(self, raw: str) -> Iterator[ChoicePiece]:
        """Yield the lines and passages that running text names, in its order, each once."""
        seen: set[Choice] = set()
        for start, end in sentences(raw):
            part = raw[start:end]
            if (said := _LINE.search(part)) and said[1] in LINES:
                yield ConnectingLine(said[1])
            if _refusing().search(plain(part)) and not self._names.copied(part):
                continue  # "article 12 does not answer this" chooses nothing
            for choice in self._names.choices(part):
                if choice not in seen and len(seen) < MOST_CHOICES:
                    seen.add(choice)
                    yield choice
            self._misread += self._names.unknown(part)


@cache
def _refusing() -> re.Pattern[str]:
    return any_of(data("refusals")["patterns"])
