"""Numbers in words in six languages: "dix-huit", "dreißig", "drie", "twenty-one", "trentasei", "三十"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

from rag.text.article_numbers import chinese_number

# All words folded, without accents.
_TO_16 = "zero un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"
_FRENCH_SMALL = {word: value for value, word in enumerate(_TO_16.split())} | {"une": 1}
_FRENCH_TENS = {
    "vingt": 20, "vingts": 20, "trente": 30, "quarante": 40, "cinquante": 50, "soixante": 60,
    "septante": 70, "huitante": 80, "octante": 80, "nonante": 90,
}  # fmt: skip
_LARGE = {"mille": 1000, "million": 10**6, "milliard": 10**9}
_FRENCH_HUNDRED = ("cent", "cents")
_ALL = (*_FRENCH_SMALL, *_FRENCH_TENS, *_FRENCH_HUNDRED, *_LARGE, "millions", "milliards")
_WORDS = "|".join(sorted(_ALL, key=len, reverse=True))
_JOINT = r"(?: ?- ?| )(?:et(?: ?- ?| ))?"  # "vingt-quatre", "vingt et un", "vingt-et-un"
FRENCH_RUN = re.compile(rf"(?<![\w-])(?:{_WORDS})(?:{_JOINT}(?:{_WORDS}))*(?![\w'])")
FRENCH_ORDINAL = re.compile(
    rf"(?<![\w-])(?:(?:{_WORDS}){_JOINT})*(?:[a-z]+iemes?|premiere?s?|secondes?|seconds?)(?!\w)"
)
_PART = re.compile(r"[a-z]+")
_SPECIAL = {"premier": 1, "premiere": 1, "second": 2, "seconde": 2}
_SPELT = {"cinqu": "cinq", "neuv": "neuf"}


def french_numbers_in(run: str, at: int = 0) -> Iterator[tuple[int, int, int]]:
    """Yield the numbers of what `FRENCH_RUN` matched, as value, start and end; the run begins at `at`.

    Words that make no one number together are several: "deux trois" is 2 and 3.
    """
    parts = [part for part in _PART.finditer(run) if part[0] != "et"]
    words = [part[0] for part in parts]
    first = 0
    while first < len(parts):
        values = ((past, _value(words[first:past])) for past in range(len(parts), first, -1))
        alone = first + 1, _LARGE.get(words[first].rstrip("s"), 0)
        past, value = next(((past, value) for past, value in values if value is not None), alone)
        yield value, at + parts[first].start(), at + parts[past - 1].end()
        first = past


def _value(parts: Sequence[str]) -> int | None:
    """Return the value of words that are one number, else None; "et" is left out before."""
    for word, times in sorted(_LARGE.items(), key=lambda item: -item[1]):
        places = [place for place, part in enumerate(parts) if part in (word, word + "s")]
        if places:
            bare = 1 if times == 1000 else None  # "mille" is a number, "million" none
            hundreds = _french_below_thousand(parts[: places[0]]) if places[0] else bare
            after = _rest(_value, parts[places[0] + 1 :])
            if not hundreds or after is None or after >= times:
                return None
            return hundreds * times + after
    return _french_below_thousand(parts)


def _rest(read: Callable[[Sequence[str]], int | None], parts: Sequence[str]) -> int | None:
    """Return the value of what follows a larger unit: 0 where nothing does, None for "zéro"."""
    return (read(parts) or None) if parts else 0


def _french_below_thousand(parts: Sequence[str]) -> int | None:
    places = [place for place, part in enumerate(parts) if part in _FRENCH_HUNDRED]
    if not places:
        return _below_hundred(parts)
    hundreds = _FRENCH_SMALL.get(parts[0], 0) if places[0] == 1 else (1 if places[0] == 0 else 0)
    after = _rest(_below_hundred, parts[places[0] + 1 :])
    return None if after is None or not 0 < hundreds < 10 else hundreds * 100 + after


def _below_hundred(parts: Sequence[str]) -> int | None:
    if len(parts) == 1:
        return _FRENCH_SMALL.get(parts[0], _FRENCH_TENS.get(parts[0]))
    if not parts:
        return None
    if parts[0] == "quatre" and parts[1] in ("vingt", "vingts"):
        tens, rest = 80, parts[2:]
    elif parts[0] in _FRENCH_TENS:
        tens, rest = _FRENCH_TENS[parts[0]], parts[1:]
    elif parts[0] == "dix" and len(parts) == 2 and 7 <= _FRENCH_SMALL.get(parts[1], 0) <= 9:
        return 10 + _FRENCH_SMALL[parts[1]]
    else:
        return None
    units = _rest(_below_hundred, rest)
    most = 19 if tens in (60, 80) else 9  # soixante-dix-neuf, quatre-vingt-dix-neuf
    return None if units is None or units > most else tens + units


def french_ordinal(word: str) -> int | None:
    """Return the value of a folded ordinal ("troisieme", "vingt et unieme"), else None."""
    single = word.removesuffix("s")
    if single in _SPECIAL:
        return _SPECIAL[single]
    if not single.endswith("ieme"):
        return None
    *parts, last = [part for part in _PART.findall(single.removesuffix("ieme")) if part != "et"] or [""]
    found = (_value([*parts, form]) for form in (_SPELT.get(last, last), last + "e"))
    return next((value for value in found if value is not None), None)


# All words folded: lower case, without accents (umlauts too), "ß" kept.
_ENGLISH = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15,
    "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40,
    "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_ENGLISH_LARGE = {"hundred": 100, "thousand": 1000, "million": 10**6}
_ENGLISH_WORD = "|".join((*_ENGLISH, *_ENGLISH_LARGE))
_ENGLISH_RUN = re.compile(
    rf"\b(?:a (?=hundred|thousand|million))?(?:{_ENGLISH_WORD})(?:[ -](?:and )?(?:{_ENGLISH_WORD}))*\b"
)

_SMALL = {
    "de": "null ein zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn funfzehn "
          "sechzehn siebzehn achtzehn neunzehn",
    "nl": "nul een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien "
          "zestien zeventien achttien negentien",
    "it": "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici "
          "quindici sedici diciassette diciotto diciannove",
}  # fmt: skip
_TENS = {
    "de": "zwanzig dreißig vierzig funfzig sechzig siebzig achtzig neunzig",
    "nl": "twintig dertig veertig vijftig zestig zeventig tachtig negentig",
    "it": "venti trenta quaranta cinquanta sessanta settanta ottanta novanta",
}
_HUNDRED = {"de": "hundert", "nl": "honderd", "it": "cento"}
_THOUSAND = {
    "de": re.compile(r"(\w*?)tausend(?:und)?(\w*)"),
    "nl": re.compile(r"(\w*?)duizend(?:en)?(\w*)"),
    "it": re.compile(r"(\w*?)(?:mila|mille)(\w*)"),
}
_ONE = {"de": "eins eine einen einem einer eines", "nl": "", "it": "un una"}
_WORD = re.compile(r"[^\W\d_]+")
_HAN_NUMBER = re.compile(r"[零〇一二三四五六七八九十百千万两]+")


def parse_number_words(plain: str, language: str) -> Iterator[tuple[int, int, int]]:
    """Yield the numbers written in words of a folded text, as value, start and end."""
    if language == "fr":
        for run in FRENCH_RUN.finditer(plain):
            yield from french_numbers_in(run[0], run.start())
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
    known = _below_thousand(language)
    if word in known:
        return known[word]
    if parted := _THOUSAND[language].fullmatch(word):
        tens = known.get(parted[1]) if parted[1] else 1
        after = known.get(parted[2]) if parted[2] else 0
        if tens is not None and after is not None:
            return tens * 1000 + after
    return None


@lru_cache(maxsize=3)
def _below_thousand(language: str) -> Mapping[str, int]:
    known = {word: value for value, word in enumerate(_SMALL[language].split())}
    small = dict(known)
    for place, tens in enumerate(_TENS[language].split(), start=2):
        known[tens] = place * 10
        for word, unit in small.items():
            if 0 < unit < 10:
                if language == "it":
                    joined = (tens[:-1] if word in ("uno", "otto") else tens) + word
                else:
                    joined = f"{word}{'und' if language == 'de' else 'en'}{tens}"
                known[joined] = place * 10 + unit
    known |= {word.replace("ß", "ss"): value for word, value in known.items()}
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
