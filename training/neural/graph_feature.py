"""What the scores of a graph network add to the learned fusion.

    python -m training.neural.graph_feature --corpus ../shared/data/stard --folds 2 --only-fold 0 \
        --set model.graph.architecture=sage --set model.graph.references=none

Each question that the fusion learns from is asked of a network that has learnt from the other inner folds
alone (stacked generalisation: Wolpert 1992), so that the fusion learns what such scores are worth for a
question that no network has seen.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from indexes.cli.progress import Bars
from indexes.cli.terminal import guarded
from indexes.corpus.corpus import Corpus, to_learn_from
from indexes.corpus.folds import pick
from indexes.describing.significance import paired_bootstrap
from indexes.sources import registry
from rag.errors import BadInput
from rag.ltr.features import NAMES
from rag.ltr.ranker import Ranker
from rag.ltr.reranker import first_stage_lists
from rag.types import Floats, Ints, Question, Ranking, rank
from training.eval.context import BenchLike, BenchSettings
from training.eval.metrics import per_question
from training.eval.workbench import Bench
from training.fusion.learned import MEASURED, MEASURES, LearnedSettings, MoreFeatures, examples, fit
from training.neural.data.task import TrainingTask
from training.neural.recipe.recipe import read_recipe
from training.neural.recipe.settings import Recipe
from training.neural.run import dev_judge, prepared, training_batches
from training.neural.systems.graph_network import GraphNetwork
from training.neural.systems.registry import KINDS
from training.neural.trainer.distributed import World
from training.neural.trainer.logging import TrainingLog
from training.neural.trainer.loop import TrainingRun, train
from training.neural.trainer.validation import split_dev
from training.splits.file import evaluated_folds

# features: cosine, log of the rank from 0, share of the best
ADDED = ("refined", "refined_rank", "refined_share")
WITHOUT, WITH = "learned", "learned + graph network"


@dataclass(frozen=True)
class Refined:
    """Vectors that a network refined, and how its questions are read."""

    articles: Floats  # (n_articles, dim), of unit length
    question: Callable[[str], Floats]  # -> (dim,), of unit length

    def features(self, question: str, positions: Ints) -> Floats:
        """Return (n, 3) of candidates: what `ADDED` names."""
        cosine = self.articles[positions] @ self.question(question)
        place = np.empty(len(cosine))
        place[np.argsort(-cosine, kind="stable")] = np.arange(len(cosine))
        best = max(float(cosine.max(initial=0)), 1e-6)
        return np.stack([cosine, np.log1p(place), cosine / best], axis=1).astype(np.float32)


def network_features(recipe: Recipe, corpus: Corpus, seed: int, log: TrainingLog) -> MoreFeatures:
    """Return what trains a network on questions, and gives the features of others."""

    def train_network(questions: Sequence[Question]) -> Callable[[str, Ints], Floats]:
        import torch

        learn, dev = split_dev(questions, recipe.evaluation.dev, seed)
        task = TrainingTask(recipe, corpus, tuple(learn), tuple(dev), (), seed)
        with tempfile.TemporaryDirectory() as folder:
            world = World(torch.device("cpu"))
            system = prepared(task, world, Path(folder) / "scratch")
            if not isinstance(system, GraphNetwork):
                raise BadInput(_no_network(recipe))
            run = TrainingRun(
                system, training_batches(task), dev_judge(task), world, log, Path(folder) / "run"
            )
            train(run)
        system.module.eval()

        def encode(text: str) -> Floats:
            vector: Floats = system.encoder.encode_questions([text])[0]
            return vector

        return Refined(system.refined(corpus), encode).features

    return train_network


def _no_network(recipe: Recipe) -> str:
    return f"{recipe.name} trains no graph network: give --recipe static-gir, or one like it"


def rankings(
    bench: BenchLike,
    learn: Sequence[Question],
    held: Sequence[Question],
    more: MoreFeatures,
    fitting: LearnedSettings | None = None,
) -> Mapping[str, Mapping[str, Ranking]]:
    """Return rankings of the questions held back, by the learned fusion without and with the added features.

    Both are fitted to the same candidates of the same questions. Raises as `examples` of the fusion.
    """
    settings = BenchSettings()
    found = list(examples(bench, learn, settings, more=more))
    rankers: Mapping[str, Ranker] = {WITHOUT: fit(found, fitting), WITH: fit(found, fitting, added=ADDED)}
    evidence, features = bench.evidence(learn, settings), more(learn)
    columns = (*NAMES, *ADDED)
    runs: dict[str, dict[str, Ranking]] = {name: {} for name in rankers}
    for question in held:
        [lists] = first_stage_lists(evidence, [question.text])
        candidates = evidence.candidates(question.text, tuple(lists.values()))
        at = candidates.positions
        rows = np.hstack([candidates.features, features(question.text, at)])
        for name, ranker in rankers.items():
            of = [columns.index(feature) for feature in ranker.features]
            runs[name][question.id] = rank(ranker.scores(rows[:, of]), bench.order.subset(at), MEASURED)
    return runs


@guarded
def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 2 after a bad argument."""
    args = _parser().parse_args(argv)
    recipe = read_recipe(args.recipe, args.set)
    if not KINDS[recipe.system].over_law:  # told before the work
        raise BadInput(_no_network(recipe))
    corpus, _ = registry.load(registry.detect(args.corpus), args.corpus)
    values: dict[str, dict[str, list[float]]] = {WITHOUT: {}, WITH: {}}
    only = None if args.only_fold is None else str(args.only_fold)
    for fold in evaluated_folds(corpus.questions, None, args.folds, args.seed, only):
        learn = to_learn_from(pick(corpus.questions, fold.learn))
        held = [q for q in pick(corpus.questions, fold.held) if q.article_ids]
        more = network_features(recipe, corpus, 1, TrainingLog())
        runs = rankings(Bench(corpus, progress=Bars()), learn, held, more)
        qrels = {q.id: frozenset(q.article_ids) for q in held}
        for name, run in runs.items():
            for measure, each in per_question(qrels, run, MEASURES).items():
                values[name].setdefault(measure, []).extend(each.tolist())
    print(f"{recipe.name}, {len(values[WITH][MEASURES[0]])} questions")
    record = {}
    for measure in MEASURES:
        plain, added = (np.array(values[name][measure]) for name in (WITHOUT, WITH))
        gain, p = paired_bootstrap(added - plain, args.seed)
        low, high = 100 * gain.low, 100 * gain.high
        print(
            f"{measure:8} {WITHOUT} {100 * plain.mean():.1f}, {WITH} {100 * added.mean():.1f}: "
            f"{100 * gain.value:+.1f} [{low:+.1f}, {high:+.1f}], p {p:.3f}"
        )
        record[measure] = {"without": plain.mean(), "with": added.mean(), "interval": [low, high], "p": p}
    if args.output is not None:
        args.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m training.neural.graph_feature", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = parser.add_argument
    add("--corpus", type=Path, required=True, help="a corpus with annotated questions")
    add("--recipe", default="static-gir", help="of a graph network (static-gir)")
    add("--set", action="append", default=[], metavar="TABLE.KEY=VALUE", help="another value in the recipe")
    add("--folds", type=int, default=2, help="cross-validate: learn from the other folds (2)")
    add("--only-fold", type=int, metavar="I", help="ask the questions of this fold alone, from 0")
    add("--seed", type=int, default=42, help="of folds and bootstrap (42)")
    add("--output", type=Path, metavar="FILE", help="write the measures there too, as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
