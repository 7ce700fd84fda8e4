"""How each language of the interface writes numbers, dates, lists and brackets.

Six rows, as the Unicode Common Locale Data Repository (version 46) has them. A library of all locales is ten
megabytes of tables for these; words (months, "%" and what stands before it) are in the catalogues.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Conventions:
    """What one language does between its words."""

    name: str  # in the language itself, for whoever looks for it
    tag: str  # BCP 47: a browser chooses the form of a Chinese character by it
    thousands: str
    decimal: str
    quotes: tuple[str, str]
    entry: str = "DD/MM/YYYY"  # how a day is typed; of the forms that Streamlit knows
    comma: str = ", "  # between what is listed
    space: str = " "  # between sentences
    brackets: tuple[str, str] = (" (", ")")
    elided: Mapping[str, str] | None = None  # before the 8th and the 11th of a month

    def joined(self, said: str) -> str:
        """Return what is said with a word before a date as it sounds: "dall’8 marzo", not "dal 8 marzo"."""
        forms = self.elided
        return _EIGHTH.sub(lambda found: forms[found[1]] + found[2], said) if forms else said


_EIGHTH = re.compile(r"\b(il|al|dal|del) ((?:8|11) [a-z]+ \d{4}\b)")  # otto, undici: they begin with a vowel

CONVENTIONS: Mapping[str, Conventions] = MappingProxyType(
    {
        "fr": Conventions("Français", "fr", "\u202f", ",", ("«\u00a0", "\u00a0»")),
        "nl": Conventions("Nederlands", "nl", ".", ",", ("‘", "’"), "DD-MM-YYYY"),
        "en": Conventions("English", "en", ",", ".", ("“", "”")),
        "de": Conventions("Deutsch", "de", ".", ",", ("„", "“"), "DD.MM.YYYY"),
        "it": Conventions(
            "Italiano",
            "it",
            ".",
            ",",
            ("«", "»"),
            elided={"il": "l’", "al": "all’", "dal": "dall’", "del": "dell’"},
        ),
        "zh": Conventions(
            "中文", "zh-Hans", ",", ".", ("“", "”"), "YYYY-MM-DD", comma="、", space="", brackets=("（", "）")
        ),
    }
)


def quotes_css() -> str:
    """Return the style of quoted questions, which follow the page, and of quoted law, which has its own."""
    rules = ['.stHtml q { quotes: "“" "”"; }']
    marks = {code: " ".join(f'"{mark}"' for mark in each.quotes) for code, each in CONVENTIONS.items()}
    rules += [f":root:lang({code}) .stHtml q {{ quotes: {both}; }}" for code, both in marks.items()]
    rules += [f".stHtml q.pd-told:lang({code}) {{ quotes: {both}; }}" for code, both in marks.items()]
    return "\n".join(rules)
