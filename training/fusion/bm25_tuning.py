"""Choose BM25's k1 and b, field weights, stop words and the fusion of the two lists, on training questions.

`python -m training.tune --corpus LAW --questions TRAIN --output FILE` writes what
`python -m indexes build NAME --bm25 FILE` reads; `python -m training.eval --tune --folds 5` chooses
anew inside every fold.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from indexes.cli.terminal import guarded
from indexes.corpus.corpus import to_learn_from
from indexes.corpus.folds import folds, pick
from indexes.corpus.questions import read_questions
from indexes.sources import registry
from rag.errors import BadInput
from rag.fusion.settings import FusionSettings
from rag.retrieval.hybrid import DEPTH
from rag.types import Progress, Question, Ranking, no_progress
from training.eval.context import BenchSettings
from training.eval.metrics import per_question
from training.eval.system_names import EXPANDED_BM25
from training.eval.workbench import Bench

GRID: Mapping[str, tuple[float, ...]] = {
    "k1": (0.6, 0.9, 1.2, 1.6, 2.0, 2.5),
    "b": (0.2, 0.4, 0.6, 0.75, 0.9),
    "headings": (0.5, 1.0, 2.0, 3.0),
    "code": (0.0, 0.5, 1.0, 2.0),
    "questions": (0.5, 1.0, 2.0, 3.0),
    "stop_words": (True, False),
    "damping": (5.0, 10.0, 20.0, 40.0, 60.0),
    "beside": (0.0, 0.6, 0.7, 0.75, 0.8),
}
FUSED = ("damping", "beside")  # of the fusion: chosen last
MEASURES = ("R@10", "MRR@10", "Success@10")  # their mean is what is made as large as it can be
INNER_FOLDS = 5
Part = tuple[Sequence[Question], Sequence[Question]]  # asked, learnt from


def choose(
    bench: Bench,
    questions: Sequence[Question],
    annotated: Sequence[Question] = (),
    progress: Progress = no_progress,
) -> BenchSettings:
    """Return the settings that serve these training questions best, found one coordinate at a time.

    A question must not be found through itself: unless other annotated questions are given to learn from,
    the questions are split into five inner folds, and each is asked of the others.

    Raises:
        BadInput: too few questions to tune on.
    """
    if len(questions) < 2 * INNER_FOLDS:
        raise BadInput(f"{len(questions)} questions to tune on: give at least {2 * INNER_FOLDS}")
    parts: list[Part] = [(questions, annotated)]
    if not annotated:
        split = folds(len(questions), INNER_FOLDS, seed=0)
        parts = [(pick(questions, fold.held), pick(questions, fold.learn)) for fold in split]
    tried: dict[str, float] = {}

    def score(settings: BenchSettings) -> float:
        key = json.dumps(asdict(settings), sort_keys=True)
        if key not in tried:
            tried[key] = _lexical_score(bench, parts, settings)
        return tried[key]

    best = BenchSettings()
    steps = [(name, value) for _ in range(2) for name in GRID if name not in FUSED for value in GRID[name]]
    for done, (name, value) in enumerate(steps, start=1):
        candidate = _with(best, name, value)
        if score(candidate) > score(best) + 1e-9:
            best = candidate
        progress("tuning BM25", done, len(steps))
    return _fused(bench, parts, best)


def _lexical_score(bench: Bench, parts: Sequence[Part], settings: BenchSettings) -> float:
    """Return the mean of the measures over all parts' questions; one system a part."""
    run: dict[str, Ranking] = {}
    for held, learn in parts:
        system = bench.systems(["bm25+questions"], learn, settings)["bm25+questions"]
        rankings = system.search([q.text for q in held], 10)
        run |= {q.id: ranking for q, ranking in zip(held, rankings, strict=True)}
    return _measured(run, [q for held, _ in parts for q in held])


def _fused(bench: Bench, parts: Sequence[Part], settings: BenchSettings) -> BenchSettings:
    """Choose reciprocal rank's damping, and how far a hybrid lifts neighbours, the lists being what they are.

    The hybrid that is tuned adds up scores rather than ranks:
    on corpora with annotated questions that put the right article first more often (docs/ranking.md).
    """
    test, learn = parts[0]  # an encoder is fitted for each part: one is enough for two numbers
    made = bench.systems([EXPANDED_BM25, "bm25+questions", "dense"], learn, settings)
    found = {name: system.search([q.text for q in test], DEPTH) for name, system in made.items()}

    def scored(keyword: str, fusion: FusionSettings) -> float:
        names = (keyword, "dense")
        fuse = fusion.fuse(names, sections=bench.sections)
        lists = zip(*(found[name] for name in names), strict=True)
        return _measured({q.id: fuse(of, 10) for q, of in zip(test, lists, strict=True)}, test)

    def damped(c: float) -> tuple[float, bool]:
        return scored("bm25+questions", FusionSettings("rrf", damping=c)), c == settings.damping

    def lifted(share: float) -> float:
        return scored(EXPANDED_BM25, FusionSettings("min-max", section_boost=share))

    damping = max(GRID["damping"], key=damped)
    beside = max(GRID["beside"], key=lifted)  # of equals the smallest
    return replace(settings, damping=damping, method="min-max", beside=beside)


def _measured(run: Mapping[str, Ranking], questions: Sequence[Question]) -> float:
    values = per_question({q.id: frozenset(q.article_ids) for q in questions}, run, MEASURES)
    return float(np.mean([values[m].mean() for m in MEASURES]))


def _with(settings: BenchSettings, name: str, value: float) -> BenchSettings:
    if name == "stop_words":
        return replace(settings, stop_words=bool(value))
    if name == "k1":
        return replace(settings, bm25=replace(settings.bm25, k1=value))
    if name == "b":
        return replace(settings, bm25=replace(settings.bm25, b=value))
    weights = {**settings.bm25.weights, name: value}
    return replace(settings, bm25=replace(settings.bm25, weights=weights))


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Tune on the questions given and write the file."""
    top = argparse.ArgumentParser(prog="python -m training.tune", description=__doc__)
    top.add_argument("--corpus", type=Path, required=True, help="a corpus folder or its articles' file")
    top.add_argument(
        "--language", metavar="XX", help="of a corpus without card.json: fr, nl, en, de, it or zh"
    )
    top.add_argument(
        "--questions", type=Path, required=True, help="training questions, never those of a test"
    )
    top.add_argument("--output", type=Path, required=True, help="the file to write")
    parsed = top.parse_args(arguments)
    corpus = registry.law(parsed.corpus, language=parsed.language)
    questions = to_learn_from(read_questions(parsed.questions, corpus.articles))
    settings = choose(Bench(corpus), questions)
    written = {"bm25": asdict(settings.bm25), "analyser": {"stop_words": settings.stop_words}}
    parsed.output.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    print(f"{settings}\nwritten: {parsed.output}; next: python -m indexes build NAME --bm25 {parsed.output}")  # noqa: T201
    return 0
