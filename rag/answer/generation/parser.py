"""The objects that a model writes, and its names of articles: never evaluated, whatever they are cut into."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar, Generic, Literal, NoReturn, TypeAlias, TypeVar

from rag.answer.verification.sanitise import ThoughtFilter

Found = TypeVar("Found")
Record: TypeAlias = dict[str, object]
Reply: TypeAlias = Literal[
    "quotes", "claims", "prose"
]  # passages chosen, sentences with citations, plain text

# Keys under which a root object holds its items: what we ask for, and what models make of it.
WRAPPERS = frozenset({"answer", "answers", "sentences", "statements", "items", "pieces", "lines", "results"})
MOST = 64_000  # characters of one answer: four times what the default of 1,024 tokens can hold, in any script
LARGEST = 8_000  # characters of one object: a sentence with twenty quotes of a paragraph each
DEEPEST = 8  # a quote lies four deep in a root object; json would recurse
MOST_UNREADABLE = 30  # then it is garbage; together with LARGEST, this bounds how often text is read again
_LEADING = "AXYQ"  # labels are A1, A2, …; another letter where an article has such an id

_BEGINS_ANEW = re.compile(r'\s*\{\s*"(?:text|quote|say|refusal)"\s*:')
_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)


@dataclass(slots=True)
class _Frame:
    """A bracket that is open."""

    kind: str  # "{" or "["
    start: int
    outer: bool  # only arrays and wrapping keys lie around it, so that an object here is an item
    wraps: bool = False  # an object that holds items


class Objects:
    """Reads a stream character by character; what it finds does not depend on how the stream was cut.

    An object is read where only arrays, and the keys in `WRAPPERS`, lie around it. So lines, an array,
    a root object, code fences and chatter before or after all give the same objects. What begins like an
    object and cannot be read is counted, and reading goes on inside it.
    """

    def __init__(self, keys: Collection[str]) -> None:
        """Take the keys of which one makes an object ours."""
        self._keys = frozenset(keys)
        self.unreadable = 0
        self.full = False  # more came than is read
        self.unfinished = False  # the stream ended inside an object; known after `close`
        self._room = MOST
        self._buffer = ""
        self._at = 0
        self._stack: list[_Frame] = []
        self._forget()

    def _forget(self) -> None:
        self._stack.clear()
        self._in_string = self._escaped = self._fresh = False
        self._string_at = 0
        self._word = ""  # the last string that ended
        self._key = ""  # the last string before a colon
        self._line: int | None = None  # where a line began at which no object may begin

    def feed(self, text: str) -> Iterator[Record]:
        """Yield the objects that end in this piece of the stream."""
        if len(text) > self._room:
            self.full = True
        text = text[: self._room]
        self._room -= len(text)
        self._buffer += text
        yield from self._read()
        if not self._stack:
            self._buffer, self._at = "", 0

    def close(self) -> Iterator[Record]:
        """Yield the objects that stand inside what never ended."""
        self.unfinished = bool(self._stack)
        while (item := self._item()) is not None:
            self._fail(item.start + 1)
            yield from self._read()

    def _read(self) -> Iterator[Record]:
        while self._at < len(self._buffer) and self.unreadable < MOST_UNREADABLE:
            at = self._at
            self._at += 1
            yield from self._step(self._buffer[at], at)

    def _item(self) -> _Frame | None:
        """Return the outermost open object that may be an item."""
        for frame in self._stack:  # no generator: this is asked at every character
            if frame.kind == "{" and not frame.wraps:
                return frame
        return None

    def _fail(self, again_from: int) -> None:
        self.unreadable += 1
        self._forget()
        self._at = again_from

    def _step(self, char: str, at: int) -> Iterator[Record]:
        if self._stack and self._breaks_off(char, at):
            return
        if self._in_string:
            self._string(char, at)
        elif self._fresh and not char.isspace() and not self._opens(char):
            pass
        elif char == '"' and self._stack:
            self._in_string, self._string_at = True, at + 1
        elif char in "{[":
            self._push(char, at)
        elif char in "}]":
            yield from self._pop(char, at)
        elif char == ":":
            self._key = self._word
        elif char == ",":
            self._key = ""

    def _breaks_off(self, char: str, at: int) -> bool:
        """Tell whether the open object is too large, or the next one has begun before it has ended."""
        item = self._item()
        if item is None:
            return False
        if at - item.start >= LARGEST:
            self._fail(item.start + 1)
            return True
        if char == "\n":
            self._line = at + 1 if self._in_string or self._stack[-1].kind == "{" else None
        elif char == ":" and self._line is not None:
            line, self._line = self._line, None
            if _BEGINS_ANEW.fullmatch(self._buffer, line, at + 1):
                self._fail(line)  # a quote or a bracket was left out on the line before
                return True
        return False

    def _string(self, char: str, at: int) -> None:
        if self._escaped:
            self._escaped = False
        elif char == "\\":
            self._escaped = True
        elif char == '"':
            self._in_string, self._word = False, self._buffer[self._string_at : at]

    def _opens(self, char: str) -> bool:
        """Tell whether the outermost bracket begins JSON, from the sign after it; else it was prose."""
        self._fresh = False
        if char in ('"}' if self._stack[-1].kind == "{" else "{[]"):
            return True
        self._fail(self._at - 1) if self._stack[-1].kind == "{" else self._forget()
        return False

    def _push(self, char: str, at: int) -> None:
        if len(self._stack) == DEEPEST:
            item = self._item()
            self._fail(at + 1 if item is None else item.start + 1)
            return
        outer = True
        if self._stack:
            parent = self._stack[-1]
            outer = parent.outer and (parent.kind == "[" or self._key in WRAPPERS)
            parent.wraps = parent.wraps or (outer and parent.kind == "{")
        self._fresh = not self._stack
        self._stack.append(_Frame(char, at, outer))
        self._key = ""

    def _pop(self, char: str, at: int) -> Iterator[Record]:
        if not self._stack:
            return
        if (self._stack[-1].kind == "{") != (char == "}"):
            item = self._item()
            if item is None:
                self._forget()
            else:
                self._fail(item.start + 1)
            return
        frame = self._stack.pop()
        self._key = ""
        if frame.kind == "[" or not frame.outer:
            return
        record = load(self._buffer[frame.start : at + 1])
        if record is not None and frame.wraps:
            record = {key: value for key, value in record.items() if key not in WRAPPERS}
            if not self._keys & record.keys():
                return  # its items have come already
        if record is not None and self._keys & record.keys():
            yield record
        elif record is None and not self._stack:
            self._fail(frame.start + 1)
        else:  # the brackets around it still agree
            self.unreadable += 1


def load(text: str) -> Record | None:
    """Read one object; None if it is not JSON, even without commas before closing brackets.

    A key that stands twice makes it unreadable, for readers of JSON differ about which one counts.
    """
    for attempt in (text, _TRAILING_COMMA.sub(lambda found: found[1] or "", text)):
        try:
            record = json.loads(attempt, strict=False, object_pairs_hook=_unique, parse_constant=_refuse)
        except (ValueError, RecursionError):
            continue
        return record if isinstance(record, dict) else None
    return None


def _unique(pairs: list[tuple[str, object]]) -> Record:
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError("a key stands twice")
    return record


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


class ObjectReader(ABC, Generic[Found]):
    """Turns a stream into what its objects say as they end; what they leave unsaid, when all has come."""

    keys: ClassVar[frozenset[str]]  # one of them makes an object ours
    most: ClassVar[int]  # of what is found; a model that goes on is going round in circles

    def __init__(self) -> None:
        self._objects, self._thoughts = Objects(self.keys), ThoughtFilter()
        self._raw: list[str] = []
        self._found = self._misread = 0
        self.unfinished = False  # the stream ended inside an object; known after `close`

    @property
    def unreadable(self) -> int:
        """How many objects could not be read, or were not what was asked for."""
        return self._objects.unreadable + self._misread

    @property
    def full(self) -> bool:
        """Whether more came than is read: the call can be ended."""
        return self._objects.full or self._found >= self.most

    def feed(self, text: str) -> Iterator[Found]:
        """Yield what the objects say that end in this part of the stream, however it was cut."""
        yield from self._read(self._thoughts.feed(text))

    def close(self) -> Iterator[Found]:
        """Yield what stands in an object that never ended; where no object said anything, what prose says."""
        yield from self._read(self._thoughts.close())
        yield from self._counted(chain.from_iterable(map(self.said, self._objects.close())))
        self.unfinished = self._objects.unfinished
        if not self._found:
            yield from self._counted(self.told("".join(self._raw)[:MOST]))

    def _read(self, text: str) -> Iterator[Found]:
        if not self._objects.full:
            self._raw.append(text)
        yield from self._counted(chain.from_iterable(map(self.said, self._objects.feed(text))))

    def _counted(self, found: Iterable[Found]) -> Iterator[Found]:
        for each in found:
            if self._found < self.most:
                self._found += 1
                yield each

    @abstractmethod
    def said(self, record: Record) -> Iterator[Found]:
        """Yield what an object says; what cannot be read of it adds to `_misread`."""

    @abstractmethod
    def told(self, text: str) -> Iterator[Found]:
        """Yield what running text says."""


class ArticleLabels:
    """Short names of the articles of one prompt, and what a model may mean by what it wrote."""

    def __init__(self, article_ids: Sequence[str]) -> None:
        self._ids = frozenset(article_ids)
        letter = next(
            (x for x in _LEADING if not any(re.fullmatch(rf"{x}\d+", i, re.I) for i in self._ids)), "REF"
        )
        self.labels = tuple(f"{letter}{n}" for n in range(1, len(article_ids) + 1))
        self._by_label = dict(zip(self.labels, article_ids, strict=True))
        self._by_number = dict(enumerate(article_ids, start=1))

    def id(self, written: object) -> str | None:
        """Return the article that is meant, or what was written where none is; None if it is no name at all.

        An id comes first, then a label, then a bare number as the place in the list: so a corpus whose
        ids are numbers is never misread. An unknown name is kept for the hard checks to refuse.
        """
        if isinstance(written, bool) or not isinstance(written, (str, int)):
            return None
        if isinstance(written, int):
            text = str(written) if abs(written) < 10**12 else "?"
        else:
            text = written.strip()
            if text not in self._ids:
                text = text.strip("[]()<>\"' ")
        if text in self._ids:
            return text
        if text.upper() in self._by_label:
            return self._by_label[text.upper()]
        if re.fullmatch(r"[0-9]{1,3}", text):
            return self._by_number.get(int(text), text)
        return join_surrogates(text)[:200]


def join_surrogates(text: str) -> str:
    """Join surrogate pairs that a stream split; a lone surrogate becomes U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
