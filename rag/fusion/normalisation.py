"""A system's score distribution over its corpus: what percentile scaling looks positions up in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rag.errors import BadInput

# Share of a sample at or below each stored point: even steps, then ever finer ones towards the top,
# for the articles that fusion looks at are the best few of tens of thousands.
_EVEN = np.linspace(0.0, 1.0, 201)
_TOP = 1.0 - np.logspace(-2.3, -7.0, 200)


@dataclass(frozen=True, slots=True)
class Distribution:
    """Sorted quantiles of a system's scores over the corpus, many questions together.

    Attributes:
        scores: strictly increasing.
        levels: the share of the sample at or below each of the scores, increasing, at most 1.
        size: how many scores the sample had.
    """

    scores: tuple[float, ...]
    levels: tuple[float, ...]
    size: int

    def __post_init__(self) -> None:
        """Refuse what is not a distribution.

        Raises:
            BadInput: no score, unequal lengths, numbers out of order or out of range.
        """
        points = np.array(self.scores, dtype=np.float64)
        levels = np.array(self.levels, dtype=np.float64)
        sound = len(points) == len(levels) > 0 and self.size > 0 and bool(np.isfinite(points).all())
        if not (
            sound
            and (np.diff(points) > 0).all()
            and (np.diff(levels) > 0).all()
            and 0 < levels[0] <= levels[-1] <= 1
        ):
            raise BadInput(
                f"a score distribution of {len(points)} scores at {len(levels)} levels: both must increase, "
                "one level in (0, 1] for each finite score; estimate it again with Distribution.of(scores)"
            )

    @classmethod
    def of(cls, sample: npt.ArrayLike) -> Distribution:
        """Estimate it from the scores of some questions against the whole corpus.

        Args:
            sample: any shape; -inf counts as an article below every score (one that the system does
                not match at all).

        Raises:
            BadInput: nan or +inf in the sample, or no finite score.
        """
        values = np.sort(np.asarray(sample, dtype=np.float64), axis=None) + 0.0
        finite = values[np.isfinite(values)]
        if not len(finite) or np.isnan(values).any() or np.isposinf(values).any():
            raise BadInput(
                f"{len(values)} scores, {len(finite)} of them finite: a distribution needs scores that are "
                "finite, or -inf for what was not matched"
            )
        n = len(values)
        wanted = np.concatenate([np.ceil(np.concatenate([_EVEN, _TOP]) * n).astype(np.int64), [n]])
        kept = np.unique(values[np.clip(wanted, 1, n) - 1])
        kept = kept[np.isfinite(kept)]
        levels = np.searchsorted(values, kept, side="right") / n
        return cls(tuple(kept.tolist()), tuple(levels.tolist()), n)

    def position(self, scores: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
        """Return each score's position, 0 to 1: the share of the sample at or below it; nan stays nan.

        Exact at the stored scores, linear between them (so that order is kept), 0 below the lowest
        and 1 from the highest on.
        """
        found = np.interp(scores.astype(np.float64, copy=False), self.scores, self.levels, left=0.0)
        return np.asarray(found, dtype=np.float64)

    def to_json(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        return {"scores": list(self.scores), "levels": list(self.levels), "size": self.size}

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> Distribution:
        """Read what `to_json` returned.

        Raises:
            BadInput: it is something else.
        """
        try:
            return cls(_floats(entry["scores"]), _floats(entry["levels"]), int(entry["size"]))
        except (KeyError, TypeError, OverflowError) as error:
            raise BadInput(
                f"not a score distribution ({error!r}): it needs scores, levels and size"
            ) from error


def _floats(values: Sequence[float]) -> tuple[float, ...]:
    if not all(isinstance(v, int | float) and math.isfinite(v) for v in values):
        raise TypeError("a score or level that is not a finite number")
    return tuple(float(v) for v in values)
