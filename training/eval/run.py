"""Run systems over questions: one ranking a question, timed, and what the measures say of it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from indexes.describing.significance import Interval, interval
from rag.types import Filter, Progress, Question, Ranking, Retriever, no_progress
from training.eval.metrics import DEFAULT, per_question

DEPTH = 1000


@dataclass
class SystemRun:
    """One system's rankings, gathered fold by fold."""

    run: dict[str, Ranking] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    folds: list[list[str]] = field(default_factory=list)  # question ids


@dataclass(frozen=True)
class Measured:
    """One system's numbers; fractions and milliseconds."""

    run: Mapping[str, Ranking] = field(repr=False)
    values: Mapping[str, npt.NDArray[np.float64]] = field(repr=False)  # measure -> one a question with gold
    measures: Mapping[str, Interval]
    fold_means: Mapping[str, tuple[float, float]]  # measure -> mean and standard deviation over folds
    by_category: Mapping[str, Mapping[str, float]]
    versus: Mapping[str, Interval]  # difference from the first system, paired
    median_ms: float
    p95_ms: float


def answer(
    systems: Mapping[str, Retriever],
    questions: Sequence[Question],
    into: dict[str, SystemRun],
    progress: Progress = no_progress,
    where: Filter | None = None,
) -> None:
    """Ask every system every question, one at a time, as a page would, those without gold articles too.

    The answers join what is there `into` already; `progress` is called with how many there are.
    """
    done = 0
    for name, system in systems.items():
        collected = into.setdefault(name, SystemRun())
        collected.folds.append([q.id for q in questions])
        for question in questions:
            start = time.perf_counter()
            [ranking] = system.search([question.text], DEPTH, where)
            collected.seconds.append(time.perf_counter() - start)
            collected.run[question.id] = ranking
            progress("asking", done := done + 1, len(systems) * len(questions))


def measure(
    collected: Mapping[str, SystemRun],
    questions: Sequence[Question],
    seed: int,
    measures: Sequence[str] = DEFAULT,
) -> dict[str, Measured]:
    """Turn what the systems answered into numbers; the others are compared with the first.

    Questions without gold are left out of every measure; `measures` are names as the papers write them.
    """
    answerable = [q for q in questions if q.article_ids]
    qrels = {q.id: frozenset(q.article_ids) for q in answerable}
    place = {q.id: i for i, q in enumerate(answerable)}
    categories = [
        (category, [i for i, q in enumerate(answerable) if q.category == category])
        for category in sorted({q.category for q in answerable if q.category})
    ]
    results: dict[str, Measured] = {}
    first: Mapping[str, npt.NDArray[np.float64]] | None = None
    for name, system in collected.items():
        values = per_question(qrels, system.run, measures)
        first = first if first is not None else values
        rows = [[place[i] for i in fold if i in place] for fold in system.folds]
        milliseconds = np.array(system.seconds) * 1000
        results[name] = Measured(
            run=system.run,
            values=values,
            measures={m: interval(v, seed) for m, v in values.items()},
            fold_means={m: _by_fold(v, rows) for m, v in values.items()} if len(rows) > 1 else {},
            by_category={c: {"questions": len(at)} | _means(values, at) for c, at in categories},
            versus={} if values is first else {m: interval(v - first[m], seed) for m, v in values.items()},
            median_ms=float(np.median(milliseconds)) if len(milliseconds) else 0.0,
            p95_ms=float(np.quantile(milliseconds, 0.95)) if len(milliseconds) else 0.0,
        )
    return results


def _by_fold(values: npt.NDArray[np.float64], rows: Sequence[Sequence[int]]) -> tuple[float, float]:
    means = [float(values[list(fold)].mean()) for fold in rows if fold]
    return float(np.mean(means)), float(np.std(means, ddof=1)) if len(means) > 1 else 0.0


def _means(values: Mapping[str, npt.NDArray[np.float64]], rows: list[int]) -> dict[str, float]:
    return {measure: float(of[rows].mean()) for measure, of in values.items()}
