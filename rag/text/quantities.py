"""What can be counted in a sentence: amounts, time limits, ages, dates, shares, ordinals, article numbers."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files
from itertools import chain

from rag.text.article_numbers import chinese_number
from rag.text.code_names import CodeNames
from rag.text.folding import level
from rag.text.numerals import FRENCH_ORDINAL, french_ordinal, parse_number_words
from rag.text.references import Reference, find_references

PART = "part"  # the unit of fractions
TIMES = ("month", "day", "hour")  # units of time limits
ORDINAL = "ordinal"

_DATA = tomllib.loads((files("rag.text") / "units.toml").read_text(encoding="utf-8"))
_ITALIAN_IS = re.compile(r"(?<!\w)[èÈ](?!\w)")  # without its accent it would be "and"


def flat(text: str) -> str:
    """Return a text in lower case, without accents, soft hyphens and typographic signs, blanks unified."""
    joined = level(unicodedata.normalize("NFC", text)).replace("\u00ad", "")
    joined = _ITALIAN_IS.sub("ee", joined)
    return " ".join("".join(map(_plain, joined)).split())


@lru_cache(maxsize=4096)
def _plain(sign: str) -> str:
    lower = sign.lower().replace("œ", "oe").replace("æ", "ae")
    folded = unicodedata.normalize("NFD", lower)[0] if len(lower) == 1 else lower
    return folded if folded.isalnum() else sign


def word_pattern(*alternatives: str, language: str = "") -> re.Pattern[str]:
    """Return the pattern of whole words of flat text; in Chinese, where nothing parts words, of signs.

    Alternatives are patterns parted by spaces; "_" stands for a space inside one. None match nothing.
    """
    words = "|".join(" ".join(alternatives).split()).replace("_", " ")
    if not words or language == "zh":
        return re.compile(words or r"(?!)")
    return re.compile(rf"(?<!\w)(?:{words})(?:(?!\w)|(?<='))")


# (unit, how many of it one is) -> patterns of flat text
_TIME, _OTHER, _HAN = (
    {
        (unit, factor): [word.replace("_", " ") for word in words.split()]
        for unit, factor, words in _DATA[name]
    }
    for name in ("time", "other", "han")
)
_HALVES = frozenset(_DATA["half"].split())  # words that are a share by themselves
_BELOW = {word: int(n) for n, words in _DATA["below"].items() for word in words.split()}


@lru_cache(maxsize=2)
def unit_pattern(chinese: bool) -> re.Pattern[str]:
    """Return the pattern of a unit right after a number, a few words such as "full" or "clear" between."""
    if chinese:
        return re.compile(rf" ?(?P<unit>{_alternatives(_HAN)})")
    between = "|".join(_DATA["between"].split())
    words = f"{_alternatives(_TIME)}|{_alternatives(_OTHER)}"
    return re.compile(rf"\.?(?:[ -](?:{between}))?[ -]?(?:d'|de )?(?P<unit>{words})(?!\w)")


@lru_cache(maxsize=256)
def unit_of(typed: str) -> tuple[str, int]:
    """Return the unit that is compared, and how many of it one is; typed as `unit_pattern` found it."""
    for units in (_TIME, _OTHER, _HAN):
        for key, words in units.items():
            if any(re.fullmatch(word, typed) for word in words):
                return key
    raise KeyError(typed)  # `unit_pattern` reads the same tables


def _alternatives(units: Mapping[tuple[str, int], Sequence[str]]) -> str:
    return "|".join(sorted(chain.from_iterable(units.values()), key=len, reverse=True))


_DIGITS = re.compile(
    r"(?<![^\W\u4e00-\u9fff])(?<![.,/-])(?P<whole>\d{1,3}(?:["
    r" .,']\d{3})+(?!\d)|\d+)(?:(?P<point>[.,])(?P<rest>\d{1,2})(?!\d))?"
    r"(?P<rank>er?|re|eme|ieme|st|nd|rd|th|°|ª|º)?(?![a-z]*\d)"
)
_TIMES = re.compile(
    r"[ -]?(?:(?P<k>mille|thousand|tausend|duizend|mila|千)|(?P<w>万)|(?P<m>millio\w+|miljoen\w*|milion[ei])"
    r"|(?P<b>milliard\w*|billions?|miljard\w*|miliard[oi])|(?P<y>亿))(?!\w)"
)
_POWER = {"k": 10**3, "w": 10**4, "m": 10**6, "b": 10**9, "y": 10**8}
_CURRENCY_BEFORE = re.compile(r"(?P<unit>€|\$|£|eur|chf|usd|gbp) ?$")
_ONWARD = re.compile(  # "two or three years": the unit stands once
    r"(?: ?,)? ?(?:a|ou|et|or|and|to|oder|und|bis|of|en|tot|o|e|或者?|至|到|、|-) ?(?:de |von |da |di )?"
)
_SELDOM = frozenset(_DATA["seldom"].split())  # a number only before a unit: one, nine or new
_HAN_IDIOM = frozenset("十千百万一两")  # alone they are seldom numbers
_SLASHED = re.compile(r"(?<![\d/])(\d+)/(\d+)(?![\d/])")
_ONE = re.compile(r"(?<!\w)one[ -]$")  # "one half" is no one
_HAN_SHARE = re.compile(r"([零一二三四五六七八九十百千万\d]+)分之([零一二三四五六七八九十百千万\d.]+)")
_HAN_RANK = re.compile(r"第([零一二三四五六七八九十百\d]+)(?![零一二三四五六七八九十百\d]*[条章节编款项目])")
_OF = re.compile(r" (?:de|du|des|of|der|van|di|del\w*)\b")  # "un tiers" alone is somebody else
_HAN_SIGN = re.compile(r"[\u4e00-\u9fff]")
_TELLING, _HAN_TELLING = word_pattern(*_DATA["words_alone"]), word_pattern(_DATA["han_alone"], language="zh")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as it stands in a text, with what it counts."""

    value: Fraction  # of the unit that is compared: two years are 24 months
    unit: str  # "" where it only counts
    start: int
    end: int
    typed: Fraction | None = None  # the number as it stands there, where the unit scales it

    @property
    def key(self) -> tuple[Fraction, str]:
        """What is equal in two texts that say the same; 50 % is one half."""
        return (self.value / 100, PART) if self.unit == "%" else (self.value, self.unit)


