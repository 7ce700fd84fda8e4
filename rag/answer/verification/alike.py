"""What two texts write in two ways and mean alike: dates in figures, "or more" for "at least"."""

from __future__ import annotations

import re
from types import MappingProxyType

from rag.answer.verification.quantities import quantities

YEAR, MONTH = 12, 31  # months, and days at most

_MONTHS = MappingProxyType({
    "fr": "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "en": "january february march april may june july august september october november december",
    "de": "januar februar marz april mai juni juli august september oktober november dezember",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
})  # fmt: skip
_DATE = re.compile(r"(?<![a-z\d_./-])(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?![a-z\d_/-]|\.\d)")
_ISO = re.compile(r"(?<![a-z\d_./-])(\d{4})-(\d\d)-(\d\d)(?![a-z\d_/-]|\.\d)")
_FIGURES = re.compile(r"(?<!\d)\d{1,4}([./-])\d{1,2}\1\d{1,4}(?!\d)")
_OR_MORE = MappingProxyType({
    "fr": (" ou plus", "au moins "), "en": (" or more", "at least "), "de": (" oder mehr", "mindestens "),
    "nl": (" of meer", "ten minste "), "it": (" o piu", "almeno "),
})  # fmt: skip
_OTHERS = re.compile(
    r"(?<!\w)(?:ou|or|oder|of|o) (?:(?P<more>plus|more|mehr|meer|piu)"
    r"|(?P<less>moins|less|weniger|minder|meno))(?!\w)"
)


def alike(plain: str, language: str) -> str:
    """Return a flat text with dates in words, and with "at least two years" for "two years or more"."""
    plain = _ISO.sub(lambda d: _in_words(d, d[3], d[2], d[1], language), plain)
    plain = _DATE.sub(lambda d: _in_words(d, d[1], d[3], d[4], language), plain)
    behind, before = _OR_MORE.get(language, ("", ""))
    if behind and behind in plain:
        for number in reversed(quantities(plain, language)):
            after = number.end + len(behind)
            if plain.startswith(behind, number.end) and not plain[after : after + 1].isalnum():
                told = plain[number.start : number.end]
                plain = plain[: number.start] + before + told + plain[after:]
    return plain


def left_open(plain: str) -> frozenset[str]:
    """Return what must stand in the law as it is: "or more", "or less", and dates still in figures."""
    others = {found.lastgroup or "" for found in _OTHERS.finditer(plain)}
    return frozenset(others | {found[0] for found in _FIGURES.finditer(plain)})


def _in_words(found: re.Match[str], day: str, month: str, year: str, language: str) -> str:
    """Return a date in words; as it was where it is none, or may be read in two ways."""
    first, second = int(day), int(month)
    doubtful = language == "en" and found.re is _DATE and first <= YEAR and first != second
    if not (1 <= second <= YEAR and 1 <= first <= MONTH) or doubtful:
        return found[0]
    if language == "zh":
        return f"{year}年{second}月{first}日"
    return f"{first} {_MONTHS[language].split()[second - 1]} {year}"
