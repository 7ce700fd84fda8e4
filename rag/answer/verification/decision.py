"""What of a whole answer is shown: a stump of one that lost its rule, its condition or its half misleads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from rag.answer.screening.patterns import any_of, data, plain
from rag.answer.verification.judge import Verdict
from rag.text.language import language_of

HALF = 0.5  # of the claims that must have survived


class Fate(StrEnum):
    """What becomes of a claim."""

    SHOWN = "shown"  # verified
    MARKED = "marked"  # not verified, and said to be
    REMOVED = "removed"  # a hard check found something, or a judge the contrary


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim of a model with what code and judge found."""

    text: str
    faulty: bool  # by a hard check
    verdict: Verdict = Verdict.UNKNOWN


def fates(claims: Sequence[CheckedClaim], *, withhold: bool = False) -> tuple[Fate, ...] | None:
    """Return what becomes of each claim; None where the answer falls as a whole and only the law is shown.

    It falls if its first claim is not verified, or one that sets a condition or an exception, or more than
    half of the claims. Others that are not verified are marked, or with `withhold` removed.
    """
    if not claims:
        return None
    found = []
    for claim in claims:
        if claim.faulty or claim.verdict is Verdict.CONTRADICTED:
            found.append(Fate.REMOVED)
        elif claim.verdict is Verdict.SUPPORTED:
            found.append(Fate.SHOWN)
        else:
            found.append(Fate.REMOVED if withhold else Fate.MARKED)
    shown = found.count(Fate.SHOWN)
    lost = any(fate is not Fate.SHOWN and restricts(c.text) for fate, c in zip(found, claims, strict=True))
    if found[0] is not Fate.SHOWN or lost or shown < HALF * len(found):
        return None
    return tuple(found)


def restricts(text: str) -> bool:
    """Tell whether a sentence sets a condition, an exception or a limit: others say too much without it."""
    return _restricting(language_of(text)).search(plain(text)) is not None


@cache
def _restricting(language: str) -> re.Pattern[str]:
    return any_of([data("absolutes")["narrowed"][language], data("absolutes")["only"][language]])