@dataclass(frozen=True, slots=True)
class _Number:
    value: Fraction
    start: int
    end: int
    alone: bool  # whether it is a number without a unit too


def quantities(plain: str, language: str) -> list[Quantity]:
    """Return the numbers of a flat text in order, in words and in figures; those of articles are blanked."""
    found = list(_shares(plain, language))
    plain = blanked(plain, [(each.start, each.end) for each in found])
    ranks = list(_ranks(plain, language))
    plain = blanked(plain, [(each.start, each.end) for each in ranks])
    numbers = list(_numbers_with_units(plain, language))
    whole = [  # "cent" of "2 pour cent" is no hundred
        each
        for each in numbers
        if not any(other.start < each.start and each.end <= other.end for other in numbers)
    ]
    return sorted([*found, *ranks, *whole], key=lambda each: each.start)


def telling(plain: str, language: str = "") -> frozenset[str]:
    """Return the words of a flat text that tell a date, a rhythm or a multiple without a number."""
    found = {word[:5] for word in (*_TELLING.findall(plain), *_HAN_TELLING.findall(plain))}
    return frozenset(found - {"mai"} if language == "it" else found)  # never, and not May


def slashed_shares(plain: str) -> Iterator[Quantity]:
    """Yield the fractions in figures, such as "3/4"."""
    for found in _SLASHED.finditer(plain):
        if int(found[2]):
            yield Quantity(Fraction(int(found[1]), int(found[2])), PART, *found.span())


def french_ranks(plain: str) -> Iterator[Quantity]:
    """Yield the French ordinals in words."""
    for word in FRENCH_ORDINAL.finditer(plain):
        if (rank := french_ordinal(word[0])) is not None:
            yield Quantity(Fraction(rank), ORDINAL, *word.span())


