"""Who learns from what: folds of questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from rag.errors import BadInput

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Fold:
    """Positions of the questions that are held back, and of those that may be learnt from."""

    held: tuple[int, ...]
    learn: tuple[int, ...]


def folds(n: int, k: int, seed: int) -> list[Fold]:
    """Split n questions into k folds; BadInput: k is less than 2 or more than n.

    The questions are put into the order of `numpy.random.default_rng(seed).permutation(n)`; the one
    at place i of that order is in fold i mod k. Positions inside a fold are in ascending order.
    """
    if not 2 <= k <= n:
        raise BadInput(f"{k} folds of {n} questions: give at least 2 folds and at most one a question")
    number = np.empty(n, dtype=np.int64)
    number[np.random.default_rng(seed).permutation(n)] = np.arange(n) % k
    return _numbered(number, k)


def grouped_folds(groups: Sequence[int], k: int, seed: int) -> list[Fold]:
    """Split questions, each of the group at its position, into k folds so that no group straddles two.

    Groups are taken in a random order of this seed, large ones first (a stable sort), and each goes
    to the fold that is smallest then, of equal ones to the first. So two folds never differ by more
    questions than the largest group has.

    Raises:
        BadInput: k is less than 2 or more than there are groups.
    """
    members: dict[int, list[int]] = {}
    for position, group in enumerate(groups):
        members.setdefault(group, []).append(position)
    if not 2 <= k <= len(members):
        raise BadInput(
            f"{k} folds of {len(members)} groups of questions: give at least 2 folds and at most one a group"
        )
    each = list(members.values())
    order = sorted(np.random.default_rng(seed).permutation(len(each)).tolist(), key=lambda g: -len(each[g]))
    sizes = [0] * k
    number = np.empty(len(groups), dtype=np.int64)
    for group in order:
        smallest = sizes.index(min(sizes))
        number[each[group]] = smallest
        sizes[smallest] += len(each[group])
    return _numbered(number, k)


def pick(items: Sequence[_T], positions: Sequence[int]) -> list[_T]:
    """Return the items at these positions."""
    return [items[i] for i in positions]


def _numbered(number: npt.NDArray[np.int64], k: int) -> list[Fold]:
    held = [number == fold for fold in range(k)]
    return [Fold(tuple(np.flatnonzero(h).tolist()), tuple(np.flatnonzero(~h).tolist())) for h in held]
