"""French text made comparable: folded at the same places, cut into words, sentences and clauses."""

from __future__ import annotations

import math
import re
import tomllib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain
from typing import Any

from rag.text import quantities
from rag.text.analysers import analyser
from rag.text.folding import level

WORD = re.compile(r"[^\W_]+")
# A full stop ends a sentence before a space and a capital or figure, but not in "L. 121-1".
_SENTENCE_END = re.compile(
    r"(?<![ .(][LRDA]\.)(?<![ (]art\.)(?<=[.!?…])[ »\")]*\s+(?=[« \"(]*[^\W_a-zà-ÿ])|\n+"
)
_CLAUSE_END = re.compile(rf"{_SENTENCE_END.pattern}|(?<=;)\s+")
_SHOWN = 6  # words of a text that a finding quotes: fewer than what counts as copied
LEAST = 3  # stems that two clauses must share to be compared: fewer are shared by chance

_analyser = cache(analyser)


@cache
def data(name: str) -> dict[str, Any]:
    """Return what `indexes/digest/NAME.toml` holds."""
    return tomllib.loads((files("indexes.digest") / f"{name}.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Wording:
    """A text twice, character by character at the same places."""

    shown: str  # with capitals and accents; signs unified, "œ" as "oe"
    plain: str  # without capitals and accents


def wording(text: str) -> Wording:
    """Return a text in the two forms that the rules read; both have the same length."""
    shown = level(unicodedata.normalize("NFC", text)).replace("œ", "oe").replace("Œ", "Oe")
    return Wording(shown, "".join(map(_plain, shown)))


@lru_cache(maxsize=1024)
def _plain(sign: str) -> str:
    folded = unicodedata.normalize("NFD", sign.lower())[0]
    return folded if folded.isalnum() else sign


def word_pattern(*alternatives: str) -> re.Pattern[str]:
    """Return the pattern of whole words of folded text, as that of the gate; "*" stands for any letters.

    "refus* faute_de" finds "refuser" and "faute de".
    """
    return quantities.word_pattern(*(text.replace("*", r"\w*") for text in alternatives))


def sentences(text: Wording, ending: re.Pattern[str] = _SENTENCE_END) -> list[Wording]:
    """Return the sentences of a text, or what else has such an ending, without those that hold no word."""
    ends = chain.from_iterable(end.span() for end in ending.finditer(text.shown))
    places = [0, *ends, len(text.shown)]
    found = [
        Wording(text.shown[start:end], text.plain[start:end])
        for start, end in zip(places[::2], places[1::2], strict=True)
    ]
    return [part for part in found if WORD.search(part.shown)]


def clauses(text: Wording) -> list[Wording]:
    """Return the sentences of a text, parted at semicolons too."""
    return sentences(text, _CLAUSE_END)


def quoted(text: Wording, start: int) -> str:
    """Return the few words of a text that begin at a place, to show where something stands."""
    ends = [word.end() for _, word in zip(range(_SHOWN), WORD.finditer(text.shown, start), strict=False)]
    return " ".join(text.shown[start : ends[-1] if ends else None].split())


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence, or what a semicolon parts of it, with the stems of its words."""

    text: Wording
    stems: frozenset[str]


@lru_cache(maxsize=4)  # two rules ask for the same two texts
def split_clauses(text: Wording) -> tuple[Clause, ...]:
    """Return the clauses of a text with their stems."""
    return tuple(Clause(clause, frozenset(_analyser("fr").terms(clause.shown))) for clause in clauses(text))


def partner(clause: Clause, among: Sequence[Clause]) -> Clause | None:
    """Return the clause of the other text that shares most stems, None where all share too few.

    Shared stems are divided by the root of the other clause's stems, so that a long one does not
    win by its length; of equal ones the first is taken.
    """
    weighed = [(len(clause.stems & other.stems), other) for other in among]
    near = [(shared / math.sqrt(len(other.stems)), other) for shared, other in weighed if shared >= LEAST]
    return max(near, key=lambda each: each[0])[1] if near else None
