"""Typing errors in a question: a word that nobody knows is read as the known one that it nearly is.

The words that one error could have come from are made and looked up, as in Kernighan, Church & Gale (1990): a
letter too many, too few, another, two swapped, or another spelling of the same sound. Accents need no
help: folding takes them off law and question alike. Articles hold no unknown word, so that the same
analyser cuts both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase
from typing import TypeAlias

from rag.text import Analyser, Token
from rag.text.folding import fold

SHORTEST = 5  # letters: too much is one error away from a short word
SHORTEST_OTHER = 6  # the same where a letter may be another, or one too many
LEAST = 2  # documents that hold the word: what stands once may be an error itself
LIKELY = 8.0  # how much more often an error has a reason (sound, doubled letter, swap) than not
# spellings of one sound, each for the other; what is silent is for nothing
_SOUNDS = {
    "fr": "an/en am/em an/am en/em ss/c s/c s/ss s/z ai/e ei/e ai/ei er/e eau/o au/o eau/au ph/f qu/k "
    "qu/c c/k y/i g/j ge/j gu/g h/ th/t in/ain in/ein im/in ti/si ti/ssi oi/oa ill/y eu/oeu",
    "nl": "ei/ij au/ou d/t dt/t dt/d c/k f/v s/z",
    "de": "ae/e ai/ei d/t f/v ph/f ss/s ie/i h/",
    "it": "h/ c/q cq/q gn/ni z/s",
    "en": "ie/ei ph/f c/s s/z ence/ance ent/ant able/ible h/",
}
Sounds: TypeAlias = tuple[tuple[str, str], ...]


def sounds(language: str) -> Sounds:
    """Return the spellings that are taken for each other in a language."""
    pairs = (pair.partition("/") for pair in _SOUNDS.get(language, "").split())
    return tuple((one, other) for one, _, other in pairs)


@dataclass(frozen=True, slots=True)
class Mended:
    """A word of the question, and what it was read as."""

    typed: str
    read: str  # folded: without accents
    term: str


def tolerant(inner: Analyser, known: Mapping[str, int]) -> Analyser:
    """Return the analyser of questions; Chinese has no letters to mistype.

    Args:
        inner: the analyser of the law.
        known: term -> in how many documents it stands.
    """
    return inner if inner.language == "zh" else TolerantAnalyser(inner, known)


class TolerantAnalyser:
    """An analyser whose unknown words give the term of the known word that they are a typing error of."""

    def __init__(self, inner: Analyser, known: Mapping[str, int]) -> None:
        """Mend what `inner` cuts.

        Args:
            inner: cuts the text.
            known: term -> in how many documents it stands; what stands in fewer than two is known, but no
                other word is read as it.
        """
        self._inner, self._known = inner, known
        self._sounds = sounds(inner.language)
        self._read = lru_cache(maxsize=4096)(self._look)

    @property
    def id(self) -> str:
        """That of the analyser inside: what it gives for the law is the same."""
        return self._inner.id

    @property
    def language(self) -> str:
        """ISO 639-1."""
        return self._inner.language

    def terms(self, text: str) -> list[str]:
        """Return the terms in order, mended."""
        found = self._inner.terms(text)
        if all(map(self._known.__contains__, found)):
            return found
        return [token.term for token in self.tokens(text)]

    def tokens(self, text: str) -> list[Token]:
        """Return the terms in order, mended, each with its place in `text`."""
        return [self._token(text, token) for token in self._inner.tokens(text)]

    def mended(self, text: str) -> tuple[Mended, ...]:
        """Return the words that were read as others, each once, in order."""
        found = {}
        for token in self._inner.tokens(text):
            if token.term not in self._known:
                typed = text[token.start : token.end]
                read = self._read(fold(typed))
                if read is not None:
                    found[typed] = Mended(typed, read[1], read[0])
        return tuple(found.values())

    def _token(self, text: str, token: Token) -> Token:
        if token.term in self._known:
            return token
        read = self._read(fold(text[token.start : token.end]))
        return token if read is None else Token(token.start, token.end, read[0])

    def _look(self, word: str) -> tuple[str, str] | None:
        """Return the term and the spelling that a word is read as; None where it stays as it is."""
        if len(word) < SHORTEST or not word.isalpha() or not word.isascii():
            return None
        ways = dict(_ways(word, self._sounds))  # spelling -> how likely
        line = " ".join(ways)
        best: tuple[float, str, int, str] | None = None
        for token in self._inner.tokens(line):
            spelling = line[token.start : token.end]
            often = self._known.get(token.term, 0)
            if often >= LEAST and spelling in ways:
                value = math.log(1 + often) + math.log(ways[spelling])
                # of spellings of one term the shortest is told; the alphabet decides what is left
                rank = (-value, token.term, len(spelling), spelling)
                best = rank if best is None else min(best, rank)
        return None if best is None else (best[1], best[3])


def _ways(word: str, same: Sounds) -> Iterator[tuple[str, float]]:
    """Yield what the word may have been before one error, the likelier last; the first letter is right."""
    for i in range(1, len(word) + 1):
        yield from ((word[:i] + letter + word[i:], 1.0) for letter in ascii_lowercase)
    for i in range(1, len(word) if len(word) >= SHORTEST_OTHER else 0):
        yield word[:i] + word[i + 1 :], 1.0
        yield from ((word[:i] + letter + word[i + 1 :], 1.0) for letter in ascii_lowercase)
    for i in range(1, len(word)):
        yield word[:i] + word[i - 1] + word[i:], LIKELY
        if word[i] == word[i - 1]:
            yield word[:i] + word[i + 1 :], LIKELY
        if i + 1 < len(word):
            yield word[:i] + word[i + 1] + word[i] + word[i + 2 :], LIKELY
    for one, other in same:
        yield from ((way, LIKELY) for way in (*_respelt(word, one, other), *_respelt(word, other, one)))


def _respelt(word: str, wrong: str, right: str) -> Iterator[str]:
    at = word.find(wrong, 1) if wrong else -1
    while at > 0:
        yield word[:at] + right + word[at + len(wrong) :]
        at = word.find(wrong, at + 1)
