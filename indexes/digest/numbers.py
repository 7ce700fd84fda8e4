"""Rule 1: numbers that a summary adds, and time limits, ages, amounts and fractions that it loses."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from indexes.digest.finding import NUMBER_ADDED, NUMBER_LOST, Finding
from indexes.digest.quantities import PART, Quantity, elided, every_value, ordinals, quantities
from indexes.digest.text import Wording, word_pattern

# What says a quantity without a number: (value, unit) -> words of folded text.
_IMPLIED = {
    (Fraction(12), "mois"): word_pattern("annees? annuel(?:le)?(?:ment)?s?"),
    (Fraction(1), "mois"): word_pattern("mois mensu*"),
    (Fraction(3), "mois"): word_pattern("trimestr*"),
    (Fraction(6), "mois"): word_pattern("semestr*"),
    (Fraction(1), "jour"): word_pattern("jours? journee lendemain veille quotidien*"),
    (Fraction(24), "heure"): word_pattern("(?:un|1)_jour"),
    (Fraction(216), "mois"): word_pattern("m(?:aj|in)(?:eure?s?|orite)"),  # 18 years
    (Fraction(1, 2), PART): word_pattern("demie? egal* 50_%"),
    (Fraction(1, 3), PART): word_pattern("tiers"),
    (Fraction(1, 4), PART): word_pattern("quarts?"),
}


def numbers(article_no: str, official: Wording, summary: Wording) -> Iterator[Finding]:
    """Yield numbers of the summary that the official text lacks, then quantities that the summary lacks."""
    law, ours = _Known(official), _Known(summary)
    values = every_value(official)
    seen: set[tuple[Fraction, str]] = set()
    for quantity in ours.found:
        key = (quantity.value, quantity.unit)
        known = quantity.value in values if not quantity.unit else law.tells(quantity)
        if key not in seen and not known:
            seen.add(key)
            yield Finding(article_no, NUMBER_ADDED, summary.shown[quantity.start : quantity.end])
    for quantity in law.found:
        key = (quantity.value, quantity.unit)
        if quantity.unit and key not in seen and not ours.tells(quantity):
            seen.add(key)
            yield Finding(article_no, NUMBER_LOST, official.shown[quantity.start : quantity.end])


class _Known:
    """The quantities of a text, and what else in it may tell one."""

    def __init__(self, text: Wording) -> None:
        self._text = text
        self.found = quantities(text)
        self._stated = {(each.value, each.unit) for each in self.found}

    def tells(self, wanted: Quantity) -> bool:
        """Tell whether the quantity is there: with its unit, by a word of its own, or its unit left out."""
        key = (wanted.value, wanted.unit)
        if key in self._stated:
            return True
        word = _IMPLIED.get(key)
        if word is not None and word.search(self._text.plain):
            return True
        if wanted.unit == PART and wanted.value.numerator == 1:  # "le vingtième", "au dixième près"
            return wanted.value.denominator in ordinals(self._text)
        return key in elided(self._text)
