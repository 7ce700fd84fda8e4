"""Whether the numbers of a sentence are the law's: value, unit, bound, and what each is given to.

What narrows a number beside its unit: "per day", "for each year", "working days", in six languages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

from rag.answer.verification.claim import Claim, Words, is_han, open_bounds
from rag.answer.verification.modality import bounds
from rag.answer.verification.quantities import PART, Quantity, time_words, unit_of

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
    return re.compile(rf"(?<!\w){_EACH}(?P<unit>{time_words()})(?!\w)")


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
            unit, times = unit_of(found["unit"])
            yield f"each {times} {unit}"
    yield from (found[0][:6] for found in _DAYS.finditer(plain))


MIN_NUMBERS = 2  # numbers of a unit: fewer cannot be mixed up
_SHARES = frozenset({PART, "%"})


def numbers_differ(claim: Claim, premises: Sequence[Claim]) -> bool:
    """Tell whether a number is not the law's, or is not told as the law tells it.

    Args:
        claim: the sentence.
        premises: each sentence of the law that a quote touches.
    """
    known = {number.key for premise in premises for number in premise.numbers}
    if any(number.key not in known for number in claim.numbers):
        return True
    if not claim.telling <= frozenset().union(*(premise.telling for premise in premises)):
        return True
    law = sum((bounds(premise.plain, premise.language) for premise in premises), Counter[str]())
    if bounds(claim.plain, claim.language) - law:
        return True
    if open_bounds(claim.plain) - frozenset().union(*(open_bounds(premise.plain) for premise in premises)):
        return True
    if not rhythms(claim.plain) <= frozenset().union(*(rhythms(premise.plain) for premise in premises)):
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
    following = min(
        (each.start for each in text.numbers if each.start > number.start), default=len(text.plain)
    )
    return qualified(text.plain, number.start, following)


_BEHIND = re.compile(r" (?:au (?:moins|plus)|at (?:least|most)|al massimo|ten (?:minste|hoogste))(?!\w)")


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
    units = Counter(unit for _, unit in {number.key for number in premise.numbers})
    if max(units.values(), default=0) < MIN_NUMBERS:
        return False
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


_PARTING = re.compile(r"[,;:.，；。、]| (?:et|ou|mais|and|or|but|und|oder|aber|en|of|maar|e|o|ma) ")


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
        if number.unit and theirs and all(_swapped(own, law, claim, premise) for law in theirs):
            return True
    return False


def _swapped(own: Words, law: Words, claim: Claim, premise: Claim) -> bool:
    came = {term for term in premise.has(own) - law if not _syllable(term)}
    return bool(came) and bool(claim.has(law) - own)


def _syllable(term: str) -> bool:
    """Tell whether a term is one Chinese character, which is cut off one word here and another there."""
    return len(term) == 1 and is_han(term)


def _share_dropped(claim: Claim, premise: Claim) -> bool:
    """Tell whether "half of the estate" is told as "the estate"."""
    if any(number.unit in _SHARES for number in claim.numbers):
        return False
    for number in premise.numbers:
        if number.unit in _SHARES:
            left = [term for at, term in premise.tokens if at < number.start][-1:]
            after = [term for at, term in premise.tokens if at >= number.end][:1]
            if after and claim.has(frozenset(left + after)) == frozenset(left + after):
                return True
    return False
