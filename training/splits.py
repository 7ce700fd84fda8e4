"""Who learns from what: folds of questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from rag.errors import BadInput

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Fold:
    """Positions of the questions that are held back, and of those that may be learnt from."""

    held: tuple[int, ...]
    learn: tuple[int, ...]


def folds(n: int, k: int, seed: int) -> list[Fold]:
    """Split n questions into k folds.

    The questions are put into the order of `numpy.random.default_rng(seed).permutation(n)`; the one
    at place i of that order is in fold i mod k. Positions inside a fold are in ascending order.

    Args:
        n: number of questions.
        k: number of folds, 2 or more, at most n.
        seed: of the permutation.

    Raises:
        BadInput: k folds of n questions cannot be made.
    """
    if not 2 <= k <= n:
        raise BadInput(f"{k} folds of {n} questions: give at least 2 folds and at most one a question")
    number = np.empty(n, dtype=np.int64)
    number[np.random.default_rng(seed).permutation(n)] = np.arange(n) % k
    everyone = range(n)
    return [
        Fold(
            tuple(i for i in everyone if number[i] == fold),
            tuple(i for i in everyone if number[i] != fold),
        )
        for fold in range(k)
    ]


def pick(items: Sequence[_T], positions: Sequence[int]) -> list[_T]:
    """Return the items at these positions."""
    return [items[i] for i in positions]
