"""Units of time, money, length and kinship, and words that are a quantity by themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from types import MappingProxyType

# unit as written, folded -> the unit that is compared, and how many of it
MEASURES = MappingProxyType({
    "an": ("mois", 12), "annee": ("mois", 12), "mois": ("mois", 1), "trimestre": ("mois", 3),
    "semestre": ("mois", 6), "siecle": ("mois", 1200), "semaine": ("jour", 7), "jour": ("jour", 1),
    "heure": ("heure", 1), "euro": ("euro", 1), "franc": ("franc", 1), "%": ("%", 1), "pour cent": ("%", 1),
    "degre": ("degre", 1), "centimetre": ("cm", 1), "cm": ("cm", 1), "decimetre": ("cm", 10),
    "metre": ("cm", 100), "m": ("cm", 100), "kilometre": ("km", 1), "km": ("km", 1),
    "hectare": ("hectare", 1),
})  # fmt: skip
_UNIT = "|".join(sorted(map(re.escape, MEASURES), key=len, reverse=True))
AFTER = re.compile(
    r"(?:[ -](?:autres|premiers|premieres|derniers|dernieres|seule?))?[ -]?(?:d'|de )?"
    rf"(?P<unit>{_UNIT})s?(?![\w'])(?P<half> et (?:demie?|un demi))?"
)
UNIT = re.compile(rf"(?<!\w)({_UNIT})s?(?!\w)")
_SINGLE = MappingProxyType({
    "demi-siecle": (600, "mois"), "trentenaire": (360, "mois"), "decennal": (120, "mois"),
    "quinquennal": (60, "mois"), "triennal": (36, "mois"), "biennal": (24, "mois"), "bisannuel": (24, "mois"),
    "annuel": (12, "mois"), "quinzaine": (15, "jour"), "huitaine": (8, "jour"), "demi-metre": (50, "cm"),
})  # fmt: skip
_WORD = re.compile(rf"\b({'|'.join(_SINGLE)})(?:le)?s?(?!\w)")


def measured(plain: str) -> Iterator[tuple[Fraction, str, int, int]]:
    """Yield words such as "trentenaire" as value, unit, start and end."""
    for word in _WORD.finditer(plain):
        value, unit = _SINGLE[word[1]]
        yield Fraction(value), unit, *word.span()
