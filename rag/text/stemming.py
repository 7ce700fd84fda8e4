"""The analyser of languages that are written in words, on Snowball's stemmers."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import Stemmer

from rag.text import Token
from rag.text.article_numbers import number_pattern, number_term
from rag.text.folding import INVISIBLE, fold, level, stem_french

REMEMBERED = 200_000  # words whose term is kept; the vocabulary of 15,000 articles is some 40,000
LONGEST = 64  # letters of a word worth remembering

Stem = Callable[[str], str]


def _accent_ita(folded: str) -> str:
    """Put back the accent of Italian -ità, which is often left out or typed as an apostrophe."""
    return folded[:-1] + "à" if folded.endswith("ita") else folded


def _plain(folded: str, snowball: Stem) -> str:
    return fold(snowball(folded))


def _italian(folded: str, snowball: Stem) -> str:
    return fold(snowball(_accent_ita(folded)))


def _french(folded: str, snowball: Stem) -> str:
    return stem_french(folded, snowball, fold)


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one language needs beside its stemmer."""

    algorithm: str  # Snowball's name
    elided: tuple[str, ...] = ()  # dropped before an apostrophe: l'article
    possessive: bool = False  # dropped after one: the tenant's, foto's
    spaced_ordinals: bool = False  # "2 bis" is one number
    stem: Callable[[str, Stem], str] = _plain


_FRENCH = (
    *("l", "d", "j", "m", "t", "s", "n", "c", "qu"),
    *("jusqu", "lorsqu", "puisqu", "quoiqu", "quelqu", "parce qu"),
)
_ITALIAN = (
    *("l", "un", "dell", "all", "dall", "nell", "sull", "coll", "dagl", "degl", "quell", "quest", "gl"),
    *("c", "d", "m", "t", "s", "v", "n"),
)
DIALECTS: Mapping[str, Dialect] = {
    "fr": Dialect("french", elided=_FRENCH, spaced_ordinals=True, stem=_french),
    "nl": Dialect("dutch", possessive=True, spaced_ordinals=True),
    "en": Dialect("english", possessive=True),
    "de": Dialect("german", possessive=True),
    "it": Dialect("italian", elided=_ITALIAN, spaced_ordinals=True, stem=_italian),
}


def _pattern(dialect: Dialect) -> re.Pattern[str]:
    word = rf"[^\W\d][\w{INVISIBLE}]*"
    parts = [number_pattern(dialect.spaced_ordinals), rf"{word}(?:'{word})*"]
    if dialect.elided:
        parts.insert(0, rf"(?<![\w'])(?i:{'|'.join(dialect.elided)})'(?=\w)")
    return re.compile("|".join(parts))


class WordAnalyser:
    """Cuts text at what is not a letter, folds and stems each word, keeps article numbers whole.

    Hyphens separate words ("ex-mari" is two), except inside numbers. Safe to share between threads.

    Args:
        language: one of DIALECTS.
        name: the `id`; it must change when terms do.
        stop: folded words that give no term.
        stem: whether words are stemmed, or only folded.
    """

    def __init__(self, language: str, name: str, stop: frozenset[str], stem: bool) -> None:
        dialect = DIALECTS[language]
        self._language, self._id, self._stop = language, name, stop
        self._possessive, self._rules = dialect.possessive, dialect.stem if stem else None
        self._elided = tuple(f"{head}'" for head in dialect.elided)
        self._pattern = _pattern(dialect)
        self._snowball = Stemmer.Stemmer(dialect.algorithm, 0)
        self._lock = threading.Lock()  # Snowball's object is not re-entrant
        self._known: dict[str, str] = {}

    @property
    def id(self) -> str:
        """Everything that changes the terms."""
        return self._id

    @property
    def language(self) -> str:
        """ISO 639-1."""
        return self._language

    def tokens(self, text: str) -> list[Token]:
        """Return the terms in order, each with its place in `text`."""
        known = self._known.get
        found = []
        for match in self._pattern.finditer(level(text)):
            typed = match.group()
            term = known(typed)
            if term is None:
                term = self._term(typed)
            if term:
                found.append(Token(match.start(), match.end(), term))
        return found

    def terms(self, text: str) -> list[str]:
        """Return the terms in order."""
        known = self._known.get
        found = []
        for typed in self._pattern.findall(level(text)):
            term = known(typed)
            if term is None:
                term = self._term(typed)
            if term:
                found.append(term)
        return found

    def _term(self, typed: str) -> str:
        """Return the term of one match, "" for none; remembers it."""
        term = self._known.get(typed)
        if term is None:
            term = self._stem(typed)
            if len(typed) <= LONGEST:
                if len(self._known) >= REMEMBERED:
                    self._known.clear()
                self._known[typed] = term
        return term

    def _stem(self, typed: str) -> str:
        if typed.endswith("'"):  # an elided article
            return ""
        if any(map(str.isdigit, typed)):
            return number_term(typed)
        if self._possessive and typed[-2:].lower() == "'s":
            typed = typed[:-2]
        folded = fold(typed)
        if folded in self._stop or not folded:
            return ""
        if self._rules is None:
            return folded
        with self._lock:
            return self._rules(folded, self._snowball.stemWord) or folded
