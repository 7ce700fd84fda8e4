"""The gradient that is written out by hand, held against automatic differentiation; and its optimiser."""

from __future__ import annotations

from typing import Any

import autograd.numpy as anp
import numpy as np
import pytest
import scipy.sparse as sp
from autograd import grad
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes.build import contrastive
from indexes.build.contrastive import Gradient, SparseAdam, StepBuffers, embed, pair_gradient

TERMS, DIM = 9, 5


def gradient_of(
    left: sp.csr_array, right: sp.csr_array, vectors: np.ndarray, log_weights: np.ndarray, **options: Any
) -> Gradient:
    weights = np.exp(log_weights)[:, None]
    return pair_gradient(left, right, vectors * weights, weights, **options)


def by_vectors(gradient: Gradient) -> np.ndarray:
    return np.concatenate([of for _, of, _ in gradient.parts()])


def by_log_weights(gradient: Gradient) -> np.ndarray:
    return np.concatenate([of for _, _, of in gradient.parts()])


def loss_of(  # Any: the arrays that autograd passes through have no type of their own
    vectors: Any, log_weights: Any, left: Any, right: Any, temperature: float, masked: Any
) -> Any:
    """InfoNCE in both directions, as the definition reads, in float64."""

    def units(bags: Any) -> Any:
        z = anp.dot(bags, vectors * anp.exp(log_weights)[:, None])
        square = anp.sum(z * z, axis=1, keepdims=True)
        return z / anp.sqrt(square + (square == 0))  # an empty text stays at zero

    n = len(left)
    logits = anp.dot(units(left), units(right).T) / temperature
    kept = np.ones((n, len(right)), dtype=bool) if masked is None else ~masked
    kept = kept | np.eye(n, len(right), dtype=bool)  # the partner always counts
    exponents = anp.exp(logits) * kept
    own = anp.sum(logits * np.eye(n, len(right)), axis=1)
    finds_right = anp.log(anp.sum(exponents, axis=1)) - own
    finds_left = anp.log(anp.sum(exponents[:, :n], axis=0)) - own
    return (anp.mean(finds_right) + anp.mean(finds_left)) / 2


@st.composite
def batches(
    draw: st.DrawFn,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray | None, float]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, extra = draw(st.integers(1, 6)), draw(st.integers(0, 4))
    left = rng.integers(0, 3, (n, TERMS)).astype(np.float64)
    right = rng.integers(0, 3, (n + extra, TERMS)).astype(np.float64)
    if draw(st.booleans()):  # empty texts on both sides
        left[rng.integers(n)] = 0
        right[rng.integers(n + extra)] = 0
    vectors = rng.standard_normal((TERMS, DIM)).astype(np.float32)
    log_weights = rng.normal(-0.5, 0.7, TERMS).astype(np.float32)
    masked = rng.random((n, n + extra)) < 0.3 if draw(st.booleans()) else None
    return left, right, vectors, log_weights, masked, draw(st.sampled_from([0.05, 0.3, 1.0]))


def far(found: np.ndarray, wanted: np.ndarray, scale: float) -> float:
    """Distance relative to the wanted one; a gradient that is nothing but rounding counts by `scale`."""
    return float(np.linalg.norm(found.astype(np.float64) - wanted) / max(np.linalg.norm(wanted), scale))


@pytest.mark.slow
@given(batch=batches())
@settings(max_examples=150, deadline=None)
def test_gradient_agrees_with_automatic_differentiation(
    batch: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray | None, float],
) -> None:
    left, right, vectors, log_weights, masked, temperature = batch
    bags = [sp.csr_array(side.astype(np.float32)) for side in (left, right)]
    found = gradient_of(*bags, vectors, log_weights, temperature=temperature, masked=masked)
    exact = vectors.astype(np.float64), log_weights.astype(np.float64)
    rest = (left, right, temperature, masked)
    assert found.loss == pytest.approx(float(loss_of(*exact, *rest)), rel=1e-4, abs=1e-5)
    # a pair without a rival has no gradient: what is left is the rounding of float32
    floor = 1e-3 / temperature
    assert far(by_vectors(found), grad(loss_of, 0)(*exact, *rest), floor) < 1e-4
    assert far(by_log_weights(found), grad(loss_of, 1)(*exact, *rest), floor) < 1e-4
    assert (by_vectors(found).dtype, by_log_weights(found).dtype) == (np.float32, np.float32)


def test_a_masked_pair_has_no_part_in_it() -> None:
    left = sp.csr_array(np.eye(2, 4, dtype=np.float32))
    right = sp.csr_array(np.eye(4, dtype=np.float32)[[0, 1, 2]])
    vectors = np.random.default_rng(2).standard_normal((4, 3)).astype(np.float32)
    zeros = np.zeros(4, dtype=np.float32)
    masked = np.array([[False, False, True], [False, False, True]])
    gradient = gradient_of(left, right, vectors, zeros, masked=masked)
    assert (by_vectors(gradient)[2] == 0).all()  # of the term that only the masked text has
    without = gradient_of(left, sp.csr_array(right.toarray()[:2]), vectors, zeros)
    assert gradient.loss == pytest.approx(without.loss)
    assert by_vectors(gradient) == pytest.approx(by_vectors(without), abs=1e-6)
    diagonal = gradient_of(left, right, vectors, zeros, masked=np.eye(2, 3, dtype=bool))
    assert diagonal.loss == pytest.approx(gradient_of(left, right, vectors, zeros).loss)


