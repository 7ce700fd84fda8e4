"""The systems of a sweep: its models, what they re-rank and fusions of them, asked by `training.eval`.

No training knows the questions that are asked, nor those that weights of fusions are chosen on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from indexes.cli.progress import Bars
from indexes.corpus.corpus import Corpus, human_or_synthetic
from indexes.store import paths
from indexes.store.manifest import digest as file_sha256
from rag.errors import BadInput
from rag.types import Question
from training.eval.__main__ import evaluate_plan
from training.eval.__main__ import parser as evaluation_parser
from training.eval.report import METRICS
from training.eval.system_names import MODEL, TUNED, by_graph, excluded_features, fused, parse_rerank
from training.eval.workbench import Bench
from training.fusion.inner_folds import LEAST
from training.fusion.learned import TO_LEARN_FROM
from training.neural.data.seen_questions import digest, key, keys
from training.neural.data.task import MANIFEST, TrainingTask
from training.neural.recipe.settings import PAIRS, Recipe
from training.neural.recipe.sweep import SYSTEMS, Sweep, made_of, rerankings
from training.neural.result import fitted_questions

_IDENTITY = "asked_of"  # of metrics.json there


@dataclass(frozen=True)
class Pipeline:
    """The systems of a sweep, what they are asked and what they may know."""

    sweep: Sweep
    corpus: Corpus
    held: tuple[Question, ...] = field(repr=False)  # asked
    learn: tuple[Question, ...] = field(repr=False)  # of people; what learns besides the models has these
    dev: tuple[Question, ...] = field(repr=False)  # weights of fusions are chosen on them

    @classmethod
    def of(
        cls,
        sweep: Sweep,
        own: Sequence[TrainingTask],
        others: Sequence[TrainingTask],
        recipes: Mapping[str, Recipe],
    ) -> Pipeline:
        """Take the trainings on the corpus that is asked, those on other data, and recipes by training.

        Raises:
            BadInput: the systems could not be asked when all is trained; the text says what to type.
        """
        if not own:
            raise BadInput(f"{sweep.name}: no training is on the data of --corpus, which its systems search")
        first = own[0]
        if any(digest(task.held) != digest(first.held) for task in own):
            raise BadInput(
                f"{sweep.name}: its trainings hold back different questions: give all the same data"
            )
        if not any(q.article_ids for q in first.held):
            raise BadInput(
                f"{sweep.name} holds back no question to ask its systems: give a corpus with some that "
                "are marked test, or --folds 5 --fold 0"
            )
        learnt = {key(q): q for task in own for q in task.learn}
        known = learnt.keys() | {key(q) for task in others for q in task.learn}
        dev = {key(q): q for task in own for q in task.dev if q.article_ids and key(q) not in known}
        people, _ = human_or_synthetic(learnt.values())
        made = cls(sweep, first.corpus, first.held, tuple(people), tuple(dev.values()))
        made._check(recipes)
        return made

    def _check(self, recipes: Mapping[str, Recipe]) -> None:
        for name in dict.fromkeys(part for system in self.sweep.systems for part in made_of(system)):
            how, _ = parse_rerank(name) or ("", "")
            reader = recipes.get(how.removeprefix(MODEL))
            if reader is not None and reader.system not in PAIRS:
                raise BadInput(
                    f"{name}: {reader.name} is a {reader.system}; what re-ranks is a {' or '.join(PAIRS)}"
                )
            if _tuned(name) and len(self.dev) < LEAST:
                raise BadInput(
                    f"{name}: {len(self.dev)} dev questions that no training of {self.sweep.name} learns "
                    f"from, at least {LEAST} are needed to choose weights on: give all recipes the same "
                    "share of dev questions, such as --set evaluation.dev=0.3"
                )
            if excluded_features(name) is not None and len(self.learn) < TO_LEARN_FROM:
                raise BadInput(
                    f"{name}: {len(self.learn)} questions to learn from, at least {TO_LEARN_FROM} are "
                    "needed: leave it out of systems"
                )

    def __str__(self) -> str:
        """Say what will be asked."""
        return (
            f"systems, when all is trained: {', '.join(self.sweep.systems)}\n"
            f"{len(self.held)} questions asked; weights of fusions chosen on {len(self.dev)} dev questions "
            "that no training learns from"
        )

    def ask(self, trained: Mapping[str, Path], parsed: argparse.Namespace, command: str) -> dict[str, Any]:
        """Ask the systems, write the folder `systems`, whole or not at all, and return its metrics.json.

        Where it is there already it is read. `trained` are results by the name of their training.

        Raises:
            BadInput: what is there is of other models, systems or questions, or a model knows dev questions.
        """
        for name, result in trained.items():
            learnt = keys(self.dev) & fitted_questions(result)
            if learnt and any(map(_tuned, self.sweep.systems)):
                raise BadInput(
                    f"{name} began with a model that has learnt {len(learnt)} of the {len(self.dev)} dev "
                    "questions, on which weights of fusions are chosen: begin with another model"
                )
        folder = parsed.output / SYSTEMS
        identity = self._identity(trained)
        if not folder.exists():
            typed = self._arguments(trained, parsed, folder)
            with closing(Bars()) as progress:
                cache = paths.home() / "cache" / "eval"
                bench = Bench(self.corpus, cache, fitted_to=[self.corpus], progress=progress)
                facts = {
                    _IDENTITY: identity,
                    "learnt_from": f"{len(self.learn)} questions; models as the folders beside this one say",
                    "tuned_on": f"{len(self.dev)} dev questions that no training learnt from",
                    "published": [asdict(row) for row in self.sweep.published],
                }
                plan = [(list(self.held), list(self.learn), list(self.dev))]
                evaluate_plan(
                    evaluation_parser().parse_args(typed), bench, plan, [command], progress, facts=facts
                )
        entry: dict[str, Any] = json.loads((folder / METRICS).read_text(encoding="utf-8"))
        if entry.get(_IDENTITY) != identity:
            raise BadInput(
                f"{folder} is of other trainings, systems or questions: remove it (rm -r {folder}) and type "
                "the same again"
            )
        return entry

    def _arguments(self, trained: Mapping[str, Path], parsed: argparse.Namespace, folder: Path) -> list[str]:
        """Return the arguments of `training.eval` that ask the systems."""
        typed = ["--corpus", str(parsed.corpus or paths.builtin() / "corpus"), "--output", str(folder)]
        typed += ["--systems", *self.sweep.systems, "--measures", *self._measures]
        if reranked := rerankings(self.sweep.systems):
            typed += ["--rerank", *reranked]
        for name, result in trained.items():
            typed += ["--trained", f"{name}={result}"]
        typed += ["--questions", str(parsed.questions)] if parsed.questions else []
        return typed + (["--device", parsed.device] if parsed.device else [])

    @property
    def _measures(self) -> tuple[str, ...]:
        """Those of the sweep, and R@10 and MRR@10, by which `training.eval` compares systems."""
        return tuple(dict.fromkeys((*self.sweep.measures, "R@10", "R@100", "MRR@10")))

    def _identity(self, trained: Mapping[str, Path]) -> str:
        """Return a hash of the models, the systems and the questions."""
        models = {name: file_sha256(result / MANIFEST) for name, result in trained.items()}
        questions = [self.corpus.sha256, *map(digest, (self.held, self.learn, self.dev))]
        parts = [models, list(self.sweep.systems), self._measures, questions]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _tuned(system: str) -> bool:
    """Tell whether something is chosen for a system on questions that its parts have not learnt from."""
    fusion, way = fused(system), by_graph(system)
    return (fusion is not None and fusion.method == TUNED) or (way is not None and way.weight is None)
