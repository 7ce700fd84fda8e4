"""Boosted regression trees at question time: scored in numpy, taken apart for explanation, kept as JSON.

Trees of at most eight leaves are scored as QuickScorer does (Lucchese et al. 2015): each split that
sends a row to the right rules out the leaves on its left, kept as the bits of one byte; the first leaf
that is left is where the row ends. That is some eight times as fast as walking the trees in numpy.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rag.errors import BadInput
from rag.types import Floats

FORMAT = 1
LEAVES = 8  # of one tree at most: the bits of a byte
_BLOCK = 256  # rows scored at a time, so that what is compared stays in the processor's cache
Matrix: TypeAlias = npt.NDArray[np.float64]
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
        return _Layout.of(self.trees)

    @cached_property
    def id(self) -> str:
        """Short hash of features and trees: what was calibrated with them fits no others."""
        told = json.dumps([self.features, [astuple(tree) for tree in self.trees]])
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def scores(self, rows: Floats | Matrix) -> Matrix:
        """Return the score of each row, (n,).

        Args:
            rows: (n, n_features), all of them numbers.

        Raises:
            BadInput: another number of features.
        """
        self._check(rows)
        scores = np.zeros(len(rows))
        for begin in range(0, len(rows) if self.trees else 0, _BLOCK):
            part = slice(begin, begin + _BLOCK)
            scores[part] = self._layout.scores(rows[part])
        return scores

    def contributions(self, rows: Floats | Matrix) -> Matrix:
        """Take scores apart: what each feature moved each row by, and last what all rows begin with.

        A split moves a row from the value of the node to that of the child where it goes (Saabas
        2014); the moves and the values of the roots add up to the score.

        Returns:
            (n, n_features + 1)
        """
        self._check(rows)
        moved = np.zeros((len(rows), len(self.features) + 1))
        if self.trees and len(rows):
            leaves, each = self._layout.leaves(rows), np.arange(len(self.trees))
            for own, ends in zip(moved, leaves.T, strict=True):
                own += self._moves[each, ends].sum(axis=0)
        return moved

    @cached_property
    def _moves(self) -> Matrix:
        """What the way to each leaf moves, (n_trees, LEAVES, n_features + 1)."""
        moves = np.zeros((len(self.trees), LEAVES, len(self.features) + 1))
        for tree, ways in zip(self.trees, moves, strict=True):
            for path, own in zip(tree.paths(), ways, strict=False):
                own[-1] = tree.value[0]
                for node, child in pairwise(path):
                    own[tree.feature[node]] += tree.value[child] - tree.value[node]
        return moves

    def _check(self, rows: Floats | Matrix) -> None:
        if rows.ndim != 2 or rows.shape[1] != len(self.features):
            raise BadInput(f"rows of shape {rows.shape} for {len(self.features)} features: give one a column")

    def to_json(self) -> str:
        """Return the file's text; floats come back exactly."""
        trees = [asdict(tree) for tree in self.trees]
        record = {"format": FORMAT, "about": dict(self.about), "features": self.features, "trees": trees}
        return json.dumps(record, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Trees:
        """Read what `to_json` wrote.

        Raises:
            BadInput: it is something else, or of another version.
        """
        again = "fit them again with python -m training.train fusion INDEX"
        try:
            record = json.loads(text)
            if record["format"] != FORMAT:
                raise BadInput(f"trees of format {record['format']}, this version reads {FORMAT}: {again}")
            trees = tuple(Tree(**{k: tuple(v) for k, v in tree.items()}) for tree in record["trees"])
            return cls(tuple(map(str, record["features"])), trees, dict(record["about"]))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise BadInput(f"no trees ({error}): {again}") from error


@dataclass(frozen=True)
class _Layout:
    """Trees as arrays, split j of every tree together; what a tree lacks rules out nothing."""

    feature: npt.NDArray[np.int64]  # (LEAVES - 1, n_trees)
    threshold: Matrix  # the same shape
    single: Floats  # the same, for rows of single precision
    ruled_out: npt.NDArray[np.uint8]  # the same shape: the leaves on the left
    value: Matrix  # (n_trees * 256,), of the leaf that is left, by the leaves that are ruled out

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> _Layout:
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
        return cls(feature, threshold, _rounded_down(threshold), ruled_out, value[:, _FIRST_LEFT].ravel())

    def scores(self, rows: Floats | Matrix) -> Matrix:
        """Return (n,) sums of leaves."""
        gone = self._gone(rows)
        at = np.add(gone, np.arange(len(gone))[:, None] * 256, dtype=np.int64)
        return np.asarray(self.value.take(at, mode="clip").sum(axis=0))  # "clip" is quicker, and clips none

    def leaves(self, rows: Floats | Matrix) -> npt.NDArray[np.uint8]:
        """Return the leaf of each tree that each row ends in, (n_trees, n), numbered from the left."""
        return np.asarray(_FIRST_LEFT.take(self._gone(rows)))

    def _gone(self, rows: Floats | Matrix) -> npt.NDArray[np.uint8]:
        """Return the leaves that are ruled out, (n_trees, n)."""
        of_feature = np.ascontiguousarray(rows.T)
        thresholds = self.single if rows.dtype == np.float32 else self.threshold
        gone = np.zeros((self.feature.shape[1], len(rows)), dtype=np.uint8)
        for feature, threshold, out in zip(self.feature, thresholds, self.ruled_out, strict=True):
            right = (of_feature.take(feature, axis=0) > threshold[:, None]).view(np.uint8)
            right *= out[:, None]
            gone |= right
        return gone


def _rounded_down(thresholds: Matrix) -> Floats:
    """Return the largest numbers of single precision that are not above: they divide such numbers alike."""
    with np.errstate(over="ignore"):
        single = thresholds.astype(np.float32)
    return np.where(single > thresholds, np.nextafter(single, np.float32(-np.inf)), single)
