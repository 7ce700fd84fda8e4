"""Clauses of a sentence and their force: must, may, not, forbidden, only, unless."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from rag.answer.screening.patterns import data
from rag.answer.verification.normalise import word_pattern


class ForceWords(NamedTuple):
    """What gives a clause its force in one language: patterns of flat text."""

    negation: re.Pattern[str]
    may: re.Pattern[str]  # denied it forbids
    must: re.Pattern[str]  # denied it forbids: "ne doit pas", "must not"
    duty: re.Pattern[str]  # denied it frees: "n'est pas tenu", "need not"
    ban: re.Pattern[str]  # denied it permits
    only: re.Pattern[str]
    exception: re.Pattern[str]
    without: re.Pattern[str]
    condition: re.Pattern[str]
    joint: re.Pattern[str]  # begins another clause: but, and
    bound: re.Pattern[str]  # at least, at most, before, after: a limit read the other way round is another


WORDS: Mapping[str, ForceWords] = {
    language: ForceWords(
        **{
            name: re.compile(read) if isinstance(read, str) else word_pattern(*read, language=language)
            for name, read in words.items()
        }
    )
    for language, words in data("modality").items()
}


class Force(StrEnum):
    """What gives a clause its force."""

    MAY = "may"
    MUST = "must"
    FORBIDDEN = "forbidden"
    FREED = "freed"  # need not
    NOT = "not"
    ONLY = "only"
    EXCEPT = "except"
    WITHOUT = "without"


@dataclass(frozen=True, slots=True)
class ModalClause:
    """A piece of a sentence that has one force."""

    start: int
    end: int
    first: int  # where its first sign of force stands; its end where it has none: before it stands who acts
    verb: int  # where the first must, may or not stands; its start where it has none
    force: tuple[tuple[Force, int], ...]  # with how often, sorted
    condition: bool  # begins with "if" and the like
    segment: int  # semicolons part a sentence into segments


@dataclass(frozen=True, slots=True)
class _Sign:
    kind: Force
    start: int
    end: int
    when_denied: Force | None  # None: "not" beside it stays a sign of its own


_VERBS = frozenset({Force.MAY, Force.MUST, Force.FORBIDDEN, Force.NOT})
_CUT = re.compile(r"[,，:：]\s*|(?<!\d) ?[—–]\s|\s-\s|[()（）]|(?<!\d)[.!?。！？](?=\s|[^\W\d]|$)")
_BETWEEN = 12  # characters between "ne" and its verb: "ne lui est permis", "non gli e permesso"
_SEGMENT = re.compile(r"[;；]")


def clauses(plain: str, language: str) -> list[ModalClause]:
    """Return the clauses of one sentence or more, in order.

    Signs and words such as "if", "unless", "but" part them; "and" does only where what stands on
    either side has a force of its own. The text is flat.
    """
    words = WORDS[language]
    signs = list(_signs(plain, words))
    starts = [sign.start for sign in signs]
    conditions = [found.start() for found in words.condition.finditer(plain)]
    segments = [found.start() for found in _SEGMENT.finditer(plain)]
    ends = {0, len(plain), *conditions, *(found.start() for found in words.exception.finditer(plain))}
    ends |= {found.end() for pattern in (_CUT, _SEGMENT) for found in pattern.finditer(plain)}
    for found in words.joint.finditer(plain):
        joint = found.start()
        left = max(end for end in ends if end <= joint)
        after = min((end for end in ends if end > joint), default=len(plain))
        if any(left <= at < joint for at in starts) and any(joint < at < after for at in starts):
            ends.add(joint)
    return [
        _clause((start, end), signs, conditions, sum(at < start for at in segments), language)
        for start, end in pairwise(sorted(ends))
        if any(map(str.isalnum, plain[start:end]))
    ]


def sign_spans(plain: str, language: str) -> list[tuple[int, int]]:
    """Return where the words stand that give force, set conditions or bound a number."""
    return [found.span() for pattern in WORDS[language] for found in pattern.finditer(plain)]


def bounds(plain: str, language: str) -> Counter[str]:
    """Count the words that bound a quantity or a time: at least, at most, before, after."""
    return Counter(found[0] for found in WORDS[language].bound.finditer(plain))


def _clause(
    span: tuple[int, int], signs: list[_Sign], conditions: list[int], segment: int, language: str
) -> ModalClause:
    start, end = span
    inside = [sign for sign in signs if start <= sign.start < end]
    forces = Counter(_combined(inside, language))
    first = min((sign.start for sign in inside), default=end)
    begins = any(start <= at < start + 4 for at in conditions)  # "et si", "und wenn"
    verb = min((sign.start for sign in inside if sign.kind in _VERBS), default=start)
    return ModalClause(start, end, first, verb, tuple(sorted(forces.items())), begins, segment)


def _combined(signs: list[_Sign], language: str) -> Iterator[Force]:
    """Yield the force of each sign, with each "not" given to the modal verb nearest to it."""
    denials = [sign for sign in signs if sign.kind is Force.NOT]
    for sign in signs:
        if sign.kind is Force.NOT:
            continue
        near = [denial for denial in denials if _denies(denial, sign, language)]
        if sign.when_denied is not None and near:
            nearest = min(near, key=lambda denial: abs(denial.start - sign.start))
            rivals = [other for other in signs if other.when_denied is not None and other is not sign]
            if all(abs(nearest.start - sign.start) <= abs(nearest.start - other.start) for other in rivals):
                denials.remove(nearest)
                yield sign.when_denied
                continue
        yield sign.kind
    for _ in denials:
        yield Force.NOT


def _denies(denial: _Sign, modal: _Sign, language: str) -> bool:
    """Tell whether "not" stands where a modal verb is denied, and not what follows it: "peut ne pas"."""
    if language in ("fr", "it"):
        return denial.start < modal.start and modal.start - denial.end <= _BETWEEN
    if language == "en":  # may not, no tenant may
        return denial.start < modal.start or denial.start - modal.end <= 1
    return language != "zh" or modal.start == denial.end


def _signs(plain: str, words: ForceWords) -> Iterator[_Sign]:
    """Yield the signs of a text; a word is one sign, the first kind that reads it has it."""
    kinds: tuple[tuple[re.Pattern[str], Force, Force | None], ...] = (
        (words.exception, Force.EXCEPT, None),
        (words.only, Force.ONLY, None),
        (words.without, Force.WITHOUT, None),
        (words.ban, Force.FORBIDDEN, Force.MAY),
        (words.duty, Force.MUST, Force.FREED),
        (words.may, Force.MAY, Force.FORBIDDEN),
        (words.must, Force.MUST, Force.FORBIDDEN),
    )
    rest = plain
    for pattern, kind, denied in kinds:
        for found in pattern.finditer(rest):
            yield _Sign(kind, *found.span(), denied)
        if kind in (Force.EXCEPT, Force.ONLY, Force.WITHOUT, Force.FORBIDDEN):
            rest = pattern.sub(lambda found: " " * len(found[0]), rest)
    for found in words.negation.finditer(rest):
        yield _Sign(Force.NOT, *found.span(), None)
