"""What several systems returned for the same questions, and what fusing it gives under many weights.

A measure needs only the places of the gold articles, and an article can only pass a gold one if some
system prefers it: so nothing is sorted, and yet every value is the one that `rag.fusion.normalised`
and `training.eval.metrics` give (near ties are summed again exactly).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from rag.errors import BadInput
from rag.fusion import Distribution, Matrix, Share, min_max, percentile
from rag.fusion.matrix_fusion import weighted
from rag.fusion.rank_fusion import as_matrix, in_order
from rag.types import DECIMALS, Bools, Qrels, Ranking, Run, rank
from training.fusion.places import gold_places, measured, parse

DEPTH = 1000  # how far down each list fusion looks
MEASURES = ("R@10", "MRR@10")  # their mean is what tuning makes as large as it can be


@dataclass(frozen=True)
class Lists:
    """What several systems returned for the same questions.

    Attributes:
        systems: their names.
        questions: ids.
        articles: the ids that any system returned for each question, sorted as strings.
        scores: (n_systems, n_questions, n_candidates) float64, nan where a system did not return
            the article; question i's articles come first, what follows is nan.
    """

    systems: tuple[str, ...]
    questions: tuple[str, ...]
    articles: tuple[tuple[str, ...], ...] = field(repr=False)
    scores: Matrix = field(repr=False)

    @classmethod
    def of(cls, runs: Mapping[str, Run], questions: Sequence[str]) -> Lists:
        """Lay runs out; a question that is missing from one was answered by nothing."""
        laid = [as_matrix([run.get(question, ()) for run in runs.values()]) for question in questions]
        width = max((len(ids) for ids, _ in laid), default=0)
        scores = np.full((len(runs), len(questions), width), np.nan)
        for i, (ids, mine) in enumerate(laid):
            scores[:, i, : len(ids)] = mine
        return cls(tuple(runs), tuple(questions), tuple(ids for ids, _ in laid), scores)

    @classmethod
    def joined(cls, parts: Sequence[Lists]) -> Lists:
        """Return the lists of the same systems for several sets of questions, one set after the other.

        Raises:
            BadInput: other systems in one of them, or a question in two.
        """
        systems = parts[0].systems if parts else ()
        questions = tuple(q for part in parts for q in part.questions)
        if any(part.systems != systems for part in parts) or len(set(questions)) < len(questions):
            raise BadInput("lists of other systems, or of one question twice: join those of the same systems")
        width = max((part.scores.shape[2] for part in parts), default=0)
        scores = np.full((len(systems), len(questions), width), np.nan)
        begin = 0
        for part in parts:
            end = begin + len(part.questions)
            scores[:, begin:end, : part.scores.shape[2]] = part.scores
            begin = end
        return cls(systems, questions, tuple(ids for part in parts for ids in part.articles), scores)

    def positions(self, distributions: Mapping[str, Distribution]) -> Lists:
        """Return the lists with each score's position in its system's distribution instead of the score.

        Fused by `as_they_are` they give what the scores give by `rag.fusion.percentile`.
        """
        of = [distributions[name] for name in self.systems]
        found = np.where(np.isfinite(self.scores), percentile(self.scores, of), np.nan)
        return Lists(self.systems, self.questions, self.articles, found)

    def only(self, systems: Sequence[str]) -> Lists:
        """Return the lists of these systems alone."""
        rows = [self.systems.index(name) for name in systems]
        return Lists(tuple(systems), self.questions, self.articles, self.scores[rows])

    def fused(
        self,
        weights: Sequence[float],
        share: Share = min_max,
        k: int = DEPTH,
        decimals: int | None = DECIMALS,
    ) -> dict[str, Ranking]:
        """Return the run of the fusion with these weights."""
        sums = weighted(self.scores, share, weights)
        return {
            question: rank(sums[i, : len(ids)], in_order(ids), k, decimals=decimals)
            for i, (question, ids) in enumerate(zip(self.questions, self.articles, strict=True))
        }


def as_they_are(scores: Matrix) -> Matrix:
    """Return scores that are on one scale already; a missing article has 0."""
    return np.where(np.isfinite(scores), scores, 0.0)


def values_at(
    lists: Lists,
    qrels: Qrels,
    weights: npt.NDArray[np.float64],
    measures: Sequence[str] = MEASURES,
    *,
    share: Share = min_max,
    decimals: int | None = DECIMALS,
) -> dict[str, npt.NDArray[np.float64]]:
    """Return measure -> (n_points, n_questions), one column a question that has gold articles.

    The columns are in the order of qrels, as `training.eval.metrics.per_question` has them; labels of
    other questions are not looked at.

    Args:
        lists: what the systems returned.
        qrels: question id -> gold article ids; each question must be in the lists.
        weights: (n_points, n_systems), each row adding up to 1.
        measures: names of R@k and MRR@k.
        share: how scores are brought to one scale.
        decimals: as in `rag.types.rank`; None for shares that are functions of ranks.

    Raises:
        BadInput: a question without lists, or a measure of another kind.
    """
    row = {question: i for i, question in enumerate(lists.questions)}
    asked = [question for question, gold in qrels.items() if gold]
    if missing := [question for question in asked if question not in row]:
        raise BadInput(
            f"{len(missing)} questions were not asked of the systems, such as {missing[0]!r}: ask them first"
        )
    cut = max((parse(name)[1] for name in measures), default=0)
    found = {name: np.zeros((len(weights), len(asked))) for name in measures}
    for column, question in enumerate(asked):
        i = row[question]
        ids, gold = lists.articles[i], qrels[question]
        shares, held = _one(lists.scores, i, len(ids), share)
        at = [place for place, article_id in enumerate(ids) if article_id in gold]
        places = gold_places(shares, held, at, weights, decimals=decimals, cut=cut)
        for name in measures:
            found[name][:, column] = measured(name, places, len(gold))
    return found


def _one(scores: Matrix, question: int, articles: int, share: Share) -> tuple[Matrix, Bools]:
    mine = scores[:, question : question + 1, :articles]
    return share(mine)[:, 0], np.isfinite(mine[:, 0])
