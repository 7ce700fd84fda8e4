"""Fitting a probability and measuring it: ridge logistic regression, Brier score, ROC, reliability.

A confidence is cross-fitted: no question is judged by weights, ridge or threshold that saw it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from indexes.corpus.folds import folds
from indexes.describing.significance import CONFIDENCE, RESAMPLES, Interval
from rag.corpus.svg import Figure
from rag.engine.confidence import NAMES, RECIPROCAL, SIGNS, Confidence
from rag.types import Bools, Question

Vector = npt.NDArray[np.float64]
_CHUNK = 500  # resamples drawn at once


@dataclass(frozen=True, slots=True)
class Logistic:
    """A fitted regression over standardised columns."""

    bias: float
    weights: Vector
    means: Vector
    scales: Vector

    def probability(self, rows: Vector) -> Vector:
        """Return probabilities, (n_rows,)."""
        return sigmoid(self.bias + ((rows - self.means) / self.scales) @ self.weights)


def sigmoid(odds: Vector) -> Vector:
    """Return 1 / (1 + exp(-odds)) without overflow."""
    return np.asarray(0.5 * (1 + np.tanh(odds / 2)), dtype=np.float64)


def fit(rows: Vector, labels: Vector, signs: Sequence[int], ridge: float) -> Logistic:
    """Fit the penalised maximum likelihood whose weights keep their signs to labels of 0 and 1.

    Rows are (n_questions, n_features), labels (n_questions,). Of the signs, one a feature, 1 says that its
    weight is 0 or more, -1 0 or less, 0 that the column is left out. Half of the ridge times the squared
    weights is added to the loss; the bias is free.
    """
    means, scales = rows.mean(axis=0), rows.std(axis=0)
    scales = np.where(scales > 1e-9, scales, 1.0)  # a column that never varies has nothing to say
    unit = (rows - means) / scales
    edges: dict[int, tuple[float | None, float | None]] = {1: (0, None), -1: (None, 0), 0: (0, 0)}

    def loss(free: Vector) -> tuple[float, Vector]:
        odds, weights = free[0] + unit @ free[1:], free[1:]
        off = sigmoid(odds) - labels
        value = np.logaddexp(0, odds).sum() - labels @ odds + ridge / 2 * (weights @ weights)
        return float(value), np.concatenate(([off.sum()], unit.T @ off + ridge * weights))

    bounds = [(None, None), *(edges[sign] for sign in signs)]
    found = minimize(loss, np.zeros(rows.shape[1] + 1), jac=True, method="L-BFGS-B", bounds=bounds)
    best = np.asarray(found.x, dtype=np.float64)
    return Logistic(float(best[0]), best[1:] + 0.0, means, scales)


def log_loss(probabilities: Vector, labels: Vector) -> float:
    """Return the mean negative log-likelihood."""
    held = np.clip(probabilities, 1e-12, 1 - 1e-12)
    return float(-np.mean(labels * np.log(held) + (1 - labels) * np.log(1 - held)))


def brier(probabilities: Vector, labels: Vector) -> float:
    """Return the mean squared error of the probabilities (Brier 1950)."""
    return float(np.mean((probabilities - labels) ** 2))


def roc_auc(probabilities: Vector, labels: Vector, seed: int, resamples: int = RESAMPLES) -> Interval:
    """Return the area under the ROC curve with its percentile bootstrap interval over questions.

    It is the share of pairs of a 1 and a 0 in which the 1 has the higher probability, a tie counting
    half (Hanley & McNeil 1982). Resamples without one of the labels are left out; nan without pairs.
    """
    ones, zeros = np.flatnonzero(labels == 1), np.flatnonzero(labels == 0)
    if not len(ones) or not len(zeros):
        return Interval(float("nan"), float("nan"), float("nan"))
    lead = probabilities[ones][:, None] - probabilities[zeros][None, :]
    won = (lead > 0) + 0.5 * (lead == 0)
    rng, n, areas = np.random.default_rng(seed), len(labels), []
    for begin in range(0, resamples, _CHUNK):
        drawn = rng.multinomial(n, np.full(n, 1 / n), size=min(_CHUNK, resamples - begin))
        taken = (drawn[:, ones] @ won * drawn[:, zeros]).sum(axis=1)
        pairs = drawn[:, ones].sum(axis=1) * drawn[:, zeros].sum(axis=1)
        areas.append(taken[pairs > 0] / pairs[pairs > 0])
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(np.concatenate(areas), [tail, 1 - tail])
    return Interval(float(won.mean()), float(low), float(high))


def alarm_threshold(answerable: Vector, rate: float) -> float:
    """Return the largest probability below which at most this share of answerable questions lies."""
    if not len(answerable):
        return 0.0
    in_order = np.sort(answerable)
    return float(in_order[min(int(rate * len(in_order) + 1e-9), len(in_order) - 1)])


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Questions of like probability."""

    low: float
    high: float
    questions: int
    predicted: float  # mean probability
    observed: float  # share with label 1


def reliability(probabilities: Vector, labels: Vector, bins: int = 10) -> tuple[CalibrationBin, ...]:
    """Group questions by probability, in steps of 1 / bins; empty groups are left out."""
    number = np.minimum((probabilities * bins).astype(int), bins - 1)
    made = []
    for i in range(bins):
        inside = number == i
        if inside.any():
            means = float(probabilities[inside].mean()), float(labels[inside].mean())
            made.append(CalibrationBin(i / bins, (i + 1) / bins, int(inside.sum()), *means))
    return tuple(made)


