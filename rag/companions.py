"""What a candidate's companions say for it: the articles beside it in the law, those cited along with it.

The rule and its exception, the duty and its sanction stand one after the other, and a lawyer who cites the
one often cites the other: the first is known from the law, the second from annotated questions.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rag.retrieval.postings import columns
from rag.surroundings import Surroundings
from rag.types import Floats, Ints

TOP = 50  # first candidates that speak for their companions; a page shows ten
VOTED = 30  # with the most votes, that do; few questions are near enough to count
_SOFT = 5.0  # what the candidate in place r says, from 0, counts 1 / (5 + r)
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
    at = columns(positions, len(around.code))
    last = len(around.code) - 1
    code = around.code[positions]
    known = np.vstack([scores.T, np.zeros((1, len(scores)), scores.dtype)])  # the last: of none
    found: list[Floats] = []
    for steps in STEPS:
        best = np.zeros((len(positions), len(scores)), scores.dtype)
        for step in (way * far for far in steps for way in (-1, 1)):
            there = np.clip(positions + step, 0, last)  # past an end it is its own neighbour: left out
            neighbour = (around.code[there] == code) & (there == positions + step)
            best = np.maximum(best, known[np.where(neighbour, at[there], -1)])
        found += list(best.T)
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
    at = columns(positions, len(around.code))
    first = np.arange(min(TOP, len(positions)))
    best, total = _said(first, 1 / (_SOFT + first), at, positions, around)
    voted = np.argsort(-votes, kind="stable")[:VOTED]
    most = max(float(votes.max(initial=0)), 1e-9)
    return [best, total, _said(voted, votes[voted] / most, at, positions, around)[0]]


def _said(
    chosen: Ints,
    counts: npt.NDArray[np.floating],
    at: npt.NDArray[np.int32],
    positions: Ints,
    around: Surroundings,
) -> tuple[Floats, Floats]:
    """Return the most and the sum of what the chosen candidates say for each, (n,) each."""
    rows = positions[chosen]
    with_others = around.together[rows]  # (chosen, n_articles)
    number = at[with_others.indices]
    weights = np.repeat(counts / (around.cited[rows] + 1), np.diff(with_others.indptr))
    said = (with_others.data * weights).astype(np.float32)[number >= 0]
    number = number[number >= 0]
    best = np.zeros(len(positions), np.float32)
    np.maximum.at(best, number, said)
    return best, np.bincount(number, weights=said, minlength=len(positions)).astype(np.float32)
