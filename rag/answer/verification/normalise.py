"""Text in the form that the gate's word lists are written in, and the language of a text."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from rag.text.analysers import LANGUAGES, stop_words
from rag.text.folding import fold, level

_ITALIAN_IS = re.compile(r"(?<!\w)[èÈ](?!\w)")  # without its accent it would be "and"
_WORD = re.compile(r"[^\W\d_]+")
_HAN = re.compile("[\u4e00-\u9fff]")
_LOOKED_AT = 1_500  # characters; the function words of a few sentences tell


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


def language_of(text: str, stated: str | None = None) -> str:
    """Return the two letters of a text's language, told by function words unless its corpus states it.

    A language such as "de-AT" is one of the six; any other that is stated is ignored.
    """
    if stated and stated[:2].lower() in LANGUAGES:
        return stated[:2].lower()
    start = text[:_LOOKED_AT]
    if len(_HAN.findall(start)) * 4 > len(start):
        return "zh"
    words = [fold(word) for word in _WORD.findall(start)]
    shares = {language: sum(word in _function_words(language) for word in words) for language in LANGUAGES}
    return max(shares, key=lambda language: shares[language])  # the first of LANGUAGES where none is known


@lru_cache(maxsize=6)
def _function_words(language: str) -> frozenset[str]:
    return frozenset(map(fold, stop_words(language)))
