"""Which passages a model chose, however it wrote that: JSON as it was asked for, prose, bullets, labels.

Nothing of a model's own words is ever given out: what is read are names of passages (A1.2), of articles (A1,
an id, "article 1907"), sentences of law that were copied, and keys of connecting lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from rag.answer.generation.names import LEAST_WORDS, Names
from rag.answer.generation.parser import ArticleLabels, ObjectReader, Record
from rag.answer.types import LINES, Choice, ChoicePiece, ConnectingLine, Refusal
from rag.text.highlight import sentences
from rag.text.patterns import any_of, data, plain
from rag.types import Article

SHORT = 900  # characters of a reply that may refuse in its own words
UNKNOWN = Choice("", None, None)  # a passage that is none of those shown: a line before it leads nowhere
_NONE = re.compile(r"\"(?:answer|passages)\"\s*:\s*\[\s*\]")
_ANSWER = re.compile(  # after what was thought aloud
    r"^[ \t#*_>]*(?:(?:final )?answer|réponse(?: finale)?|antwort|risposta|antwoord|答案|回答)[ \t*_]*[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_LINE = re.compile(r"\"say\"\s*:\s*\"([a-z_]+)\"")


def refuses(raw: str, refusal: str = "") -> bool:
    """Tell whether a reply that says nothing else says that nothing answers, in whatever words."""
    bare = plain(raw[: SHORT + 1])
    if _NONE.search(raw) or (refusal and plain(refusal).rstrip(".。") in bare):
        return True
    return len(bare) <= SHORT and _refusing().search(bare) is not None


class PassageReader(ObjectReader[ChoicePiece]):
    """Reads choices of passages, connecting lines and refusals."""

    keys = frozenset({"say", "quote", "refusal"})
    most = 40

    def __init__(self, labels: ArticleLabels, articles: Sequence[Article], refusal: str = "") -> None:
        """Take the labels of the articles that the model is shown, and these articles in the same order."""
        super().__init__()
        self._names, self._refusal = Names(labels, articles), refusal

    def said(self, record: Record) -> Iterator[ChoicePiece]:
        """Yield the line, the passages or the refusal of an object."""
        said, quoted = record.get("say"), record.get("quote")
        if isinstance(said, str) and said.strip().lower() in LINES:
            yield ConnectingLine(said.strip().lower())
        elif said is not None:
            self._misread += 1
        for one in quoted if isinstance(quoted, list) else [quoted]:
            if isinstance(one, str):
                choices = self._names.choices(one)
                self._misread += not choices
                yield from choices or [UNKNOWN]
            elif one is not None:
                self._misread += 1
                yield UNKNOWN
        if record.get("refusal") is True:
            yield Refusal()

    def told(self, text: str) -> Iterator[ChoicePiece]:
        """Yield what prose names; else a refusal; else the sentences of law that it is like."""
        answers = [text[found.end() :] for found in _ANSWER.finditer(text)]
        for part in (*answers[-1:], text):
            named = list(self._prose(part))
            if named or refuses(part, self._refusal):
                yield from named or [Refusal()]
                return
        yield from dict.fromkeys(filter(None, (self._names.like(text[a:b]) for a, b in sentences(text))))

    def _prose(self, raw: str) -> Iterator[ChoicePiece]:
        """Yield the lines and passages that running text names, in its order, each once."""
        seen: set[Choice] = set()
        numbered = self._names.numbers(raw)  # then "A2 says why" chooses nothing
        for start, end in sentences(raw):
            part = raw[start:end]
            if (said := _LINE.search(part)) and said[1] in LINES:
                yield ConnectingLine(said[1])
            if _refusing().search(plain(part)) and not self._names.copied(part):
                continue  # "article 12 does not answer this" chooses nothing
            source = len(part.split()) < LEAST_WORDS  # "(Article 671)", behind a sentence that was copied
            for choice in self._names.choices(part, bare=not numbered):
                copied = any(other.article_id == choice.article_id for other in seen)
                if choice not in seen and not (source and copied and choice.first is None):
                    seen.add(choice)
                    yield choice
            self._misread += self._names.unknown(part)


@cache
def _refusing() -> re.Pattern[str]:
    return any_of(data("rag.answer", "refusals")["patterns"])
