"""Text in the form that word lists of numbers are written in."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from rag.text.folding import level

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
