"""The language of a text."""

from __future__ import annotations

import re
from functools import lru_cache

from rag.text.analysers import LANGUAGES, stop_words
from rag.text.folding import fold

_WORD = re.compile(r"[^\W\d_]+")
_HAN = re.compile("[\u4e00-\u9fff]")
_LOOKED_AT = 1_500  # characters; the function words of a few sentences tell


def language_of(text: str, stated: str | None = None, likely: str | None = None) -> str:
    """Return the two letters of a text's language, told by function words unless its corpus states it.

    A language such as "de-AT" is one of the six; any other that is stated is ignored. It is the likely
    one where no other has two function words more, which a short sentence seldom has.
    """
    if stated and stated[:2].lower() in LANGUAGES:
        return stated[:2].lower()
    start = text[:_LOOKED_AT]
    if len(_HAN.findall(start)) * 4 > len(start):
        return "zh"
    words = [fold(word) for word in _WORD.findall(start)]
    shares = {language: sum(word in _function_words(language) for word in words) for language in LANGUAGES}
    best = max(shares, key=lambda language: shares[language])  # the first of LANGUAGES where none is known
    near = likely is not None and shares.get(likely, -2) > shares[best] - 2
    return likely if likely is not None and near else best


@lru_cache(maxsize=6)
def _function_words(language: str) -> frozenset[str]:
    return frozenset(map(fold, stop_words(language)))
