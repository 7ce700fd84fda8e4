"""What narrows a number beside its unit: "per day", "for each year", "working days", in six languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from rag.answer.verification import units

_EACH = (
    r"(?:par|chaque|per|each|every|pro|je|jede[mnrs]?|elke?|ogni|al|alla|all')[ ]?"
    r"(?:full |complete |complete?d |entiere? |revolue? |volle[nrms]? |volledige? |begonnen[er]* |intero )?"
)
_HAN_EACH = re.compile(r"(?:每满?一?|按)(?P<unit>年|个?月|日|天|周|个?星期|个?季度|个?小时)")
_DAYS = re.compile(  # what is no plain day; "francs" is money but after days
    r"(?<!\w)(?:ouvrables?|ouvree?s?|calendaires?|(?<=jours )francs|working|business|calendar|werktag\w*|"
    r"arbeitstag\w*|kalendertag\w*|werkdag\w*|kalenderdag\w*|lavorativ\w+|ferial[ei])(?!\w)|工作日"
)
_STOPS = re.compile(r"[,;:，；。：]|\.(?!\d)")
_REACH = 60  # characters after a number within which "per day" belongs to it: "of wages for each full year"


@cache
def _each() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){_EACH}(?P<unit>{units.time_words()})(?!\w)")


def rhythms(plain: str) -> frozenset[str]:
    """Return what a flat text counts by and which kind of days it means, as names that can be compared."""
    return frozenset(_found(plain))


def qualified(plain: str, start: int, following: int) -> frozenset[str]:
    """Return what narrows the number that begins at `start`, up to the next number or sign.

    Args:
        plain: flat text.
        start: of the number.
        following: where the next number begins; the text's end if there is none.
    """
    end = min(following, start + _REACH)
    stop = _STOPS.search(plain, start, end)
    return rhythms(plain[start : stop.start() if stop else end])


def _found(plain: str) -> Iterator[str]:
    for pattern in (_each(), _HAN_EACH):
        for found in pattern.finditer(plain):
            unit, times = units.unit_of(found["unit"])
            yield f"each {times} {unit}"
    yield from (found[0][:6] for found in _DAYS.finditer(plain))
