"""What every fusion of four systems takes: 88 configurations, weights tuned in five folds."""

from __future__ import annotations

import time

import numpy as np

from rag.fusion.normalisation import ScoreDistribution
from rag.types import ArticleOrder, Ranking
from training.benchmark.timing import ReportFigure
from training.fusion.study import configurations, study
from training.fusion.weight_search import SystemRankings

SYSTEMS = ("a", "b", "c", "d")
ARTICLES, DEPTH, FOLDS = 55_000, 1000, 5


def measure(questions: int, say: ReportFigure) -> None:
    """Time the study of so many questions, of which every system ranks 1,000 articles."""
    rng = np.random.default_rng(0)
    order = ArticleOrder.of([str(n) for n in range(ARTICLES)])
    runs: dict[str, dict[str, Ranking]] = {name: {} for name in SYSTEMS}
    qrels = {}
    for question in map(str, range(questions)):
        gold, fits = rng.integers(0, ARTICLES, 2), rng.standard_normal(ARTICLES)
        fits[gold] += 3
        for run in runs.values():  # systems agree as much as they err
            scores = fits + rng.standard_normal(ARTICLES)
            best = np.argpartition(-scores, DEPTH)[:DEPTH]
            best = best[np.argsort(-scores[best])]
            run[question] = Ranking(order, best, np.round(scores[best], 5))
        qrels[question] = frozenset(order.ids[position] for position in gold.tolist())
    told = ScoreDistribution.of(rng.normal(0, np.sqrt(2), 100_000))
    start, used = time.perf_counter(), time.process_time()
    lists = SystemRankings.of(runs, list(qrels))
    study(lists, qrels, [(questions, dict.fromkeys(SYSTEMS, told))], np.arange(questions) % FOLDS)
    say("configurations", len(configurations(SYSTEMS)), "")
    say("questions", questions, "")
    say("fusing them all", time.perf_counter() - start, "s")
    say("    on the cores", time.process_time() - used, "s")
