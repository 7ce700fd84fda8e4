"""Trains tasks one after the other: folds, seeds, the trainings of a sweep; passes over what is finished."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from indexes.corpus.questions import read_questions
from rag.errors import BadInput
from training.eval import report
from training.eval.metrics import DEFAULT
from training.eval.report import commit, question_cards, warnings
from training.neural.data import seen_questions
from training.neural.data.task import Data, TrainingTask, read_data, tasks
from training.neural.pipeline import Pipeline
from training.neural.recipe.settings import Recipe
from training.neural.recipe.sweep import (
    CORPUS,
    Sweep,
    SweepPart,
    folder,
    learning,
    refuse_own_questions,
    sweep_questions,
    training_recipe,
    without_asked,
)
from training.neural.result import open_result
from training.neural.run import Order, dry_run, run
from training.neural.summary import difference, summary_row, write_json
from training.neural.trainer.distributed import World
from training.tables.neural import sweep_table, systems_table


def training_folder(task: TrainingTask, of: Sequence[TrainingTask]) -> str:
    """Return the folder of one of several trainings inside the output; "" for one alone."""
    if len(of) == 1:
        return ""
    parts = [f"fold-{task.fold}"] if task.fold is not None and len({t.fold for t in of}) > 1 else []
    parts += [f"seed-{task.seed}"] if len({t.seed for t in of}) > 1 else []
    return "-".join(parts)


def train_each(found: Sequence[TrainingTask], order: Order, here: World, *, among: bool = False) -> list[str]:
    """Train tasks into folders of the output; return the folders' names, [""] for one alone.

    With resume, what is finished is passed over. `among` says that these are some of more trainings, any of
    which may be finished or not begun.
    """
    names = [training_folder(task, found) for task in found]
    for task, name in zip(found, names, strict=True):
        events = None if order.events is None else order.events / name
        own = replace(order, output=order.output / name, events=events) if name else order
        if (name or among) and own.resume:
            if own.output.exists():
                if open_result(own.output).manifest["data"].get("training_sha256") != task.identity:
                    raise BadInput(
                        f"{own.output} is another training: recipe, seed or data differ, or the model it "
                        "begins with was trained anew. Remove it (rm -r), "
                        "or give another --output"
                    )
                continue  # done before the stop
            if not own.work.exists():
                own = replace(own, resume=False)  # not begun before the stop
        measured = run(task, own, here)
        if here.main:
            if measured:
                print(report.table(measured, own.measures))
            print(f"written: {own.output}")
    return names


RESULT = "sweep.json"


def run_sweep(
    sweep: Sweep, parsed: argparse.Namespace, command: str, changes: Sequence[str], here: World
) -> None:
    """Train what a sweep names, one after the other, and write sweep.json; with --dry-run, rehearse it.

    Raises:
        BadInput: something cannot be used; the text says what, and what to type.
    """
    under_way = _Sweeping(sweep, parsed, command, here, changes, _places(sweep, parsed))
    pipeline = under_way.pipeline() if sweep.systems else None  # or what is lacking is told now
    output = parsed.output
    if not parsed.dry_run:
        if output.exists() and not parsed.resume:
            raise BadInput(f"{output} is there already: add --resume to go on, or give another --output")
        here.agree(0.0)  # nobody makes it before all have looked
        if here.main:
            output.mkdir(parents=True, exist_ok=True)
    for part in sweep.runs:
        under_way.train(part)
        if here.main and not parsed.dry_run:
            write_json(output / RESULT, under_way.entry())  # what is there so far
    if not here.main:
        return
    if parsed.dry_run:
        if pipeline is not None:
            print(pipeline)
        return
    print(sweep_table(under_way.entry()))
    print(f"written: {output / RESULT}")
    if pipeline is not None:
        print(systems_table(pipeline.ask(under_way.results(), parsed, command), sweep.measures))


def _places(sweep: Sweep, parsed: argparse.Namespace) -> dict[str, Path | None]:
    """Return where the data of a sweep lie, by name."""
    places: dict[str, Path | None] = {CORPUS: parsed.corpus}
    for typed in parsed.data:
        name, equals, path = typed.partition("=")
        if not equals or not path:
            raise BadInput(f"--data {typed}: expected NAME=PATH, such as --data mmarco=FOLDER")
        places[name] = Path(path)
    needed = {name for part in sweep.runs for name in (part.data, part.learn) if name is not None}
    if lacking := sorted(needed - set(places)):
        raise BadInput(f"{sweep.name} needs {', '.join(f'--data {name}=PATH' for name in lacking)}")
    return places


@dataclass
class _Sweeping:
    """A sweep on its way: what was typed, what was read, what is made."""

    sweep: Sweep
    parsed: argparse.Namespace
    command: str
    here: World
    changes: Sequence[str]
    places: dict[str, Path | None]
    read: dict[tuple[str, tuple[str, ...]], Data] = field(default_factory=dict)
    made: dict[str, tuple[str, list[str], str]] = field(default_factory=dict)  # folder, trainings, recipe
    rows: list[dict[str, Any]] = field(default_factory=list)
    warned: set[str] = field(default_factory=set)

    def entry(self) -> dict[str, Any]:
        """Return what sweep.json holds."""
        sweep = self.sweep
        entry: dict[str, Any] = {
            "kind": "sweep", "name": sweep.name, "about": sweep.about, "paper": sweep.paper,
            "protocol": sweep.protocol, "measures": list(sweep.measures), "command": self.command,
            "commit": commit(), "rows": list(self.rows),
        }  # fmt: skip
        if sweep.compare and set(sweep.compare) <= set(self.made):
            first, second = sweep.compare
            found = difference(self.parsed.output, self.made[first], self.made[second])
            entry["compared"] = {"first": first, "second": second, "difference": found}
        return entry

    def results(self) -> dict[str, Path]:
        """Return the results of those trained so far that are one training each, by name."""
        return {
            name: self.parsed.output / at / names[0]
            for name, (at, names, _) in self.made.items()
            if len(names) == 1
        }

    def pipeline(self) -> Pipeline:
        """Return the systems that are asked when all is trained; BadInput where they could not be."""
        own: list[TrainingTask] = []
        others: list[TrainingTask] = []
        recipes: dict[str, Recipe] = {}
        for part in self.sweep.runs:
            recipe = training_recipe(self.sweep, part, self.changes, None, scratch=self.parsed.scratch)
            instead = None if part.learn is None else self.places[part.learn]
            found = self._tasks(part, recipe, instead)
            if len(found) > 1:
                raise BadInput(
                    f"{self.sweep.name} asks one model of each name: leave --seeds out, and with folds give "
                    "--fold I"
                )
            recipes[part.name] = recipe
            (own if part.data == CORPUS else others).extend(found)
        return Pipeline.of(self.sweep, own, others, recipes)

    def train(self, part: SweepPart) -> None:
        """Train one part of the sweep, or rehearse it."""
        parsed, here = self.parsed, self.here
        results = {} if parsed.dry_run else self.results()
        base, drawn = (None if name is None else results.get(name) for name in (part.after, part.negatives))
        recipe = training_recipe(self.sweep, part, self.changes, base, drawn=drawn, scratch=parsed.scratch)
        refuse_own_questions(recipe, brought=bool(part.learn or part.data != CORPUS or parsed.questions))
        instead = None if part.learn is None else self.places[part.learn]  # questions to learn from
        found = self._tasks(part, recipe, instead)
        if here.main:
            print(f"{self.sweep.name}: {part.name}", file=sys.stderr)
        if parsed.dry_run:
            print(f"{part.name}\n{dry_run(found[0], here)}")
            return
        known = seen_questions.read(base) if base is not None else frozenset()
        if known & {key for task in found for key in seen_questions.keys(task.held)}:
            raise BadInput(
                f"{part.name!r} would be asked what {part.after!r} has learnt: give that other --data"
            )
        cards = question_cards(found[0].corpus.card, (instead, parsed.questions))
        for line in warnings(cards) if here.main else ():
            if line not in self.warned:
                print(line, file=sys.stderr)
                self.warned.add(line)
        at = folder(part.name)
        measures = tuple(parsed.measures or dict.fromkeys((*self.sweep.measures, *DEFAULT)))
        order = Order(
            self.command, parsed.output / at, measures, parsed.resume, parsed.checkpoint, parsed.watts, cards,
            parsed.tensorboard and parsed.tensorboard / at, ask=not parsed.unasked,
        )  # fmt: skip
        names = train_each(found, order, here, among=True)
        self.made[part.name] = at, names, recipe.name
        if here.main:
            row = summary_row(part.name, parsed.output / at, names, recipe.name, recipe.evaluation.measure)
            self.rows.append({**row, "system": recipe.system, "published": dict(part.published)})

    def _tasks(self, part: SweepPart, recipe: Recipe, instead: Path | None) -> list[TrainingTask]:
        """Return the trainings of one part: folds and seeds, one alone where others begin with its model."""
        parsed = self.parsed
        own = part.data == CORPUS  # the folds, questions and options are those of --corpus
        options = part.options or tuple(parsed.option if own else ())
        if (part.data, options) not in self.read:
            path, questions = self.places[part.data], parsed.questions if own else None
            self.read[part.data, options] = read_data(recipe, path, questions, parsed.language, options)
        data = self.read[part.data, options]
        data = Data(data.corpus, sweep_questions(self.sweep, data.questions))
        begun_with = any(part.name in (other.after, other.negatives) for other in self.sweep.runs)
        others = None if instead is None else read_questions(instead, data.corpus.articles)
        found = [
            learning(task, others)
            for task in tasks(
                recipe, data,
                folds=parsed.folds if own else None,
                splits=parsed.splits if own else None,
                only=parsed.fold if own else None,
                fold_seed=parsed.fold_seed,
                seeds=range(parsed.seed, parsed.seed + (1 if begun_with else parsed.seeds)),
            )
        ]  # fmt: skip
        if begun_with and len(found) > 1:
            raise BadInput(f"others need the model of {part.name!r}, which is one: give --fold I")
        return [without_asked(task) for task in found] if self.sweep.systems else found
