"""Runs a sweep: every training of it, then one table with what was published beside.

Trains tasks one after the other: folds, seeds, the trainings of a sweep; passes over what is finished.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from indexes.corpus.questions import read_questions
from rag.errors import BadInput
from rag.types import Question
from training.eval import report
from training.eval.metrics import DEFAULT
from training.eval.report import commit, question_cards, warnings
from training.neural.data import seen_questions
from training.neural.data.task import Data, TrainingTask, read_data, tasks
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
)
from training.neural.result import MODEL, open_result
from training.neural.run import Order, dry_run, run
from training.neural.summary import BEFORE_TRAINING, chosen, difference, read_entries, spread, summary_row
from training.neural.trainer.distributed import World
from training.tables.neural import sweep_table


def training_folder(task: TrainingTask, of: Sequence[TrainingTask]) -> str:
    """Return the folder of one of several trainings inside the output; "" for one alone."""
    if len(of) == 1:
        return ""
    parts = [f"fold-{task.fold}"] if task.fold is not None and len({t.fold for t in of}) > 1 else []
    parts += [f"seed-{task.seed}"] if len({t.seed for t in of}) > 1 else []
    return "-".join(parts)


def train_each(found: Sequence[TrainingTask], order: Order, here: World, *, among: bool = False) -> list[str]:
    """Train tasks into folders of the output; return the folders' names, [""] for one alone.

    Args:
        found: the tasks.
        order: how, and into which folder; with resume, what is finished is passed over.
        here: the processes.
        among: these are some of more trainings, any of which may be finished or not begun.
    """
    names = [training_folder(task, found) for task in found]
    for task, name in zip(found, names, strict=True):
        events = None if order.events is None else order.events / name
        own = replace(order, output=order.output / name, events=events) if name else order
        if (name or among) and own.resume:
            if own.output.exists():
                _check_same(own.output, task)
                continue  # done before the stop
            if not own.work.exists():
                own = replace(own, resume=False)  # not begun before the stop
        measured = run(task, own, here)
        if here.main:
            if measured:
                print(report.table(measured, own.measures))
            print(f"written: {own.output}")
    return names


def _check_same(folder: Path, task: TrainingTask) -> None:
    """Refuse to take a finished training for another."""
    found = open_result(folder).manifest["data"].get("training_sha256")
    if found != task.identity:
        raise BadInput(
            f"{folder} is another training: recipe, seed or data differ. Remove it (rm -r), or give another "
            "--output"
        )


def summary(folder: Path, made: Sequence[str], recipe: Recipe) -> str:
    """Write and tell mean and spread over folds and seeds, and which did best on its dev questions."""
    entries = read_entries(folder, made)
    dev = recipe.evaluation.measure
    best = chosen(entries, dev, recipe.name)
    spreads = {system: spread(entries, system) for system in (BEFORE_TRAINING, recipe.name)}
    record = {
        "trainings": list(made),
        "mean and sd over them": {system: found for system, found in spreads.items() if found},
        "best on dev": best,
    }
    dump(folder / "summary.json", record)
    lines = [f"mean ± sd over {len(made)} trainings:"]
    for system, measures in spreads.items():
        cells = [f"{m} {100 * v['mean']:.1f}±{100 * v['sd']:.1f}" for m, v in measures.items()]
        lines += [f"  {system}: {', '.join(cells)}"] if cells else []
    lines.append(f"best on dev: {_settings_text(best)}")
    return "\n".join([*lines, f"written: {folder / 'summary.json'}"])


def _settings_text(best: Mapping[str, Any]) -> str:
    """Return which training was chosen, by what, and what it measures, for people."""
    if best["training"] is None:
        return str(best["chosen by"])
    cells = [f"{m} {100 * v['value']:.1f}" for m, v in best["after"].items() if "value" in v]
    return f"{best['training']} ({best['chosen by']}): {', '.join(cells) or 'nothing was held back'}"


def dump(path: Path, record: Mapping[str, Any]) -> None:
    """Write a JSON file, whole or not at all."""
    part = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    part.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    part.replace(path)


RESULT = "sweep.json"


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


def run_sweep(
    sweep: Sweep, parsed: argparse.Namespace, command: str, changes: Sequence[str], here: World
) -> None:
    """Train what a sweep names, one after the other, and write sweep.json; with --dry-run, rehearse it.

    Raises:
        BadInput: something cannot be used; the text says what, and what to type.
    """
    under_way = _Sweeping(sweep, parsed, command, here, changes, _places(sweep, parsed))
    output = parsed.output
    if not parsed.dry_run:
        if output.exists() and not parsed.resume:
            raise BadInput(f"{output} is there already: add --resume to go on, or give another --output")
        here.agree(0.0)  # nobody makes it before all have looked
        if here.main:
            output.mkdir(parents=True, exist_ok=True)
    for part in sweep.runs:
        _train(under_way, part)
        if here.main and not parsed.dry_run:
            dump(output / RESULT, _entry(under_way))  # what is there so far
    if here.main and not parsed.dry_run:
        print(sweep_table(_entry(under_way)))
        print(f"written: {output / RESULT}")


def _entry(under_way: _Sweeping) -> dict[str, Any]:
    """Return what sweep.json holds."""
    sweep, output = under_way.sweep, under_way.parsed.output
    entry: dict[str, Any] = {
        "kind": "sweep", "name": sweep.name, "about": sweep.about, "paper": sweep.paper,
        "protocol": sweep.protocol, "measures": list(sweep.measures), "command": under_way.command,
        "commit": commit(), "rows": list(under_way.rows),
    }  # fmt: skip
    if sweep.compare and set(sweep.compare) <= set(under_way.made):
        first, second = sweep.compare
        found = difference(output, under_way.made[first], under_way.made[second])
        entry["compared"] = {"first": first, "second": second, "difference": found}
    return entry


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


def _train(under_way: _Sweeping, part: SweepPart) -> None:
    sweep, parsed, here = under_way.sweep, under_way.parsed, under_way.here
    base = None if part.after is None or parsed.dry_run else _model(under_way, part.after)
    recipe = training_recipe(sweep, part, under_way.changes, base, scratch=parsed.scratch)
    refuse_own_questions(recipe, brought=bool(part.learn or part.data != CORPUS or parsed.questions))
    found = _tasks(under_way, part, recipe)
    if here.main:
        print(f"{sweep.name}: {part.name}", file=sys.stderr)
    if parsed.dry_run:
        print(f"{part.name}\n{dry_run(found[0], here)}")
        return
    _not_known(part, base, found)
    cards = question_cards(found[0].corpus.card, (_place(under_way, part.learn), parsed.questions))
    for line in warnings(cards) if here.main else ():
        if line not in under_way.warned:
            print(line, file=sys.stderr)
            under_way.warned.add(line)
    at = folder(part.name)
    measures = tuple(parsed.measures or dict.fromkeys((*sweep.measures, *DEFAULT)))
    order = Order(
        under_way.command, parsed.output / at, measures, parsed.resume, parsed.checkpoint, parsed.watts,
        cards, parsed.tensorboard and parsed.tensorboard / at,
    )  # fmt: skip
    names = train_each(found, order, here, among=True)
    under_way.made[part.name] = at, names, recipe.name
    if here.main:
        row = summary_row(part.name, parsed.output / at, names, recipe.name, recipe.evaluation.measure)
        under_way.rows.append({**row, "system": recipe.system, "published": dict(part.published)})


def _tasks(under_way: _Sweeping, part: SweepPart, recipe: Recipe) -> list[TrainingTask]:
    """Return the trainings of one part: folds and seeds, but one alone where others begin with its model."""
    parsed = under_way.parsed
    data = _data(under_way, part, recipe)
    data = Data(data.corpus, sweep_questions(under_way.sweep, data.questions))
    begun_with = any(other.after == part.name for other in under_way.sweep.runs)
    own = part.data == CORPUS  # the folds are those of --corpus
    found = [
        learning(task, _others(under_way, part, data))
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
        raise BadInput(f"others begin with the model of {part.name!r}, which is one: give --fold I")
    return found


def _data(under_way: _Sweeping, part: SweepPart, recipe: Recipe) -> Data:
    parsed = under_way.parsed
    options = part.options or tuple(parsed.option if part.data == CORPUS else ())
    if (part.data, options) not in under_way.read:
        questions = parsed.questions if part.data == CORPUS else None
        path = under_way.places[part.data]
        under_way.read[part.data, options] = read_data(recipe, path, questions, parsed.language, options)
    return under_way.read[part.data, options]


def _others(under_way: _Sweeping, part: SweepPart, data: Data) -> Sequence[Question] | None:
    path = _place(under_way, part.learn)
    return None if path is None else read_questions(path, data.corpus.articles)


def _place(under_way: _Sweeping, name: str | None) -> Path | None:
    return None if name is None else under_way.places[name]


def _model(under_way: _Sweeping, after: str) -> Path:
    at, [name], _ = under_way.made[after]
    return Path(under_way.parsed.output / at / name / MODEL)


def _not_known(part: SweepPart, base: Path | None, found: Sequence[TrainingTask]) -> None:
    """Refuse to begin with a model that has learnt what is held back."""
    known = seen_questions.read(base.parent) if base is not None else frozenset()
    if known & {key for task in found for key in seen_questions.keys(task.held)}:
        raise BadInput(f"{part.name!r} would be asked what {part.after!r} has learnt: give that other --data")
