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
from typing import Any

from rag.corpus.articles import Articles
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
    needed = min(max(LEAST, round(SHARE * len(articles))), ENOUGH)
    counted = articles.mentions if isinstance(articles, Articles) else {}
    uncounted = [each.words for each in situations(language) if each.words not in counted]
    counted = {**counted, **mentions(uncounted, articles, needed)}
    return tuple(each for each in situations(language) if counted[each.words] >= needed)


def mentions(
    lists: Iterable[tuple[str, ...]], articles: Sequence[Article], most: int = ENOUGH
) -> dict[tuple[str, ...], int]:
    """Count for each list of words the articles that hold one of them, up to `most`."""
    missing, found = dict.fromkeys(lists, 0), {}
    for article in articles if missing else ():
        text = article.text.casefold()
        for words, often in tuple(missing.items()):
            if any(word in text for word in words):
                missing[words] = often + 1
                if often + 1 >= most:  # most words of a list stand in the first hundreds of articles
                    found[words] = missing.pop(words)
        if not missing:
            break
    return {**missing, **found}


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
