"""Boosted regression trees at question time: scored in numpy, taken apart for explanation.

Trees of at most eight leaves are scored as QuickScorer does (Lucchese et al. 2015): each split that
sends a row to the right rules out the leaves on its left, kept as the bits of one byte; the first leaf
that is left is where the row ends. That is some eight times as fast as walking the trees in numpy.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rag.errors import BadInput
from rag.types import Floats, Ints

FORMAT = 1
REFIT_HINT = "fit it again with python -m training.train fusion INDEX"
LEAVES = 8  # of one tree at most: the bits of a byte
_BLOCK = 256  # rows scored at a time, so that what is compared stays in the processor's cache
Matrix: TypeAlias = npt.NDArray[np.float64]
Places: TypeAlias = npt.NDArray[np.unsignedinteger]  # of numbers among the thresholds of their feature
# the lowest bit that is 0: the first leaf that no split has ruled out
_FIRST_LEFT = np.array([next((b for b in range(8) if not v >> b & 1), 0) for v in range(256)], np.uint8)


@dataclass(frozen=True, slots=True)
class Tree:
    """One regression tree. A row goes left at a split where its feature is at most the threshold.

    Nodes are numbered from 0, the root, and each node's children come after it. Leaves have no
    feature (-1) and no children (-1).
    """

    feature: tuple[int, ...]
    threshold: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    value: tuple[float, ...]  # of a leaf; of a split what it would give if it were one

    def __post_init__(self) -> None:
        """Refuse what is no tree of at most eight leaves."""
        n = len(self.feature)
        if not self._is_one(n):
            raise BadInput(f"a tree of {n} nodes that is none: fit it again with python -m training.train")

    def _is_one(self, n: int) -> bool:
        if not n or {len(part) for part in (self.threshold, self.left, self.right, self.value)} != {n}:
            return False
        whole = all(isinstance(number, int) for number in (*self.feature, *self.left, *self.right))
        if not whole or not all(map(math.isfinite, (*self.threshold, *self.value))):
            return False
        splits = [i for i in range(n) if self.feature[i] >= 0]
        after = all(i < self.left[i] < n and i < self.right[i] < n for i in splits)
        children = sorted(c for i in splits for c in (self.left[i], self.right[i]))
        return after and children == list(range(1, n)) and n - len(splits) <= LEAVES

    def paths(self, node: int = 0) -> list[tuple[int, ...]]:
        """Return for each leaf below a node, from left to right, the nodes that lead to it."""
        if self.feature[node] < 0:
            return [(node,)]
        below = self.paths(self.left[node]) + self.paths(self.right[node])
        return [(node, *path) for path in below]


@dataclass(frozen=True)
class Trees:
    """A sum of trees over named features, and what is to be said of where it comes from."""

    features: tuple[str, ...]
    trees: tuple[Tree, ...] = field(repr=False)
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse trees of features that have no name."""
        most = max((max(tree.feature) for tree in self.trees), default=-1)
        if most >= len(self.features):
            raise BadInput(f"trees of {most + 1} features and {len(self.features)} names: give each a name")

    @cached_property
    def _layout(self) -> _Layout:
        return _Layout.of(self.trees, len(self.features))

    @cached_property
    def id(self) -> str:
        """Short hash of features and trees: what was calibrated with them fits no others."""
        record = json.dumps([self.features, [astuple(tree) for tree in self.trees]])
        return hashlib.sha256(record.encode()).hexdigest()[:16]

    def scores(self, rows: Floats | Matrix) -> Matrix:
        """Return the score, (n,), of each row of numbers, (n, n_features).

        Raises:
            BadInput: another number of features.
        """
        self._check(rows)
        return self._layout.sums(rows) if self.trees and len(rows) else np.zeros(len(rows))

    def best(self, rows: Floats | Matrix, n: int, first: int) -> tuple[Ints, Matrix]:
        """Return the n rows that the first trees find best, in their order, and their `scores` by all trees.

        `rows` are (any number, n_features); returned are positions (n,), fewer where there are fewer rows.
        What boosting finds first tells most: a cascade of rankers (Wang, Lin & Metzler 2011).
        """
        self._check(rows)
        chosen = np.arange(min(n, len(rows)))
        if len(rows) > n and self.trees:  # without trees all are alike
            chosen = np.sort(np.argpartition(-self._layout.first_sums(rows, first), n - 1)[:n])
        return chosen, self.scores(rows[chosen])

    def contributions(self, rows: Floats | Matrix, into: tuple[int, ...] | None = None) -> Matrix:
        """Take scores apart: what each feature moved each row by, and last what all rows begin with.

        A split moves a row from the value of the node to that of the child where it goes (Saabas
        2014); the moves and the values of the roots add up to the score. `rows` are (n, n_features),
        `into` has for each feature, (n_features,), the number of the sum that it goes into, from 0; left
        out, each has its own. Returned is (n, number of sums + 1).
        """
        self._check(rows)
        moves = self._moves(into or tuple(range(len(self.features))))
        if not self.trees or not len(rows):
            return np.zeros((len(rows), moves.shape[-1]))
        leaves, each = self._layout.leaves(rows), np.arange(len(self.trees))
        return np.stack([moves[each, ends].sum(axis=0) for ends in leaves])

    @cached_property
    def _moves(self) -> Callable[[tuple[int, ...]], Matrix]:
        return lru_cache(maxsize=2)(self._summed_moves)

    def _summed_moves(self, into: tuple[int, ...]) -> Matrix:
        """Return what the way to each leaf moves, (n_trees, LEAVES, number of sums + 1)."""
        moves = np.zeros((len(self.trees), LEAVES, max(into, default=-1) + 2))
        for tree, ways in zip(self.trees, moves, strict=True):
            for path, own in zip(tree.paths(), ways, strict=False):
                own[-1] = tree.value[0]
                for node, child in pairwise(path):
                    own[into[tree.feature[node]]] += tree.value[child] - tree.value[node]
        return moves

    def _check(self, rows: Floats | Matrix) -> None:
        if rows.ndim != 2 or rows.shape[1] != len(self.features):
            raise BadInput(f"rows of shape {rows.shape} for {len(self.features)} features: give one a column")

    def to_record(self) -> dict[str, Any]:
        """Return what a file of trees alone holds; floats come back exactly."""
        trees = [asdict(tree) for tree in self.trees]
        return {"format": FORMAT, "about": dict(self.about), "features": self.features, "trees": trees}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Trees:
        """Read what `to_record` gave.

        Raises:
            AttributeError, KeyError, TypeError, ValueError: it is something else.
        """
        trees = tuple(Tree(**{k: tuple(v) for k, v in tree.items()}) for tree in record["trees"])
        return cls(tuple(map(str, record["features"])), trees, dict(record["about"]))

    def times(self, factor: float) -> Trees:
        """Return the trees whose scores are so many times as large."""
        larger = (replace(tree, value=tuple(factor * value for value in tree.value)) for tree in self.trees)
        return replace(self, trees=tuple(larger))


