"""Small networks over named features at question time: scored in numpy, taken apart for explanation.

Two hidden layers of rectified units over standardised features, fitted list by list
(`training.fusion.listwise`). They err elsewhere than boosted trees, which they stand beside (Qin et al.
2021 compare the two kinds; docs/results.md has our numbers).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rag.errors import BadInput

BOUND = 6.0  # standard deviations: what lies farther out counts as if it lay there
Matrix: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Network:
    """Layers of weights; between them, what is below 0 becomes 0.

    Attributes:
        mean: (n_features,), of what it was fitted to: what every explanation begins with.
        scale: (n_features,), above 0.
        weights: of each layer, (n_in, n_out); the last has one output.
        biases: of each layer, (n_out,).
    """

    mean: Matrix = field(repr=False)
    scale: Matrix = field(repr=False)
    weights: tuple[Matrix, ...] = field(repr=False)
    biases: tuple[Matrix, ...] = field(repr=False)

    def __post_init__(self) -> None:
        """Refuse layers that do not fit together."""
        sizes = [(len(self.mean), len(self.mean)), *(w.shape for w in self.weights)]
        fits = (
            self.mean.ndim == self.scale.ndim == 1
            and len(self.mean) == len(self.scale)
            and len(self.weights) == len(self.biases) > 0
            and all(
                w.ndim == 2 and b.shape == (w.shape[1],)
                for w, b in zip(self.weights, self.biases, strict=True)
            )
            and all(size[1] == after[0] for size, after in pairwise(sizes))
            and sizes[-1][1] == 1
        )
        arrays = (self.mean, self.scale, *self.weights, *self.biases)
        if not fits or not all(np.isfinite(part).all() for part in arrays) or not (self.scale > 0).all():
            layers = ", ".join(" × ".join(map(str, w.shape)) for w in self.weights) or "nothing"
            raise BadInput(
                f"layers of {layers} over {len(self.mean)} features are no network: fit it again with "
                "python -m training.train fusion INDEX"
            )

    def scores(self, rows: npt.NDArray[np.floating]) -> Matrix:
        """Return the score of each row, (n,).

        Args:
            rows: (n, n_features), all of them numbers.
        """
        return self._outputs(self._standard(rows))[-1][:, 0]

    def contributions(self, rows: npt.NDArray[np.floating]) -> Matrix:
        """Take scores apart: what each feature moved each row by, and last what the mean row scores.

        A unit passes on to what feeds it what it made of their distance from the mean row, in proportion
        (the rescale rule of DeepLIFT, Shrikumar et al. 2017), so the moves add up to the score exactly.

        Args:
            rows: (n, n_features).

        Returns:
            (n, n_features + 1)
        """
        inputs = self._standard(rows)
        outputs, mean = self._outputs(inputs), self._outputs(np.zeros((1, len(self.mean))))
        gradient = np.broadcast_to(self.weights[-1][:, 0], (len(rows), len(self.weights[-1])))
        for layer in range(len(self.weights) - 2, -1, -1):
            activations, base = outputs[layer], mean[layer]  # what enters the units of this layer
            distance = activations - base
            passed = np.maximum(activations, 0) - np.maximum(base, 0)
            same = np.abs(distance) < 1e-12  # nothing to divide by: the slope there
            share = np.where(same, activations > 0, passed / np.where(same, 1.0, distance))
            gradient = (gradient * share) @ self.weights[layer].T
        return np.column_stack([gradient * inputs, np.full(len(rows), mean[-1][0, 0])])

    def _standard(self, rows: npt.NDArray[np.floating]) -> Matrix:
        return np.asarray(np.clip((rows - self.mean) / self.scale, -BOUND, BOUND), np.float64)

    def _outputs(self, rows: Matrix) -> list[Matrix]:
        """Return what each layer gives before its units bend it."""
        outputs: list[Matrix] = []
        for weight, bias in zip(self.weights, self.biases, strict=True):
            outputs.append((np.maximum(outputs[-1], 0) if outputs else rows) @ weight + bias)
        return outputs

    def __eq__(self, other: object) -> bool:
        """Tell whether all numbers are the same."""
        return isinstance(other, Network) and self.to_record() == other.to_record()

    __hash__ = None  # type: ignore[assignment] # it is compared by its numbers, and nothing looks it up

    def times(self, factor: float) -> Network:
        """Return the network whose scores are so many times as large."""
        weights, biases = (
            (*self.weights[:-1], self.weights[-1] * factor),
            (*self.biases[:-1], self.biases[-1] * factor),
        )
        return Network(self.mean, self.scale, weights, biases)

    def to_record(self) -> dict[str, Any]:
        """Return what `from_record` reads: lists of numbers, which come back exactly."""
        return {
            "mean": self.mean.tolist(),
            "scale": self.scale.tolist(),
            "weights": [weight.tolist() for weight in self.weights],
            "biases": [bias.tolist() for bias in self.biases],
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Network:
        """Read what `to_record` wrote.

        Raises:
            BadInput: layers do not fit together.
            KeyError, TypeError, ValueError: it is something else.
        """
        weights, biases = (tuple(_numbers(part) for part in record[name]) for name in ("weights", "biases"))
        return cls(_numbers(record["mean"]), _numbers(record["scale"]), weights, biases)


def _numbers(values: Sequence[Any]) -> Matrix:
    return np.array(values, dtype=np.float64)
