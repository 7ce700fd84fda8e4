"""Rule 1: numbers that a summary adds, and time limits, ages, amounts and fractions that it loses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from indexes.digest.finding import NUMBER_ADDED, NUMBER_LOST, Remark
from indexes.digest.references import cited
from indexes.digest.text import Wording, data, word_pattern
from rag.text.numerals import french_ordinal, parse_number_words
from rag.text.quantities import (
    ORDINAL,
    PART,
    Quantity,
    blanked,
    cited_articles,
    flat,
    french_ranks,
    slashed_shares,
)
from rag.text.quantities import quantities as quantities_of
from rag.types import Article

_BELOW = {"tiers": 3, "quart": 4, "quarts": 4}
_HALF = re.compile(r"\bmoities?\b")
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

_MEASURES: dict[str, tuple[str, int]] = data("words")["measures"]
_UNIT = "|".join(sorted(map(re.escape, _MEASURES), key=len, reverse=True))
_AFTER = re.compile(
    r"(?:[ -](?:autres|premiers|premieres|derniers|dernieres|seule?))?[ -]?(?:d'|de )?"
    rf"(?P<unit>{_UNIT})s?(?![\w'])(?P<half> et (?:demie?|un demi))?"
)
_ANY_UNIT = re.compile(rf"(?<!\w)({_UNIT})s?(?!\w)")
_SINGLE: dict[str, tuple[str, int]] = data("words")["single"]  # "trentenaire"
_ANY_SINGLE = re.compile(rf"\b({'|'.join(_SINGLE)})(?:le)?s?(?!\w)")
_IMPLIED = {
    (Fraction(1, int(count)) if unit == PART else Fraction(count), unit): word_pattern(words)
    for unit, counts in data("words")["implied"].items()
    for count, words in counts.items()
}

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

Measure: TypeAlias = tuple[Fraction, str]  # a value, and the unit that is compared: two years are 24 months


@dataclass(frozen=True, slots=True)
class _Figure:
    value: Fraction
    start: int
    end: int
    kind: str  # "figures", "words" or "ordinal"


def numbers(official: Wording, summary: Wording) -> Iterator[Remark]:
    """Yield numbers of the summary that the official text lacks, then quantities that the summary lacks."""
    law, ours = quantities(official), quantities(summary)
    values = _every_value(official)
    seen: set[Measure] = set()
    for each in ours:
        measure = (each.value, each.unit)
        known = _tells(official, law, measure) if each.unit else each.value in values
        if measure not in seen and not known:
            seen.add(measure)
            yield NUMBER_ADDED, summary.shown[each.start : each.end]
    for each in law:
        measure = (each.value, each.unit)
        if each.unit and measure not in seen and not _tells(summary, ours, measure):
            seen.add(measure)
            yield NUMBER_LOST, official.shown[each.start : each.end]


def counted(official: Article, summary: Article, language: str) -> Iterator[Remark]:
    """Yield what `numbers` does, of texts in any language that answers are checked in."""
    law, ours = (_counted(article, language) for article in (official, summary))
    values = {each.value if each.typed is None else each.typed for each in law.values()}
    for key, each in ours.items():
        bare = each.value if each.typed is None else each.typed
        if key not in law and (each.unit or bare not in values):
            yield NUMBER_ADDED, _said(each)
    for key, each in law.items():
        if each.unit not in ("", ORDINAL) and key not in ours:
            yield NUMBER_LOST, _said(each)


def _counted(article: Article, language: str) -> dict[Measure, Quantity]:
    text = article.text
    for each in reversed(cited_articles(text, (article.code,), language)):
        text = f"{text[: each.start]} {text[each.end :]}"
    return {each.key: each for each in quantities_of(flat(text), language)}


def _said(quantity: Quantity) -> str:
    """Return a quantity in figures, for the text in which it stands was made flat."""
    return f"{quantity.value} {quantity.unit}".strip()


def _tells(text: Wording, stated: Iterable[Quantity], measure: Measure) -> bool:
    """Tell whether a quantity is there: with its unit, by a word of its own, or its unit left out."""
    if any((each.value, each.unit) == measure for each in stated):
        return True
    word = _IMPLIED.get(measure)
    if word is not None and word.search(text.plain):
        return True
    value, unit = measure
    if unit == PART and value.numerator == 1:  # "le vingtième", "au dixième près"
        return any(rank.value == value.denominator for rank in french_ranks(text.plain))
    return measure in _elided(text.plain)


def quantities(text: Wording) -> tuple[Quantity, ...]:
    """Return the numbers of a text, in order, without ordinals and numbers of articles.

    "Un" and "une" count only before a unit, "les deux" and the like only before one other than
    persons and things. A number without a unit takes that of the number that it stands in a row
    with: "deux ou trois ans".
    """
    blank = blanked(text.plain, [(place.start, place.end) for place in cited(text)])
    found = list(_shares(blank))
    for word in _ANY_SINGLE.finditer(blank):
        unit, value = _SINGLE[word[1]]
        found.append(Quantity(Fraction(value), unit, *word.span()))
    blank = blanked(blank, [(each.start, each.end) for each in found])
    return tuple(sorted((*found, *_numbers_with_units(blank)), key=lambda each: each.start))


def _shares(plain: str) -> Iterator[Quantity]:
    """Yield the fractions of a text; "le tiers acquéreur" and "le dixième jour" are none."""
    for half in _HALF.finditer(plain):
        yield Quantity(Fraction(1, 2), PART, *half.span())
    yield from slashed_shares(plain)
    for found in _FRACTION.finditer(plain):
        ordinal = found["above"]
        above = (
            int(ordinal) if ordinal.isdigit() else next((n for n, *_ in parse_number_words(ordinal, "fr")), 1)
        )
        below = _BELOW.get(found["below"]) or french_ordinal(found["below"]) or 0
        is_part = found["of"] is not None if above == 1 else found["below"].endswith("s")
        if is_part and below > 2 and not (below in _ORDINAL and found["below"].endswith("eme")):
            yield Quantity(Fraction(above, below), PART, *found.span())


def _every_value(text: Wording) -> frozenset[Fraction]:
    """Return all whole numbers that stand anywhere in a text: ordinals, dates and numbers of laws too."""
    figures = re.findall(r"\d+", text.plain) + re.findall(r"\d{1,3}(?: \d{3})+", text.plain)
    values = {int(each.replace(" ", "")) for each in figures}
    values |= {value for value, *_ in parse_number_words(text.plain, "fr")}
    return frozenset(map(Fraction, values)) | {rank.value for rank in french_ranks(text.plain)}


def _elided(plain: str) -> Iterator[Measure]:
    """Yield what numbers may stand for by the last unit before them: "un mois (deux à l'étranger)"."""
    for number in _numbers(plain):
        left = plain[max(0, number.start - _FAR) : number.start].rpartition(". ")[2]
        if units := _ANY_UNIT.findall(left):
            unit, times = _MEASURES[units[-1]]
            yield number.value * times, unit


def _numbers(plain: str) -> Iterator[_Figure]:
    for figures in _FIGURES.finditer(plain):
        whole = Fraction(int(figures[1].replace(" ", "")))
        part = Fraction(int(figures[2]), 10 ** len(figures[2])) if figures[2] else 0
        yield _Figure(whole + part, *figures.span(), "ordinal" if figures[3] else "figures")
    for value, start, end in parse_number_words(plain, "fr"):
        yield _Figure(Fraction(value), start, end, "words")
    yield from (_Figure(rank.value, rank.start, rank.end, "ordinal") for rank in french_ranks(plain))


def _numbers_with_units(plain: str) -> Iterator[Quantity]:
    """Yield the numbers from the last to the first, so that a unit is known before it is handed on."""
    following: tuple[int, str, int] | None = None  # where the next number with a unit starts; the unit
    for number in sorted(_numbers(plain), key=lambda each: (-each.start, each.end)):
        after = _AFTER.match(plain, number.end)
        unit, times = "", 1
        if after:
            unit, times = _MEASURES[after["unit"]]
        elif following and _ONWARD.fullmatch(plain, number.end, following[0]):
            unit, times = following[1:]
        if not _counts(plain, number, unit):
            continue
        if unit:
            following = (number.start, unit, times)
        half = Fraction(1, 2) if after and after["half"] else 0
        if number.kind == "ordinal" and unit != "degre":  # "le 300e jour" is no time
            unit, times, half = "", 1, 0
        yield Quantity(
            (number.value + half) * times, unit, number.start, after.end() if after else number.end
        )


def _counts(plain: str, number: _Figure, unit: str) -> bool:
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
