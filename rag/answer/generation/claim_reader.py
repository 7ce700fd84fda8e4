"""The sentences of its own that a model writes, and the articles that it cites; nothing is checked here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from rag.answer.generation.names import Names
from rag.answer.generation.parser import MOST, ArticleLabels, ObjectReader, Record, join_surrogates
from rag.answer.generation.passage_reader import refuses
from rag.answer.types import Piece, Quote, Refusal, Statement
from rag.answer.verification.hard_checks import LONGEST
from rag.text.highlight import sentences
from rag.types import Article

MOST_CITED = 20  # articles, and quotes, of one sentence
_BULLET = re.compile(r"^\s*(?:[-–•*·>]+|\d{1,2}[.)])\s+")
_STARS = re.compile(r"\*\*|__")
_LEADS = re.compile(r"[:：]\s*$")


class ClaimReader(ObjectReader[Piece]):
    """Reads sentences and refusals."""

    keys = frozenset({"text", "refusal"})
    most = 40  # five times what the prompts ask for

    def __init__(self, labels: ArticleLabels, articles: Sequence[Article], refusal: str = "") -> None:
        """Take the labels of the articles that the model is shown, and these articles in the same order."""
        super().__init__()
        self._names, self._refusal = Names(labels, articles), refusal

    def said(self, record: Record) -> Iterator[Piece]:
        """Yield the sentence or the refusal of an object."""
        piece = self._piece(record)
        if piece is not None:
            yield piece
        elif record.get("refusal") is not False:
            self._misread += 1

    def told(self, text: str) -> Iterator[Piece]:
        """Yield the sentences of prose that cites; else a refusal."""
        written = [] if self.unreadable else list(self._prose(text))
        if any(piece.article_ids for piece in written):
            yield from written
        elif refuses(text, self._refusal):
            yield Refusal()

    def _piece(self, record: Record) -> Piece | None:
        """Return what an object says; None if its values are not of the kinds that were asked for."""
        text = record.get("text")
        if record.get("refusal") is True and not text:
            return Refusal()
        if not (isinstance(text, str) and text.strip() and len(text) <= LONGEST):
            return None
        if "article" in record and "articles" not in record and "quotes" not in record:
            return None  # a quote that lost its sentence
        quotes = self._quotes(record.get("quotes", record.get("quote")))
        cited = self._cited(record.get("articles"))
        if quotes is None or cited is None:
            return None
        if not cited and not quotes and refuses(text, self._refusal):
            return Refusal()
        named = cited or tuple(dict.fromkeys(quote.article_id for quote in quotes)) or self._names.ids(text)
        return Statement(self._names.without(join_surrogates(text)), tuple(named), quotes)

    def _cited(self, value: object) -> tuple[str, ...] | None:
        if value is None:
            return ()
        names = [self._names.article(one) for one in (value if isinstance(value, list) else [value])]
        if None in names or len(names) > MOST_CITED:
            return None
        return tuple(dict.fromkeys(name for name in names if name))

    def _quotes(self, value: object) -> tuple[Quote, ...] | None:
        """Read [{"article": …, "text": …}], one such object, or {"A1": "…"}."""
        if value is None:
            return ()
        if isinstance(value, dict) and "article" not in value:
            value = [{"article": name, "text": text} for name, text in value.items()]
        quotes = []
        for one in value if isinstance(value, list) else [value]:
            if not isinstance(one, Mapping):
                return None
            name, text = self._names.article(one.get("article")), one.get("text", one.get("quote"))
            if not name or not isinstance(text, str):
                return None
            quotes.append(Quote(name, join_surrogates(text).strip()))
        return tuple(quotes) if len(quotes) <= MOST_CITED else None

    def _prose(self, raw: str) -> Iterator[Statement]:
        """Yield the sentences of plain text; one that names no article has those that its line names."""
        for line in raw.splitlines():
            bare = _STARS.sub("", _BULLET.sub("", line)).strip()
            of_line = self._names.ids(bare)
            for start, end in sentences(bare):
                text = self._names.without(join_surrogates(bare[start:end])).strip()
                named = self._names.ids(bare[start:end]) or of_line
                if any(map(str.isalnum, text)) and (named or not _LEADS.search(text)):
                    yield Statement(text[:LONGEST], tuple(named))


class ProseReader:
    """Reads plain sentences, as the baseline prompt gives them: none names an article, so none is verified.

    It is there for measuring what the baseline writes; sentences are cut when all has come.
    """

    def __init__(self, refusal: str) -> None:
        self._refusal, self._text = refusal, ""
        self.unreadable = 0
        self.full = self.unfinished = False

    def feed(self, text: str) -> Iterator[Piece]:
        """Keep the text."""
        self.full = self.full or len(self._text) + len(text) > MOST
        self._text = (self._text + text)[:MOST]
        yield from ()

    def close(self) -> Iterator[Piece]:
        """Yield the sentences."""
        if self._refusal and _level(self._refusal) in _level(self._text):
            yield Refusal()
            return
        for start, end in sentences(self._text):
            text = join_surrogates(self._text[start:end]).strip()
            if text:
                yield Statement(text[:LONGEST])


def _level(text: str) -> str:
    """Return the text as it is compared with the refusal: neither case nor blanks nor signs count."""
    return re.sub(r"\W+", " ", join_surrogates(text).casefold()).strip()
