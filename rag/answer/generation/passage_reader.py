"""Which passages a model chose, however it wrote that: JSON as it was asked for, prose, bullets, labels.

Nothing of a model's own words is ever given out: what is read are names of passages (A1.2), of articles (A1,
an id, "article 1907"), sentences of law that were copied, and keys of connecting lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from rag.answer.generation.parser import MOST, ArticleLabels, Objects, Record
from rag.answer.passages import units
from rag.answer.screening.patterns import any_of, data, plain
from rag.answer.types import LINES, Choice, ChoicePiece, ConnectingLine, Refusal
from rag.answer.verification.quotes import Places, is_long_enough
from rag.text.article_numbers import number_key
from rag.text.code_names import CodeNames
from rag.text.highlight import sentences
from rag.text.language import language_of
from rag.text.references import find_references
from rag.types import Article

KEYS = frozenset({"say", "quote", "refusal"})  # one of them makes an object ours
MOST_CHOICES = 40  # a model that goes on is going round in circles
SHORT = 900  # characters of a reply that may refuse in its own words
LEAST_WORDS = 6  # of a text that is compared with sentences of law
ALIKE = 0.6  # of the words of both: a copy with small changes
MOST_UNITS = 12  # of one choice; a longer range is the article
_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_RANGE = r"(?:\s*(?:-|–|—|to|bis|à|a|al|tot|至)\s*(?:{letter}\d{{1,2}}\.|\.)?(?P<last>\d{{1,3}}))?"
_LINE = re.compile(r"\"say\"\s*:\s*\"([a-z_]+)\"")


class PassageReader:
    """Turns a stream into choices of passages, connecting lines and refusals, however the stream is cut.

    Objects are read as they end. Where none came, the whole is read as prose when it has ended.
    """

    def __init__(self, labels: ArticleLabels, articles: Sequence[Article], refusal: str = "") -> None:
        """Take the labels of the articles that the model is shown, and these articles in the same order."""
        self._objects, self._names = Objects(KEYS), _Names(labels, articles)
        self._refusal = plain(refusal)
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
        raw = _THOUGHTS.sub(" ", "".join(self._raw)[:MOST])
        if not self._found:
            for piece in self._prose(raw):
                self._found += 1
                yield piece
        if not self._found and self._refuses(raw):
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

    def _refuses(self, raw: str) -> bool:
        """Tell whether a reply that chose nothing says that nothing answers."""
        bare = plain(raw[: SHORT + 1])
        if re.search(r"\"(?:answer|passages|quotes)\"\s*:\s*\[\s*\]", raw) or (
            self._refusal and self._refusal in bare
        ):
            return True
        return len(bare) <= SHORT and _refusing().search(bare) is not None


class _Names:
    """What a model may call passages and articles, and sentences of law that it copied."""

    def __init__(self, labels: ArticleLabels, articles: Sequence[Article]) -> None:
        self._labels, self._articles = labels, articles
        self._at = {article.id: article for article in articles}
        letter = re.escape(re.sub(r"\d", "", labels.labels[0])) if labels.labels else "A"
        self._label = re.compile(
            rf"(?<![\w.])(?P<label>{letter}\d{{1,2}})(?:\.(?P<first>\d{{1,3}}){_RANGE.format(letter=letter)})?(?!\w)",
            re.IGNORECASE,
        )
        self._names = CodeNames(
            tuple(dict.fromkeys(article.code for article in articles)), language=_language(articles)
        )
        self._by_number: dict[str, list[str]] = {}
        for article in articles:
            self._by_number.setdefault(number_key(article.article_no), []).append(article.id)
        own = sorted({a.article_no for a in articles if len(self._by_number[number_key(a.article_no)]) == 1})
        numbers = "|".join(map(re.escape, own)) or "(?!)"
        self._numbered_unit = re.compile(rf"(?<![\w.-])(?P<number>{numbers})\.(?P<first>\d{{1,2}})(?![\w-])")
        self._places: dict[str, Places] = {}

    def choices(self, text: str) -> list[Choice]:
        """Return what a short text chooses: copied law, else passages named, else articles named."""
        if copied := self.copied(text):
            return copied
        found, whole = self._labelled(text)
        if found:
            return found
        whole += [id_ for id_ in self._numbered(text) if id_ not in whole]
        whole += [id_ for id_ in self._at if id_ not in whole and _stands(id_, text)]
        near = " ".join(self._label.sub(" ", text).split())
        return [Choice(id_, None, None, near) for id_ in whole]

    def copied(self, text: str) -> list[Choice]:
        """Return the units that a text copies, by position, whatever its quotation marks and capitals."""
        found: list[Choice] = []
        for part in _copies(text):
            for article in self._articles:
                if article.id not in self._places:
                    self._places[article.id] = Places(article.text)
                spans = self._places[article.id].find(part)[:1]
                if spans and is_long_enough(part):
                    touched = [
                        i
                        for i, (a, b) in enumerate(units(article.text, article.language).spans)
                        if a < spans[0][1] and spans[0][0] < b
                    ]
                    if touched:
                        found.append(Choice(article.id, touched[0], touched[-1]))
                    break
        return list(dict.fromkeys(found))

    def like(self, text: str) -> Choice | None:
        """Return the sentence of law whose words a text has nearly all: a copy with small changes."""
        words = _words(text)
        best: tuple[float, Choice] | None = None
        for article in self._articles if len(words) >= LEAST_WORDS else ():
            for i, (start, end) in enumerate(units(article.text, article.language).spans):
                own = _words(article.text[start:end])
                alike = len(words & own) / max(len(words | own), 1)
                if alike >= ALIKE and (best is None or alike > best[0]):
                    best = alike, Choice(article.id, i, i)
        return best[1] if best else None

    def unknown(self, text: str) -> int:
        """Return how many labels of a text name nothing that was shown."""
        return sum(self._id(found["label"]) is None for found in self._label.finditer(text))

    def _labelled(self, text: str) -> tuple[list[Choice], list[str]]:
        found: list[Choice] = []
        whole: list[str] = []
        for each in self._label.finditer(text):
            id_ = self._id(each["label"])
            if id_ is None:
                continue
            if each["first"] is None:
                whole += [id_] * (id_ not in whole)
                continue
            count = len(units(self._at[id_].text, self._at[id_].language).spans)
            first = int(each["first"]) - 1
            last = int(each["last"]) - 1 if each["last"] else first
            if 0 <= first < count:
                last = min(max(last, first), count - 1, first + MOST_UNITS - 1)
                found.append(Choice(id_, first, last))
            elif id_ not in whole:
                whole.append(id_)
        for each in self._numbered_unit.finditer(text):  # "1242.3"
            [id_] = self._by_number[number_key(each["number"])]
            at = int(each["first"]) - 1
            if 0 <= at < len(units(self._at[id_].text, self._at[id_].language).spans):
                found.append(Choice(id_, at, at))
        return list(dict.fromkeys(found)), whole

    def _numbered(self, text: str) -> list[str]:
        """Return the articles shown that a text names by number; one number of two codes needs its code."""
        found: list[str] = []
        for each in find_references(text, self._names):
            if not each.marked and each.code is None:
                continue
            ids = self._by_number.get(each.number, ())
            named = [id_ for id_ in ids if each.code in (None, self._at[id_].code) and not each.unresolved]
            found += [id_ for id_ in named if len(named) == 1 and id_ not in found]
        return found

    def _id(self, label: str) -> str | None:
        id_ = self._labels.id(label)
        return id_ if id_ in self._at else None


def _language(articles: Sequence[Article]) -> str:
    return language_of(articles[0].text, articles[0].language) if articles else "en"


_COPY_OF = re.compile(r"[«“\"„]([^«»“”\"„]{12,})[»”\"“]")
_NAMED = re.compile(r"^[\s\-–•*>\d.)]*(?:[^\w]*\b[\w.§ -]{0,60}?\s?[:：])?\s*")


def _copies(text: str) -> Iterator[str]:
    """Yield what of a text may be copied law: what is in quotation marks, all of it, and behind a colon."""
    yield from (found[1] for found in _COPY_OF.finditer(text))
    bare = re.sub(r"[\[(][^\[\]()]{0,24}[\])]", " ", text).strip()
    yield bare
    behind = _NAMED.sub("", bare, count=1)
    if behind != bare:
        yield behind


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W_]+", plain(text)))


def _stands(id_: str, text: str) -> bool:
    """Tell whether an id stands in a text as a word of its own; short numbers mean something else there."""
    if id_.isdigit() and len(id_) < 5:
        return text.strip(" []()\"'") == id_
    return re.search(rf"(?<![\w-]){re.escape(id_)}(?![\w-])", text) is not None


@cache
def _refusing() -> re.Pattern[str]:
    return any_of(data("refusals")["patterns"])
