"""Fractions of a text in words and figures: "la moitié", "deux tiers", "3/4"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from rag.text.numerals import FRENCH_RUN, french_numbers_in, french_ordinal

PART = "part"  # the unit of fractions
_BELOW = MappingProxyType({"tiers": 3, "quart": 4, "quarts": 4})
_HALF = re.compile(r"\bmoities?\b")
_SLASHED = re.compile(r"(?<![\d/])(\d+)/(\d+)(?![\d/])")
# A single third or tenth is one only before "de" and the like: else "tiers" is somebody else.
_OF = (
    r"(?= (?:de (?:la |l'|leurs? |s[aeo]\w* |ce\w* |vo\w+ |plus)|du |des |restant|au\b(?! profit)"
    r"|en (?:plus|moins|valeur|usufruit|pleine|propriete|presence)\b))"
)
_ORDINAL = (3, 4)  # "le troisième" is no third, "au quatrième" no quarter: these have words of their own
_FRACTION = re.compile(
    r"\b(?P<above>une?|le|du|au|(?:les |des )?(?:deux|trois|quatre|cinq|six|sept|huit|neuf)(?: autres)?|\d+) "
    rf"(?P<below>tiers|quarts?|[a-z]+iemes?)\b(?P<of>{_OF})?"
)


@dataclass(frozen=True, slots=True)
class Part:
    """A fraction as it stands in a text."""

    value: Fraction
    start: int
    end: int


def parts(plain: str) -> Iterator[Part]:
    """Yield the fractions of folded text; "le tiers acquéreur" and "le dixième jour" are none."""
    for half in _HALF.finditer(plain):
        yield Part(Fraction(1, 2), *half.span())
    for slashed in _SLASHED.finditer(plain):
        if int(slashed[2]):
            yield Part(Fraction(int(slashed[1]), int(slashed[2])), *slashed.span())
    for found in _FRACTION.finditer(plain):
        above, below = (
            _above(found["above"]),
            _BELOW.get(found["below"]) or french_ordinal(found["below"]) or 0,
        )
        told = found["of"] is not None if above == 1 else found["below"].endswith("s")
        if told and below > 2 and not (below in _ORDINAL and found["below"].endswith("eme")):
            yield Part(Fraction(above, below), *found.span())


def _above(words: str) -> int:
    if words.isdigit():
        return int(words)
    run = FRENCH_RUN.search(words)
    return next((value for value, _, _ in french_numbers_in(run[0])), 1) if run else 1
