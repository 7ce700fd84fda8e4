"""Whether a sentence says what the sentences that it quotes say: numbers, force, parties, words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, groupby, takewhile
from typing import TypeAlias

from rag.answer.screening.patterns import data
from rag.answer.types import Fault
from rag.answer.verification.claim import Claim, Piece, Words
from rag.answer.verification.modality import Force
from rag.answer.verification.normalise import word_pattern
from rag.answer.verification.number_check import numbers_differ
from rag.answer.verification.parties import LEAVE, PartyRole, opposed

STEM, ENDING = 4, 3  # letters that forms of a word share, and that each may have after them
LONGEST = 3  # words that stand for one of the law's; more are a phrase of their own
COVERED = 0.8  # share of a sentence's content terms that must stand in what it quotes: docs/answers.md
HALF = 0.5  # of a clause's terms: who leaves out a consent leaves out who gives it too
HINTED, WHOLE = 0.3, 0.75  # shares of a condition's terms between which it is told in part
CLAUSE_COVERAGE = 0.6  # share of a clause's terms from which on a sentence tells that clause
MIN_CLAUSE_TERMS = 2  # content terms of a clause: fewer cannot be put together from several sentences

_Item: TypeAlias = str | tuple[object, str]  # a content term, or a number with its unit

_FOREIGN = word_pattern(*data("claims")["foreign"])


def _replaced(claim: Claim, premises: Sequence[Claim]) -> bool:
    """Tell whether a word of the law was exchanged for another one.

    A term of the law that the sentence leaves out, in whose place (between the same neighbours, or
    beside one of them) the sentence has a term that the law has not, or not there: "the commercial
    court" for "the county court". Everyday words for words of law are one term (`plain_words.toml`).
    """
    terms = [term for _, term in claim.tokens]
    law = frozenset().union(*(premise.terms for premise in premises))
    known: Words = frozenset().union(*(premise.has(claim.terms) for premise in premises))
    known |= {term for term in claim.terms - known if any(_kin(term, other) for other in law)}
    times = Counter(term for premise in premises for _, term in premise.tokens)
    extra = {term for term, count in Counter(terms).items() if term not in known or count > times[term] > 0}
    if not extra:
        return False
    return any(
        _stands_for(terms, left, after, extra, known)
        for premise in premises
        for left, after in _gaps(premise, claim)
    )


def _kin(one: str, other: str) -> bool:
    """Tell whether two terms are forms of one word that the stemmer left apart: "exerc", "exercent"."""
    same = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))
    return same >= STEM and max(len(one), len(other)) - same <= ENDING


def _gaps(premise: Claim, claim: Claim) -> Iterator[tuple[str | None, str | None]]:
    """Yield what stands before and after each run of the law's terms that the sentence leaves out."""
    law = [term for _, term in premise.tokens]
    covered = claim.has(frozenset(law))
    covered |= {term for term in set(law) - covered if any(_kin(term, other) for other in claim.terms)}
    at = 0
    for is_covered, run in groupby(law, covered.__contains__):
        end = at + len(list(run))
        if not is_covered:
            yield law[at - 1] if at else None, law[end] if end < len(law) else None
        at = end


def _stands_for(
    terms: Sequence[str], left: str | None, after: str | None, extra: set[str], known: Words
) -> bool:
    for place, term in enumerate(terms):
        if term == left:
            if terms[place + 1 : place + 2] and terms[place + 1] not in known:
                return True
            between = terms[place + 1 : place + 2 + LONGEST]
            if after in between and extra & set(between[: between.index(after)]):
                return True
        if term == after and place and terms[place - 1] not in known:
            return True
    return False


def _joined_otherwise(claim: Claim, premises: Sequence[Claim]) -> bool:
    """Tell whether the sentence joins by "or" what the law joins by "and", or the other way round."""
    law = set(chain.from_iterable(map(_joints, premises)))
    pairs = {pair for pair, _ in law}
    return any(pair in pairs and (pair, kind) not in law for pair, kind in _joints(claim))


