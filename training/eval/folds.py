"""The parts of an evaluation, one after the other or side by side: systems are made for each, and asked."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TypeAlias

from indexes.cli.progress import Bars
from rag.errors import BadInput
from rag.types import Filter, Question
from training.eval.context import BenchSettings
from training.eval.questions import Plan
from training.eval.run import SystemRun, answer
from training.eval.workbench import Bench, TunedSmoothing
from training.fusion.bm25_tuning import choose
from training.fusion.graph_weight import GraphChoice
from training.fusion.tuned import Choice, TunedHybrid

FORKS = hasattr(os, "fork")
SystemAnswers: TypeAlias = dict[str, SystemRun]  # system -> what it answered


@dataclass(frozen=True)
class FoldChoice:
    """Hyperparameters chosen for one fold without its questions."""

    settings: BenchSettings
    fusions: Mapping[str, Choice | GraphChoice]  # tuned system -> its scale and weights


@dataclass(frozen=True)
class FoldEvaluation:
    """Systems and questions: what is the same for every part, and the parts."""

    bench: Bench
    names: Sequence[str]
    plan: Plan
    annotated: Sequence[Question]
    tune: bool
    where: Filter | None = None

    def part(self, number: int) -> tuple[FoldChoice, SystemAnswers]:
        """Make the systems of one part of the questions, and ask them."""
        held, learn, tune_on = self.plan[number]
        bench = self.bench
        settings = choose(bench, tune_on, self.annotated, bench.progress) if self.tune else BenchSettings()
        known = {q.text for q in learn}
        unseen = [q for q in tune_on if q.text not in known]  # weights of fusions are chosen on them
        systems = bench.systems(self.names, learn, settings, unseen)
        found: SystemAnswers = {}
        answer(systems, held, found, bench.progress, self.where)
        tuned = {n: s.choice for n, s in systems.items() if isinstance(s, TunedHybrid | TunedSmoothing)}
        fusions = {name: choice for name, choice in tuned.items() if choice is not None}
        return FoldChoice(settings, fusions), found


def ask(evaluation: FoldEvaluation, jobs: int, bars: Bars) -> tuple[list[FoldChoice], SystemAnswers]:
    """Return what was chosen for each part, and what every system answered, part after part.

    So many `jobs` are asked side by side, each in a process of its own; what takes long is made in each.

    Raises:
        BadInput: several jobs where they cannot be, or one was ended from outside.
    """
    count = len(evaluation.plan)
    if jobs == 1 or count < 2:
        return _joined(map(evaluation.part, range(count)))
    if why := _alone(evaluation):
        raise BadInput(f"--jobs {jobs}: {why}: leave --jobs out")
    parts = []
    # forked: a bench holds what cannot be sent, and what it has read is shared
    with ProcessPoolExecutor(min(jobs, count), get_context("fork"), _begin, (evaluation, bars)) as pool:
        try:
            for part in pool.map(_part, range(count)):
                parts.append(part)
                bars("parts of the questions", len(parts), count)
        except BrokenProcessPool as error:
            raise BadInput(
                f"--jobs {jobs}: a process was ended from outside, most often for want of memory: give fewer"
            ) from error
    return _joined(parts)


def _alone(evaluation: FoldEvaluation) -> str:
    """Return why the parts cannot be asked side by side; nothing if they can."""
    if not FORKS:
        return "this system cannot fork"
    if evaluation.bench.more:
        return "models that are brought are asked one part after the other"
    if "lightgbm" in sys.modules:  # its threads do not survive a fork: the child would wait for ever
        return "LightGBM has run in this process"
    return ""


def _joined(parts: Iterable[tuple[FoldChoice, SystemAnswers]]) -> tuple[list[FoldChoice], SystemAnswers]:
    chosen: list[FoldChoice] = []
    collected: SystemAnswers = {}
    for choice, found in parts:
        chosen.append(choice)
        for name, mine in found.items():
            whole = collected.setdefault(name, SystemRun())
            whole.run |= mine.run
            whole.seconds += mine.seconds
            whole.folds += mine.folds
    return chosen, collected


# set once in a process that was forked for it: a pool hands on numbers alone
_mine: list[FoldEvaluation] = []


def _begin(evaluation: FoldEvaluation, bars: Bars) -> None:
    bars.mute()  # those of several processes would be written over each other
    _mine[:] = [evaluation]


def _part(number: int) -> tuple[FoldChoice, SystemAnswers]:
    return _mine[0].part(number)
