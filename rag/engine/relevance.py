"""How likely each of the first ten articles answers, and among how many of them the answer stands.

A logistic regression over where an article stands in a question's lists, fitted by `training.confidence`.
The first k of a list hold the answer with the probability 1 - (1 - p1) ... (1 - pk); how high that must be
before a page says "among these k" is calibrated on questions that nothing was fitted to, as split conformal
prediction does (Vovk et al. 2005; Angelopoulos & Bates 2021), over those of which it is said
(Geifman & El-Yaniv 2017).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag.errors import BadInput
from rag.ltr.reranker import KEYWORD
from rag.retrieval.question_knn import QUESTION_KNN
from rag.types import Doubles, Ranking

# name -> which way it may move the probability
SIGNS: Mapping[str, int] = {
    "question": 1,  # log-odds that one of the first ten answers (`rag.engine.confidence`)
    "score": 1,  # fused score
    "behind": -1,  # how far it falls behind the first
    "lead": 1,  # of the first alone: how far the second falls behind it
    "crowd": -1,  # share of the others that stand at most `_NEAR` below it, or above it
    "keyword": 1,  # BM25 score, as a share of the best
    "nearest": 1,  # -log of its rank in the list of question kNN
}
NAMES = tuple(SIGNS)
MAX_SET = 5  # articles: a larger set would tell a reader nothing
_DEEP = 100  # ranks that are told apart in the list of question kNN
_NEAR = 0.1  # of the fused score, which is a sum of scores from 0 to 1


def features(ranking: Ranking, lists: Mapping[str, Ranking], odds: float, most: int = 10) -> Doubles:
    """Return the features of the first articles of a fused ranking, (n, len(NAMES)), n at most `most`.

    `odds` are the log-odds that one of them answers.
    """
    first = ranking[:most]
    scores, n = np.asarray(first.scores, dtype=np.float64), len(first)
    if not n:
        return np.zeros((0, len(NAMES)))
    lead = np.zeros(n)
    lead[0] = scores[0] - scores[1] if n > 1 else scores[0]
    crowd = (scores[None, :] > scores[:, None] - _NEAR).sum(axis=1) - 1
    columns = (
        np.full(n, odds),
        scores,
        scores[0] - scores,
        lead,
        crowd / max(n - 1, 1),
        _shares(lists.get(KEYWORD), first),
        _places(lists.get(QUESTION_KNN), first),
    )
    return np.stack(columns, axis=1)


def _shares(keyword: Ranking | None, first: Ranking) -> Doubles:
    rows = keyword.rows(first.ids) if keyword is not None else np.full(len(first), -1)
    if keyword is None or not len(keyword) or keyword.scores[0] <= 0:
        return np.zeros(len(first))
    return np.where(rows >= 0, np.asarray(keyword.scores)[rows] / keyword.scores[0], 0.0)


def _places(nearest: Ranking | None, first: Ranking) -> Doubles:
    rows = nearest.rows(first.ids) if nearest is not None else np.full(len(first), -1)
    return -np.log(np.where((rows >= 0) & (rows < _DEEP), rows + 1, 2 * _DEEP).astype(np.float64))


_AGAIN = "Fit it again: python -m training.confidence --output DIR"


@dataclass(frozen=True, slots=True)
class Relevance:
    """A fitted regression over `NAMES`, and what must be reached before anything is said of an article."""

    bias: float
    weights: Mapping[str, float]  # of standardised features
    means: Mapping[str, float]
    scales: Mapping[str, float]
    mark: float  # probability from which one article is said to answer very probably
    mass: float  # probability of the first k from which the answer is said to be among them
    coverage: float  # share of the sets told that shall hold an answer

    def __post_init__(self) -> None:
        """Refuse weights that are not for these features (`BadInput`)."""
        for what, numbers in (("weights", self.weights), ("means", self.means), ("scales", self.scales)):
            if set(numbers) != set(NAMES):
                odd = ", ".join(sorted(set(numbers) ^ set(NAMES)))
                raise BadInput(f"relevance {what}: {odd} missing or unknown. {_AGAIN}")
            if not all(math.isfinite(x) and (what != "scales" or x > 0) for x in numbers.values()):
                raise BadInput(f"relevance {what} must be finite numbers, scales above 0. {_AGAIN}")
        if any(self.weights[name] * sign < 0 for name, sign in SIGNS.items()):
            raise BadInput(f"a relevance weight goes against what its feature means. {_AGAIN}")
        limits = (self.mark, self.mass, self.coverage)
        if not math.isfinite(self.bias) or not all(0 <= limit <= 1 for limit in limits):
            raise BadInput(f"relevance bias, mark, mass or coverage is out of range. {_AGAIN}")

    def probabilities(self, rows: Doubles) -> tuple[float, ...]:
        """Return the probability of each row of `features`, 0 to 1."""
        means, scales, weights = (
            np.array([of[name] for name in NAMES]) for of in (self.means, self.scales, self.weights)
        )
        odds = self.bias + ((rows - means) / scales) @ weights
        return tuple((0.5 * (1 + np.tanh(odds / 2))).tolist())

    def answer_set(self, probabilities: Sequence[float]) -> int | None:
        """Return among how many of the first the answer very probably stands; None: nothing is said."""
        return smallest_set(probabilities, self.mass)

    def marks(self, probabilities: Sequence[float]) -> bool:
        """Tell whether the first article may be said to answer very probably: none is likelier."""
        return bool(probabilities) and self.mark <= probabilities[0] == max(probabilities)


def smallest_set(probabilities: Sequence[float], mass: float) -> int | None:
    """Return the least k, `MAX_SET` at most, whose first k hold an answer with this probability."""
    none = 1.0
    for k, probability in enumerate(probabilities[:MAX_SET], start=1):
        none *= 1 - probability
        if 1 - none >= mass:
            return k
    return None
