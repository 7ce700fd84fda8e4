"""Whether the numbers of a sentence are the law's: value, unit, bound, and what each is given to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from rag.answer.screening.patterns import data
from rag.answer.verification.claim import Claim, Words, is_han, open_bounds
from rag.answer.verification.modality import bounds
from rag.answer.verification.normalise import word_pattern
from rag.answer.verification.quantities import PART, TIME_WORDS, Quantity, unit_of

_UNITS = data("units")
_HAN_EACH = re.compile(r"(?:每满?一?|按)(?P<unit>年|个?月|日|天|周|个?星期|个?季度|个?小时)")
_DAYS = re.compile(f"{word_pattern(_UNITS['days']).pattern}|工作日")  # what is no plain day
_STOPS = re.compile(r"[,;:，；。：]|\.(?!\d)")
_REACH = 60  # characters after a number within which "per day" belongs to it: "of wages for each full year"
_SHARES = frozenset({PART, "%"})
_BEHIND = re.compile(r" (?:au (?:moins|plus)|at (?:least|most)|al massimo|ten (?:minste|hoogste))(?!\w)")
_PARTING = re.compile(r"[,;:.，；。、]| (?:et|ou|mais|and|or|but|und|oder|aber|en|of|maar|e|o|ma) ")


@cache
def _each() -> re.Pattern[str]:
    each, full = ("|".join(_UNITS[name].split()) for name in ("each", "full"))
    return re.compile(rf"(?<!\w)(?:{each}) ?(?:(?:{full}) )?(?P<unit>{TIME_WORDS})(?!\w)")


def rhythms(plain: str) -> frozenset[str]:
    """Return what a flat text counts by ("per day") and which kind of days it means, to be compared."""
    counts = {unit_of(found["unit"]) for pattern in (_each(), _HAN_EACH) for found in pattern.finditer(plain)}
    return frozenset(
        {f"each {times} {unit}" for unit, times in counts} | {found[0][:6] for found in _DAYS.finditer(plain)}
    )


def numbers_differ(claim: Claim, premises: Sequence[Claim]) -> bool:
    """Tell whether a number is not that of the quoted sentences, or is not told as they tell it."""
    readers: tuple[Callable[[Claim], frozenset[object]], ...] = (
        lambda text: frozenset(number.key for number in text.numbers),
        lambda text: text.telling,
        lambda text: open_bounds(text.plain),
        lambda text: rhythms(text.plain),
    )
    if any(read(claim) - frozenset().union(*map(read, premises)) for read in readers):
        return True
    law = sum((bounds(premise.plain, premise.language) for premise in premises), Counter[str]())
    if bounds(claim.plain, claim.language) - law:
        return True
    return any(_unbound(claim, number, premises) for number in claim.numbers) or any(
        _crossed(claim, premise) or _exchanged(claim, premise) or _share_dropped(claim, premise)
        for premise in premises
    )


def _unbound(claim: Claim, number: Quantity, premises: Sequence[Claim]) -> bool:
    """Tell whether "at least", "per day" and the like stand beside a number in one of the texts alone."""
    ours = rhythms(claim.plain)
    return not any(
        other.key == number.key
        and _bound(claim, number) == _bound(premise, other)
        and _qualified(premise, other) <= ours
        and _qualified(claim, number) <= rhythms(premise.plain)
        for premise in premises
        for other in premise.numbers
    )


def _qualified(text: Claim, number: Quantity) -> frozenset[str]:
    """Return what narrows a number, up to the next number or sign."""
    following = (each.start for each in text.numbers if each.start > number.start)
    end = min(*following, len(text.plain), number.start + _REACH)
    stop = _STOPS.search(text.plain, number.start, end)
    return rhythms(text.plain[number.start : stop.start() if stop else end])


def _bound(text: Claim, number: Quantity) -> tuple[str, ...]:
    left = text.plain[max(0, number.start - 24) : number.start]
    near = bounds(re.split(r"[,;:.，；。_]|\d", left)[-1], text.language)
    if behind := _BEHIND.match(text.plain, number.end):
        near += bounds(behind[0], text.language)
    if text.language == "zh":
        after = re.split(r"[,;:.，；。_]|\d", text.plain[number.end : number.end + 4])[0]
        near += bounds(after, text.language)
    return tuple(sorted(near.elements()))


def _crossed(claim: Claim, premise: Claim) -> bool:
    """Tell whether a number is given to what the law gives another number of the same unit to."""
    theirs = list(_contexts(premise))
    for number, context in _contexts(claim):
        own = [len(context & other) for known, other in theirs if known.key == number.key]
        rivals = [
            len(context & other)
            for known, other in theirs
            if known.key[1] == number.key[1] and known.key[0] != number.key[0]
        ]
        if own and rivals and max(rivals) > max(own):
            return True
    return False


def _contexts(text: Claim) -> Iterator[tuple[Quantity, Words]]:
    """Yield each number with the terms of its part of the sentence; commas and "and" part numbers."""
    left = 0
    for place, number in enumerate(text.numbers):
        right = len(text.plain)
        if place + 1 < len(text.numbers):
            following = text.numbers[place + 1].start
            partings = [found.start() for found in _PARTING.finditer(text.plain, number.end, following)]
            right = partings[-1] if partings else following
        yield number, frozenset(term for at, term in text.tokens if left <= at < right)
        left = right


def _phrase(text: Claim, number: Quantity) -> Words:
    """Return the terms between the signs and joints on either side of a number."""
    left = max((m.end() for m in _PARTING.finditer(text.plain, 0, number.start)), default=0)
    following = _PARTING.search(text.plain, number.end)
    right = following.start() if following else len(text.plain)
    return frozenset(term for at, term in text.tokens if left <= at < right)


def _exchanged(claim: Claim, premise: Claim) -> bool:
    """Tell whether a number changed hands: what the law has beside it stands elsewhere, another here."""
    for number in claim.numbers:
        theirs = [_phrase(premise, other) for other in premise.numbers if other.key == number.key]
        own = _phrase(claim, number)
        # one Chinese character is cut off one word here and another there
        words = {term for term in premise.has(own) if len(term) > 1 or not is_han(term)}
        if number.unit and theirs and all(words - law and claim.has(law) - own for law in theirs):
            return True
    return False


def _share_dropped(claim: Claim, premise: Claim) -> bool:
    """Tell whether "half of the estate" is told as "the estate"."""
    if any(number.unit in _SHARES for number in claim.numbers):
        return False
    for number in premise.numbers:
        if number.unit in _SHARES:
            left = [term for at, term in premise.tokens if at < number.start][-1:]
            after = [term for at, term in premise.tokens if at >= number.end][:1]
            both = frozenset(left + after)
            if after and claim.has(both) == both:
                return True
    return False
