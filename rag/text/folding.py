"""Characters made comparable: compatibility forms, case, accents, apostrophes, invisible marks."""

from __future__ import annotations

import unicodedata

# Soft hyphen, zero-width characters, combining accents: part of a word, never a letter of it.
INVISIBLE = "\u00ad\u034f\u200b-\u200f\u2060\ufeff\u0300-\u036f"

_APOSTROPHES = "\u2019\u2018\u02bc\u02b9\u02bb\u2032\u00b4`\u055a\uff07\u201b"
_HYPHENS = "\u2010\u2011\u2212\ufe63\uff0d"
_SPACES = "_\u00a0\u2007\u202f\u2009\u3000\t"
_FULL_WIDTH = range(0xFF01, 0xFF5F)  # the ASCII signs as East Asian keyboards type them
_IDEOGRAPHS = (range(0x2F00, 0x2FD6), range(0xF900, 0xFADA))  # radicals and compatibility forms, as PDFs give
_LETTERS = str.maketrans({"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ı": "i"})


def _same_length() -> dict[int, str]:
    table = {code: chr(code - 0xFEE0) for code in _FULL_WIDTH}
    for block in _IDEOGRAPHS:
        for code in block:
            normal = unicodedata.normalize("NFKC", chr(code))
            if len(normal) == 1:
                table[code] = normal
    table |= dict.fromkeys(map(ord, _APOSTROPHES), "'")
    table |= dict.fromkeys(map(ord, _HYPHENS), "-")
    return table | dict.fromkeys(map(ord, _SPACES), " ")


SAME_LENGTH = _same_length()


def level(text: str) -> str:
    """Return the text with apostrophes, hyphens, spaces and full-width signs unified.

    One character gives one character, so a place in the result is the same place in `text`.
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