def _joints(text: Claim) -> Iterator[tuple[frozenset[_Item], str]]:
    """Yield the two items on either side of each "and" and "or", and the pattern of which it is."""
    items: list[tuple[int, _Item]] = [*text.tokens, *((each.start, each.key) for each in text.numbers)]
    items.sort(key=lambda item: item[0])
    for kind in data("claims")["joints"][text.language]:
        for joint in re.finditer(kind, text.plain):
            left = [item for at, item in items if at < joint.start()]
            right = [item for at, item in items if at > joint.start()]
            if left and right:
                yield frozenset((left[-1], right[0])), kind


_Matches = Callable[[Piece, Piece], bool]


def disagreements(claim: Claim, premises: Sequence[Claim]) -> Iterator[Fault]:
    """Yield how a sentence differs from the premises, the sentences of the law that its quotes touch.

    A fault may come more than once.
    """
    if numbers_differ(claim, premises):
        yield Fault.NUMBER
    if any(claim.plain == premise.plain for premise in premises):
        return  # the law's own sentence, whatever the rules for rewordings make of it
    force = _force_differs(claim, premises)
    if force:
        yield Fault.FORCE
    alike = _same_parts if force else _same_force_and_parts
    if _words_differ(claim, premises) or not _all_stand(claim, premises, alike):
        yield Fault.UNSUPPORTED


def coverage(claim: Claim, premises: Sequence[Claim]) -> float:
    """Return the share of a sentence's content terms that stand in the premises, 0 where it has none."""
    terms = claim.terms
    return len(_anywhere(terms, premises)) / len(terms) if terms else 0.0


def _anywhere(terms: Words, premises: Sequence[Claim]) -> Words:
    return frozenset().union(*(premise.has(terms) for premise in premises))


def _force_differs(claim: Claim, premises: Sequence[Claim]) -> bool:
    law = sum((premise.force for premise in premises), Counter[Force]())
    if claim.force - law:
        return True
    if any(_FOREIGN.fullmatch(term) for term in claim.terms - _anywhere(claim.terms, premises)):
        return True
    dropped = any(_denial_dropped(claim, premise) or _limit_dropped(claim, premise) for premise in premises)
    return dropped or not _all_stand(claim, premises, _same_force)


def _denial_dropped(claim: Claim, premise: Claim) -> bool:
    """Tell whether a clause is told without its "not"."""
    whole = len(claim.has(premise.terms)) >= COVERED * len(premise.terms)
    law = [Counter(dict(piece.force)) for piece in premise.pieces if whole or _tells(claim, piece)]
    return bool(sum(law, Counter[Force]()) - claim.force)


def _limit_dropped(claim: Claim, premise: Claim) -> bool:
    """Tell whether an exception, a condition, a consent or an age is not told of a clause that is."""
    if _leave_dropped(claim, premise):
        return True
    numbers = {number.key for number in claim.numbers}
    for place, piece in enumerate(premise.pieces):
        if _tells(claim, piece):
            # a Chinese condition ("…的，") stands before what it is the condition of
            reach = premise.pieces[:place] if premise.language == "zh" else premise.pieces
            conditions = [other for other in reach if other.segment == piece.segment and other.condition]
            forces = [dict(other.force) for other in premise.pieces if other.segment == piece.segment]
            if (
                piece.early_numbers - numbers  # "who is sixteen may" told without the age
                or (not claim.force[Force.EXCEPT] and any(Force.EXCEPT in force for force in forces))
                or (not piece.condition and _condition_dropped(claim, premise, conditions))
            ):
                return True
    return False


def _condition_dropped(claim: Claim, premise: Claim, conditions: Sequence[Piece]) -> bool:
    if conditions and not any(piece.condition for piece in claim.pieces):
        return True
    _, either = data("claims")["joints"][premise.language]
    return not re.search(either, premise.plain) and any(_halved(claim, each) for each in conditions)


def _leave_dropped(claim: Claim, premise: Claim) -> bool:
    """Tell whether somebody's consent that the law asks for is not told."""
    read = LEAVE[premise.language]
    consents = {term for at, term in premise.tokens if read.match(premise.plain, at)}
    return read.search(claim.plain) is None and any(
        len(claim.has(piece.terms)) >= HALF * len(piece.terms) and not consents.isdisjoint(piece.terms)
        for piece in premise.pieces
        if piece.force
    )


