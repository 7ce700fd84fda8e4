"""Cross-fitting a confidence: no question is judged by weights, ridge or threshold that saw it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rag.engine.confidence import NAMES, RECIPROCAL, SIGNS, Confidence
from rag.errors import BadInput
from rag.types import Question
from training.confidence import calibration
from training.confidence.calibration import Vector
from training.splits.folds import folds

RIDGES = (1.0, 3.0, 10.0, 30.0)
FALSE_ALARMS = 0.05  # the share of answerable questions that may be told "probably nothing"


@dataclass(frozen=True)
class Plan:
    """How to cross-fit."""

    folds: int = 5
    seed: int = 42
    rate: float = FALSE_ALARMS


@dataclass(frozen=True)
class Asked:
    """Questions that an index was asked, row by row."""

    questions: tuple[Question, ...]
    rows: Vector  # (n_questions, n_features), as `rag.engine.confidence.NAMES`
    labels: Vector  # 1: a gold article is among the first ten
    fitted: npt.NDArray[np.bool_]  # may take part in a fit

    @property
    def answerable(self) -> npt.NDArray[np.bool_]:
        """Whether the corpus answers the question, found or not."""
        return np.array([bool(q.article_ids) for q in self.questions])


@dataclass(frozen=True)
class OutOfFold:
    """What was said of each question by weights that had not seen it."""

    probabilities: Vector
    doubtful: npt.NDArray[np.bool_]  # below the threshold of its fold


def choose(asked: Asked, among: Sequence[int], signs: Sequence[int], plan: Plan) -> tuple[float, float]:
    """Return the ridge and the threshold that cross-fitting on these questions alone chooses."""
    rows, labels = asked.rows[list(among)], asked.labels[list(among)]
    best: tuple[float, float, Vector] | None = None
    for ridge in RIDGES:
        out = np.zeros(len(labels))
        for fold in folds(len(labels), plan.folds, plan.seed):
            learn, held = list(fold.learn), list(fold.held)
            out[held] = calibration.fit(rows[learn], labels[learn], signs, ridge).probability(rows[held])
        loss = calibration.log_loss(out, labels)
        if best is None or loss < best[0]:
            best = (loss, ridge, out)
    if best is None:
        raise BadInput("no ridge to choose among: give at least one")
    return best[1], calibration.alarm_threshold(best[2][asked.answerable[list(among)]], plan.rate)


def cross_fit(asked: Asked, plan: Plan, *, without: str | None = None) -> OutOfFold:
    """Say of each question what is fitted on questions that may be fitted, itself never among them.

    One that may be fitted is judged by the other folds; one that may not, by all of them, so by the
    weights that ship.

    Args:
        asked: the questions.
        plan: folds over the questions, seed, rate of false alarms.
        without: a feature to leave out.
    """
    signs = [0 if name == without else SIGNS[name] for name in NAMES]
    probabilities = np.zeros(len(asked.labels))
    doubtful = np.zeros(len(asked.labels), dtype=np.bool_)

    def judge(held: Sequence[int], learn: Sequence[int]) -> None:
        ridge, threshold = choose(asked, learn, signs, plan)
        made = calibration.fit(asked.rows[learn], asked.labels[learn], signs, ridge)
        probabilities[held] = made.probability(asked.rows[held])
        doubtful[held] = probabilities[held] < threshold

    may, never = (np.flatnonzero(of).tolist() for of in (asked.fitted, ~asked.fitted))
    for fold in folds(len(may), plan.folds, plan.seed):
        judge([may[i] for i in fold.held], [may[i] for i in fold.learn])
    if never:
        judge(never, may)
    return OutOfFold(probabilities, doubtful)


def fit_all(
    asked: Asked, plan: Plan, corpus_sha256: str, ranked_by: str = RECIPROCAL
) -> tuple[Confidence, float]:
    """Return the weights that ship, fitted to all that may be fitted, and their ridge."""
    signs, among = list(SIGNS.values()), [i for i, may in enumerate(asked.fitted) if may]
    ridge, threshold = choose(asked, among, signs, plan)
    made = calibration.fit(asked.rows[among], asked.labels[among], signs, ridge)
    return Confidence(
        bias=made.bias,
        weights=_named(made.weights),
        means=_named(made.means),
        scales=_named(made.scales),
        threshold=threshold,
        false_alarm_rate=plan.rate,
        corpus_sha256=corpus_sha256,
        ranked_by=ranked_by,
    ), ridge


def _named(values: Vector) -> dict[str, float]:
    return {name: float(x) for name, x in zip(NAMES, values, strict=True)}
