"""French numbers in words: "dix-huit" is 18, "deux cent quatre-vingts" is 280, "troisième" is 3."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType

# All words folded, without accents.
_SMALL = MappingProxyType({
    "zero": 0, "un": 1, "une": 1, "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "six": 6, "sept": 7,
    "huit": 8, "neuf": 9, "dix": 10, "onze": 11, "douze": 12, "treize": 13, "quatorze": 14, "quinze": 15,
    "seize": 16,
})  # fmt: skip
_TENS = MappingProxyType({
    "vingt": 20, "vingts": 20, "trente": 30, "quarante": 40, "cinquante": 50, "soixante": 60,
    "septante": 70, "huitante": 80, "octante": 80, "nonante": 90,
})  # fmt: skip
_LARGE = MappingProxyType({"mille": 1000, "million": 10**6, "milliard": 10**9})
_HUNDRED = ("cent", "cents")
_ALL = (*_SMALL, *_TENS, *_HUNDRED, *_LARGE, "millions", "milliards")
_WORDS = "|".join(sorted(_ALL, key=len, reverse=True))
_JOINT = r"(?: ?- ?| )(?:et(?: ?- ?| ))?"  # "vingt-quatre", "vingt et un", "vingt-et-un"
RUN = re.compile(rf"(?<![\w-])(?:{_WORDS})(?:{_JOINT}(?:{_WORDS}))*(?![\w'])")
ORDINAL = re.compile(
    rf"(?<![\w-])(?:(?:{_WORDS}){_JOINT})*(?:[a-z]+iemes?|premiere?s?|secondes?|seconds?)(?!\w)"
)
_PART = re.compile(r"[a-z]+")
_SPECIAL = MappingProxyType({"premier": 1, "premiere": 1, "second": 2, "seconde": 2})
_SPELT = MappingProxyType({"cinqu": "cinq", "neuv": "neuf"})


def numbers_in(run: str, at: int = 0) -> Iterator[tuple[int, int, int]]:
    """Yield the numbers of a run of number words, as value, start and end.

    Words that make no one number together are several: "deux trois" is 2 and 3.

    Args:
        run: what `RUN` matched.
        at: where the run stands; places are counted from there.
    """
    parts = [part for part in _PART.finditer(run) if part[0] != "et"]
    first = 0
    while first < len(parts):
        count, value = _longest([part[0] for part in parts[first:]])
        yield value, at + parts[first].start(), at + parts[first + count - 1].end()
        first += count


def _longest(parts: Sequence[str]) -> tuple[int, int]:
    """Return how many of the first words make one number, and its value."""
    for count in range(len(parts), 1, -1):
        value = _value(parts[:count])
        if value is not None:
            return count, value
    return 1, _value(parts[:1]) or _LARGE.get(parts[0].rstrip("s"), 0)


def _value(parts: Sequence[str]) -> int | None:
    """Return the value of words that are one number, else None; "et" is left out before."""
    for word, times in sorted(_LARGE.items(), key=lambda item: -item[1]):
        places = [place for place, part in enumerate(parts) if part in (word, word + "s")]
        if places:
            before = _below_thousand(parts[: places[0]]) if places[0] else (1 if times == 1000 else None)
            after = _rest(_value, parts[places[0] + 1 :])
            if not before or after is None or after >= times:
                return None
            return before * times + after
    return _below_thousand(parts)


def _rest(read: Callable[[Sequence[str]], int | None], parts: Sequence[str]) -> int | None:
    """Return the value of what follows a larger unit: 0 where nothing does, None for "zéro"."""
    return (read(parts) or None) if parts else 0


def _below_thousand(parts: Sequence[str]) -> int | None:
    places = [place for place, part in enumerate(parts) if part in _HUNDRED]
    if not places:
        return _below_hundred(parts)
    before = _SMALL.get(parts[0], 0) if places[0] == 1 else (1 if places[0] == 0 else 0)
    after = _rest(_below_hundred, parts[places[0] + 1 :])
    return None if after is None or not 0 < before < 10 else before * 100 + after


def _below_hundred(parts: Sequence[str]) -> int | None:
    if len(parts) == 1:
        return _SMALL.get(parts[0], _TENS.get(parts[0]))
    if not parts:
        return None
    if parts[0] == "quatre" and parts[1] in ("vingt", "vingts"):
        tens, rest = 80, parts[2:]
    elif parts[0] in _TENS:
        tens, rest = _TENS[parts[0]], parts[1:]
    elif parts[0] == "dix" and len(parts) == 2 and 7 <= _SMALL.get(parts[1], 0) <= 9:
        return 10 + _SMALL[parts[1]]
    else:
        return None
    units = _rest(_below_hundred, rest)
    most = 19 if tens in (60, 80) else 9  # soixante-dix-neuf, quatre-vingt-dix-neuf
    return None if units is None or units > most else tens + units


def ordinal(word: str) -> int | None:
    """Return the value of a folded ordinal ("troisieme", "vingt et unieme"), else None."""
    single = word.removesuffix("s")
    if single in _SPECIAL:
        return _SPECIAL[single]
    if not single.endswith("ieme"):
        return None
    *before, last = [part for part in _PART.findall(single.removesuffix("ieme")) if part != "et"] or [""]
    found = (_value([*before, form]) for form in (_SPELT.get(last, last), last + "e"))
    return next((value for value in found if value is not None), None)