@dataclass(frozen=True)
class _Layout:
    """Trees as arrays, split j of every tree together; what a tree lacks rules out nothing.

    A row is first brought to how many of a feature's thresholds it is above: a byte, mostly, which is
    compared four times as fast as the number itself, and divides rows in the same way.
    """

    thresholds: tuple[Matrix, ...]  # of each feature, (n_thresholds,) from the lowest to the highest
    feature: npt.NDArray[np.int64]  # (LEAVES - 1, n_trees)
    threshold: Matrix  # the same shape
    place: Places  # the same shape: of the threshold among those of its feature
    ruled_out: npt.NDArray[np.uint8]  # the same shape: the leaves on the left
    value: Matrix  # (n_trees * 256,), of the leaf that is left, by the leaves that are ruled out

    @classmethod
    def of(cls, trees: Sequence[Tree], features: int) -> _Layout:
        shape = (LEAVES - 1, len(trees))
        feature, threshold = np.zeros(shape, np.int64), np.zeros(shape)
        ruled_out = np.zeros(shape, np.uint8)
        value = np.zeros((len(trees), LEAVES))
        for t, tree in enumerate(trees):
            ends = [path[-1] for path in tree.paths()]
            value[t, : len(ends)] = [tree.value[leaf] for leaf in ends]
            for j, node in enumerate(i for i, f in enumerate(tree.feature) if f >= 0):
                feature[j, t], threshold[j, t] = tree.feature[node], tree.threshold[node]
                left = {path[-1] for path in tree.paths(tree.left[node])}
                ruled_out[j, t] = sum(1 << n for n, leaf in enumerate(ends) if leaf in left)
        split = ruled_out > 0
        thresholds = tuple(np.unique(threshold[split & (feature == f)]) for f in range(features))
        place = np.zeros(shape, np.min_scalar_type(max((len(of) for of in thresholds), default=0)))
        for f, of in enumerate(thresholds):
            mine = split & (feature == f)
            place[mine] = np.searchsorted(of, threshold[mine])
        return cls(thresholds, feature, threshold, place, ruled_out, value[:, _FIRST_LEFT].ravel())

    def sums(self, rows: Floats | Matrix) -> Matrix:
        """Return the sums of the leaves of all trees, (n,)."""
        above, sums = self._above(rows), np.zeros(len(rows))
        for begin in range(0, len(sums), _BLOCK):
            block = above[:, begin : begin + _BLOCK]
            sums[begin : begin + _BLOCK] = self._summed(block, self.place, len(self.place[0]))
        return sums

    def first_sums(self, rows: Floats | Matrix, trees: int) -> Matrix:
        """Return the sums of the leaves of the first trees, (n,): for a few, numbers are compared themselves.

        A number of 32 bits is above a threshold where it is above the next lower one of 32 bits.
        """
        bounds, columns = self.threshold[:, :trees], np.ascontiguousarray(rows.T)
        if columns.dtype == np.float32:
            single = bounds.astype(np.float32)
            bounds = np.where(single > bounds, np.nextafter(single, np.float32(-np.inf)), single)
        return self._summed(columns, bounds, trees)

    def _summed(self, columns: np.ndarray, bounds: np.ndarray, trees: int) -> Matrix:
        """Return the sums of the leaves of the first trees, (n,), of what is compared with bounds."""
        gone = np.zeros((trees, columns.shape[1]), dtype=np.uint8)  # the leaves that are ruled out
        for feature, bound, out in zip(self.feature, bounds, self.ruled_out, strict=True):
            right = (columns.take(feature[:trees], axis=0) > bound[:trees, None]).view(np.uint8)
            right *= out[:trees, None]
            gone |= right
        at = np.add(gone, np.arange(trees)[:, None] * 256, dtype=np.int64)
        leaves = self.value.take(at, mode="clip")  # "clip" is quicker, and clips none
        return np.asarray(leaves.sum(axis=0), np.float64)

    def leaves(self, rows: Floats | Matrix) -> npt.NDArray[np.uint8]:
        """Return the leaf of each tree that each row ends in, (n, n_trees), numbered from the left."""
        # few rows: what is long lies along the second axis, which is what numpy runs through fast
        above = np.ascontiguousarray(self._above(rows).T)
        gone = np.zeros((len(rows), self.feature.shape[1]), dtype=np.uint8)
        for feature, place, out in zip(self.feature, self.place, self.ruled_out, strict=True):
            gone |= (above.take(feature, axis=1) > place).view(np.uint8) * out
        return np.asarray(_FIRST_LEFT.take(gone))

    def _above(self, rows: Floats | Matrix) -> Places:
        """Return how many thresholds of each feature each row is above, (n_features, n)."""
        above = np.zeros(rows.T.shape, dtype=self.place.dtype)
        for mine, column, of in zip(above, rows.T, self.thresholds, strict=True):
            if not len(of) or not len(column):
                continue
            if column[0] == column[-1] and (column == column[0]).all():  # what is known of the question
                mine[:] = of.searchsorted(column[0])
            else:
                mine[:] = of.searchsorted(column)
        return above
