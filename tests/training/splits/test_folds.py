"""Folds: the exact definition, so that others can make the same ones."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.corpus.folds import Fold, folds, grouped_folds, pick
from rag.errors import BadInput


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


labels = st.lists(st.integers(-3, 20), min_size=2, max_size=60)


@given(labels, st.integers(2, 8), st.integers(0, 2**32))
def test_no_group_straddles_and_folds_are_balanced(groups: list[int], k: int, seed: int) -> None:
    if k > len(set(groups)):
        return
    made = grouped_folds(groups, k, seed)
    assert sorted(i for fold in made for i in fold.held) == list(range(len(groups)))
    for fold in made:
        assert not {groups[i] for i in fold.held} & {groups[i] for i in fold.learn}
        assert sorted((*fold.held, *fold.learn)) == list(range(len(groups)))
        assert fold.held == tuple(sorted(fold.held)) != ()
    sizes = [len(fold.held) for fold in made]
    assert max(sizes) - min(sizes) <= max(Counter(groups).values())
    assert grouped_folds(groups, k, seed) == made
    # what the groups are called is of no matter
    assert grouped_folds([7 * group + 1000 for group in groups], k, seed) == made


def test_another_seed_makes_other_folds() -> None:
    groups = [i // 2 for i in range(40)]
    assert grouped_folds(groups, 4, seed=1) != grouped_folds(groups, 4, seed=2)


def test_the_largest_group_is_placed_first() -> None:
    groups = [0, 1, 2, 3, 9, 9, 9, 9]
    held = [fold.held for fold in grouped_folds(groups, 2, seed=0)]
    assert held == [(4, 5, 6, 7), (0, 1, 2, 3)]  # 9 goes to the first, the others then fill the second


@pytest.mark.parametrize(("groups", "k"), [([1, 1, 1], 2), ([], 2), ([1, 2], 1)])
def test_grouped_folds_that_cannot_be_made(groups: list[int], k: int) -> None:
    with pytest.raises(BadInput, match=f"{k} folds of {len(set(groups))} groups"):
        grouped_folds(groups, k, seed=0)
