"""What a model writes, turned into pieces: never evaluated, and nothing given out that cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, Protocol, TypeAlias

from rag.answer.generation.objects import MOST, Objects, Record
from rag.answer.types import Missing, Piece, Quote, Refusal, Statement
from rag.text.highlight import sentences

Reply: TypeAlias = Literal["pieces", "prose"]

LONGEST = 2_000  # characters of a sentence, with its subordinate clauses; more is no sentence
MOST_CITED = 20  # articles, and quotes, of one sentence
_LEADING = "AXYQ"  # labels are A1, A2, …; another letter where an article has such an id


class Labels:
    """Short names of the articles of one prompt, and what a model may mean by what it wrote."""

    def __init__(self, article_ids: Sequence[str]) -> None:
        """Name the articles in their order."""
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
        ids are numbers is never misread. An unknown name is kept for the gate to refuse.
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
        return whole(text)[:200]


class Reader(Protocol):
    """Turns a stream into pieces; what it gives does not depend on how the stream was cut."""

    unfinished: bool  # the stream ended inside a sentence; known after `close`

    @property
    def unreadable(self) -> int:
        """How many objects could not be read."""
        ...

    @property
    def full(self) -> bool:
        """Whether more came than is read: the call can be ended."""
        ...

    def feed(self, text: str) -> Iterator[Piece]:
        """Yield the pieces that end in this part of the stream."""
        ...

    def close(self) -> Iterator[Piece]:
        """Yield what only the end of the stream makes known."""
        ...


class PieceReader:
    """Reads the objects that the prompts ask for."""

    def __init__(self, labels: Labels, refusal: str) -> None:
        """Start before the first character.

        Args:
            labels: of the articles.
            refusal: the fixed sentence; a model that writes it in place of an object refuses too.
        """
        self._objects = Objects()
        self._labels = labels
        self._refusal = _level(refusal)
        self._raw: list[str] = []
        self._found = self._misshapen = 0
        self.unfinished = False

    @property
    def unreadable(self) -> int:
        """How many objects could not be read, or were not what was asked for."""
        return self._objects.unreadable + self._misshapen

    @property
    def full(self) -> bool:
        """Whether more came than is read."""
        return self._objects.full

    def feed(self, text: str) -> Iterator[Piece]:
        """Yield the pieces whose last character is in this part of the stream."""
        if not self._objects.full:
            self._raw.append(text)
        yield from self._pieces(self._objects.feed(text))

    def close(self) -> Iterator[Piece]:
        """Yield what stands in an object that never ended, and a refusal that was written as plain text."""
        yield from self._pieces(self._objects.close())
        self.unfinished = self._objects.unfinished
        if not self._found and self._refusal in _level("".join(self._raw)[:MOST]):
            yield Refusal()

    def _pieces(self, records: Iterator[Record]) -> Iterator[Piece]:
        for record in records:
            read = pieces(record, self._labels)
            self._misshapen += read is None
            for piece in read or ():
                self._found += 1
                refuses = isinstance(piece, Statement) and _level(piece.text) == self._refusal
                yield Refusal() if refuses else piece


class ProseReader:
    """Reads plain sentences, as the baseline prompt gives them: none names an article, so none can pass.

    It is there for measuring what the baseline writes; sentences are cut when all has come.
    """

    def __init__(self, refusal: str) -> None:
        """Start before the first character."""
        self._refusal = _level(refusal)
        self._text = ""
        self.unreadable = 0
        self.full = self.unfinished = False

    def feed(self, text: str) -> Iterator[Piece]:
        """Keep the text."""
        self.full = self.full or len(self._text) + len(text) > MOST
        self._text = (self._text + text)[:MOST]
        yield from ()

    def close(self) -> Iterator[Piece]:
        """Yield the sentences."""
        if self._refusal and self._refusal in _level(self._text):
            yield Refusal()
            return
        for start, end in sentences(self._text):
            text = whole(self._text[start:end]).strip()
            if text:
                yield Statement(text[:LONGEST])


def pieces(record: Record, labels: Labels) -> list[Piece] | None:
    """Return what an object says; None if its values are not of the kinds that were asked for."""
    found: list[Piece] = []
    text = record.get("text")
    if "text" in record and not (isinstance(text, str) and len(text) <= LONGEST):
        return None
    if isinstance(text, str) and text.strip():
        if "article" in record and "articles" not in record and "quotes" not in record:
            return None  # a quote that lost its sentence
        quotes = _quotes(record.get("quotes", record.get("quote")), labels)
        cited = _cited(record.get("articles"), labels)
        if quotes is None or cited is None:
            return None
        named = cited or tuple(dict.fromkeys(quote.article_id for quote in quotes))
        found.append(Statement(whole(text).strip(), named, quotes))
    missing = record.get("missing")
    for one in missing if isinstance(missing, list) else [missing]:
        if isinstance(one, str) and one.strip():
            found.append(Missing(whole(one).strip()[:LONGEST]))
        elif one is not None and not isinstance(one, (str, bool)):
            return None
    if record.get("refusal") is True:
        found.append(Refusal())
    return found if found or "text" not in record else None


def _cited(value: object, labels: Labels) -> tuple[str, ...] | None:
    if value is None:
        return ()
    names = [labels.id(one) for one in (value if isinstance(value, list) else [value])]
    if None in names or len(names) > MOST_CITED:
        return None
    return tuple(dict.fromkeys(name for name in names if name))


def _quotes(value: object, labels: Labels) -> tuple[Quote, ...] | None:
    """Read [{"article": …, "text": …}], one such object, or {"A1": "…"}."""
    if value is None:
        return ()
    if isinstance(value, dict) and "article" not in value:
        value = [{"article": name, "text": text} for name, text in value.items()]
    quotes = []
    for one in value if isinstance(value, list) else [value]:
        if not isinstance(one, Mapping):
            return None
        name, text = labels.id(one.get("article")), one.get("text", one.get("quote"))
        if not name or not isinstance(text, str):
            return None
        quotes.append(Quote(name, whole(text).strip()))
    return tuple(quotes) if len(quotes) <= MOST_CITED else None


def whole(text: str) -> str:
    """Join halves of characters that came apart; a half that is alone becomes U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _level(text: str) -> str:
    """Return the text as it is compared with the refusal: neither case nor blanks nor signs count."""
    return re.sub(r"\W+", " ", whole(text).casefold()).strip()
