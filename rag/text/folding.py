"""Characters made comparable: compatibility forms, case, accents, apostrophes, invisible marks.

French words to stems that do not depend on whether accents were typed.

Snowball's French algorithm looks at accents (it knows "résilié" as a participle and "resilie" as
something else), so stemming first and folding after gives two terms to one word for a quarter of
the accented vocabulary. Here accents go first, so that both typings agree always, and the endings
that the algorithm needs are put back by rule before it runs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

# Soft hyphen, zero-width characters, combining accents: part of a word, never a letter of it.
INVISIBLE = "\u00ad\u034f\u200b-\u200f\u2060\ufeff\u0300-\u036f"

_APOSTROPHES = "\u2019\u2018\u02bc\u02b9\u02bb\u2032\u00b4`\u055a\uff07\u201b"
_HYPHENS = "\u2010\u2011\u2212\ufe63\uff0d"
_SPACES = "_\u00a0\u2007\u202f\u2009\u3000\t"
_FULL_WIDTH = range(0xFF01, 0xFF5F)  # the ASCII signs as East Asian keyboards type them
_IDEOGRAPHS = (range(0x2F00, 0x2FD6), range(0xF900, 0xFADA))  # radicals and compatibility forms, as PDFs give
_LETTERS = str.maketrans({"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ı": "i"})


_NORMAL = {code: unicodedata.normalize("NFKC", chr(code)) for block in _IDEOGRAPHS for code in block}
SAME_LENGTH = (
    {code: chr(code - 0xFEE0) for code in _FULL_WIDTH}
    | {code: normal for code, normal in _NORMAL.items() if len(normal) == 1}
    | dict.fromkeys(map(ord, _APOSTROPHES), "'")
    | dict.fromkeys(map(ord, _HYPHENS), "-")
    | dict.fromkeys(map(ord, _SPACES), " ")
)


def level(text: str) -> str:
    """Return the text with apostrophes, hyphens, spaces and full-width signs unified, sign by sign.

    A place in the result is the same place in `text`.
    """
    return text.translate(SAME_LENGTH)


def fold(word: str) -> str:
    """Return a word without case, accents, ligatures or invisible marks: "Œuvré" gives "oeuvre".

    The German sharp s gives "ss". Only letters and digits are kept.
    """
    if word.isascii():
        return word.lower() if word.isalnum() else "".join(filter(str.isalnum, word.lower()))
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", word).casefold().translate(_LETTERS))
    return unicodedata.normalize("NFC", "".join(filter(str.isalnum, plain)))


# Words that Snowball joins to another ("loyer" to "loi", "foyer" to "foi") or leaves apart from their own.
_EXCEPTIONS = {
    "loyer": "loyer", "loyers": "loyer", "foyer": "foyer", "foyers": "foyer", "pays": "pays",
    "baux": "bail", "epoux": "epous", "veuf": "veuv", "veufs": "veuv",
    "euros": "euro", "numeros": "numero", "studios": "studio", "kilos": "kilo", "aujourdhui": "aujourdhui",
}  # fmt: skip
_NOT_ITE = re.compile(r"(?:inter|ine|mau|eru)dites?$|licites?$|^(?:ex|im)plicites?$")
_U = re.compile(r"(?<![oqg])u(?:s|es?)$")  # vendu, vendue, vendus, vendues
_NOT_U = re.compile(r"(?:(?:in|ex|re|per)clus|fus|bus|plus|virus|bonus)$")


def _with_endings(folded: str) -> str:
    """Put back the accents of the endings that the stemmer acts on."""
    if folded.endswith(("ee", "ees")):
        return re.sub(r"ee(s?)$", r"ée\1", folded)
    if folded.endswith(("ite", "ites")) and not _NOT_ITE.search(folded):
        return re.sub(r"ite(s?)$", r"ité\1", folded)
    if folded.endswith(("iere", "ieres", "ierement")):
        return re.sub(r"ier(es?|ement)$", r"ièr\1", folded)
    if len(folded) > 4 and not _NOT_U.search(folded):
        return _U.sub("u", folded)
    return folded


def stem_french(folded: str, snowball: Callable[[str], str]) -> str:
    """Return the stem of a folded word; "résilié", "resilie" and "résiliation" give one."""
    if folded in _EXCEPTIONS:
        return _EXCEPTIONS[folded]
    stem = fold(snowball(_with_endings(folded)))
    if len(stem) > 2 and stem[-1] == "y":
        stem = stem[:-1] + "i"  # paye, payer
    return stem[:-1] if len(stem) > 3 and stem[-1] == "i" else stem  # resili(er), resil(ie)
