"""The arithmetic of fitting a static encoder: one contrastive step, its gradient and its optimiser.

A text is the bag of its terms; its vector is z = sum over terms of exp(s_t) * E_t, l2-normalised.
E (n_terms, dim) are the term vectors and exp(s) > 0 the learnt term weights. A batch of pairs
(question-like text i, article-like text i) is scored by InfoNCE (van den Oord et al. 2018) in both
directions: each text must find its partner among the batch. The gradient is written out by hand,
since a question-time package without an autograd library should not need one to be built;
tests/indexes/build/test_contrastive.py holds it against automatic differentiation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from rag.types import Bools, Floats, Ints

Bags: TypeAlias = sp.csr_array  # (n_texts, n_terms) float32, how often a term stands in a text


# Numbers of a step that are worked on together: as many as stay in a core's cache. What is done with the
# vectors of a batch's terms are a dozen passes over them, and most of a fit's time.
_IN_CACHE = 131_072


@dataclass(frozen=True, slots=True)
class Gradient:
    """Loss of one batch and its derivative by the parameters, which is worked out part by part."""

    loss: float
    _sides: tuple[tuple[Bags, Floats], ...]  # (n_terms, n_texts) and (n_texts, dim), by the texts' sums
    _weighted: Floats  # (n_terms, dim)
    _weights: Floats  # (n_terms, 1)

    def parts(self) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield which terms, the derivative by their vectors (n, dim) and by their log-weights (n,)."""
        few = max(1, _IN_CACHE // max(1, self._weighted.shape[1]))
        for start in range(0, len(self._weighted), few):
            part = slice(start, start + few)
            found, *others = (texts[part] @ d for texts, d in self._sides)
            for other in others:
                found += other
            of_weights = np.einsum("ij,ij->i", found, self._weighted[part])
            found *= self._weights[part]
            yield part, found, of_weights


class StepBuffers:
    """Memory for the rows of a training step, reused: fresh pages cost more than what fills them."""

    def __init__(self) -> None:
        """Start with none."""
        self._buffer = np.zeros((0, 0), np.float32)

    def rows(self, parameters: Floats, rows: Ints) -> Floats:
        """Return a copy of these rows of (n, dim), which the next call overwrites."""
        if len(rows) > len(self._buffer) or self._buffer.shape[1] != parameters.shape[1]:
            self._buffer = np.empty((len(rows) + len(rows) // 4, parameters.shape[1]), np.float32)
        return np.take(parameters, rows, axis=0, out=self._buffer[: len(rows)], mode="clip")


def embed(bags: Bags, weighted: Floats) -> tuple[Floats, Floats]:
    """Return unit vectors (n_texts, dim) and the lengths (n_texts, 1) that they were divided by.

    `bags` are (n_texts, n_terms) term counts, `weighted` (n_terms, dim) term vectors times term weights; a
    text without terms gives zeros.
    """
    z = np.asarray(bags @ weighted, dtype=np.float32)
    length = np.sqrt(np.einsum("ij,ij->i", z, z))[:, None].astype(np.float32)
    length[length == 0] = 1
    return z / length, length


def _softmax(logits: Floats, axis: int) -> tuple[Floats, Floats]:
    """Return probabilities and log of the partition function along the axis."""
    top = logits.max(axis=axis, keepdims=True)
    e = np.exp(logits - top)
    total = e.sum(axis=axis, keepdims=True)
    return e / total, (np.log(total) + top).squeeze(axis)


def pair_gradient(
    left: Bags,
    right: Bags,
    weighted: Floats,
    weights: Floats,
    *,
    temperature: float = 0.05,
    masked: Bools | None = None,
) -> Gradient:
    """Return loss and gradient of InfoNCE over a batch of pairs.

    Args:
        left: (n, n_terms); text i belongs to row i of `right`.
        right: (n + m, n_terms); rows past n are extra negatives that belong to nobody.
        weighted: (n_terms, dim), E * exp(s); it must stay as it is while the gradient is used.
        weights: (n_terms, 1), exp(s).
        temperature: cosines are divided by it.
        masked: (n, n + m); True takes a pair out of the denominator (another right answer of the
            same question must not count as a wrong one). The diagonal is never masked.
    """
    n = left.shape[0]
    u, u_length = embed(left, weighted)
    v, v_length = embed(right, weighted)
    logits = (u @ v.T) / np.float32(temperature)
    diagonal = np.arange(n)
    own = logits[diagonal, diagonal]
    if masked is not None:
        logits = np.where(masked, np.float32(-1e9), logits)
        logits[diagonal, diagonal] = own
    p_row, z_row = _softmax(logits, axis=1)  # left finds right
    p_col, z_col = _softmax(logits[:, :n], axis=0)  # right finds left
    loss = float((z_row - own).mean() + (z_col - own).mean()) / 2
    d_logits = p_row
    d_logits[:, :n] += p_col
    d_logits[diagonal, diagonal] -= 2
    d_logits /= np.float32(2 * n * temperature)
    d_u, d_v = d_logits @ v, d_logits.T @ u
    # through the normalisation: the part of the gradient along the unit vector does nothing
    d_zu = (d_u - u * np.einsum("ij,ij->i", d_u, u)[:, None]) / u_length
    d_zv = (d_v - v * np.einsum("ij,ij->i", d_v, v)[:, None]) / v_length
    sides = tuple((sp.csr_array(texts.T), d) for texts, d in ((left, d_zu), (right, d_zv)))
    return Gradient(loss, sides, weighted, weights)


BETAS = (0.9, 0.999)


class SparseAdam:
    """Adam (Kingma & Ba 2015) that touches only the rows of the terms in the batch.

    Rows keep their own step count, so that a rare term's first steps are as large as a frequent
    one's were.
    """

    def __init__(self, shape: tuple[int, ...], rate: float) -> None:
        """Start with no momentum; `rate` is the step size."""
        self.rate = rate
        self.mean = np.zeros(shape, dtype=np.float32)
        self.square = np.zeros(shape, dtype=np.float32)
        self.steps = np.zeros(shape[0], dtype=np.int32)

    def step(self, parameters: Floats, rows: Ints, gradient: Floats, scale: float = 1.0) -> None:
        """Move distinct rows of parameters (n, ...) float32 against a gradient (len(rows), ...), in place.

        `scale` is a schedule's factor on the rate.
        """
        one, two = BETAS
        self.steps[rows] += 1
        t = self.steps[rows].astype(np.float32).reshape((-1,) + (1,) * (gradient.ndim - 1))
        mean, square = self.mean[rows], self.square[rows]
        mean *= one
        mean += (1 - one) * gradient
        square *= two
        square += (1 - two) * gradient * gradient
        self.mean[rows], self.square[rows] = mean, square
        square /= 1 - two**t
        root = np.sqrt(square, out=square)
        root += 1e-8
        mean /= 1 - one**t
        mean *= self.rate * scale
        mean /= root
        parameters[rows] -= mean
