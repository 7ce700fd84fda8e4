"""Whether a sentence says what the sentences that it quotes say: numbers, force, parties, words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from rag.answer.claims import Quantity
from rag.answer.flat import any_of, signs_of
from rag.answer.force import Force, bounds
from rag.answer.force_words import FOREIGN, OPPOSED
from rag.answer.parties import Part
from rag.answer.told import Piece, Told, Words
from rag.answer.types import Fault

COVERED = 0.8  # share of a sentence's content terms that must stand in what it quotes: docs/answers-gate.md
TOLD = 0.6  # share of a clause's terms from which on a sentence tells that clause
SEVERAL = 2  # content terms of a clause, numbers of a unit: fewer cannot be mixed up

_Matches = Callable[[Piece, Piece], bool]


def disagreements(claim: Told, premises: Sequence[Told]) -> Iterator[Fault]:
    """Yield how a sentence differs from what it quotes; a fault may come more than once.

    Args:
        claim: the sentence.
        premises: each sentence of the law that a quote touches.
    """
    if _numbers_differ(claim, premises):
        yield Fault.NUMBER
    force = _force_differs(claim, premises)
    if force:
        yield Fault.FORCE
    alike = _same_parts if force else _same
    if _words_differ(claim, premises) or not _all_stand(claim, premises, alike):
        yield Fault.UNSUPPORTED


def coverage(claim: Told, premises: Sequence[Told]) -> float:
    """Return the share of a sentence's content terms that stand in the premises, 0 where it has none."""
    terms = claim.terms
    return len(_anywhere(terms, premises)) / len(terms) if terms else 0.0


def _anywhere(terms: Words, premises: Sequence[Told]) -> Words:
    return frozenset().union(*(premise.has(terms) for premise in premises))


# Numbers


def _numbers_differ(claim: Told, premises: Sequence[Told]) -> bool:
    known = {number.key for premise in premises for number in premise.numbers}
    if any(number.key not in known for number in claim.numbers):
        return True
    if not claim.telling <= frozenset().union(*(premise.telling for premise in premises)):
        return True
    law = sum((bounds(premise.plain, premise.language) for premise in premises), Counter[str]())
    if bounds(claim.plain, claim.language) - law:
        return True
    return any(_unbound(claim, number, premises) for number in claim.numbers) or any(
        _crossed(claim, premise) for premise in premises
    )


def _unbound(claim: Told, number: Quantity, premises: Sequence[Told]) -> bool:
    """Tell whether "at least" and the like stand beside a number in one of the texts alone."""
    there = [_bound(p, other) for p in premises for other in p.numbers if other.key == number.key]
    return _bound(claim, number) not in there


def _bound(text: Told, number: Quantity) -> tuple[str, ...]:
    before = text.plain[max(0, number.start - 24) : number.start]
    near = bounds(re.split(r"[,;:.，；。_]|\d", before)[-1], text.language)
    if text.language == "zh":
        after = re.split(r"[,;:.，；。_]|\d", text.plain[number.end : number.end + 4])[0]
        near += bounds(after, text.language)
    return tuple(sorted(near.elements()))


def _crossed(claim: Told, premise: Told) -> bool:
    """Tell whether a number is given to what the law gives another number of the same unit to."""
    units = Counter(unit for _, unit in {number.key for number in premise.numbers})
    if max(units.values(), default=0) < SEVERAL:
        return False
    theirs = list(_contexts(premise))
    for number, context in _contexts(claim):
        own = [len(context & other) for known, other in theirs if known.key == number.key]
        rivals = [
            len(context & other)
            for known, other in theirs
            if known.unit == number.unit and known.value != number.value
        ]
        if own and rivals and max(rivals) > max(own):
            return True
    return False


_PARTING = re.compile(r"[,;:.，；。、]| (?:et|ou|mais|and|or|but|und|oder|aber|en|of|maar|e|o|ma) ")


def _contexts(text: Told) -> Iterator[tuple[Quantity, Words]]:
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


# Force


def _force_differs(claim: Told, premises: Sequence[Told]) -> bool:
    law = sum((premise.force for premise in premises), Counter[Force]())
    if claim.force - law:
        return True
    if any(FOREIGN.fullmatch(term) for term in claim.terms - _anywhere(claim.terms, premises)):
        return True
    return _dropped(claim, premises) or not _all_stand(claim, premises, _same_force)


