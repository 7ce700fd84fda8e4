"""Folds: the exact definition, so that others can make the same ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import BadInput
from training.splits import Fold, folds, pick


def test_the_definition() -> None:
    order = np.random.default_rng(42).permutation(12)
    for number, fold in enumerate(folds(12, 5, seed=42)):
        expected = {int(question) for place, question in enumerate(order) if place % 5 == number}
        assert set(fold.held) == expected


def test_frozen_numbers() -> None:
    """default_rng(42).permutation(10) is 5 6 0 7 3 2 4 9 1 8."""
    assert [fold.held for fold in folds(10, 5, seed=42)] == [(2, 5), (4, 6), (0, 9), (1, 7), (3, 8)]


@given(st.integers(2, 60), st.integers(2, 10), st.integers(0, 2**32))
def test_every_question_is_held_back_once(n: int, k: int, seed: int) -> None:
    if k > n:
        return
    made = folds(n, k, seed)
    assert sorted(i for fold in made for i in fold.held) == list(range(n))
    for fold in made:
        assert sorted((*fold.held, *fold.learn)) == list(range(n))
        assert list(fold.held) == sorted(fold.held)
        assert list(fold.learn) == sorted(fold.learn)
        assert len(fold.held) in (n // k, n // k + 1)
    assert folds(n, k, seed) == made


@pytest.mark.parametrize(("n", "k"), [(10, 1), (10, 0), (10, -1), (3, 4), (0, 2)])
def test_folds_that_cannot_be_made(n: int, k: int) -> None:
    with pytest.raises(BadInput, match=f"{k} folds of {n} questions"):
        folds(n, k, seed=0)


def test_pick() -> None:
    fold = Fold(held=(0, 2), learn=(1,))
    assert pick("abc", fold.held) == ["a", "c"]
    assert pick("abc", ()) == []
