"""Text of a law and of a question, cut into the terms that are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol


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
        ...

    @property
    def language(self) -> str:
        """ISO 639-1."""
        ...

    def tokens(self, text: str) -> list[Token]:
        """Return the terms in order, each with its place in `text`; stop words are left out."""
        ...

    def terms(self, text: str) -> list[str]:
        """Return the terms in order; the same as `[t.term for t in self.tokens(text)]`, faster."""
        ...


def surface_forms(text: str, analyser: Analyser) -> dict[str, str]:
    """Return each term of a text as it is written there first."""
    return {token.term: text[token.start : token.end] for token in reversed(analyser.tokens(text))}
