"""Each system's score distribution over a corpus: estimated once, kept with the index.

Percentile fusion (Louis, van Dijck & Spanakis, "Know When to Fuse", 2024) asks where a score stands
among all the scores that its system gives. A few questions against every article tell it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from rag.errors import BadInput
from rag.fusion.normalisation import ScoreDistribution
from rag.fusion.settings import FusionSettings
from rag.types import DECIMALS, Article, Floats, Question

FILE = "distributions.json"
FUSION = "fusion.json"  # which fusion an index answers with, where one was chosen for it
QUESTIONS = 100  # that are asked; of a large corpus fewer, so that
SCORES = 5_000_000  # scores of a system are enough
LEAST = 20  # questions, however large the corpus
_LENGTH = 200  # characters of a sentence that stands for a question
_T = TypeVar("_T")
_SENTENCE = re.compile(r"[.!?;。！？；]\s*|\n+")


@runtime_checkable
class ScoresAll(Protocol):
    """A retriever that can score the whole corpus."""

    def scores(self, question: str) -> Floats:
        """Return (n_articles,) float32; -inf for an article that it does not match."""
        ...


def sample(questions: Sequence[Question], articles: Sequence[Article], seed: int = 0) -> tuple[str, ...]:
    """Draw the questions that distributions are estimated from: annotated ones, each text once.

    Where there are too few, headings and sentences of articles stand for the rest: what is asked there is
    about the law at hand too. They are 100, fewer of a corpus of more than 50,000 articles or with too
    little to draw from.
    """
    if not articles:
        return ()
    size = max(LEAST, min(QUESTIONS, SCORES // len(articles)))
    rng = np.random.default_rng(seed)
    texts = list(dict.fromkeys(q.text for q in questions if q.text.strip()))
    drawn = [texts[i] for i in sorted(rng.permutation(len(texts))[:size])]
    law = (_about(articles[i], n) for n, i in enumerate(rng.permutation(len(articles))))
    return tuple(dict.fromkeys([*drawn, *islice(filter(None, law), size - len(drawn))]))


def _about(article: Article, number: int) -> str:
    """Return a heading or a sentence of an article, by turns."""
    if number % 2 and article.headings:
        return article.headings[-1].strip()
    return next((s.strip()[:_LENGTH] for s in _SENTENCE.split(article.text) if len(s.strip()) > 3), "")


def estimate(systems: Mapping[str, ScoresAll], questions: Sequence[str]) -> dict[str, ScoreDistribution]:
    """Ask every system these questions of the whole corpus, and return the distribution of its scores.

    Scores are rounded as rankings round them, so that a hit is found at its own place. That a system
    has learnt from an annotated question lifts the few articles that answer it, of tens of thousands.
    A system that matched nothing at all has no distribution.
    """
    found: dict[str, ScoreDistribution] = {}
    for name, system in systems.items():
        scores = [np.round(system.scores(q).astype(np.float64), DECIMALS) for q in questions]
        everything = np.concatenate(scores) if scores else np.zeros(0)
        if np.isfinite(everything).any():
            found[name] = ScoreDistribution.of(everything)
    return found


def save(distributions: Mapping[str, ScoreDistribution], folder: Path) -> None:
    """Write them into the folder of an index."""
    record = {name: of.to_json() for name, of in distributions.items()}
    (folder / FILE).write_text(json.dumps(record) + "\n", encoding="utf-8")


def load(folder: Path) -> dict[str, ScoreDistribution]:
    """Read what `save` wrote; an index of before has none, and is told so when percentiles are asked for.

    Raises:
        BadInput: the file is something else.
    """
    found = _read(
        folder / FILE, lambda record: {str(k): ScoreDistribution.from_json(v) for k, v in record.items()}
    )
    return found or {}


def save_fusion(settings: FusionSettings, folder: Path) -> None:
    """Write which fusion the index in this folder answers with."""
    (folder / FUSION).write_text(json.dumps(settings.to_json(), indent=1) + "\n", encoding="utf-8")


def load_fusion(folder: Path) -> FusionSettings | None:
    """Read which fusion an index answers with; None where none was chosen.

    Raises:
        BadInput: the file is something else.
    """
    return _read(folder / FUSION, FusionSettings.from_json)


def _read(path: Path, of: Callable[[Any], _T]) -> _T | None:
    try:
        return of(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None
    except (ValueError, AttributeError) as error:
        raise BadInput(f"{path}: {error}") from error
