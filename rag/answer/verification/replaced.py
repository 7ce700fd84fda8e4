"""Whether a sentence says one thing where the law that it quotes says another: a word, or "or" for "and"."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from rag.answer.verification.claim import Told, Words

STEM, ENDING = 4, 3  # letters that forms of a word share, and that each may have after them
LONGEST = 3  # words that stand for one of the law's; more are a phrase of their own

_Item: TypeAlias = str | tuple[object, str]  # a content term, or a number with its unit

_JOINTS: Mapping[str, tuple[str, str]] = MappingProxyType(  # and, or
    {
        "fr": (r"\bet\b", r"\bou\b"),
        "en": (r"\band\b", r"\bor\b"),
        "de": (r"\bund\b|\bsowie\b", r"\boder\b"),
        "nl": (r"\ben\b", r"\bof\b"),
        "it": (r"\bed?\b", r"\bo\b"),
        "zh": (r"和|以及|及|并且?", r"或者?"),
    }
)


def replaced(claim: Told, premises: Sequence[Told]) -> bool:
    """Tell whether a word of the law was exchanged for another one.

    A term of the law that the sentence leaves out, in whose place (between the same neighbours, or
    beside one of them) the sentence has a term that the law has not, or not there: "the commercial
    court" for "the county court". Everyday words for words of law are one term (`plain_words.toml`).

    Args:
        claim: the sentence.
        premises: each sentence of the law that a quote touches.
    """
    said = [term for _, term in claim.tokens]
    law = frozenset().union(*(premise.terms for premise in premises))
    known: Words = frozenset().union(*(premise.has(claim.terms) for premise in premises))
    known |= {term for term in claim.terms - known if any(_kin(term, other) for other in law)}
    times = Counter(term for premise in premises for _, term in premise.tokens)
    extra = {term for term, count in Counter(said).items() if term not in known or count > times[term] > 0}
    if not extra:
        return False
    return any(
        _stands_for(said, before, after, extra, known)
        for premise in premises
        for before, after in _gaps(premise, claim)
    )


def _kin(one: str, other: str) -> bool:
    """Tell whether two terms are forms of one word that the stemmer left apart: "exerc", "exercent"."""
    same = next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )
    return same >= STEM and max(len(one), len(other)) - same <= ENDING


def _gaps(premise: Told, claim: Told) -> Iterator[tuple[str | None, str | None]]:
    """Yield what stands before and after each run of the law's terms that the sentence leaves out."""
    law = [term for _, term in premise.tokens]
    told = claim.has(frozenset(law))
    told |= {term for term in set(law) - told if any(_kin(term, other) for other in claim.terms)}
    at = 0
    while at < len(law):
        if law[at] in told:
            at += 1
            continue
        end = at
        while end < len(law) and law[end] not in told:
            end += 1
        yield law[at - 1] if at else None, law[end] if end < len(law) else None
        at = end


def _stands_for(
    said: Sequence[str], before: str | None, after: str | None, extra: set[str], known: Words
) -> bool:
    for place, term in enumerate(said):
        if term == before:
            if said[place + 1 : place + 2] and said[place + 1] not in known:
                return True
            between = said[place + 1 : place + 2 + LONGEST]
            if after in between and extra & set(between[: between.index(after)]):
                return True
        if term == after and place and said[place - 1] not in known:
            return True
    return False


def joined_otherwise(claim: Told, premises: Sequence[Told]) -> bool:
    """Tell whether the sentence joins by "or" what the law joins by "and", or the other way round."""
    law: defaultdict[frozenset[_Item], set[str]] = defaultdict(set)
    for premise in premises:
        for pair, kind in _joints(premise):
            law[pair].add(kind)
    return any(pair in law and kind not in law[pair] for pair, kind in _joints(claim))


def joints(plain: str, language: str) -> tuple[list[int], list[int]]:
    """Return where "and" stands in a flat text, and where "or" does."""
    both, either = _JOINTS[language]
    return [m.start() for m in re.finditer(both, plain)], [m.start() for m in re.finditer(either, plain)]


def _joints(text: Told) -> Iterator[tuple[frozenset[_Item], str]]:
    items: list[tuple[int, _Item]] = [*text.tokens, *((each.start, each.key) for each in text.numbers)]
    items.sort(key=lambda item: item[0])
    for kind, places in zip(("and", "or"), joints(text.plain, text.language), strict=True):
        for place in places:
            left = [item for at, item in items if at < place]
            right = [item for at, item in items if at > place]
            if left and right:
                yield frozenset((left[-1], right[0])), kind
