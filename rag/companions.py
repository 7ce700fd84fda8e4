"""What a candidate's companions say for it: the articles beside it in the law, those cited along with it.

The rule and its exception, the duty and its sanction stand one after the other, and a lawyer who cites the
one often cites the other: the first is known from the law, the second from annotated questions.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rag.surroundings import Surroundings
from rag.types import Floats, Ints

TOP = 50  # candidates whose companions are looked at
VOTED = 30  # candidates with the most votes, whose companions are looked at
_SOFT = 5.0  # a companion in place r counts 1 / (5 + r)
STEPS = ((1,), (2, 3))  # how far away in the corpus's order: right beside; close


def beside(scores: Floats, positions: Ints, around: Surroundings) -> list[Floats]:
    """Return for each kind of score, and each of `STEPS`, the best of the candidates so far away.

    Args:
        scores: (n_kinds, n), of the candidates.
        positions: (n,) of the candidates in the corpus, whose order is that of the law.
        around: knows in which code each stands; another code's article is no neighbour.

    Returns:
        (n,) each, the kinds of the first distance before those of the next; 0 where no neighbour is a
        candidate, or none has more.
    """
    at = _numbers(positions, len(around.code))
    own = around.code[positions]
    found = []
    for steps in STEPS:
        best = np.zeros_like(scores)
        for step in (way * far for far in steps for way in (-1, 1)):
            there = positions + step
            inside = (there >= 0) & (there < len(around.code))
            neighbour = np.where(inside, there, 0)
            number = np.where(inside & (around.code[neighbour] == own), at[neighbour], -1)
            known = number >= 0
            best[:, known] = np.maximum(best[:, known], scores[:, number[known]])
        found += list(best)
    return found


def together(votes: Floats, positions: Ints, around: Surroundings) -> list[Floats]:
    """Return what the first candidates say for those that annotated questions cite along with them.

    Of the questions that cite a first candidate, the share that cite this one too (of one more than there
    are: of a single question little is learnt), times what that candidate's place counts.

    Args:
        votes: (n,) of the nearest annotated questions.
        positions: (n,) of the candidates, best first.
        around: knows what is cited together.

    Returns:
        (n,) each: the most that one of the first 50 says, the sum of what they say, the most that one of
        the 30 with the most votes says, by its share of the most votes.
    """
    at = _numbers(positions, len(around.code))
    first = np.arange(min(TOP, len(positions)))
    best, total = _said(first, 1 / (_SOFT + first), at, positions, around)
    voted = np.argsort(-votes, kind="stable")[:VOTED]
    most = max(float(votes.max(initial=0)), 1e-9)
    return [best, total, _said(voted, votes[voted] / most, at, positions, around)[0]]


def _said(
    chosen: Ints, counts: npt.NDArray[np.floating], at: Ints, positions: Ints, around: Surroundings
) -> tuple[Floats, Floats]:
    """Return the most and the sum of what the chosen candidates say for each, (n,) each."""
    best, total = np.zeros(len(positions), np.float32), np.zeros(len(positions), np.float32)
    rows = positions[chosen]
    begins, ends = around.together.indptr[rows], around.together.indptr[rows + 1]
    for begin, end, weight in zip(begins, ends, counts / (around.cited[rows] + 1), strict=True):
        if begin == end:
            continue
        number = at[around.together.indices[begin:end]]
        said = (around.together.data[begin:end] * weight).astype(np.float32)[number >= 0]
        number = number[number >= 0]  # each once, so that nothing is added to twice
        best[number] = np.maximum(best[number], said)
        total[number] += said
    return best, total


def _numbers(positions: Ints, n_articles: int) -> Ints:
    """Return which candidate stands at each place of the corpus; -1 where none does."""
    at = np.full(n_articles, -1, dtype=np.int64)
    at[positions] = np.arange(len(positions))
    return at
