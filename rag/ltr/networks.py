"""Small networks over named features at question time: scored in numpy, taken apart for explanation.

Two hidden layers of rectified units over standardised features, fitted list by list
(`training.fusion.listwise`). They err elsewhere than boosted trees, which they stand beside (Qin et al.
2021 compare the two kinds; docs/results.md has our numbers).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from rag.errors import BadInput
from rag.ltr.trees import REFIT_HINT, Matrix

BOUND = 6.0  # standard deviations: what lies farther out counts as if it lay there


@dataclass(frozen=True, eq=False)
class Network:
    """Layers of weights; between them, what is below 0 becomes 0."""

    mean: Matrix = field(repr=False)  # (n_features,), of what it was fitted to: where explanations begin
    scale: Matrix = field(repr=False)  # (n_features,), above 0
    weights: tuple[Matrix, ...] = field(repr=False)  # of each layer, (n_in, n_out); the last has one output
    biases: tuple[Matrix, ...] = field(repr=False)  # of each layer, (n_out,)

    def __post_init__(self) -> None:
        """Refuse layers that do not fit together."""
        sizes = (len(self.mean), *(bias.size for bias in self.biases))
        fits = (
            self.mean.shape == self.scale.shape == sizes[:1]
            and [w.shape for w in self.weights] == list(pairwise(sizes))
            and all(bias.ndim == 1 for bias in self.biases)
            and len(sizes) > 1
            and sizes[-1] == 1
        )
        arrays = (self.mean, self.scale, *self.weights, *self.biases)
        if not fits or not all(np.isfinite(part).all() for part in arrays) or not (self.scale > 0).all():
            layers = ", ".join(" × ".join(map(str, w.shape)) for w in self.weights) or "nothing"
            raise BadInput(f"layers of {layers} over {len(self.mean)} features are no network: {REFIT_HINT}")

    def scores(self, rows: npt.NDArray[np.floating]) -> Matrix:
        """Return the score, (n,), of each row of numbers, (n, n_features)."""
        return self._outputs(self._standard(rows))[-1][:, 0]

    def contributions(self, rows: npt.NDArray[np.floating]) -> Matrix:
        """Take scores apart: what each feature moved each row by, and last what the mean row scores.

        A unit passes on to what feeds it what it made of their distance from the mean row, in proportion
        (the rescale rule of DeepLIFT, Shrikumar et al. 2017), so the moves, (n, n_features + 1), add up to
        the score exactly.
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
        weights, biases = ((*of[:-1], of[-1] * factor) for of in (self.weights, self.biases))
        return Network(self.mean, self.scale, weights, biases)

    def to_record(self) -> dict[str, Any]:
        """Return what `from_record` reads: lists of numbers, which come back exactly."""
        layers = {"weights": self.weights, "biases": self.biases}
        return {
            "mean": self.mean.tolist(),
            "scale": self.scale.tolist(),
            **{name: [part.tolist() for part in of] for name, of in layers.items()},
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Network:
        """Read what `to_record` wrote.

        Raises:
            BadInput: layers do not fit together.
            KeyError, TypeError, ValueError: it is something else.
        """
        mean, scale = (np.array(record[name], np.float64) for name in ("mean", "scale"))
        weights, biases = (
            tuple(np.array(part, np.float64) for part in record[name]) for name in ("weights", "biases")
        )
        return cls(mean, scale, weights, biases)
