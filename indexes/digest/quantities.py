"""Numbers of a text with what they count: time limits, ages, amounts, distances, fractions.

Fractions of a text in words and figures: "la moitié", "deux tiers", "3/4".

Units of time, money, length and kinship, and words that are a quantity by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from indexes.digest.references import cited
from indexes.digest.text import Wording
from rag.text.numerals import FRENCH_ORDINAL, FRENCH_RUN, french_numbers_in, french_ordinal

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
        is_part = found["of"] is not None if above == 1 else found["below"].endswith("s")
        if is_part and below > 2 and not (below in _ORDINAL and found["below"].endswith("eme")):
            yield Part(Fraction(above, below), *found.span())


def _above(words: str) -> int:
    if words.isdigit():
        return int(words)
    run = FRENCH_RUN.search(words)
    return next((value for value, _, _ in french_numbers_in(run[0])), 1) if run else 1


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


_FIGURES = re.compile(
    r"(?<![\w,.-])(\d{1,3}(?: \d{3})+(?!\d)|\d+)(?:,(\d+))?(?:(er?|re|eme|ieme)s?)?(?![\w°-]|,\d)"
)
_ONWARD = re.compile(r"(?: ?,)? (?:a|ou|et|et de|ou de|a celui de) ")  # "deux ou trois ans"
_FAR = 80  # characters over which a number may go without its unit
_AMBIGUOUS = (0, 1, 9)  # "zéro", "un", "neuf": in words and without a unit they are seldom numbers
_DETERMINED = re.compile(
    r"\b(?:l[aei]s?|[cdmst]es|aux?|nos|vos|leurs|tou(?:te)?s|entre|nous|vous|eux|elles|a) (?:autres )?$"
)
_LISTED = re.compile(  # "deux exceptions : ...": the summary counts what it lists
    r" (?:cas|choses|conditions|exceptions|exigences|facons|formes|hypotheses|manieres|moities|parts|points"
    r"|possibilites|raisons|reserves|situations|sortes|types|categories|derni(?:er|ere)s)\b| ?:| _"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as it stands in a text, with what it counts."""

    value: Fraction  # of the unit that is compared: two years are 24 months
    unit: str  # "" where it only counts
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Number:
    value: Fraction
    start: int
    end: int
    kind: str  # "figures", "words" or "ordinal"


def quantities(text: Wording) -> tuple[Quantity, ...]:
    """Return the numbers of a text, in order, without ordinals and numbers of articles.

    "Un" and "une" count only before a unit, "les deux" and the like only before one other than
    persons and things. A number without a unit takes that of the number that it stands in a row
    with: "deux ou trois ans".
    """
    blank = _blank(text.plain, [(place.start, place.end) for place in cited(text)])
    found = [Quantity(part.value, PART, part.start, part.end) for part in parts(blank)]
    found += [Quantity(*measure) for measure in measured(blank)]
    blank = _blank(blank, [(quantity.start, quantity.end) for quantity in found])
    return tuple(sorted((*found, *_numbers_with_units(blank)), key=lambda quantity: quantity.start))


def every_value(text: Wording) -> frozenset[Fraction]:
    """Return all whole numbers that stand anywhere in a text: ordinals, dates and numbers of laws too."""
    values = {int(figures) for figures in re.findall(r"\d+", text.plain)}
    values |= {int(figures.replace(" ", "")) for figures in re.findall(r"\d{1,3}(?: \d{3})+", text.plain)}
    for run in FRENCH_RUN.finditer(text.plain):
        values |= {value for value, _, _ in french_numbers_in(run[0])}
    return frozenset(map(Fraction, values | ordinals(text)))


def ordinals(text: Wording) -> frozenset[int]:
    """Return the values of the ordinals in words: "troisième" is 3."""
    return frozenset(
        value for word in FRENCH_ORDINAL.findall(text.plain) if (value := french_ordinal(word)) is not None
    )


def elided(text: Wording) -> frozenset[tuple[Fraction, str]]:
    """Return what numbers may stand for by the last unit before them: "un mois (deux à l'étranger)"."""
    found = set()
    for number in _numbers(text.plain):
        left = text.plain[max(0, number.start - _FAR) : number.start].rpartition(". ")[2]
        if units := UNIT.findall(left):
            unit, times = MEASURES[units[-1]]
            found.add((number.value * times, unit))
    return frozenset(found)


def _blank(plain: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, end in spans:
        plain = plain[:start] + "_" * (end - start) + plain[end:]
    return plain


def _numbers(plain: str) -> Iterator[_Number]:
    for figures in _FIGURES.finditer(plain):
        whole = Fraction(int(figures[1].replace(" ", "")))
        part = Fraction(int(figures[2]), 10 ** len(figures[2])) if figures[2] else 0
        yield _Number(whole + part, *figures.span(), "ordinal" if figures[3] else "figures")
    for run in FRENCH_RUN.finditer(plain):
        for value, start, end in french_numbers_in(run[0], run.start()):
            yield _Number(Fraction(value), start, end, "words")
    for word in FRENCH_ORDINAL.finditer(plain):
        if (rank := french_ordinal(word[0])) is not None:
            yield _Number(Fraction(rank), *word.span(), "ordinal")


def _numbers_with_units(plain: str) -> Iterator[Quantity]:
    """Yield the numbers from the last to the first, so that a unit is known before it is handed on."""
    following: tuple[int, str, int] | None = None  # where the next number with a unit starts; the unit
    for number in sorted(_numbers(plain), key=lambda each: (-each.start, each.end)):
        after = AFTER.match(plain, number.end)
        if after:
            unit, times = MEASURES[after["unit"]]
        elif following and _ONWARD.fullmatch(plain, number.end, following[0]):
            unit, times = following[1:]
        else:
            unit, times = "", 1
        if not _counts(plain, number, unit):
            continue
        if unit:
            following = (number.start, unit, times)
        half = Fraction(1, 2) if after and after["half"] else 0
        unit_ = unit if number.kind != "ordinal" or unit == "degre" else ""  # "le 300e jour" is no time
        value = (number.value + half) * times if unit_ else number.value
        yield Quantity(value, unit_, number.start, after.end() if after else number.end)


def _counts(plain: str, number: _Number, unit: str) -> bool:
    """Tell whether a number can be wrong: not "un", "neuf", "les deux" without a unit, "un degré"."""
    if number.kind == "figures" or (number.kind == "ordinal" and plain[number.start].isdigit()):
        return True
    if number.kind == "ordinal":
        return unit == "degre"  # the fourth degree of kinship is four degrees
    if unit:
        return unit != "degre" or number.value > 1
    if number.value in _AMBIGUOUS or _LISTED.match(plain, number.end):
        return False
    return not (number.value == 2 and _DETERMINED.search(plain, max(0, number.start - 18), number.start))
