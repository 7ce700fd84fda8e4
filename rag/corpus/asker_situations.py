"""What a person says of themselves in front of a question, as data sets have it, and what is offered.

The sentences are in the language of the law, where they are searched for with the question; what is offered
comes from the loaded corpus. Whether that helps was measured: docs/use.md.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any

from rag.types import Article

# Articles that must name a situation: of a small corpus one in 200, and 3 at least; 10 are enough of any.
# The Code civil names employees in 9 of 2,889, in passing, and tenants in 67.
SHARE, LEAST, ENOUGH = 0.005, 3, 10
_ENDS = ".。"


@dataclass(frozen=True, slots=True)
class Situation:
    """Who somebody is to the law."""

    id: str  # in addresses
    says: str  # the sentence that goes in front of a question
    words: tuple[str, ...] = ()  # how articles name it, in small letters; parts of words too


@cache
def situations(language: str) -> tuple[Situation, ...]:
    """Return all situations in a language, in the order of the file; none in one that it does not have."""
    return tuple(
        Situation(id_, phrases[language]["says"], tuple(phrases[language]["words"]))
        for id_, phrases in _read()["situations"].items()
        if language in phrases
    )


def available_situations(language: str, articles: Sequence[Article]) -> tuple[Situation, ...]:
    """Return the situations that enough articles of a corpus mention."""
    texts = [article.text.casefold() for article in articles]
    needed = min(max(LEAST, round(SHARE * len(texts))), ENOUGH)

    def enough(words: Sequence[str]) -> bool:
        # stops early: most words of a list stand in the first hundreds of articles
        naming = (text for text in texts if any(word in text for word in words))
        return len(list(islice(naming, needed))) == needed

    return tuple(each for each in situations(language) if enough(each.words))


def living_in(region: str, language: str) -> str:
    """Return the sentence that tells the region, as the corpus writes it; "" in a language without one."""
    known = _read()["regions"].get(region, {}).get(language)
    if known is not None:
        return str(known["says"])
    return str(_read()["region"].get(language, "")).replace("{name}", " ".join(region.split()))


def region_name(region: str, language: str) -> str:
    """Return what people call a region that a corpus writes as a code ("BE-BRU"); any other as it stands."""
    known = _read()["regions"].get(region, {}).get(language)
    return str(known["name"]) if known is not None else region


def in_front(says: Iterable[str], question: str) -> str:
    """Return the question with sentences in front of it, as imports put the tags of data sets (`tags=true`).

    One that the question tells already is not told again; an empty question stays empty.
    """
    typed = question.strip()
    if not typed:
        return ""
    return " ".join([*(each for each in dict.fromkeys(says) if each and each not in typed), typed])


def label(sentence: str) -> str:
    """Return a sentence without its end and with typographic apostrophes, for a button."""
    return sentence.rstrip(_ENDS).replace("'", "’")


@cache
def _read() -> dict[str, Any]:
    return tomllib.loads((files("rag") / "situations.toml").read_text(encoding="utf-8"))
