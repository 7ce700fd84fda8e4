"""Tuned fusion: scale and weights, chosen on questions that no system has learnt from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rag.fusion.normalisation import ScoreDistribution
from rag.fusion.settings import DAMPING, SCALES, FusionSettings, scale
from rag.retrieval.hybrid import Hybrid
from rag.types import Retriever
from training.fusion.inner_folds import InnerAnswers
from training.fusion.weight_search import MEASURES, STEP, SystemRankings, Tuned, as_they_are, tune

INNER_FOLDS = 3  # inner folds that are asked: systems are made anew for each
MOST = 250  # questions of an inner fold that are asked


@dataclass(frozen=True)
class Choice:
    """The scale and the weights that served best, with what the other scales would have given."""

    settings: FusionSettings
    value: float  # mean of the measures, a fraction, on the questions tuned on
    questions: int
    tried: Mapping[str, float]  # scale -> its value at its own best weights

    def __str__(self) -> str:
        """Say what was chosen."""
        return f"{self.settings.method} of {dict(self.settings.weights)}"

    def to_json(self) -> dict[str, Any]:
        """Return it as a result file holds it."""
        return self.settings.to_json() | {
            "value": self.value, "questions": self.questions, "tried": dict(self.tried)
        }  # fmt: skip


def choose(
    answered: Sequence[InnerAnswers],
    systems: Sequence[str],
    measures: Sequence[str] = MEASURES,
    *,
    damping: float = DAMPING,
    step: float = STEP,
) -> Choice:
    """Choose scale and weights of these systems on questions that they have not learnt from.

    Every scale of `rag.fusion.settings.SCALES` is tuned; of those that serve equally well the first is taken.
    Percentiles are left out where a system cannot tell its distribution; they are taken part by part, each by
    its own distributions, for the systems of each part are others. What `tune` refuses is `BadInput` too.
    """
    qrels = {question: gold for a in answered for question, gold in a.qrels.items()}
    runs = {name: {q.id: a.runs[name][q.id] for a in answered for q in a.questions} for name in systems}
    lists = SystemRankings.of(runs, [q.id for a in answered for q in a.questions])
    found: dict[str, Tuned] = {}
    for method in SCALES:
        if method != "percentile":
            share, decimals = scale(method, damping=damping)
            found[method] = tune(lists, qrels, measures, share=share, decimals=decimals, step=step)
        elif all(set(systems) <= set(a.distributions) for a in answered):
            placed = lists.positions([(len(a.questions), a.distributions) for a in answered])
            found[method] = tune(placed, qrels, measures, share=as_they_are, decimals=None, step=step)
    best = max(found, key=lambda method: round(found[method].value, 12))
    tuned = found[best]
    return Choice(
        FusionSettings(best, dict(tuned.weights), damping),
        tuned.value,
        tuned.questions,
        {method: one.value for method, one in found.items()},
    )


class TunedHybrid(Hybrid):
    """A hybrid that tells what was chosen for it; parts of weight 0 are not asked."""

    def __init__(
        self, parts: Mapping[str, Retriever], choice: Choice, distributions: Mapping[str, ScoreDistribution]
    ) -> None:
        """Fuse these parts as was chosen; percentiles alone need the distributions."""
        weights = choice.settings.weights
        used = [name for name in parts if weights[name] > 0]
        if len(used) < 2:  # one system alone: the others add nothing
            used = list(parts)
        settings = replace(choice.settings, weights={name: weights[name] for name in used})
        super().__init__({name: parts[name] for name in used}, settings.fuse(used, distributions))
        self.choice = choice
