"""What a candidate's companions say for it: what stands beside it, what it refers to, what is cited with it.

The rule and its exception, the duty and its sanction stand one after the other, or one names the other, and a
lawyer who cites the one often cites the other: the first two are known from the law, the last from annotated
questions. Candidates alone speak, for candidates; `at` is where each article of the corpus stands among
them (`rag.retrieval.postings.columns`), laid out once a question.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rag.corpus.structure import Surroundings
from rag.types import Floats, Ints

TOP = 50  # first candidates that speak for their companions; a page shows ten
VOTED = 30  # with the most votes, that do; few questions are near enough to count
_SOFT = 5.0  # what the candidate in place r says, from 0, counts 1 / (5 + r)
STEPS = ((1,), (2, 3))  # how far away in the corpus's order: right beside; close
Places: TypeAlias = npt.NDArray[np.int32]


def beside(scores: Floats, positions: Ints, at: Places, around: Surroundings) -> list[Floats]:
    """Return for each kind of score, and each of `STEPS`, the best of the candidates so far away.

    Args:
        scores: (n_kinds, n), of the candidates.
        positions: (n,) of the candidates in the corpus, whose order is that of the law.
        at: (n_articles,), where each stands among them; -1 where it does not.
        around: knows in which code each stands; another code's article is no neighbour.

    Returns:
        (n,) each, the kinds of the first distance before those of the next; 0 where no neighbour is a
        candidate, or none has more.
    """
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


def together(votes: Floats, positions: Ints, at: Places, around: Surroundings) -> list[Floats]:
    """Return what the first candidates say for those that annotated questions cite along with them.

    Of the questions that cite a first candidate, the share that cite this one too (of one more than there
    are: of a single question little is learnt), times what that candidate's place counts.

    Args:
        votes: (n,) of the nearest annotated questions.
        positions: (n,) of the candidates, best first.
        at: (n_articles,), where each stands among them; -1 where it does not.
        around: knows what is cited together.

    Returns:
        (n,) each: the most that one of the first 50 says, the sum of what they say, the most that one of
        the 30 with the most votes says, by its share of the most votes.
    """
    first = np.arange(min(TOP, len(positions)))
    voted = np.argsort(-votes, kind="stable")[:VOTED]
    most = max(float(votes.max(initial=0)), 1e-9)
    cited = around.cited[positions] + 1
    best, total = _said(around.together[positions[first]], 1 / (_SOFT + first) / cited[first], at, len(votes))
    most_of_voted, _ = _said(
        around.together[positions[voted]], votes[voted] / most / cited[voted], at, len(votes)
    )
    return [best, total, most_of_voted]


def referring(positions: Ints, at: Places, around: Surroundings) -> list[Floats]:
    """Return what candidates say for those that they refer to, and for those that refer to them.

    Each says what its place counts.

    Args:
        positions: (n,) of the candidates, best first.
        at: (n_articles,), where each stands among them; -1 where it does not.
        around: knows which article refers to which.

    Returns:
        (n,) each: the most that one which it refers to says, the most that one which refers to it says, the
        sum of what all of them say; log(1 + articles of the law that it refers to), and of those that refer
        to it.
    """
    n = len(positions)
    counts = 1 / (_SOFT + np.arange(n))
    forth, back = around.refers[positions], around.referred[positions]
    (told, all_told), (tells, all_tell) = _said(back, counts, at, n), _said(forth, counts, at, n)
    degrees = [np.log1p(np.diff(links.indptr)).astype(np.float32) for links in (forth, back)]
    return [told, tells, all_told + all_tell, *degrees]


def _said(links: sp.csr_array, counts: npt.NDArray[np.floating], at: Places, n: int) -> tuple[Floats, Floats]:
    """Return the most and the sum of what some articles say for each candidate, (n,) each.

    Args:
        links: (n_speaking, n_articles), how much of what it counts each says for each.
        counts: (n_speaking,).
        at: (n_articles,), where each stands among the candidates; -1 where it does not.
        n: how many candidates there are.
    """
    number = at[links.indices]
    said = (links.data * np.repeat(counts, np.diff(links.indptr))).astype(np.float32)[number >= 0]
    number = number[number >= 0]
    best = np.zeros(n, np.float32)
    np.maximum.at(best, number, said)
    return best, np.bincount(number, weights=said, minlength=n).astype(np.float32)
