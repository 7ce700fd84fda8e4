"""How many of the ranked articles a model is shown."""

from __future__ import annotations

from collections.abc import Sequence

from rag.answer.generation.settings import MOST_ARTICLES

LEAST = 3  # a wrong first place must not be all that the model sees
DROP = 0.5  # of the best score; below it an article has little to do with the question


def how_many(scores: Sequence[float], *, setting: int | None = 10, typical: float | None = None) -> int:
    """Return how many of the best articles to show the model.

    Ten by default: a longer list costs tokens and gives a model more to mix up, while the areas of law
    differ in how many articles answer a question (the median over an area's annotated questions runs
    from 1 to 15). With `setting=None` the number adapts: articles are shown down to the first whose score
    is less than half of the best one's, but no fewer than the area typically needs, nor than three, and
    no more than fifteen, the largest of those medians.

    Args:
        scores: of the ranked articles, best first.
        setting: a fixed number; None to adapt.
        typical: the median number of gold articles in the question's area of law, where it is known.
    """
    if setting is not None:
        return min(max(setting, 0), len(scores))
    near = len(scores)
    if scores and scores[0] > 0:
        near = next((i for i, score in enumerate(scores) if score < DROP * scores[0]), len(scores))
    needed = LEAST if typical is None else max(LEAST, round(typical))
    return min(max(near, needed), MOST_ARTICLES, len(scores))
