"""Whether a question is about another country's law than the one that is loaded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from rag.text.patterns import data, filled, plain

_KEYWORDS = 11  # words; a longer question tells a story, in which a country is a mere place


@cache
def _countries() -> Mapping[str, Mapping[str, re.Pattern[str]]]:
    """Return by country what asks for its law, and what names it."""
    read = data("rag.screening", "jurisdiction")
    return {
        country: {
            kind: re.compile(filled(pattern, read["parts"] | words))
            for kind, pattern in read["patterns"].items()
        }
        for country, words in data("rag.screening", "countries").items()
    }


def other_country(question: str, jurisdiction: str) -> str | None:
    """Return the country (ISO 3166-1 alpha-2) whose law a question asks for, if it is not the one loaded.

    A country that is only a place in the story ("my flat in Spain") is none: whose law governs it is
    itself a question for the law that is loaded. Where a question names the loaded law too, or its
    country without asking for another one's law, it is left alone. Without the jurisdiction of the
    corpus nothing can be told.
    """
    others = dict(_countries())
    own = others.pop(jurisdiction.upper(), None)
    if own is None:
        return None
    text = plain(question)
    if not own["law"].search(text):
        for code, country in others.items():
            if country["law"].search(text):
                return code
    if own["named"].search(text):
        return None
    tied = re.search(data("rag.screening", "jurisdiction")["tied"], text) is not None
    for code, country in others.items():
        framed = country["frame"].search(text) and "我" not in text
        short = not tied and len(text.split()) <= _KEYWORDS and country["short"].search(text)
        if framed or short or country["there"].search(text):
            return code
    return None
