"""Whether a sentence says what the sentences that it quotes say: numbers, force, parties, words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from rag.answer.types import Fault
from rag.answer.verification.claim import Piece, Told, Words
from rag.answer.verification.force_words import FOREIGN
from rag.answer.verification.modality import Force
from rag.answer.verification.normalise import any_of, signs_of
from rag.answer.verification.number_check import numbers_differ
from rag.answer.verification.opposed import LEAVE, OPPOSED
from rag.answer.verification.parties import Part
from rag.answer.verification.replaced import joined_otherwise, joints, replaced

COVERED = 0.8  # share of a sentence's content terms that must stand in what it quotes: docs/answers-gate.md
HALF = 0.5  # of a clause's terms: who leaves out a consent leaves out who gives it too
HINTED, WHOLE = 0.3, 0.75  # shares of a condition's terms between which it is told in part
TOLD = 0.6  # share of a clause's terms from which on a sentence tells that clause
SEVERAL = 2  # content terms of a clause: fewer cannot be put together from several sentences

_Matches = Callable[[Piece, Piece], bool]


def disagreements(claim: Told, premises: Sequence[Told]) -> Iterator[Fault]:
    """Yield how a sentence differs from what it quotes; a fault may come more than once.

    Args:
        claim: the sentence.
        premises: each sentence of the law that a quote touches.
    """
    if numbers_differ(claim, premises):
        yield Fault.NUMBER
    if any(claim.plain == premise.plain for premise in premises):
        return  # the law's own sentence, whatever the rules for rewordings make of it
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


# Force


def _force_differs(claim: Told, premises: Sequence[Told]) -> bool:
    law = sum((premise.force for premise in premises), Counter[Force]())
    if claim.force - law:
        return True
    if any(FOREIGN.fullmatch(term) for term in claim.terms - _anywhere(claim.terms, premises)):
        return True
    return _dropped(claim, premises) or not _all_stand(claim, premises, _same_force)


def _dropped(claim: Told, premises: Sequence[Told]) -> bool:
    """Tell whether a clause is told without its "not", or without what limits it."""
    return any(_denial_dropped(claim, premise) or _limit_dropped(claim, premise) for premise in premises)


def _denial_dropped(claim: Told, premise: Told) -> bool:
    whole = len(claim.has(premise.terms)) >= COVERED * len(premise.terms)
    law = [Counter(dict(piece.force)) for piece in premise.pieces if whole or _tells(claim, piece)]
    return bool(sum(law, Counter[Force]()) - claim.force)


def _limit_dropped(claim: Told, premise: Told) -> bool:
    """Tell whether an exception, a condition, a consent or an age is not told of a clause that is."""
    if _leave_dropped(claim, premise):
        return True
    numbers = {number.key for number in claim.numbers}
    for place, piece in enumerate(premise.pieces):
        if _tells(claim, piece):
            # a Chinese condition ("…的，") stands before what it is the condition of
            reach = premise.pieces[:place] if premise.language == "zh" else premise.pieces
            conditions = [other for other in reach if other.segment == piece.segment and other.condition]
            if (
                piece.early_numbers - numbers  # "who is sixteen may" told without the age
                or _exception_dropped(claim, premise, piece.segment)
                or (not piece.condition and _condition_dropped(claim, premise, conditions))
            ):
                return True
    return False


def _exception_dropped(claim: Told, premise: Told, segment: int) -> bool:
    beside = [dict(other.force) for other in premise.pieces if other.segment == segment]
    return not claim.force[Force.EXCEPT] and any(force.get(Force.EXCEPT) for force in beside)


def _condition_dropped(claim: Told, premise: Told, conditions: Sequence[Piece]) -> bool:
    if conditions and not any(piece.condition for piece in claim.pieces):
        return True
    alternatives = joints(premise.plain, premise.language)[1]
    return not alternatives and any(_halved(claim, each) for each in conditions)


def _leave_dropped(claim: Told, premise: Told) -> bool:
    """Tell whether somebody's consent that the law asks for is not told."""
    read = LEAVE[premise.language]
    asked = [piece for piece in premise.pieces if piece.force and read.search(premise.plain)]
    return read.search(claim.plain) is None and any(
        len(claim.has(piece.terms)) >= HALF * len(piece.terms) and _leaves(piece, premise, read)
        for piece in asked
    )


def _leaves(piece: Piece, premise: Told, read: re.Pattern[str]) -> bool:
    return any(term in piece.terms for at, term in premise.tokens if read.match(premise.plain, at))


def _halved(claim: Told, condition: Piece) -> bool:
    """Tell whether a condition is told in part: "if he enters and means to steal" as "if he enters"."""
    share = len(claim.has(condition.terms)) / len(condition.terms) if condition.terms else 0.0
    return HINTED < share < WHOLE and len(condition.terms) > SEVERAL


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
        elif (not other.condition or own.condition) and _same_parts(own, other):
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
    if replaced(claim, premises) or joined_otherwise(claim, premises):
        return True
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