def test_the_loss_of_two_pairs_by_hand() -> None:
    # the pairs are orthogonal: own cosine 1, the other 0, so each text finds its partner at
    # -log(e^2 / (e^2 + 1)) with a temperature of 0.5
    bags = sp.csr_array(np.eye(2, dtype=np.float32))
    vectors = np.eye(2, dtype=np.float32)
    gradient = gradient_of(bags, bags, vectors, np.zeros(2, np.float32), temperature=0.5)
    assert gradient.loss == pytest.approx(np.log1p(np.exp(-2.0)), abs=1e-6)


def test_a_step_against_the_gradient_lowers_the_loss() -> None:
    rng = np.random.default_rng(3)
    bags = [sp.csr_array(rng.integers(0, 2, (5, TERMS)).astype(np.float32)) for _ in range(2)]
    vectors, weights = rng.standard_normal((TERMS, DIM)).astype(np.float32), np.zeros(TERMS, np.float32)
    before = gradient_of(*bags, vectors, weights)
    step = 1e-3 / np.linalg.norm(by_vectors(before))
    after = gradient_of(*bags, vectors - step * by_vectors(before), weights)
    drop = step * np.linalg.norm(by_vectors(before)) ** 2
    assert before.loss - after.loss == pytest.approx(drop, rel=0.05)


@given(batch=batches(), few=st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_what_is_worked_out_part_by_part_is_the_whole(
    batch: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray | None, float], few: int
) -> None:
    left, right, vectors, log_weights, masked, temperature = batch
    bags = [sp.csr_array(side.astype(np.float32)) for side in (left, right)]
    found = gradient_of(*bags, vectors, log_weights, temperature=temperature, masked=masked)
    whole = by_vectors(found), by_log_weights(found)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(contrastive, "_IN_CACHE", few * DIM)
        parts = [(part, of.copy(), weights) for part, of, weights in found.parts()]
    assert len(parts) == -(-TERMS // few)
    together = [np.concatenate([part[n] for part in parts]) for n in (1, 2)]
    assert all((one == other).all() for one, other in zip(whole, together, strict=True))
    assert np.concatenate([np.arange(TERMS)[part] for part, _, _ in parts]).tolist() == list(range(TERMS))


def test_the_room_of_a_step_is_used_again_and_what_was_copied_stays_there() -> None:
    rng = np.random.default_rng(6)
    parameters, room = rng.standard_normal((20, 3)).astype(np.float32), StepBuffers()
    before = parameters.copy()
    first = room.rows(parameters, np.arange(10))
    assert (first == parameters[:10]).all()
    again = room.rows(parameters, np.array([19, 3]))
    assert (again == parameters[[19, 3]]).all()
    assert np.shares_memory(first, again)
    again *= 2
    assert (parameters == before).all()
    assert (room.rows(parameters, np.arange(20)) == parameters).all()
    assert room.rows(rng.standard_normal((4, 7)).astype(np.float32), np.arange(2)).shape == (2, 7)


def test_embedding_gives_unit_vectors_and_zeros_for_an_empty_text() -> None:
    weighted = np.array([[3, 4], [0, 2]], dtype=np.float32)
    units, lengths = embed(sp.csr_array(np.array([[1, 0], [0, 0], [0, 5]], dtype=np.float32)), weighted)
    assert units.tolist() == [pytest.approx([0.6, 0.8]), [0, 0], [0, 1]]
    assert lengths.ravel().tolist() == [5, 1, 10]


def dense_adam(
    parameters: np.ndarray, gradients: list[np.ndarray], rate: float, scales: list[float]
) -> np.ndarray:
    """Adam as its paper has it (Kingma & Ba 2015, algorithm 1), in float64."""
    at, mean, square = parameters.astype(np.float64), 0.0, 0.0
    for t, (gradient, scale) in enumerate(zip(gradients, scales, strict=True), start=1):
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        at = at - rate * scale * (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)
    return at


@pytest.mark.parametrize("shape", [(6, 4), (6,)])
def test_adam_over_every_row_is_the_dense_one(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(4)
    start = rng.standard_normal(shape).astype(np.float32)
    gradients = [rng.standard_normal(shape).astype(np.float32) for _ in range(30)]
    scales = [1 - t / 30 for t in range(30)]
    parameters, adam = start.copy(), SparseAdam(shape, 0.01)
    for gradient, scale in zip(gradients, scales, strict=True):
        adam.step(parameters, np.arange(6), gradient, scale)
    assert parameters == pytest.approx(dense_adam(start, gradients, 0.01, scales), abs=2e-5)


def test_adam_moves_only_the_rows_it_is_given_and_each_counts_its_own_steps() -> None:
    rng = np.random.default_rng(5)
    start = rng.standard_normal((5, 3)).astype(np.float32)
    parameters, adam = start.copy(), SparseAdam((5, 3), 0.01)
    seen: dict[int, list[np.ndarray]] = {row: [] for row in range(5)}
    for rows in ([0, 1], [1, 3], [1], [0, 3]):
        gradient = rng.standard_normal((len(rows), 3)).astype(np.float32)
        untouched = [row for row in range(5) if row not in rows]
        before = parameters.copy()
        adam.step(parameters, np.array(rows), gradient)
        assert (parameters[untouched] == before[untouched]).all()
        for row, each in zip(rows, gradient, strict=True):
            seen[row].append(each)
    for row, gradients in seen.items():
        alone = dense_adam(start[row], gradients, 0.01, [1.0] * len(gradients))
        assert parameters[row] == pytest.approx(alone, abs=1e-5)
    assert (parameters[[2, 4]] == start[[2, 4]]).all()
    assert adam.steps.tolist() == [2, 3, 0, 2, 0]