def cited_articles(text: str, codes: Sequence[str], language: str) -> tuple[Reference, ...]:
    """Return the articles that a text names by number, with the code where one of these is named."""
    return find_references(text, _names(tuple(dict.fromkeys(codes)), language))


@lru_cache(maxsize=256)
def _names(codes: tuple[str, ...], language: str) -> CodeNames:
    return CodeNames(codes, language=language)


def blanked(plain: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return the text with the spans overwritten, at the same length."""
    for start, end in spans:
        plain = plain[:start] + "_" * (end - start) + plain[end:]
    return plain


def _shares(plain: str, language: str) -> Iterator[Quantity]:
    for found in _HAN_SHARE.finditer(plain):
        below, above = chinese_number(found[1]), found[2]
        value = above if re.fullmatch(r"\d+(?:\.\d+)?", above) else chinese_number(above)
        if below and value is not None:
            unit, times = ("%", 1) if below == 100 else (PART, below)
            yield Quantity(Fraction(value) / times, unit, *found.span())
    yield from slashed_shares(plain)
    for word in re.finditer(r"[^\W\d_]+", plain):
        if word[0] in _HALVES:
            one = _ONE.search(plain, 0, word.start())
            yield Quantity(Fraction(1, 2), PART, one.start() if one else word.start(), word.end())
    if language == "zh":
        yield from (Quantity(Fraction(1, 2), PART, *m.span()) for m in re.finditer("一半|半数", plain))
        return
    numbers = {end: (value, start) for value, start, end in parse_number_words(plain, language)}
    for word in re.finditer(r"(?<=[ -])[^\W\d_]+", plain):
        parted = _BELOW.get(word[0], 0)
        number = numbers.get(word.start() - 1)
        if parted and number and (number[0] > 1 or parted > 3 or _OF.match(plain, word.end())):
            yield Quantity(Fraction(number[0], parted), PART, number[1], word.end())


def _ranks(plain: str, language: str) -> Iterator[Quantity]:
    if language == "zh":
        for found in _HAN_RANK.finditer(plain):
            if (value := chinese_number(found[1])) is not None:
                yield Quantity(Fraction(value), ORDINAL, *found.span())
    elif language == "fr":
        yield from french_ranks(plain)
    else:
        for rank, word in enumerate(_DATA["ranks"][language].split(), start=1):
            for found in re.finditer(rf"\b(?:{word})\b", plain):
                yield Quantity(Fraction(rank), ORDINAL, *found.span())


def _numbers(plain: str, language: str) -> Iterator[_Number]:
    for digits in _DIGITS.finditer(plain):
        whole, rest = digits["whole"], digits["rest"]
        value = Fraction(int(re.sub(r"\D", "", whole)))
        if rest:
            value += Fraction(int(rest), 10 ** len(rest))
        yield _Number(value, *digits.span(), alone=True)
    for count, start, end in parse_number_words(plain, language):
        word = plain[start:end]
        idiom = language == "zh" and word in _HAN_IDIOM and not plain[end : end + 1].strip("分万方")
        yield _Number(Fraction(count), start, end, alone=not (idiom or word in _SELDOM))


def _numbers_with_units(plain: str, language: str) -> Iterator[Quantity]:
    """Yield numbers from the last to the first, so that a unit is known before it is handed on."""
    following: tuple[int, str, int] | None = None
    for number in sorted(_numbers(plain, language), key=lambda each: (-each.start, each.end)):
        value, end = number.value, number.end
        if times := _TIMES.match(plain, end):
            value *= _POWER[times.lastgroup or "k"]
            end = times.end()
        chinese = language == "zh" or _HAN_SIGN.match(plain, end) is not None
        after = unit_pattern(chinese).match(plain, end)
        currency = _CURRENCY_BEFORE.search(plain, max(0, number.start - 5), number.start)
        unit, scale = "", 1
        if after:
            unit, scale = unit_of(after["unit"])
        elif currency:
            unit, scale = unit_of(currency["unit"])
        elif following and _ONWARD.fullmatch(plain, end, following[0]):
            unit, scale = following[1:]
        if not (unit or number.alone):
            continue
        if unit:
            following = (number.start, unit, scale)
        yield Quantity(value * scale, unit, number.start, after.end() if after else end, value)
