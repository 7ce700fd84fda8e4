"""How far a list is ranked by the graph, chosen on questions that no system has learnt from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag.graph.smoothing import PAGERANK, Smooth, rerank
from rag.types import ArticleOrder
from training.eval.metrics import per_question
from training.fusion.inner_folds import InnerAnswers
from training.fusion.weight_search import DEPTH, MEASURES

WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)
DAMPINGS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7)


@dataclass(frozen=True)
class GraphChoice:
    """The weight that served best, of equal ones the least."""

    kind: str  # of rag.graph.smoothing.KINDS
    weight: float
    questions: int
    tried: Mapping[float, float]  # weight -> mean of the measures, a fraction, on the questions chosen on

    def to_json(self) -> dict[str, Any]:
        """Return it as a result file holds it."""
        tried = {str(weight): value for weight, value in self.tried.items()}
        return {"kind": self.kind, "weight": self.weight, "questions": self.questions, "tried": tried}

    def __str__(self) -> str:
        """Say what was chosen."""
        return f"{self.kind} with weight {self.weight}"


def choose_weight(
    kind: str,
    system: str,
    answered: Sequence[tuple[InnerAnswers, Smooth]],
    order: ArticleOrder,
    measures: Sequence[str] = MEASURES,
) -> GraphChoice:
    """Choose the weight of a way to rank the lists of a system by the graph.

    Each part of the questions comes with the way that was made of what the system had learnt from.
    """
    qrels = {question: gold for part, _ in answered for question, gold in part.qrels.items()}
    tried: dict[float, float] = {}
    for weight in DAMPINGS if kind == PAGERANK else WEIGHTS:
        runs = {
            question: rerank(ranking.within(order), smooth, weight, DEPTH)
            for part, smooth in answered
            for question, ranking in part.runs[system].items()
        }
        values = per_question(qrels, runs, measures)
        tried[weight] = sum(float(values[measure].mean()) for measure in measures) / len(measures)
    best = max(tried, key=lambda weight: round(tried[weight], 12))
    return GraphChoice(kind, best, len(qrels), tried)
