"""How sure a mean or a difference is: bootstrap intervals over questions, and tests of pairs.

Every comparison of a table is one family: Holm's correction keeps the chance of any false claim in
it at the level of a single test.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from rag.errors import BadInput

RESAMPLES = 10_000
CONFIDENCE = 0.95
_CHUNK = 1000  # resamples drawn at once

Values: TypeAlias = Mapping[str, npt.NDArray[np.float64]]  # measure -> one value a question


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its confidence interval; all fractions."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """One system against another on the same questions; fractions."""

    a: str
    b: str
    measure: str
    questions: int
    difference: Interval  # mean of a - b, paired
    p_bootstrap: float
    p_t: float
    p_holm: float  # the larger of the two, corrected over the family

    def to_json(self) -> dict[str, Any]:
        """Return it as a result file holds it; what cannot be said is None, for JSON knows no nan."""
        return {key: None if value != value else value for key, value in asdict(self).items()}


def interval(values: npt.NDArray[np.float64], seed: int, resamples: int = RESAMPLES) -> Interval:
    """Return the mean and its percentile bootstrap interval (Efron & Tibshirani 1993).

    The values, (n_questions,), are those of one system, or two systems' differences for a paired interval.
    """
    if len(values) == 0:
        return Interval(math.nan, math.nan, math.nan)
    return _interval(float(values.mean()), _means(values, seed, resamples))


def ratio(
    numerators: npt.NDArray[np.float64],
    denominators: npt.NDArray[np.float64],
    seed: int,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return a ratio of sums with its percentile bootstrap interval over questions.

    Both are (n_questions,), such as how many sentences of each answer are faithful, of how many that it has.
    Resamples without anything to divide by are left out; where all of it is nothing, nan.
    """
    if not denominators.sum():
        return Interval(math.nan, math.nan, math.nan)
    # Means are sums over one n: with the same seed both are drawn from the same resamples.
    above, below = _means(numerators, seed, resamples), _means(denominators, seed, resamples)
    return _interval(float(numerators.sum() / denominators.sum()), above[below > 0] / below[below > 0])


def paired_bootstrap(
    differences: npt.NDArray[np.float64], seed: int, resamples: int = RESAMPLES
) -> tuple[Interval, float]:
    """Return the mean difference with its interval, and the two-sided bootstrap p-value.

    The p-value is the share of resamples of the centred differences whose mean is at least as far
    from 0 as the one observed, the observed one counted among them (shift method: Noreen 1989;
    Smucker, Allan & Carterette 2007). It is 1 where the means are equal, at least 1 / (resamples + 1), and
    nan without questions. The differences, (n_questions,), are one system's values minus the other's.
    """
    if len(differences) == 0:
        return interval(differences, seed), math.nan
    means = _means(differences, seed, resamples)
    found = _interval(float(differences.mean()), means)
    # Sums of floats: what is as far as the observed mean but for rounding counts as far.
    far = np.abs(means - found.value) >= abs(found.value) - 1e-12
    return found, float((1 + np.count_nonzero(far)) / (1 + resamples))


def paired_t(differences: npt.NDArray[np.float64]) -> float:
    """Return the two-sided p-value of the paired t-test.

    It is that of `scipy.stats.ttest_rel`, with an answer where all differences are equal: 1 if they
    are 0, else 0. With fewer than two questions, of which the differences are (n_questions,), it is nan.
    """
    n = len(differences)
    if n < 2:
        return math.nan
    mean = float(differences.mean())
    error = float(differences.std(ddof=1)) / math.sqrt(n)
    if error == 0 or float(np.ptp(differences)) == 0:  # rounding gives equal numbers a deviation
        return float(mean == 0)
    return min(1.0, 2 * float(stdtr(n - 1, -abs(mean / error))))


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return p-values corrected over their family (Holm 1979), in the order given; a nan takes no part."""
    tested = sorted((i for i, p in enumerate(p_values) if not math.isnan(p)), key=p_values.__getitem__)
    corrected = [math.nan] * len(p_values)
    largest = 0.0
    for done, i in enumerate(tested):
        largest = max(largest, min(1.0, (len(tested) - done) * p_values[i]))
        corrected[i] = largest
    return tuple(corrected)


def compare(
    systems: Mapping[str, Values],
    family: Sequence[tuple[str, str, str]],
    seed: int,
    resamples: int = RESAMPLES,
) -> tuple[Comparison, ...]:
    """Compare pairs of systems on the same questions; all comparisons together are one family.

    Args:
        systems: name -> measure -> (n_questions,), the questions in the same order everywhere.
        family: (a, b, measure) of each comparison: a's values minus b's.
        seed: of the resampling; every comparison draws the same questions.
        resamples: how many.

    Raises:
        BadInput: an unknown system or measure, or systems asked different numbers of questions.
    """
    raw = []
    for a, b, measure in family:
        for name in (a, b):
            if name not in systems:
                raise BadInput(f"no system {name!r} to compare: there are {', '.join(systems)}")
            if measure not in systems[name]:
                known = ", ".join(systems[name])
                raise BadInput(f"{name} was not measured by {measure!r}: there are {known}")
        ours, theirs = systems[a][measure], systems[b][measure]
        if ours.shape != theirs.shape:
            raise BadInput(
                f"{a} answered {len(ours)} questions, {b} {len(theirs)}: compare them on the same ones"
            )
        found, p_bootstrap = paired_bootstrap(ours - theirs, seed, resamples)
        raw.append((a, b, measure, len(ours), found, p_bootstrap, paired_t(ours - theirs)))
    corrected = holm([max(row[-1], row[-2]) for row in raw])
    return tuple(Comparison(*row, p_holm=p) for row, p in zip(raw, corrected, strict=True))


def _means(values: npt.NDArray[np.float64], seed: int, resamples: int) -> npt.NDArray[np.float64]:
    """Return the means of resamples of the questions, drawn with replacement."""
    n = len(values)
    rng = np.random.default_rng(seed)
    sizes = [min(_CHUNK, resamples - done) for done in range(0, resamples, _CHUNK)]
    return np.concatenate([values[rng.integers(0, n, size=(size, n))].mean(axis=1) for size in sizes])


def _interval(value: float, resampled: npt.NDArray[np.float64]) -> Interval:
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail])
    return Interval(value, float(low), float(high))