def calibration_error(bins: Sequence[CalibrationBin]) -> float:
    """Return the mean distance of observed and predicted, weighted by questions; nan without any."""
    total = sum(b.questions for b in bins)
    return sum(b.questions * abs(b.observed - b.predicted) for b in bins) / total if total else float("nan")


def reliability_diagram(bins: Sequence[CalibrationBin], title: str) -> str:
    """Return the reliability diagram as SVG: one dot a group, its area the number of questions."""
    side, edge = 360, 60
    most = max((b.questions for b in bins), default=1)

    def across(x: float) -> float:
        return edge + side * x

    def up(y: float) -> float:
        return edge + side * (1 - y)

    figure = Figure(side + 2 * edge, side + 2 * edge, title)
    figure.text(edge, 34, title, size=15)
    for tick in range(0, 11, 2):
        x = tick / 10
        figure.line((across(x), up(0)), (across(x), up(1)))
        figure.line((across(0), up(x)), (across(1), up(x)))
        figure.text(across(x), up(0) + 18, f"{10 * tick} %", anchor="middle", kind="soft")
        figure.text(across(0) - 8, up(x) + 4, f"{10 * tick} %", anchor="end", kind="soft")
    figure.line((across(0), up(0)), (across(1), up(1)), "axis", "4")
    figure.text(across(0.5), up(0) + 42, "predicted probability", anchor="middle")
    figure.upright(16, up(0.5), "answered")
    for b in bins:
        share = f"predicted {100 * b.predicted:.0f} %, answered {100 * b.observed:.0f} %"
        tooltip = f"{b.questions} questions: {b.questions} questions: {share}"
        figure.dot(across(b.predicted), up(b.observed), 3 + 12 * (b.questions / most) ** 0.5, tooltip)
    return figure.svg()


RIDGES = (1.0, 3.0, 10.0, 30.0)
FALSE_ALARMS = 0.03  # the share of answerable questions that may be told "probably nothing"


@dataclass(frozen=True)
class CalibrationPlan:
    """How to cross-fit: folds over the questions, seed, rate of false alarms."""

    folds: int = 5
    seed: int = 42
    rate: float = FALSE_ALARMS


@dataclass(frozen=True)
class AnsweredQuestions:
    """Signals and outcomes of questions asked of an index, one row each."""

    questions: tuple[Question, ...]
    rows: Vector  # (n_questions, n_features), as `rag.engine.confidence.NAMES`
    labels: Vector  # 1: a gold article is among the first ten
    fitted: Bools  # may take part in a fit

    @property
    def answerable(self) -> Bools:
        """Whether the corpus answers the question, found or not."""
        return np.array([bool(q.article_ids) for q in self.questions])


@dataclass(frozen=True)
class OutOfFold:
    """What was said of each question by weights that had not seen it."""

    probabilities: Vector
    doubtful: Bools  # below the threshold of its fold


def choose(
    answered: AnsweredQuestions, among: Sequence[int], signs: Sequence[int], plan: CalibrationPlan
) -> tuple[float, float]:
    """Return the ridge and the threshold that cross-fitting on these questions alone chooses."""
    rows, labels = answered.rows[list(among)], answered.labels[list(among)]
    predicted = {ridge: np.zeros(len(labels)) for ridge in RIDGES}
    for ridge, out in predicted.items():
        for fold in folds(len(labels), plan.folds, plan.seed):
            learn, held = list(fold.learn), list(fold.held)
            out[held] = fit(rows[learn], labels[learn], signs, ridge).probability(rows[held])
    best = min(predicted, key=lambda ridge: log_loss(predicted[ridge], labels))
    return best, alarm_threshold(predicted[best][answered.answerable[list(among)]], plan.rate)


def cross_fit(answered: AnsweredQuestions, plan: CalibrationPlan, *, without: str | None = None) -> OutOfFold:
    """Say of each question what is fitted on questions that may be fitted, itself never among them.

    One that may be fitted is judged by the other folds; one that may not, by all of them, so by the
    weights that ship. A feature may be left out.
    """
    signs = [0 if name == without else SIGNS[name] for name in NAMES]
    probabilities = np.zeros(len(answered.labels))
    doubtful = np.zeros(len(answered.labels), dtype=np.bool_)

    def judge(held: Sequence[int], learn: Sequence[int]) -> None:
        ridge, threshold = choose(answered, learn, signs, plan)
        made = fit(answered.rows[learn], answered.labels[learn], signs, ridge)
        probabilities[held] = made.probability(answered.rows[held])
        doubtful[held] = probabilities[held] < threshold

    may, never = (np.flatnonzero(of).tolist() for of in (answered.fitted, ~answered.fitted))
    for fold in folds(len(may), plan.folds, plan.seed):
        judge([may[i] for i in fold.held], [may[i] for i in fold.learn])
    if never:
        judge(never, may)
    return OutOfFold(probabilities, doubtful)


def fit_all(
    answered: AnsweredQuestions, plan: CalibrationPlan, corpus_sha256: str, ranked_by: str = RECIPROCAL
) -> tuple[Confidence, float]:
    """Return the weights that ship, fitted to all that may be fitted, and their ridge."""
    signs, among = list(SIGNS.values()), [i for i, may in enumerate(answered.fitted) if may]
    ridge, threshold = choose(answered, among, signs, plan)
    made = fit(answered.rows[among], answered.labels[among], signs, ridge)
    weights, means, scales = (
        dict(zip(NAMES, of.tolist(), strict=True)) for of in (made.weights, made.means, made.scales)
    )
    return Confidence(
        bias=made.bias,
        weights=weights,
        means=means,
        scales=scales,
        threshold=threshold,
        false_alarm_rate=plan.rate,
        corpus_sha256=corpus_sha256,
        ranked_by=ranked_by,
    ), ridge
