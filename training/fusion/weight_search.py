"""Choose the weights of a fusion on questions that are not asked afterwards.

Weights are points of a grid over the simplex (each a multiple of the step, together 1); every point is
measured, none is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations

import numpy as np
import numpy.typing as npt

from rag.errors import BadInput
from rag.fusion import Fuse, Share, min_max, normalised
from rag.types import DECIMALS, Qrels
from training.fusion.lists import MEASURES, Lists, values_at

STEP = 0.05


@dataclass(frozen=True)
class Tuned:
    """The weights that served the dev questions best, and what every other choice would have given."""

    weights: Mapping[str, float]  # system -> its weight; together 1
    value: float  # mean of the measures at these weights, a fraction, on the questions tuned on
    questions: int
    share: Share = field(repr=False)
    decimals: int | None = field(repr=False)
    grid: npt.NDArray[np.float64] = field(repr=False)  # (n_points, n_systems)
    values: npt.NDArray[np.float64] = field(repr=False)  # (n_points,)

    @property
    def fuse(self) -> Fuse:
        """The fusion with these weights, of rankings in the order of `weights`."""
        return partial(
            normalised, by=self.share, weights=tuple(self.weights.values()), decimals=self.decimals
        )


@dataclass(frozen=True, slots=True)
class Point:
    """One place of a curve over alpha."""

    alpha: float  # weight of the pair's first system; the second has 1 - alpha
    values: Mapping[str, float]  # measure -> mean, a fraction


def simplex(systems: int, step: float = STEP) -> npt.NDArray[np.float64]:
    """Return all weights that are multiples of the step and add up to 1, (n_points, n_systems).

    Raises:
        BadInput: no system, or a step of which a whole number does not make 1.
    """
    parts = round(1 / step) if step > 0 else 0
    if systems < 1 or parts < 1 or abs(parts * step - 1) > 1e-9:
        raise BadInput(
            f"weights of {systems} systems in steps of {step}: give a step such as 0.05, 0.1 or 0.25"
        )
    # Stars and bars: where the bars between systems stand.
    bars = np.array(list(combinations(range(parts + systems - 1), systems - 1)), dtype=np.int64)
    edges = np.concatenate(
        [
            np.full((len(bars), 1), -1),
            bars.reshape(len(bars), systems - 1),
            np.full((len(bars), 1), parts + systems - 1),
        ],
        axis=1,
    )
    return (np.diff(edges, axis=1) - 1) / parts


def tune(
    lists: Lists,
    qrels: Qrels,
    measures: Sequence[str] = MEASURES,
    *,
    share: Share = min_max,
    decimals: int | None = DECIMALS,
    step: float = STEP,
) -> Tuned:
    """Return the grid's best weights for these questions.

    Of weights that serve equally well the ones nearest to equal are taken, and of those the ones
    that give most to the system whose name comes first: neither the order of the systems nor that of
    the questions decides.

    Args:
        lists: what the systems returned; systems must not have learnt from the questions of qrels.
        qrels: the dev questions' gold articles, and no others.
        measures: names of R@k and MRR@k; their mean is made as large as it can be.
        share: how scores are brought to one scale.
        decimals: as in `rag.types.rank`; None for shares that are functions of ranks.
        step: of the grid.

    Raises:
        BadInput: no measure, no question with gold articles, or what `values_at` and `simplex` refuse.
    """
    questions = sum(bool(gold) for gold in qrels.values())
    if not questions or not measures:
        raise BadInput(
            f"weights tuned on {questions} questions for {list(measures)}: give at least one of each"
        )
    grid = simplex(len(lists.systems), step)
    found = values_at(lists, qrels, grid, measures, share=share, decimals=decimals)
    values = np.mean([_mean(found[name]) for name in measures], axis=0)
    by_name = sorted(range(len(lists.systems)), key=lists.systems.__getitem__)
    best = min(
        range(len(grid)),
        key=lambda p: (
            -round(float(values[p]), 12),
            round(float((grid[p] ** 2).sum()), 9),
            tuple(-float(grid[p, system]) for system in by_name),
        ),
    )
    weights = dict(zip(lists.systems, grid[best].tolist(), strict=True))
    return Tuned(weights, float(values[best]), questions, share, decimals, grid, values)


def curves(
    lists: Lists,
    qrels: Qrels,
    measures: Sequence[str] = MEASURES,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    share: Share = min_max,
    decimals: int | None = DECIMALS,
    step: float = STEP,
) -> dict[tuple[str, str], tuple[Point, ...]]:
    """Return for each pair of systems what every alpha from 0 to 1 gives; to be shown, not to choose by.

    Args:
        lists: what the systems returned.
        qrels: the questions' gold articles.
        measures: names of R@k and MRR@k.
        pairs: every pair if left out.
        share: how scores are brought to one scale.
        decimals: as in `rag.types.rank`.
        step: from one alpha to the next.
    """
    points = simplex(2, step)
    drawn = {}
    for pair in combinations(lists.systems, 2) if pairs is None else pairs:
        found = values_at(lists.only(pair), qrels, points, measures, share=share, decimals=decimals)
        means = {name: _mean(values) for name, values in found.items()}
        drawn[pair] = tuple(
            Point(float(alpha), {name: float(mean[p]) for name, mean in means.items()})
            for p, alpha in enumerate(points[:, 0])
        )
    return drawn


def _mean(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(values.mean(axis=1), dtype=np.float64)
