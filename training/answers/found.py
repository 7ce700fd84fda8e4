"""What the systems of a run find for its questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rag.types import Question, Ranking
from training.eval.workbench import Bench

Rankings = Mapping[str, Mapping[str, Ranking]]  # system -> question id -> its first articles
Part = tuple[Sequence[Question], Sequence[Question]]  # to ask, and to learn from


def sample(questions: Sequence[Question], limit: int | None, seed: int) -> list[Question]:
    """Return at most so many questions, drawn by the seed, in their order."""
    if limit is None or limit >= len(questions):
        return list(questions)
    drawn = np.random.default_rng(seed).permutation(len(questions))[: max(limit, 0)]
    return [questions[i] for i in sorted(drawn.tolist())]


def rankings(bench: Bench, names: Sequence[str], parts: Sequence[Part], depth: int) -> Rankings:
    """Return each system's first articles for every question, having learnt as its part says.

    Args:
        bench: of the corpus.
        names: of systems.
        parts: questions to ask and to learn from, fold by fold.
        depth: how many articles of a question.

    Raises:
        BadInput: no such system, or it has nothing to learn from.
    """
    found: dict[str, dict[str, Ranking]] = {name: {} for name in names}
    total, done = len(names) * sum(len(held) for held, _ in parts), 0
    for held, learn in parts:
        systems = bench.systems(names, learn) if held else {}
        for name, system in systems.items():
            for question in held:
                [found[name][question.id]] = system.search([question.text], depth)
                done += 1
                bench.tell("searching", done, total)
    return found
