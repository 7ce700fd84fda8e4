"""Text of a law and of a question, cut into the terms that are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import NamedTuple, Protocol, TypeVar

T = TypeVar("T")


class Token(NamedTuple):
    """One term and the place in the text it came from."""  # a tuple: a page makes a thousand

    start: int
    end: int
    term: str


@dataclass(frozen=True, slots=True)
class SpellingCorrection:
    """A word of a question and its correction."""

    typed: str
    read: str  # folded: without accents
    term: str


class Analyser(Protocol):
    """Cuts text of one language into terms; the same for law and for questions."""

    @property
    def id(self) -> str:
        """Everything that changes the terms: language, libraries' versions, options."""

    @property
    def language(self) -> str:
        """ISO 639-1."""

    def tokens(self, text: str) -> list[Token]:
        """Return the terms in order, each with its place in `text`; stop words are left out."""

    def terms(self, text: str) -> list[str]:
        """Return the terms in order; the same as `[t.term for t in self.tokens(text)]`, faster."""


class RememberedTerms(dict[str, T]):
    """What pieces of text give, made when first asked for; all is forgotten when it is full."""

    def __init__(self, make: Callable[[str], T], most: int, longest: int) -> None:
        """Remember what `make` returns of at most so many pieces, none longer than so many characters."""
        super().__init__()
        self._make, self._most, self._longest = make, most, longest

    def __missing__(self, piece: str) -> T:
        """Make what is not there."""
        made = self._make(piece)
        if len(piece) <= self._longest:
            if len(self) >= self._most:
                self.clear()
            self[piece] = made
        return made


def data_lines(name: str) -> list[str]:
    """Return the lines of a list that ships here, such as "stopwords/fr.txt", less its # comments."""
    text = (files(__name__) / name).read_text(encoding="utf-8")
    return [line for typed in text.splitlines() if (line := typed.partition("#")[0].strip())]


def surface_forms(text: str, analyser: Analyser) -> dict[str, str]:
    """Return each term of a text as it is written there first."""
    return {token.term: text[token.start : token.end] for token in reversed(analyser.tokens(text))}
