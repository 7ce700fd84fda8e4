"""From what evidence a class of danger is raised: trees over the scores and rules of writers left out.

What a writer wrote is scored by what the others teach, so that trees learn how far a score can be trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rag.errors import MissingExtra, install_hint
from rag.screening.danger import CLASSES
from rag.screening.danger_classifier import EVIDENCE, Decider, Trees
from rag.types import Bools, Floats, Ints
from training.danger.cases import Example, is_counted, is_story

ROUNDS, LEAVES, RATE = 100, 8, 0.06
FEWEST = 60  # rows of a leaf
PENALTY = 2.0  # of the squared values of leaves
# weights of what is no situation of a class: an ordinary question, and what is near another class
ORDINARY, NEAR_OTHER = 0.15, 0.05
ALARMS, HINTS = 0.04, 0.08  # of the near misses of writers left out: what may be raised, and named
# of ordinary questions, of which some tell of a danger after all
ORDINARY_ALARMS, ORDINARY_HINTS = 0.08, 0.12
STORY_ALARMS, STORY_HINTS = 0.05, 0.2  # of ordinary troubles as people tell them, none of a danger


def require() -> None:
    """Raise MissingExtra where scikit-learn is not installed."""
    try:
        import sklearn.ensemble  # noqa: F401
    except ImportError as error:
        raise MissingExtra(f"the trees of danger need scikit-learn: run {install_hint('models')}") from error


@dataclass(frozen=True, slots=True)
class Judged:
    """Texts and what rules and classifier tell of them."""

    own: Ints  # (texts,) the class that each is a situation of or near to; -1 of ordinary questions
    is_case: Bools  # (texts,)
    is_counted: Bools  # (texts,) thresholds are set by it
    is_story: Bools  # (texts,) an ordinary trouble as somebody told it
    rows: Floats  # (texts, classes, EVIDENCE)

    @classmethod
    def of(cls, examples: Sequence[Example], rows: Floats) -> Judged:
        """Put examples and their evidence together."""
        return cls(
            np.array([CLASSES.index(each.danger) if each.danger else -1 for each in examples]),
            np.array([each.is_case for each in examples]),
            np.array([is_counted(each) for each in examples]),
            np.array([is_story(each) for each in examples]),
            rows,
        )

    def part(self, which: Bools) -> Judged:
        """Return some of the texts."""
        return Judged(
            self.own[which],
            self.is_case[which],
            self.is_counted[which],
            self.is_story[which],
            self.rows[which],
        )

    def fit(self, seed: int) -> Trees:
        """Learn when somebody is in a class, whichever it is.

        A situation of one class says nothing of the others, for people in one danger are often in two.

        Raises:
            MissingExtra: scikit-learn is not installed.
        """
        require()
        from sklearn.ensemble import HistGradientBoostingClassifier

        learnt = list(self._learnt())
        rows, labels, weights = (np.concatenate(each) for each in zip(*learnt, strict=True))
        model = HistGradientBoostingClassifier(
            max_iter=ROUNDS, max_leaf_nodes=LEAVES, learning_rate=RATE, min_samples_leaf=FEWEST,
            l2_regularization=PENALTY, monotonic_cst=EVIDENCE, early_stopping=False, random_state=seed,
        ).fit(rows, labels, weights)  # fmt: skip
        return _trees(model._predictors, float(np.ravel(model._baseline_prediction)[0]))

    def _learnt(self) -> Iterator[tuple[Floats, Bools, Floats]]:
        """Yield rows, whether each is a situation of its class, and what it weighs."""
        for at in range(len(CLASSES)):
            own, near = self.own == at, (self.own >= 0) & (self.own != at) & ~self.is_case
            weight = 1.0 * own + ORDINARY * (self.own < 0) + NEAR_OTHER * near
            which = weight > 0
            yield self.rows[which, at], (own & self.is_case)[which], weight[which]

    def odds(self, trees: Trees) -> Floats:
        """Return what trees tell of each text and class, (texts, classes)."""
        flat = self.rows.reshape(-1, self.rows.shape[-1])
        found: Floats = trees.log_odds(flat).reshape(len(self.rows), -1)
        return found

    def thresholds(self, odds: Floats) -> tuple[float, float]:
        """Return from which log odds a class is raised, and named."""
        near = self.is_counted & (self.own >= 0) & ~self.is_case
        of_near = odds[near, self.own[near]]
        ordinary = odds[self.is_counted & (self.own < 0) & ~self.is_story].max(1, initial=-np.inf)
        stories = odds[self.is_story].max(1, initial=-np.inf)
        raises, hints = (
            max(float(np.quantile(own, 1 - most)) for own, most in each if len(own))
            for each in (
                ((of_near, ALARMS), (ordinary, ORDINARY_ALARMS), (stories, STORY_ALARMS)),
                ((of_near, HINTS), (ordinary, ORDINARY_HINTS), (stories, STORY_HINTS)),
            )
        )
        return raises, hints


def decide(judged: Judged, folds: Ints, seed: int) -> tuple[Decider, Floats]:
    """Return what decides, and the log odds of each text by what other folds teach, (texts, classes)."""
    odds = np.zeros(judged.rows.shape[:2], np.float32)
    for fold in np.unique(folds):
        held = folds == fold
        odds[held] = judged.part(held).odds(judged.part(~held).fit(seed))
    return Decider(judged.fit(seed), *judged.thresholds(odds)), odds


def _trees(predictors: Sequence[Sequence[object]], start: float) -> Trees:
    """Put the nodes of scikit-learn's trees behind each other.

    They stand in no public attribute; a test compares what both make of the same rows.
    """
    of_trees = [tree.nodes for (tree,) in predictors]  # type: ignore[attr-defined]
    sizes = [len(nodes) for nodes in of_trees]
    roots = np.cumsum([0, *sizes[:-1]])
    nodes = np.concatenate(of_trees)
    first, itself, leaf = np.repeat(roots, sizes), np.arange(len(nodes)), nodes["is_leaf"].astype(np.bool_)
    return Trees(
        roots,
        np.where(leaf, 0, nodes["feature_idx"]),
        np.where(leaf, 0, nodes["num_threshold"]).astype(np.float32),
        np.where(leaf, itself, first + nodes["left"]),
        np.where(leaf, itself, first + nodes["right"]),
        np.where(leaf, nodes["value"], 0).astype(np.float32),
        int(nodes["depth"].max()),
        start,
    )


def packed(by: Decider) -> dict[str, npt.NDArray[np.generic]]:
    """Return the arrays that the file of a classifier keeps."""
    trees = by.trees
    return {
        "tree_roots": trees.roots.astype(np.uint16),
        "tree_features": trees.features.astype(np.uint8),
        "tree_thresholds": trees.thresholds,
        "tree_below": trees.below.astype(np.uint16),
        "tree_above": trees.above.astype(np.uint16),
        "tree_values": trees.values,
        "tree_depth": np.array(trees.depth, np.uint8),
        "tree_start": np.array(trees.start, np.float32),
        "raises": np.array(by.raises, np.float32),
        "hints": np.array(by.hints, np.float32),
    }
