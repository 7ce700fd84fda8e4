"""Units of time, money, length and share in six languages, each with what it is compared in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType

PART = "part"  # the unit of fractions

# unit -> how many of it one is, and the words (patterns of flat text, parted by spaces)
_TIME: Mapping[tuple[str, int], str] = MappingProxyType(
    {
        (
            "month",
            12,
        ): "ans? annees? years? jahr(?:e[ns]?|es)? jaar jaren anno anni years?_old lebensjahr\\w*",
        ("month", 6): "semestres? halbjahr\\w*",
        ("month", 3): "trimestres? quarters? quartale?n?",
        ("month", 1): "mois months? monat(?:e[ns]?|es|s)? maand(?:en)? mes[ei]",
        ("day", 7): "semaines? weeks? wochen? weken week settiman[ae]",
        (
            "day",
            1,
        ): "jours? days? tag(?:e[ns]?|es)? dag(?:en)? giorn[oi] werktag\\w* kalendertag\\w* werkdagen",
        ("hour", 1): "heures? hours? stunden? uur uren or[ae]",
        ("minute", 1): "minut\\w+",
    }
)
_OTHER: Mapping[tuple[str, int], str] = MappingProxyType(
    {
        ("euro", 1): "euros? eur €",
        ("franc", 1): "francs? franken chf",
        ("dollar", 1): "dollars? \\$ usd",
        ("pound", 1): "pounds? £ gbp",
        ("%", 1): "% pour_cent per_?cent prozent procent per_cento pourcent",
        ("degree", 1): "degres? degrees? grad(?:es)? graad grad[oi]",
        ("cm", 1): "centimetres? cm zentimetern? centimeters?",
        ("cm", 100): "metres? m metern? meters? metr[oi]",
        ("km", 1): "kilometres? km kilometern? kilometers? chilometr[oi]",
        ("hectare", 1): "hectares? hektar ettar[oi]",
    }
)
_HAN: Mapping[tuple[str, int], str] = MappingProxyType(
    {
        ("month", 12): "周?岁 年",
        ("month", 3): "个?季度",
        ("month", 1): "个月 月",
        ("day", 7): "个?星期 周",
        ("day", 1): "个?工作日 日内? 天",
        ("hour", 1): "个?小时",
        ("euro", 1): "欧元",
        ("dollar", 1): "美元",
        ("yuan", 1): "元",
        ("yuan", 10_000): "万元",
        ("%", 1): "% 个百分点",
        ("cm", 100): "米",
        ("km", 1): "公里",
    }
)
FRACTIONS: Mapping[str, Fraction] = MappingProxyType(
    {  # flat words that are a share by themselves
        "moitie": Fraction(1, 2),
        "moities": Fraction(1, 2),
        "half": Fraction(1, 2),
        "halfte": Fraction(1, 2),
        "helft": Fraction(1, 2),
        "meta": Fraction(1, 2),
        "一半": Fraction(1, 2),
        "半数": Fraction(1, 2),
    }
)
BELOW: Mapping[str, int] = MappingProxyType(
    {  # what stands below the line: "deux tiers", "two thirds"
        "tiers": 3,
        "third": 3,
        "thirds": 3,
        "drittel": 3,
        "drittels": 3,
        "derde": 3,
        "derden": 3,
        "terzi": 3,
        "terzo": 3,
        "quart": 4,
        "quarts": 4,
        "quarter": 4,
        "quarters": 4,
        "viertel": 4,
        "kwart": 4,
        "quarti": 4,
        "quarto": 4,
        "cinquieme": 5,
        "cinquiemes": 5,
        "fifth": 5,
        "fifths": 5,
        "funftel": 5,
        "vijfde": 5,
        "quinto": 5,
        "quinti": 5,
        "sixieme": 6,
        "sixiemes": 6,
        "sixth": 6,
        "dixieme": 10,
        "dixiemes": 10,
        "tenth": 10,
        "zehntel": 10,
        "tiende": 10,
        "decimo": 10,
    }
)


@lru_cache(maxsize=2)
def after(chinese: bool) -> re.Pattern[str]:
    """Return the pattern of a unit right after a number, a few words such as "full" or "clear" between."""
    if chinese:
        return re.compile(rf" ?(?P<unit>{_alternatives(_HAN)})")
    words = _alternatives(_TIME) + "|" + _alternatives(_OTHER)
    between = (
        r"(?:autres|premiers|premieres|derniers|dernieres|seule?|full|clear|calendar|working|business"
        r"|volle[nr]?"
        r"|weitere[nr]?|ganze[nr]?|volledige|interi|pieni|consecutive|consecutifs|aufeinanderfolgende[nr]?)"
    )
    return re.compile(rf"\.?(?:[ -]{between})?[ -]?(?:d'|de )?(?P<unit>{words})(?!\w)")


@lru_cache(maxsize=256)
def unit_of(typed: str) -> tuple[str, int]:
    """Return the unit that is compared, and how many of it one is; typed as `after` found it."""
    for units in (_TIME, _OTHER, _HAN):
        for key, words in units.items():
            if any(re.fullmatch(word, typed) for word in _each(words)):
                return key
    raise KeyError(typed)  # `after` reads the same tables


def time_words() -> str:
    """Return the pattern of all words for spans of time that are written with letters."""
    return _alternatives(_TIME)


def _each(words: str) -> list[str]:
    return [word.replace("_?", " ?").replace("_", " ") for word in words.split()]


def _alternatives(units: Mapping[tuple[str, int], str]) -> str:
    each = [word for words in units.values() for word in _each(words)]
    return "|".join(sorted(each, key=len, reverse=True))
