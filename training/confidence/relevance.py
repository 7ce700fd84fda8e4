"""Fitting and measuring how likely each of the first ten articles answers (`rag.engine.relevance`).

Everything is out of fold, as in `indexes.describing.calibration`: the log-odds of a question, the regression
over its articles, and on the test half the two limits as well.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from indexes.corpus.folds import folds
from indexes.describing import calibration
from indexes.describing.calibration import CalibrationPlan, OutOfFold
from rag.engine.relevance import MAX_SET, NAMES, SIGNS, Relevance, smallest_set
from rag.types import Bools, Doubles, Question
from training.references.scores import wilson

COVERAGE = 0.9  # share of the sets told, and of the articles marked, that shall hold an answer
RIDGE = 3.0
_MASSES = np.arange(0.50, 0.996, 0.005)
_QUESTION = NAMES.index("question")


@dataclass(frozen=True, slots=True)
class RankedArticles:
    """The first articles of each question, as `rag.engine.relevance.features` sees them."""

    rows: tuple[Doubles, ...]  # a question: (n, n_features); the log-odds of the question are put in later
    gold: tuple[Bools, ...]  # a question: (n,), whether each answers

    def with_odds(self, probabilities: Doubles) -> list[Doubles]:
        """Return the rows with the log-odds of each question."""
        held = np.clip(probabilities, 1e-9, 1 - 1e-9)
        made = []
        for rows, odds in zip(self.rows, np.log(held / (1 - held)).tolist(), strict=True):
            own = rows.copy()
            own[:, _QUESTION] = odds
            made.append(own)
        return made


@dataclass(frozen=True, slots=True)
class RelevanceReport:
    """What ships, and what it says of every question when it has not seen it."""

    relevance: Relevance
    probabilities: tuple[tuple[float, ...], ...]  # a question: of its first articles


def fit_relevance(
    ranked: RankedArticles, out: OutOfFold, fitted: Bools, plan: CalibrationPlan
) -> RelevanceReport:
    """Fit to the questions that may be fitted to; `out` has what was said of each without seeing it."""
    rows = ranked.with_odds(out.probabilities)

    def fit(among: Sequence[int]) -> calibration.Logistic:
        every = np.concatenate([rows[i] for i in among])
        labels = np.concatenate([ranked.gold[i] for i in among]).astype(np.float64)
        return calibration.fit(every, labels, list(SIGNS.values()), RIDGE)

    may, never = (np.flatnonzero(of).tolist() for of in (fitted, ~fitted))
    said: list[tuple[float, ...]] = [()] * len(rows)
    for fold in folds(len(may), plan.folds, plan.seed):
        made = fit([may[i] for i in fold.learn])
        for i in (may[i] for i in fold.held):
            said[i] = tuple(made.probability(rows[i]).tolist())
    whole = fit(may)
    for i in never:
        said[i] = tuple(whole.probability(rows[i]).tolist())
    # only what the page does not doubt is marked or given a set
    judged = [i for i in may if not out.doubtful[i] and said[i]]
    mass = least_mass([said[i] for i in judged], [ranked.gold[i] for i in judged], COVERAGE)
    firsts = np.array([said[i][0] for i in judged])
    right = np.array([bool(ranked.gold[i][0]) for i in judged])
    weights, means, scales = (
        dict(zip(NAMES, of.tolist(), strict=True)) for of in (whole.weights, whole.means, whole.scales)
    )
    mark = least_mark(firsts, right, COVERAGE)
    relevance = Relevance(whole.bias, weights, means, scales, mark, mass, COVERAGE)
    return RelevanceReport(relevance, tuple(said))


def least_mark(firsts: Doubles, right: Bools, share: float) -> float:
    """Return the least probability from which on this share of the articles answers; 1 where none is.

    One more article that does not answer is counted in, as split conformal prediction does.
    """
    best = 1.0
    for limit in sorted({*firsts.tolist()}, reverse=True):
        told = firsts >= limit
        if right[told].sum() / (told.sum() + 1) >= share:
            best = float(limit)
    return best


def least_mass(said: Sequence[Sequence[float]], gold: Sequence[Bools], share: float) -> float:
    """Return the least mass from which on this share of the sets told holds an answer; 1 where none does."""
    best = 1.0
    for mass in _MASSES[::-1].tolist():
        sizes = [smallest_set(each, mass) for each in said]
        held = [bool(of[:k].any()) for of, k in zip(gold, sizes, strict=True) if k is not None]
        if held and sum(held) / (len(held) + 1) >= share:
            best = float(mass)
        elif len(held) > 1 / (1 - share):  # too few to tell anything are passed over
            break
    return best


def measures(
    questions: Sequence[Question],
    ranked: RankedArticles,
    found: RelevanceReport,
    doubtful: Bools,
    which: Bools,
) -> dict[str, Any]:
    """Return what the result file says of the sets and marks of some questions, by topic too."""
    sets: list[tuple[str, int | None, bool]] = []
    marks: list[bool] = []
    for i in np.flatnonzero(which).tolist():
        said, gold = found.probabilities[i], ranked.gold[i]
        size = None if doubtful[i] or not said else found.relevance.answer_set(said)
        kind = questions[i].category or "other"
        sets.append((kind, size, size is not None and bool(gold[:size].any())))
        if said and not doubtful[i] and found.relevance.marks(said):
            marks.append(bool(gold[0]))
    by_topic: dict[str, list[tuple[str, int | None, bool]]] = defaultdict(list)
    for each in sets:
        by_topic[each[0]].append(each)
    sizes = [size for _, size, _ in sets if size is not None]
    return {
        "questions": len(sets),
        "answerable": sum(bool(questions[i].article_ids) for i in np.flatnonzero(which).tolist()),
        "sets": _share([right for _, size, right in sets if size is not None]),
        "sizes": {str(k): sizes.count(k) for k in range(1, MAX_SET + 1)},
        "marked": _share(marks),
        "by_topic": {
            topic: _share([right for _, size, right in own if size is not None])
            for topic, own in sorted(by_topic.items())
        },
    }


def _share(right: Sequence[bool]) -> Mapping[str, float]:
    if not right:
        return {"right": 0, "of": 0}
    value = wilson(sum(right), len(right))
    return {"right": sum(right), "of": len(right), "value": value.value, "low": value.low, "high": value.high}
