"""Numbers in words in six languages: "dreißig", "drie", "twenty-one", "trentasei", "三十"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from rag.text import french_numbers
from rag.text.article_numbers import chinese_number

# All words folded: lower case, without accents (umlauts too), "ß" kept.
_ENGLISH = MappingProxyType({
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15,
    "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40,
    "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
})  # fmt: skip
_ENGLISH_LARGE = MappingProxyType({"hundred": 100, "thousand": 1000, "million": 10**6})
_ENGLISH_WORD = "|".join((*_ENGLISH, *_ENGLISH_LARGE))
_ENGLISH_RUN = re.compile(
    rf"\b(?:a (?=hundred|thousand|million))?(?:{_ENGLISH_WORD})(?:[ -](?:and )?(?:{_ENGLISH_WORD}))*\b"
)

_SMALL = MappingProxyType({
    "de": "null ein zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn funfzehn "
          "sechzehn siebzehn achtzehn neunzehn",
    "nl": "nul een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien "
          "zestien zeventien achttien negentien",
    "it": "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici "
          "quindici sedici diciassette diciotto diciannove",
})  # fmt: skip
_TENS = MappingProxyType(
    {
        "de": "zwanzig dreißig vierzig funfzig sechzig siebzig achtzig neunzig",
        "nl": "twintig dertig veertig vijftig zestig zeventig tachtig negentig",
        "it": "venti trenta quaranta cinquanta sessanta settanta ottanta novanta",
    }
)
_HUNDRED = MappingProxyType({"de": "hundert", "nl": "honderd", "it": "cento"})
_THOUSAND = MappingProxyType(
    {
        "de": re.compile(r"(\w*?)tausend(?:und)?(\w*)"),
        "nl": re.compile(r"(\w*?)duizend(?:en)?(\w*)"),
        "it": re.compile(r"(\w*?)(?:mila|mille)(\w*)"),
    }
)
_ONE = MappingProxyType({
    "de": "eins eine einen einem einer eines", "nl": "", "it": "un una",
})  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+")
_HAN_NUMBER = re.compile(r"[零〇一二三四五六七八九十百千万两]+")
_HAN_DIGITS = 4  # "二〇二四": read out digit by digit


def spelt_numbers(plain: str, language: str) -> Iterator[tuple[int, int, int]]:
    """Yield the numbers in words of a folded text, as value, start and end.

    Args:
        plain: lower case, without accents.
        language: "fr", "nl", "en", "de", "it" or "zh".
    """
    if language == "fr":
        for run in french_numbers.RUN.finditer(plain):
            yield from french_numbers.numbers_in(run[0], run.start())
    elif language == "en":
        for run in _ENGLISH_RUN.finditer(plain):
            yield _english(run[0]), run.start(), run.end()
    elif language == "zh":
        for found in _HAN_NUMBER.finditer(plain):
            value = chinese_number(found[0])
            if value is not None and (value or found[0] in "零〇"):
                yield value, found.start(), found.end()
    else:
        for word in _WORD.finditer(plain):
            value = _joined(word[0], language)
            if value is not None:
                yield value, word.start(), word.end()


def _english(run: str) -> int:
    total = section = 0
    for word in re.findall(r"[a-z]+", run):
        if word in _ENGLISH:
            section += _ENGLISH[word]
        elif word == "hundred":
            section = (section or 1) * 100
        elif word in _ENGLISH_LARGE:
            total, section = total + (section or 1) * _ENGLISH_LARGE[word], 0
    return total + section


@lru_cache(maxsize=4096)
def _joined(word: str, language: str) -> int | None:
    """Return the value of a number written as one word, None if it is no number."""
    known = _below_thousand(language)
    if word in known:
        return known[word]
    if parted := _THOUSAND[language].fullmatch(word):
        before = known.get(parted[1]) if parted[1] else 1
        after = known.get(parted[2]) if parted[2] else 0
        if before is not None and after is not None:
            return before * 1000 + after
    return None


@lru_cache(maxsize=3)
def _below_thousand(language: str) -> Mapping[str, int]:
    known = {word: value for value, word in enumerate(_SMALL[language].split())}
    small = dict(known)
    for place, tens in enumerate(_TENS[language].split(), start=2):
        known[tens] = place * 10
        if tens == "dreißig":
            known["dreissig"] = 30
        for word, unit in small.items():
            if 0 < unit < 10:
                for joined in _tens(language, tens, word):
                    known[joined] = place * 10 + unit
    below = {word: value for word, value in known.items() if value}
    hundred = _HUNDRED[language]
    for word, unit in small.items():
        if unit < 10:
            head = "" if unit == 0 else word
            value = (unit or 1) * 100
            known[head + hundred] = value
            for rest, less in below.items():
                known[f"{head}{hundred}{rest}"] = known[f"{head}{hundred}und{rest}"] = value + less
    return known | dict.fromkeys(_ONE[language].split(), 1)


def _tens(language: str, tens: str, unit: str) -> tuple[str, ...]:
    if language == "de":
        spellings = (tens, tens.replace("ß", "ss"))
        return tuple(f"{unit}und{each}" for each in spellings)
    if language == "nl":
        return (f"{unit}en{tens}",)
    return (f"{tens[:-1]}{unit}",) if unit in ("uno", "otto") else (f"{tens}{unit}",)
