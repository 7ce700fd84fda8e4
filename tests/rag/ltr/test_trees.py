"""Trees: scored at once or walked one by one, taken apart, written and read back."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import BadInput
from rag.ltr.ranker import Ranker
from rag.ltr.trees import LEAVES, Tree, Trees

N_FEATURES = 3
numbers = st.floats(-4, 4, allow_nan=False, width=32).map(lambda x: round(x, 1))
STUMP = Tree((0, -1, -1), (0.5, 0.0, 0.0), (1, -1, -1), (2, -1, -1), (0.25, -1.0, 1.5))


@st.composite
def tree(draw: st.DrawFn) -> Tree:
    """Grow a tree of 1 to 8 leaves by splitting a leaf at a time."""
    feature, threshold, left, right, value = [-1], [0.0], [-1], [-1], [draw(numbers)]
    for _ in range(draw(st.integers(0, LEAVES - 1))):
        leaf = draw(st.sampled_from([i for i, f in enumerate(feature) if f < 0]))
        feature[leaf], threshold[leaf] = draw(st.integers(0, N_FEATURES - 1)), draw(numbers)
        left[leaf], right[leaf] = len(feature), len(feature) + 1
        for part, new in ((feature, -1), (threshold, 0.0), (left, -1), (right, -1)):
            part.extend([new, new])  # type: ignore[list-item]
        value += [draw(numbers), draw(numbers)]
    return Tree(tuple(feature), tuple(threshold), tuple(left), tuple(right), tuple(value))


forests = st.lists(tree(), max_size=6).map(lambda trees: Trees(("a", "b", "c"), tuple(trees), {"n": 1}))
tables = st.lists(st.tuples(numbers, numbers, numbers), max_size=20).map(
    lambda rows: np.array(rows, dtype=np.float32).reshape(-1, N_FEATURES)
)


def end(tree: Tree, row: list[float]) -> int:
    node = 0
    while (feature := tree.feature[node]) >= 0:
        node = (tree.right if row[feature] > tree.threshold[node] else tree.left)[node]
    return node


def walked(forest: Trees, rows: np.ndarray) -> list[float]:
    return [sum(tree.value[end(tree, row)] for tree in forest.trees) for row in rows.tolist()]


@given(forests, tables)
def test_scoring_all_at_once_ends_in_the_leaves_that_walking_ends_in(forest: Trees, rows: np.ndarray) -> None:
    assert forest.scores(rows).tolist() == pytest.approx(walked(forest, rows))


@given(forests, tables)
def test_contributions_add_up_to_the_score(forest: Trees, rows: np.ndarray) -> None:
    parts = forest.contributions(rows)
    assert parts.shape == (len(rows), N_FEATURES + 1)
    assert parts.sum(axis=1).tolist() == pytest.approx(forest.scores(rows).tolist(), abs=1e-9)
    used = {f for tree in forest.trees for f in tree.feature}
    assert all(not parts[:, f].any() for f in range(N_FEATURES) if f not in used)


@given(forests, tables, st.lists(st.integers(0, 2), min_size=N_FEATURES, max_size=N_FEATURES))
def test_contributions_are_summed_as_asked(forest: Trees, rows: np.ndarray, into: list[int]) -> None:
    alone, summed = forest.contributions(rows), forest.contributions(rows, tuple(into))
    wanted = np.zeros((len(rows), max(into) + 2))
    wanted[:, -1] = alone[:, -1]
    for feature, own in enumerate(into):
        wanted[:, own] += alone[:, feature]
    assert summed.tolist() == [pytest.approx(row, abs=1e-9) for row in wanted.tolist()]


@given(forests, tables, st.integers(1, 25), st.integers(0, 6))
def test_what_the_first_trees_choose_all_trees_score(
    forest: Trees, rows: np.ndarray, n: int, first: int
) -> None:
    first = min(first, len(forest.trees))
    chosen, scores = forest.best(rows, n, first)
    assert len(chosen) == min(n, len(rows))
    assert scores.tolist() == forest.scores(rows)[chosen].tolist()
    few = Trees(forest.features, forest.trees[:first]).scores(rows)
    assert chosen.tolist() == sorted(set(chosen.tolist()))
    if len(chosen) < len(rows):
        assert few[chosen].min() >= np.delete(few, chosen).max()


@given(forests, tables)
def test_single_and_double_precision_end_alike(forest: Trees, rows: np.ndarray) -> None:
    assert forest.scores(rows).tolist() == forest.scores(rows.astype(np.float64)).tolist()
    parts = forest.contributions(rows.astype(np.float64))
    assert forest.contributions(rows).tolist() == parts.tolist()


@pytest.mark.parametrize("threshold", [0.1, 1 / 3, 1e-35, -0.7, 0.5, 1e300, -1e300, 5e-324])
def test_a_threshold_between_two_numbers_of_single_precision_divides_them(threshold: float) -> None:
    stump = Tree((0, -1, -1), (threshold, 0.0, 0.0), (1, -1, -1), (2, -1, -1), (0.0, -1.0, 1.0))
    at = np.float32(np.clip(threshold, -3e38, 3e38))
    rows = np.array([np.nextafter(at, np.float32(-9e9)), at, np.nextafter(at, np.float32(9e9))])[:, None]
    wanted = [1.0 if float(value) > threshold else -1.0 for value in rows[:, 0]]
    assert Trees(("x",), (stump,)).scores(rows).tolist() == wanted


@given(forests)
def test_what_is_written_is_read_back(forest: Trees) -> None:
    assert Trees.from_record(json.loads(json.dumps(forest.to_record()))) == forest


def test_a_stump_by_hand() -> None:
    forest = Trees(("x",), (STUMP,))
    assert forest.scores(np.array([[0.5], [0.6]])).tolist() == [-1.0, 1.5]  # at the threshold: left
    assert forest.contributions(np.array([[0.5], [0.6]])).tolist() == [[-1.25, 0.25], [1.25, 0.25]]
    assert Trees(("x",), ()).scores(np.array([[0.5]])).tolist() == [0.0]


def test_more_rows_than_a_block_are_scored_alike() -> None:
    forest = Trees(("x",), (STUMP, STUMP))
    rows = np.random.default_rng(1).random((1000, 1))
    assert forest.scores(rows).tolist() == [2 * (1.5 if x > 0.5 else -1.0) for x in rows[:, 0]]


@pytest.mark.parametrize(
    "parts",
    [
        ((), (), (), (), ()),
        ((0,), (0.5,), (1,), (2,), (0.0,)),  # its children are missing
        ((0, -1, -1), (0.5, 0.0, 0.0), (1, -1, -1), (1, -1, -1), (0.0, 1.0, 2.0)),  # one child twice
        ((0, -1, -1), (float("nan"), 0.0, 0.0), (1, -1, -1), (2, -1, -1), (0.0, 1.0, 2.0)),
        ((0, -1, -1), (0.5, 0.0, 0.0), (1,), (2, -1, -1), (0.0, 1.0, 2.0)),  # a part is too short
        ((0.5, -1, -1), (0.5, 0.0, 0.0), (1, -1, -1), (2, -1, -1), (0.0, 1.0, 2.0)),  # no number of a feature
    ],
)
def test_what_is_no_tree_is_refused(parts: tuple[tuple[float, ...], ...]) -> None:
    with pytest.raises(BadInput, match="none"):
        Tree(*parts)  # type: ignore[arg-type]


def test_another_number_of_features_or_another_file_is_refused() -> None:
    forest = Trees(("x",), (STUMP,))
    with pytest.raises(BadInput, match="1 features"):
        forest.scores(np.zeros((2, 2)))
    with pytest.raises(BadInput, match="give each a name"):
        Trees((), (STUMP,))
    record = json.loads(Ranker(forest).to_json())
    short = [record["trees"][0] | {"left": [1]}]
    odd = [record | {"format": 2}, record | {"trees": [{}]}, record | {"trees": short}]
    for text in ("", "[]", "{}", *map(json.dumps, odd)):
        with pytest.raises(BadInput, match="python -m training"):
            Ranker.from_json(text)
