"""Fitting a network list by list: its gradients, what it learns, what it refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rag.errors import BadInput
from rag.ltr.networks import Network
from training.fusion.listwise import NetworkSettings, _Steps, fitted, softmax

SMALL = NetworkSettings(hidden=(12, 6), passes=40, batch=8, rate=1e-2, dropout=0.05)
SIZES = [9, 4, 7, 12] * 30


def lists(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of three features; gold is the row that lies farthest from 0 in the second."""
    rows = np.random.default_rng(seed).normal(3, 2, (sum(SIZES), 3)).astype(np.float32)
    gold = np.zeros(len(rows), dtype=np.bool_)
    for begin, size in zip(np.cumsum([0, *SIZES[:-1]]), SIZES, strict=True):
        gold[begin + np.argmax(np.abs(rows[begin : begin + size, 1] - 3))] = True
    return rows, gold


def one(rows: np.ndarray, gold: np.ndarray, settings: NetworkSettings = SMALL) -> Network:
    [network] = fitted(rows, gold, SIZES, settings=settings)
    return network


def first_right(scores: np.ndarray, gold: np.ndarray) -> float:
    begins = np.cumsum([0, *SIZES[:-1]])
    return float(
        np.mean([gold[b + np.argmax(scores[b : b + n])] for b, n in zip(begins, SIZES, strict=True)])
    )


def test_gradients_are_those_of_the_loss() -> None:
    rng = np.random.default_rng(3)
    rows, gold = lists()
    of = np.array(SIZES[:4])
    rows, gold = rows[: of.sum()], gold[: of.sum()]
    gold[1] = True  # two in the first list
    share = gold / np.repeat(np.add.reduceat(gold.astype(np.float32), np.cumsum([0, *of[:-1]])), of)
    steps = _Steps.of(3, SMALL, rng)
    steps.parameters = [p.astype(np.float64) for p in steps.parameters]  # type: ignore[misc]

    def loss() -> float:
        units = rows.astype(np.float64)
        for weight, bias in zip(steps.parameters[0:-2:2], steps.parameters[1:-2:2], strict=True):
            units = np.maximum(units @ weight + bias, 0)
        scores = (units @ steps.parameters[-2])[:, 0] + steps.parameters[-1][0]
        total, at = 0.0, 0
        for n in of.tolist():
            own = scores[at : at + n]
            logs = own - own.max() - np.log(np.exp(own - own.max()).sum())
            total -= float(logs[gold[at : at + n]].mean())
            at += n
        return total / len(of)

    gradients = steps.gradients(rows.astype(np.float64), share, of, 0.0, rng)  # type: ignore[arg-type]
    for parameter, gradient in zip(steps.parameters, gradients, strict=True):
        flat, told = parameter.reshape(-1), np.asarray(gradient).reshape(-1)
        for i in range(0, len(flat), 3):
            kept, step = flat[i], 1e-6
            flat[i] = kept + step
            above = loss()
            flat[i] = kept - step
            slope = (above - loss()) / (2 * step)
            flat[i] = kept
            assert told[i] == pytest.approx(slope, abs=1e-4)


def test_a_step_by_hand() -> None:
    """AdamW: the first step is as long as the rate whatever the gradient, after the weights have decayed."""
    steps = _Steps([np.array([2.0, -1.0])], [np.zeros(2)], [np.zeros(2)])  # type: ignore[list-item]
    steps.take([np.array([0.5, -7.0])], 0.1, 0.2)  # type: ignore[list-item]
    assert steps.parameters[0].tolist() == pytest.approx([2 * 0.98 - 0.1, -1 * 0.98 + 0.1])
    steps.take([np.array([0.5, 0.0])], 0.1, 0.0)  # type: ignore[list-item]
    mean, square = 0.9 * -0.7 / (1 - 0.9**2), 0.999 * 0.049 / (1 - 0.999**2)
    assert steps.parameters[0].tolist() == pytest.approx([1.76, -0.88 - 0.1 * mean / square**0.5])


def test_a_rule_that_no_line_draws_is_learnt() -> None:
    rows, gold = lists()
    unseen, right = lists(seed=1)
    scores = one(rows, gold).scores(unseen)
    assert first_right(scores, right) > 0.8
    assert first_right(unseen[:, 1], right) < 0.65  # the feature itself tells one side alone
    assert np.isfinite(scores).all()


def test_the_same_seed_gives_the_same_network() -> None:
    rows, gold = lists()
    four, five = fitted(rows, gold, SIZES, (4, 5), SMALL)
    assert four != five
    assert fitted(rows, gold, SIZES, (5, 4), SMALL) == (five, four)  # whatever was fitted before it
    assert fitted(rows, gold, SIZES, (), SMALL) == ()


def test_a_feature_that_never_changes_is_no_trouble() -> None:
    rows, gold = lists()
    rows[:, 0] = 7
    network = one(rows, gold, replace(SMALL, passes=2))
    scores = network.scores(rows)
    assert np.isfinite(scores).all()
    rows[:, 0] = np.arange(len(rows))  # nothing was learnt of it, so it says nothing where it does change
    assert network.scores(rows).tolist() == scores.tolist()
    assert not network.contributions(rows)[:, 0].any()
    assert network.contributions(rows)[:, 1].any()


def test_softmax_is_that_of_each_list() -> None:
    scores = np.array([0.0, 0.0, 1000.0, 999.0, -5.0], dtype=np.float32)
    told = softmax(scores, np.array([2, 2, 1]))
    e = np.exp(-1.0)
    assert told.tolist() == pytest.approx([0.5, 0.5, 1 / (1 + e), e / (1 + e), 1.0])


def test_what_cannot_be_fitted_is_refused() -> None:
    rows, gold = lists()
    with pytest.raises(BadInput, match="without a gold candidate"):
        one(rows, np.zeros_like(gold))
    for sizes in ([*SIZES, 1], SIZES[1:]):
        with pytest.raises(BadInput, match="give one of each a row"):
            fitted(rows, gold, sizes)
    with pytest.raises(BadInput, match=r"1 of 121 lists are empty"):
        fitted(rows, gold, [*SIZES, 0])
    with pytest.raises(BadInput, match=r"0 of 0 lists"):
        fitted(rows[:0], gold[:0], [])
    for odd in ({"passes": 0}, {"hidden": (0, 3)}, {"rate": 0.0}, {"dropout": 1.0}, {"decay": -1.0}):
        with pytest.raises(BadInput, match="give counts of 1 or more"):
            NetworkSettings(**odd)  # type: ignore[arg-type]