def _dropped(claim: Told, premises: Sequence[Told]) -> bool:
    """Tell whether a clause is told without its "not", or without the exception or condition beside it."""
    conditions = sum(piece.condition for piece in claim.pieces)
    for premise in premises:
        if len(claim.has(premise.terms)) >= COVERED * len(premise.terms) and premise.force - claim.force:
            return True
        told: Counter[Force] = Counter()
        for piece in premise.pieces:
            if not _tells(claim, piece):
                continue
            told += Counter(dict(piece.force))
            beside = [other for other in premise.pieces if other.segment == piece.segment]
            if any(dict(other.force).get(Force.EXCEPT) for other in beside) and not claim.force[Force.EXCEPT]:
                return True
            if not piece.condition and any(other.condition for other in beside) and not conditions:
                return True
        if told - claim.force:
            return True
    return False


def _tells(claim: Told, piece: Piece) -> bool:
    terms = piece.terms
    if not terms or len(claim.has(terms)) < TOLD * len(terms):
        return False
    named = {(part.pair, part.side) for own in claim.pieces for part in own.parts}
    return named >= {(part.pair, part.side) for part in piece.parts}


def _same_force(own: Piece, other: Piece) -> bool:
    """Tell whether two clauses have the same force; what the law sets as a condition is told as one."""
    return own.force == other.force and (own.condition or not other.condition)


def _same(own: Piece, other: Piece) -> bool:
    return _same_force(own, other) and _same_parts(own, other)


def _all_stand(claim: Told, premises: Sequence[Told], matches: _Matches) -> bool:
    """Tell whether what each clause says stands in clauses of the law that match it."""
    for own in claim.pieces:
        anywhere = _anywhere(own.terms, premises)
        there = frozenset().union(*(_standing(own, anywhere, premise, matches) for premise in premises))
        if len(anywhere - there) > (1 - COVERED) * len(anywhere):
            return False
    return True


def _standing(own: Piece, terms: Words, premise: Told, matches: _Matches) -> Words:
    known: set[str] = set()
    matched = False
    for other in premise.pieces:
        if matches(own, other):
            matched = True
            known |= other.terms
        elif own.force:
            known |= other.early | other.loose
        elif not other.condition or own.condition:
            known |= other.loose
            matched = matched or bool(other.loose)
    if not matched:
        return frozenset()
    words = "\n".join(sorted(known))
    return frozenset(term for term in terms if term in known or (term[0] > "\u3400" and term in words))


# Parties and words


def _same_parts(own: Piece, other: Piece) -> bool:
    """Tell whether the opposed parties of a clause have the part that they have in the other."""
    for pair in {part.pair for part in own.parts}:
        there = [part for part in other.parts if part.pair == pair]
        for role in {part.role for part in own.parts if part.pair == pair}:
            ours = _sides(own.parts, pair, role)
            if there and not _in_order(ours, _sides(there, pair, role)):
                return False
    return True


def _sides(parts: Sequence[Part], pair: int, role: str) -> list[int]:
    sides = [part.side for part in parts if part.pair == pair and part.role == role]
    return [side for place, side in enumerate(sides) if not place or side != sides[place - 1]]


def _in_order(ours: list[int], theirs: list[int]) -> bool:
    rest = iter(theirs)
    return all(side in rest for side in ours)


def _words_differ(claim: Told, premises: Sequence[Told]) -> bool:
    terms = claim.terms
    found = _anywhere(terms, premises)
    if not terms or len(found) < COVERED * len(terms):
        return True
    if any(term[0] == "@" for term in terms - found) or _exchanged(claim, premises):
        return True  # a party of whom the law does not speak, or not here
    return _contrary(claim, premises) or any(_scattered(own, premises) for own in claim.pieces)


def _exchanged(claim: Told, premises: Sequence[Told]) -> bool:
    """Tell whether one party is named more often than in the law, and the opposed one less often."""
    ours = Counter((part.pair, part.side) for piece in claim.pieces for part in piece.parts)
    law = Counter((part.pair, part.side) for p in premises for piece in p.pieces for part in piece.parts)
    return any(
        count > law[pair, side] and ours[pair, 1 - side] < law[pair, 1 - side]
        for (pair, side), count in ours.items()
    )


def _scattered(own: Piece, premises: Sequence[Told]) -> bool:
    """Tell whether a clause is put together from several sentences, none of which has most of it."""
    most = max((len(premise.has(own.terms)) for premise in premises), default=0)
    return len(own.terms) > SEVERAL and most < TOLD * len(own.terms)


def _contrary(claim: Told, premises: Sequence[Told]) -> bool:
    law = "\n".join(premise.plain for premise in premises)
    for pair in _opposed(claim.language):
        for one, other in (pair, pair[::-1]):
            if one.search(claim.plain) and not one.search(law) and other.search(law):
                return True
    return False


@lru_cache(maxsize=6)
def _opposed(language: str) -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    read = signs_of if language == "zh" else any_of
    return tuple((read(one), read(other)) for one, other in OPPOSED[language])
