"""Which clause of one text says what a clause of the other says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from indexes.digest.text import Wording, clauses
from rag.text import Analyser
from rag.text.analysers import analyser

LEAST = 3  # stems that two clauses must share to be compared: fewer are shared by chance


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence, or what a semicolon parts of it, with the stems of its words."""

    text: Wording
    stems: frozenset[str]


@lru_cache(maxsize=4)  # two rules ask for the same two texts
def cut(text: Wording) -> tuple[Clause, ...]:
    """Return the clauses of a text."""
    return tuple(Clause(clause, frozenset(_french().terms(clause.shown))) for clause in clauses(text))


def partner(clause: Clause, among: Sequence[Clause]) -> Clause | None:
    """Return the clause of the other text that shares most stems, None where all share too few.

    Shared stems are divided by the root of the other clause's stems, so that a long one does not
    win by its length; of equal ones the first is taken.
    """
    weighed = [(len(clause.stems & other.stems), other) for other in among]
    near = [(shared / math.sqrt(len(other.stems)), other) for shared, other in weighed if shared >= LEAST]
    return max(near, key=lambda each: each[0])[1] if near else None


@lru_cache(maxsize=1)
def _french() -> Analyser:
    return analyser("fr")
