"""The analyser of languages that are written in words, on Snowball's stemmers."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import Stemmer

from rag.text import RememberedTerms, Token
from rag.text.article_numbers import number_pattern, number_term
from rag.text.folding import INVISIBLE, fold, level, stem_french

PART, STEM = 4, 3  # letters that a part of a compound has at least, and less what links it to the next
LINKS = ("", "s", "n", "e", "es", "en", "er")
REMEMBERED = 200_000  # words whose term is kept; the vocabulary of 15,000 articles is some 40,000
LONGEST = 64  # letters of a word worth remembering

Stem = Callable[[str], str]


def stem_italian(folded: str, snowball: Stem) -> str:
    """Return the stem of a folded word; the accent of -ità is often left out or typed as an apostrophe."""
    return fold(snowball(folded[:-1] + "à" if folded.endswith("ita") else folded))


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one language needs beside its stemmer."""

    algorithm: str  # Snowball's name
    elided: str = ""  # dropped before an apostrophe: l'article
    possessive: bool = False  # dropped after one: the tenant's, foto's
    spaced_ordinals: bool = False  # "2 bis" is one number
    stem: Callable[[str, Stem], str] | None = None  # rules around Snowball's stemmer


_FRENCH = "l|d|j|m|t|s|n|c|qu|jusqu|lorsqu|puisqu|quoiqu|quelqu|parce qu"
_ITALIAN = "l|un|dell|all|dall|nell|sull|coll|dagl|degl|quell|quest|gl|c|d|m|t|s|v|n"
DIALECTS: Mapping[str, Dialect] = {
    "fr": Dialect("french", elided=_FRENCH, spaced_ordinals=True, stem=stem_french),
    "nl": Dialect("dutch", possessive=True, spaced_ordinals=True),
    "en": Dialect("english", possessive=True),
    "de": Dialect("german", possessive=True),
    "it": Dialect("italian", elided=_ITALIAN, spaced_ordinals=True, stem=stem_italian),
}


class WordAnalyser:
    """Cuts text at what is not a letter, folds and stems each word, keeps article numbers whole.

    Hyphens separate words ("ex-mari" is two), except inside numbers. Safe to share between threads. The name
    is its `id`, and must change when terms do; the words to stop at are folded.
    """

    def __init__(self, language: str, name: str, stop: frozenset[str], stem: bool) -> None:
        self.language, self.id, self._stop, self._stems = language, name, stop, stem
        self._dialect = DIALECTS[language]
        word = rf"[^\W\d][\w{INVISIBLE}]*"
        parts = [number_pattern(self._dialect.spaced_ordinals), rf"{word}(?:'{word})*"]
        if self._dialect.elided:
            parts.insert(0, rf"(?<![\w'])(?i:{self._dialect.elided})'(?=\w)")
        self._pattern = re.compile("|".join(parts))
        self._snowball = Stemmer.Stemmer(self._dialect.algorithm, 0)
        self._lock = threading.Lock()  # Snowball's object is not re-entrant
        self._terms = RememberedTerms(self._term, REMEMBERED, LONGEST)

    def tokens(self, text: str) -> list[Token]:
        """Return the terms in order, each with its place in `text`."""
        terms, found = self._terms, self._pattern.finditer(level(text))
        return [Token(m.start(), m.end(), term) for m in found if (term := terms[m.group()])]

    def terms(self, text: str) -> list[str]:
        """Return the terms in order."""
        terms = self._terms
        return [term for typed in self._pattern.findall(level(text)) if (term := terms[typed])]

    def _term(self, typed: str) -> str:
        """Return the term of one match, "" for none."""
        if typed.endswith("'"):  # an elided article
            return ""
        if any(map(str.isdigit, typed)):
            return number_term(typed)
        if self._dialect.possessive and typed[-2:].lower() == "'s":
            typed = typed[:-2]
        folded = fold(typed)
        if folded in self._stop or not folded:
            return ""
        if not self._stems:
            return folded
        with self._lock:
            stem, rules = self._snowball.stemWord, self._dialect.stem
            return (rules(folded, stem) if rules else fold(stem(folded))) or folded


class CompoundAnalyser(WordAnalyser):
    """Cuts compounds into their parts too: "Mietvertrag" gives its own term and those of Miete and Vertrag.

    A word is cut where both sides are among the stems that compounds are made of, less what links them, the
    last part as long as can be, and each part again (after Koehn & Knight 2003, who choose by frequency: of
    four ways to choose none was better, docs/results.md). What a part is comes from a list and not from the
    law that is searched, so that an update never changes the terms of the articles that stay.
    """

    def __init__(self, language: str, name: str, stop: frozenset[str], parts: frozenset[str]) -> None:
        """Take the stems of parts beside what every analyser of words takes."""
        super().__init__(language, name, stop, stem=True)
        self._parts = parts
        self._pieces = RememberedTerms(self._cut, REMEMBERED, LONGEST)

    def tokens(self, text: str) -> list[Token]:
        """Return the terms in order, a compound before its parts, each with its place in `text`."""
        found, pieces = self._pattern.finditer(level(text)), self._pieces
        return [Token(m.start() + a, m.start() + b, term) for m in found for a, b, term in pieces[m.group()]]

    def terms(self, text: str) -> list[str]:
        """Return the terms in order."""
        pieces = self._pieces
        return [term for typed in self._pattern.findall(level(text)) for _, _, term in pieces[typed]]

    def _cut(self, typed: str) -> tuple[tuple[int, int, str], ...]:
        term = self._terms[typed]
        return ((0, len(typed), term), *self._split(typed, 0)) if term else ()

    def _split(self, typed: str, start: int) -> list[tuple[int, int, str]]:
        """Return the parts of a word that begins at `start`; none if it is no compound."""
        if not typed.isalpha() or len(typed) > LONGEST:
            return []
        for at in range(PART, len(typed) - PART + 1):
            last = self._terms[typed[at:]]
            if last not in self._parts:
                continue
            for link in LINKS:
                end = at - len(link)
                if end < STEM or not typed[:at].casefold().endswith(link):
                    continue
                first = self._terms[typed[:end]]
                if first in self._parts:
                    return [
                        (start, start + end, first),
                        *self._split(typed[:end], start),
                        (start + at, start + len(typed), last),
                        *self._split(typed[at:], start + at),
                    ]
        return []
