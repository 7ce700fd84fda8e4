"""What a learned fusion and its explanation cost a question, beside the fusion by reciprocal rank.

`measure_study` times every fusion of four systems: 88 configurations, weights tuned in five folds.

Trees and networks are made up: what they say does not matter here, how many they are does. The trees have
thresholds that the features of real questions cross, for trees that all rows leave at the root would be no
load.
"""

from __future__ import annotations

import copy
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from indexes.build.build import BuildSettings, build_into
from indexes.build.fit_settings import FitSettings
from indexes.sources import registry
from indexes.store.open_index import open_index
from rag.engine.engine import Engine
from rag.errors import BadInput
from rag.fusion.normalisation import ScoreDistribution
from rag.ltr.features import DEPTH, NAMES, Evidence
from rag.ltr.networks import Network
from rag.ltr.ranker import Ranker
from rag.ltr.reranker import KEYWORD, MEANING, LearnedReranker, first_stage_lists
from rag.ltr.trees import LEAVES, Tree, Trees
from rag.retrieval.hybrid import Hybrid
from rag.types import ArticleOrder, Floats, Ranking
from training.benchmark.timing import ReportFigure
from training.fusion.learned import NETWORKS, LearnedSettings
from training.fusion.listwise import NetworkSettings
from training.fusion.study import configurations, study
from training.fusion.weight_search import SystemRankings

TREES = LearnedSettings().rounds * LearnedSettings().fits  # as many as are fitted
QUESTIONS = 200
SHOWN = 10  # articles that a page shows, and explains
# one pass of each kind: what an encoder costs a question depends on its size, not on how well it was fitted
QUICK = FitSettings(passes=1, question_passes=1)
LISTS = "the two lists alone"
Values: TypeAlias = npt.NDArray[np.float64]

SYSTEMS = ("a", "b", "c", "d")
ARTICLES, LIST_DEPTH, FOLDS = 55_000, 1000, 5


@dataclass(frozen=True)
class FusionTimes:
    """Milliseconds of each question, (n_questions,)."""

    wall: Values
    cores: Values  # on all cores together: what other processes disturb less


def measure(path: Path, say: ReportFigure) -> None:
    """Build an index with a made-up learned fusion over a corpus with questions, and time it.

    Raises:
        BadInput: there are fewer than two questions.
    """
    corpus = registry.law(path)
    texts = [q.text for q in corpus.questions][: QUESTIONS + 1]
    say("articles", len(corpus.articles), "")
    say("annotated questions", len(corpus.questions), "")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "index"
        folder.mkdir()
        settings = BuildSettings(encoder="fit", fit=QUICK, learned=Ranker(Trees((), ())))
        build_into(folder, corpus, "measured", "measured", settings)
        timed(open_index(folder), texts, say)


def timed(engine: Engine, questions: Sequence[str], say: ReportFigure) -> None:
    """Time an engine that has a learned fusion, whose own trees and networks are not looked at.

    Every question is asked of every system, one at a time, as a page asks; the first one warms up.

    Raises:
        BadInput: it has no learned fusion, or there are fewer than two questions.
    """
    if len(questions) < 2:
        name = engine.info.name
        raise BadInput(f"{name}: {len(questions)} questions to ask: give law that has two or more")
    searcher = engine.searcher
    if searcher.learned is None or searcher.meaning is None:
        raise BadInput(f"{engine.info.name} has no learned fusion: fit one with python -m training.train")
    evidence = searcher.learned.evidence
    ranker = random_trees(_features(evidence, questions[:20]), TREES, NETWORKS)
    fused = Hybrid({KEYWORD: searcher.keyword, MEANING: searcher.meaning})
    learned = LearnedReranker(evidence, ranker)
    ways: dict[str, Callable[[str], object]] = {
        LISTS: lambda q: first_stage_lists(evidence, [q]),
        "hybrid": lambda q: fused.search([q], SHOWN),
        "learned": lambda q: learned.search([q], SHOWN),
        "hybrid, asked": _page_query(engine, None),
        "hybrid, asked and explained": _page_query(engine, None, explained=True),
        # rankers of their own: each keeps what it looked up last
        "learned, asked": _page_query(engine, LearnedReranker(evidence, ranker)),
        "learned, asked and explained": _page_query(
            engine, LearnedReranker(evidence, ranker), explained=True
        ),
    }

    def forget() -> None:
        """Clear what one way looked up, of articles and of words, that would be there for the next."""
        engine.explainer.forget()
        if searcher.expanded is not None:
            searcher.expanded.used.cache_clear()

    def median(what: str, values: Values) -> None:
        say(what, float(np.median(values)), "ms")

    took = _interleaved(ways, questions, setup=forget)
    for name, of in took.items():
        median(f"{name}, median of {len(questions) - 1} questions", of.wall)
        say("    least", float(of.wall.min()), "ms")
        median("    on the cores, median", of.cores)
    for name in ("learned", "learned, asked", "learned, asked and explained"):
        ours, theirs = took[name].wall, took[name.replace("learned", "hybrid")].wall
        say(f"{name} / the same of hybrid, medians", float(np.median(ours) / np.median(theirs)), "")
    for name in ("hybrid", "learned"):  # what is neither, known items and topics among it, is in neither part
        fusing = took[name].wall - took[LISTS].wall
        telling = took[f"{name}, asked and explained"].wall - took[f"{name}, asked"].wall
        median(f"{name}: fusing alone, median", fusing)
        median(f"{name}: explaining alone, median", telling)
        median("    both, median", fusing + telling)
    for name in ("hybrid", "learned", "hybrid, asked and explained", "learned, asked and explained"):
        of, lists = took[name], took[LISTS]
        median(f"{name}: adds to the two lists, median", of.wall - lists.wall)
        say("    difference of the least", float(of.wall.min() - lists.wall.min()), "ms")
        median("    on the cores, median", of.cores - lists.cores)


