"""Examples to fit trees to, with one rule in them that is easy to find."""

from __future__ import annotations

import numpy as np

from rag.ltr.features import NAMES
from rag.types import ArticleOrder, Question, Ranking
from training.fusion.inner_folds import FOLDS
from training.fusion.learned import Example


def made_up(questions: int = 60, candidates: int = 40, seed: int = 0) -> list[Example]:
    """Examples of one obvious rule: gold is where the votes are above 2."""
    rng = np.random.default_rng(seed)
    order = ArticleOrder.of([f"c{n:02}" for n in range(candidates)])
    made = []
    for n in range(questions):
        features = rng.standard_normal((candidates, len(NAMES))).astype(np.float32)
        votes = features[:, NAMES.index("votes")]
        votes[np.argmax(votes)] += 3
        gold = votes > 2
        ids = tuple(np.array(order.ids)[gold].tolist())
        fused = Ranking.of((id_, 1 / (1 + i)) for i, id_ in enumerate(order.ids))
        made.append(Example(Question(f"q{n}", "?", ids), n % FOLDS, order, features, gold, fused))
    return made
