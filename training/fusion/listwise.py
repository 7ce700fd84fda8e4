"""Fit a small network to lists of candidates: softmax cross-entropy over each list, in numpy.

The loss is ListNet's with one grade of gold (Cao et al. 2007; Bruch et al. 2019 on why it suits ranking):
the gold candidates of a list share the probability that the softmax of its scores gives. Its gradient looks
at all candidates at once, where LambdaMART's looks at pairs. `rag.ltr.networks` scores what is fitted here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rag.errors import BadInput
from rag.ltr.networks import BOUND, Network
from rag.types import Bools, Floats, Ints

_FORGET, _FORGET_SQUARES, _TINY = 0.9, 0.999, 1e-8  # Adam's, as its authors give them
_DIGITS = 7  # of a weight that is kept: it is fitted in single precision
_TINY_SPREAD = 1e-6  # of a feature that never changes
Singles: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    """How a network is fitted."""

    hidden: tuple[int, ...] = (64, 32)  # units of each layer
    passes: int = 15  # over the lists
    batch: int = 16  # lists of a step
    rate: float = 2e-3  # of learning, falling to 0 in a straight line
    decay: float = 1e-2  # of weights and biases (Loshchilov & Hutter 2019)
    dropout: float = 0.1  # share of units that a step leaves out

    def __post_init__(self) -> None:
        """Refuse what no network can be fitted with."""
        counts = (*self.hidden, self.passes, self.batch)
        if min(counts) < 1 or self.rate <= 0 or self.decay < 0 or not 0 <= self.dropout < 1:
            raise BadInput(
                f"a network of {' and '.join(map(str, self.hidden))} units, {self.passes} passes, batches of "
                f"{self.batch}, rate {self.rate}, decay {self.decay}, dropout {self.dropout}: give counts of "
                "1 or more, a rate above 0, a decay of 0 or more, a dropout from 0 to below 1"
            )


def fitted(
    rows: Floats,
    gold: Bools,
    sizes: Sequence[int],
    seeds: Sequence[int] = (0,),
    settings: NetworkSettings | None = None,
) -> tuple[Network, ...]:
    """Fit networks that put gold rows, one or more a list, before the others of their list, one a seed.

    Rows are (n, n_features), list after list, gold is (n,), sizes are the rows of each list. A seed decides
    first weights, the order of lists and what dropout leaves out. A feature that is the same in all rows
    counts nothing, whatever it is in others.

    Raises:
        BadInput: a list without rows or without gold, or sizes that are not those of the rows.
    """
    chosen = settings or NetworkSettings()
    ends = np.cumsum(np.array([0, *sizes]))
    if min(sizes, default=0) < 1:
        empty = sum(size < 1 for size in sizes)
        raise BadInput(f"{empty} of {len(sizes)} lists are empty: leave them out, give one or more")
    if ends[-1] != len(rows) or len(gold) != len(rows):
        raise BadInput(
            f"{len(rows)} rows, {len(gold)} grades and lists of {ends[-1]}: give one of each a row"
        )
    share = gold / np.repeat(np.add.reduceat(gold.astype(np.float32), ends[:-1]).clip(1e-9), sizes)
    if not np.allclose(np.add.reduceat(share, ends[:-1]), 1):
        raise BadInput("a list without a gold candidate teaches nothing: leave it out")
    lists = list(pairwise(ends.tolist()))
    mean = rows.mean(axis=0, dtype=np.float64)
    # a list at a time: a million rows in double precision would be as much again, twice over
    squares = sum(np.square(rows[begin:end] - mean).sum(axis=0) for begin, end in lists)
    scale = np.sqrt(squares / len(rows)) + _TINY_SPREAD
    inputs = np.empty(rows.shape, np.float32)
    for begin, end in lists:
        inputs[begin:end] = np.clip((rows[begin:end] - mean) / scale, -BOUND, BOUND)
    shares = share.astype(np.float32)
    tells = (inputs.min(axis=0) < inputs.max(axis=0)).astype(np.float64)
    networks = []
    for seed in seeds:
        parts = []
        for part in _descended(inputs, shares, ends, chosen, seed):
            # the digits that single precision does not know are left out: files are half as long
            numbers = [float(f"{number:.{_DIGITS}g}") for number in part.ravel().tolist()]
            parts.append(np.array(numbers).reshape(part.shape))
        parts[0] *= tells[:, None]
        networks.append(Network(mean, scale, tuple(parts[0::2]), tuple(parts[1::2])))
    return tuple(networks)


def _descended(
    inputs: Singles, share: Singles, ends: Ints, chosen: NetworkSettings, seed: int
) -> list[Singles]:
    """Return the weights and the biases, in turn, that all steps end with."""
    rng = np.random.default_rng(seed)
    step = _Steps.of(inputs.shape[1], chosen, rng)
    sizes = np.diff(ends)
    total = chosen.passes * -(-len(sizes) // chosen.batch)
    for _ in range(chosen.passes):
        order = rng.permutation(len(sizes))
        for first in range(0, len(order), chosen.batch):
            drawn = order[first : first + chosen.batch]
            at = np.concatenate([np.arange(ends[n], ends[n + 1]) for n in drawn])
            gradients = step.gradients(inputs[at], share[at], sizes[drawn], chosen.dropout, rng)
            step.take(gradients, chosen.rate * (1 - step.taken / total), chosen.decay)
    return step.parameters


@dataclass
class _Steps:
    """Weights and biases in turn, and what Adam remembers of their gradients."""

    parameters: list[Singles]
    means: list[Singles]
    squares: list[Singles]
    taken: int = 0

    @classmethod
    def of(cls, features: int, settings: NetworkSettings, rng: np.random.Generator) -> _Steps:
        """Draw first weights evenly from within 1 / sqrt(n_in)."""
        parameters: list[Singles] = []
        sizes = (features, *settings.hidden, 1)
        for n_in, n_out in pairwise(sizes):
            bound = 1 / np.sqrt(n_in)
            for shape in ((n_in, n_out), (n_out,)):
                parameters.append(rng.uniform(-bound, bound, shape).astype(np.float32))
        return cls(parameters, [np.zeros_like(p) for p in parameters], [np.zeros_like(p) for p in parameters])

    def gradients(
        self, inputs: Singles, share: Singles, lists: Ints, dropout: float, rng: np.random.Generator
    ) -> list[Singles]:
        """Return the gradients of the mean loss of lists.

        Inputs are (n, n_features), standardised, list after list; `share`, (n,), is how much of its list's
        probability a row should have, `lists` are the rows of each. Of the units a share drawn by `rng` is
        left out (dropout).
        """
        weights, biases = self.parameters[0::2], self.parameters[1::2]
        entered, bent = [inputs], []  # what enters each layer; by what each unit's slope is multiplied
        for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
            units = entered[-1] @ weight + bias
            slope = (units > 0).astype(np.float32)
            if dropout:
                slope *= (rng.random(units.shape, np.float32) >= dropout) / np.float32(1 - dropout)
            bent.append(slope)
            entered.append(units * slope)
        scores = (entered[-1] @ weights[-1])[:, 0] + biases[-1][0]
        gradient = ((softmax(scores, lists) - share) / np.float32(len(lists)))[:, None]
        found: list[Singles] = []
        for layer in range(len(weights) - 1, -1, -1):
            found[:0] = [entered[layer].T @ gradient, gradient.sum(axis=0)]
            if layer:
                gradient = (gradient @ weights[layer].T) * bent[layer - 1]
        return found

    def take(self, gradients: Sequence[Singles], rate: float, decay: float) -> None:
        """Move every parameter against its gradient (AdamW)."""
        self.taken += 1
        even = 1 - _FORGET**self.taken, 1 - _FORGET_SQUARES**self.taken
        for parameter, mean, square, gradient in zip(
            self.parameters, self.means, self.squares, gradients, strict=True
        ):
            mean += (1 - _FORGET) * (gradient - mean)
            square += (1 - _FORGET_SQUARES) * (gradient * gradient - square)
            parameter *= 1 - rate * decay
            parameter -= rate * (mean / even[0]) / (np.sqrt(square / even[1]) + _TINY)


def softmax(scores: Singles, lists: Ints) -> Singles:
    """Return the softmax of each list's scores, (n,)."""
    begins = np.concatenate([[0], np.cumsum(lists)[:-1]])
    each = np.exp(scores - np.repeat(np.maximum.reduceat(scores, begins), lists))
    return np.asarray(each / np.repeat(np.add.reduceat(each, begins), lists), np.float32)