def random_trees(features: Floats, trees: int, networks: int) -> Ranker:
    """Return random trees of eight leaves over all features, and networks of as many units as are fitted.

    The features, (n, len(rag.ltr.features.NAMES)), are of some candidates.
    """
    rng = np.random.default_rng(0)
    made = []
    for _ in range(trees):
        feature, threshold, left, right = [-1], [0.0], [-1], [-1]
        for _ in range(LEAVES - 1):
            leaf = int(rng.choice([i for i, f in enumerate(feature) if f < 0]))
            column = int(rng.integers(features.shape[1]))
            feature[leaf], threshold[leaf] = column, float(rng.choice(features[:, column]))
            left[leaf], right[leaf] = len(feature), len(feature) + 1
            for part, new in ((feature, -1), (left, -1), (right, -1)):
                part.extend((new, new))
            threshold.extend((0.0, 0.0))
        value = rng.standard_normal(len(feature)).tolist()
        made.append(Tree(tuple(feature), tuple(threshold), tuple(left), tuple(right), tuple(value)))
    layers = list(pairwise((features.shape[1], *NetworkSettings().hidden, 1)))
    mean, spread = features.mean(axis=0, dtype=np.float64), features.std(axis=0, dtype=np.float64) + 1e-6
    drawn = []
    for _ in range(networks):
        weights = tuple(rng.standard_normal(layer) for layer in layers)
        drawn.append(Network(mean, spread, weights, tuple(rng.standard_normal(n) for _, n in layers)))
    return Ranker(Trees(NAMES, tuple(made)), tuple(drawn))


def _features(evidence: Evidence, questions: Sequence[str]) -> Floats:
    lists = first_stage_lists(evidence, questions)
    found = [evidence.candidates(q, tuple(of.values())) for q, of in zip(questions, lists, strict=True)]
    rows = np.concatenate([candidates.features for candidates in found])
    if not len(rows):
        raise BadInput(f"none of {len(questions)} questions finds any of {DEPTH} candidates")
    return rows


def _page_query(
    engine: Engine, learned: LearnedReranker | None, *, explained: bool = False
) -> Callable[[str], object]:
    """Return what a page does with a question."""
    page = copy.copy(engine)
    page.searcher = replace(engine.searcher, learned=learned)
    if explained:
        return lambda question: page.explain(page.ask(question, k=SHOWN))
    return lambda question: page.ask(question, k=SHOWN)


def _interleaved(
    ways: Mapping[str, Callable[[str], object]], questions: Sequence[str], setup: Callable[[], object]
) -> dict[str, FusionTimes]:
    """Time each question but the first; the ways take turns, so that a busy moment meets them all."""
    for way in ways.values():  # what is made when it is first needed is there
        way(questions[0])
    wall, cores = (np.zeros((len(ways), len(questions) - 1)) for _ in range(2))
    for n, question in enumerate(questions[1:]):
        for i, way in enumerate(ways.values()):
            setup()
            start, used = time.perf_counter(), time.process_time()
            way(question)
            cores[i, n] = (time.process_time() - used) * 1000
            wall[i, n] = (time.perf_counter() - start) * 1000
    return {name: FusionTimes(wall[i], cores[i]) for i, name in enumerate(ways)}


def measure_study(questions: int, say: ReportFigure) -> None:
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
            best = np.argpartition(-scores, LIST_DEPTH)[:LIST_DEPTH]
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