def _halved(claim: Claim, condition: Piece) -> bool:
    """Tell whether a condition is told in part: "if he enters and means to steal" as "if he enters"."""
    share = len(claim.has(condition.terms)) / len(condition.terms) if condition.terms else 0.0
    return HINTED < share < WHOLE and len(condition.terms) > MIN_CLAUSE_TERMS


def _tells(claim: Claim, piece: Piece) -> bool:
    terms = piece.terms
    if not terms or len(claim.has(terms)) < CLAUSE_COVERAGE * len(terms):
        return False
    named = {(part.pair, part.side) for own in claim.pieces for part in own.parts}
    return named >= {(part.pair, part.side) for part in piece.parts}


def _same_force(own: Piece, other: Piece) -> bool:
    """Tell whether two clauses have the same force; what the law sets as a condition is told as one."""
    return own.force == other.force and (own.condition or not other.condition)


def _same_force_and_parts(own: Piece, other: Piece) -> bool:
    return _same_force(own, other) and _same_parts(own, other)


def _all_stand(claim: Claim, premises: Sequence[Claim], matches: _Matches) -> bool:
    """Tell whether what each clause says stands in clauses of the law that match it."""
    for own in claim.pieces:
        anywhere = _anywhere(own.terms, premises)
        standing = frozenset().union(*(_standing(own, anywhere, premise, matches) for premise in premises))
        if len(anywhere - standing) > (1 - COVERED) * len(anywhere):
            return False
    return True


def _standing(own: Piece, terms: Words, premise: Claim, matches: _Matches) -> Words:
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


def _same_parts(own: Piece, other: Piece) -> bool:
    """Tell whether the opposed parties of a clause have the part that they have in the other."""
    for pair in {part.pair for part in own.parts}:
        same_pair = [part for part in other.parts if part.pair == pair]
        for role in {part.role for part in own.parts if part.pair == pair}:
            theirs = iter(_sides(same_pair, pair, role))  # the law may name more, but in the same order
            if same_pair and not all(side in theirs for side in _sides(own.parts, pair, role)):
                return False
    return True


def _sides(parts: Sequence[PartyRole], pair: int, role: str) -> list[int]:
    return [side for side, _ in groupby(p.side for p in parts if p.pair == pair and p.role == role)]


def _words_differ(claim: Claim, premises: Sequence[Claim]) -> bool:
    terms = claim.terms
    found = _anywhere(terms, premises)
    if not terms or len(found) < COVERED * len(terms):
        return True
    if any(term[0] == "@" for term in terms - found) or _exchanged(claim, premises):
        return True  # a party of whom the law does not speak, or not here
    if _replaced(claim, premises) or _joined_otherwise(claim, premises):
        return True
    return _contrary(claim, premises) or any(_scattered(own, premises) for own in claim.pieces)


def _exchanged(claim: Claim, premises: Sequence[Claim]) -> bool:
    """Tell whether one party is named more often than in the law, and the opposed one less often."""
    ours = Counter((part.pair, part.side) for piece in claim.pieces for part in piece.parts)
    law = Counter((part.pair, part.side) for p in premises for piece in p.pieces for part in piece.parts)
    return any(
        count > law[pair, side] and ours[pair, 1 - side] < law[pair, 1 - side]
        for (pair, side), count in ours.items()
    )


def _scattered(own: Piece, premises: Sequence[Claim]) -> bool:
    """Tell whether a clause is put together from several sentences, none of which has most of it."""
    most = max((len(premise.has(own.terms)) for premise in premises), default=0)
    return len(own.terms) > MIN_CLAUSE_TERMS and most < CLAUSE_COVERAGE * len(own.terms)


def _contrary(claim: Claim, premises: Sequence[Claim]) -> bool:
    law = "\n".join(premise.plain for premise in premises)
    return any(
        one.search(claim.plain) and not one.search(law) and other.search(law)
        for pair in opposed("opposed", claim.language)
        for one, other in (pair, pair[::-1])
    )
