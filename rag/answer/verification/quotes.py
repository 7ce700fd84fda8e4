"""Finds a quote in an article whatever its blanks, quotation marks and dashes.

What a typesetter may change is unified: blanks and line breaks, quotation marks, apostrophes, dashes,
the ellipsis, capitals, ligatures, full-width signs, soft hyphens. What a reader would read otherwise
is not: accents, digits, punctuation, letters of another script that look the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from rag.text.chinese import HAN
from rag.text.folding import SAME_LENGTH

LEAST_WORDS = 4  # of a quote; fewer stand in any article. A whole sentence may be shorter
LEAST_HAN = 6  # characters of a Chinese one
LONGEST = 4_000  # characters of a quote that are looked for
RECENT = 16  # articles: those of one answer. Each takes some forty times its text

_DROPPED = frozenset('"“”„‟«»‹›「」『』\u00ad\u200b\u200c\u200d\u2060\ufeff')
_BEFORE_SIGN = re.compile(r" (?=[;:!?%])")
_HAN = re.compile(rf"[{HAN}。，、；：？！（）]")
_ENDS = " .,;:!?…*[]()-'。，；：、"  # around a quote: models close a fragment with a full stop
_MIDDLE = re.compile(rf"[^\W{HAN}]")
_HAN_NUMERAL = frozenset("零〇一二三四五六七八九十百千万亿两")
_HAN_NOT = frozenset("不未无非没勿")
_WORDS = re.compile(rf"[{HAN}]|(?:(?![{HAN}])[^\W_])+")


@dataclass(frozen=True, slots=True)
class Normal:
    """A text as quotes are compared, and from where in the original each of its characters comes."""

    text: str
    starts: tuple[int, ...]  # starts[i]: where the character of text[i] begins in the original
    ends: tuple[int, ...]


def normal(text: str) -> Normal:
    """Return a text in the form in which quotes are compared; doing it twice changes nothing."""
    characters: list[tuple[str, int, int]] = []
    for sign, start, end in _signs(text):
        if sign != " " or (characters and characters[-1][0] != " "):
            characters.append((sign, start, end))
    if characters and characters[-1][0] == " ":
        characters.pop()
    flat = "".join(sign for sign, _, _ in characters)
    loose = {m.start() for m in _BEFORE_SIGN.finditer(flat)}
    loose |= {
        at
        for at, sign in enumerate(flat)
        if sign == " " and (_HAN.match(flat, at - 1) or _HAN.match(flat, at + 1))
    }
    characters = [each for at, each in enumerate(characters) if at not in loose]
    signs, starts, ends = zip(*characters, strict=True) if characters else ((), (), ())
    return Normal("".join(signs), tuple(starts), tuple(ends))


def _signs(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield single characters, unified, each with its span in the original."""
    at = 0
    while at < len(text):
        end = at + 1
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
        cluster = text[at:end]
        if cluster[0] not in _DROPPED:
            for sign in _unified(cluster):
                yield sign, at, end
        at = end


@lru_cache(maxsize=8192)
def _unified(cluster: str) -> str:
    if cluster[0].isspace():
        return " "
    composed = unicodedata.normalize("NFC", cluster.translate(SAME_LENGTH))
    if composed in "‒–—―":
        return "-"
    if composed == "…":
        return "..."
    if "\ufb00" <= composed <= "\ufb06":  # ligatures of type: fi, fl, st
        composed = unicodedata.normalize("NFKC", composed)
    return composed.casefold().replace("œ", "oe").replace("æ", "ae")


class Places:
    """An article's text, ready to be searched for quotes."""

    def __init__(self, text: str) -> None:
        self._normal = normal(text)

    def find(self, quote: str) -> list[tuple[int, int]]:
        """Return every place where the quote stands, as start and end in the original text.

        A place begins and ends with whole words and whole numbers: "500 euros" does not stand in
        "1 500 euros", nor "得" in "不得".
        """
        wanted = trimmed(quote)
        flat = self._normal.text
        found: list[tuple[int, int]] = []
        at = flat.find(wanted) if wanted and len(wanted) <= LONGEST else -1
        while at >= 0:
            end = at + len(wanted)
            inside = _joined(flat, at) or _joined(flat, end) or (at and flat[at - 1] in _HAN_NOT)
            if not inside:
                found.append((self._normal.starts[at], self._normal.ends[end - 1]))
            at = flat.find(wanted, at + 1)
        return found


@lru_cache(maxsize=RECENT)
def places(text: str) -> Places:
    """Return a text ready to be searched; that of the last articles stays at hand."""
    return Places(text)


def trimmed(quote: str) -> str:
    """Return a quote as it is looked for: normal, without signs and ellipses around it."""
    return normal(quote).text.strip(_ENDS)


def is_long_enough(quote: str) -> bool:
    """Tell whether a quote has words enough to mean one place."""
    wanted = trimmed(quote)
    words = _WORDS.findall(wanted)
    han = sum(1 for word in words if _HAN.match(word))
    return han >= LEAST_HAN or len(words) >= (LEAST_HAN if han else LEAST_WORDS)


def _joined(flat: str, at: int) -> bool:
    """Tell whether a place lies inside a word or a number."""
    if not 0 < at < len(flat):
        return False
    left, after = flat[at - 1], flat[at]
    if left in _HAN_NUMERAL and after in _HAN_NUMERAL:
        return True
    if _MIDDLE.match(left) and _MIDDLE.match(after):
        return True
    parted = " .,-/'"  # 1 500, 3.000, 2,5, L. 121-1
    if after.isdigit() and left in parted and at > 1 and flat[at - 2].isdigit():
        return left != " " or _grouped(flat, at)
    if left.isdigit() and after in parted and flat[at + 1 : at + 2].isdigit():
        return after != " " or _grouped(flat, at + 1)
    return False


def _grouped(flat: str, at: int) -> bool:
    """Tell whether exactly three digits begin here: after a blank they go on with a number."""
    return re.match(r"\d{3}(?!\d)", flat[at:]) is not None
