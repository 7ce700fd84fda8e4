"""Text in the form that the gate's word lists are written in.

Which of the supported languages a text is in.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from rag.text.analysers import LANGUAGES, stop_words
from rag.text.folding import fold, level

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


def word_pattern(*alternatives: str) -> re.Pattern[str]:
    """Return the pattern of whole words of flat text; in Chinese, where nothing parts words, of signs.

    Args:
        alternatives: patterns parted by spaces; "_" stands for a space inside one.
    """
    parts = [part for text in alternatives for part in text.split()]
    words = "|".join(part.replace("_", " ") for part in parts)
    return re.compile(rf"(?<!\w)(?:{words})(?:(?!\w)|(?<='))" if words else r"(?!)")


def signs_of(*alternatives: str) -> re.Pattern[str]:
    """Return the pattern of Chinese words, parted by spaces; each may be a pattern."""
    parts = [part for text in alternatives for part in text.split()]
    return re.compile("|".join(parts) if parts else r"(?!)")


_WORD = re.compile(r"[^\W\d_]+")
_HAN = re.compile("[\u4e00-\u9fff]")
_LOOKED_AT = 1_500  # characters; the function words of a few sentences tell


def language_of(text: str, stated: str | None = None) -> str:
    """Return the two letters of a text's language: the one stated, else told by function words.

    Args:
        text: an article, or what there is of one.
        stated: what its corpus says, such as "fr" or "de-AT"; another language than the six is ignored.
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
