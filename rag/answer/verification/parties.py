"""Opposed parties (landlord and tenant, creditor and debtor) and words, and the part of each in a clause."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from rag.answer.screening.patterns import data
from rag.answer.verification.normalise import word_pattern

_DATA = data("parties")

# what is acted on, and for whom, is one: rewordings mix them
SUBJECT, OTHER, OWNER = "subject", "other", "owner"
# what stands right before a party and tells its part
_AGENT, _OBLIQUE, _OWNER = (
    {language: re.compile(pattern) for language, pattern in _DATA[part].items()}
    for part in ("agent", "oblique", "owner")
)
_AFTER_OWNER = re.compile(r"^(?:'s\b|'(?= )|的)")
# Somebody's consent that the law asks for: who leaves it out allows what is not allowed.
LEAVE = {language: word_pattern(words, language=language) for language, words in _DATA["consent"].items()}


@dataclass(frozen=True, slots=True)
class PartyRole:
    """A party in a clause: which pair, which side of it, and as what."""

    pair: int
    side: int
    role: str
    start: int
    end: int


def parts(clause: str, language: str) -> list[PartyRole]:
    """Return the parties of a flat clause in order, each with the part that words beside it tell.

    A party named barely is the subject if it comes first, else another; where an agent is named
    ("par le bailleur", "by the landlord") that is the subject, and who is named barely is acted on.
    """
    if not _any_party(language).search(clause):
        return []
    found = sorted(
        (place.start(), place.end(), pair, side)
        for pair, sides in enumerate(opposed("pairs", language))
        for side, pattern in enumerate(sides)
        for place in pattern.finditer(clause)
    )
    roles = [_role(clause, start, end, language) for start, end, _, _ in found]
    agent = "agent" in roles
    made: list[PartyRole] = []
    bare = 0
    for (start, end, pair, side), role in zip(found, roles, strict=True):
        if role == "agent":
            role = SUBJECT
        elif role == "":
            role = OTHER if agent or bare else SUBJECT
            bare += 1
        made.append(PartyRole(pair, side, role, start, end))
    return made


def _role(clause: str, start: int, end: int, language: str) -> str:
    left = clause[max(0, start - 40) : start]
    if _AFTER_OWNER.match(clause[end:]) or _OWNER[language].search(left):
        return OWNER
    if _AGENT[language].search(left):
        return "agent"
    return OTHER if _OBLIQUE[language].search(left) else ""


@cache
def _any_party(language: str) -> re.Pattern[str]:
    """Return one pattern for all parties: most clauses name none, and thirty searches cost more than one."""
    return re.compile("|".join(side.pattern for pair in opposed("pairs", language) for side in pair))


@cache
def opposed(kind: str, language: str) -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    """Return the "pairs" of parties, or the "opposed" words that turn a claim into its contrary."""
    return tuple(
        (word_pattern(one, language=language), word_pattern(other, language=language))
        for one, other in _DATA[kind][language]
    )
