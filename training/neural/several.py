"""Trains tasks one after the other: folds, seeds, the trainings of a sweep; passes over what is finished."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rag.errors import BadInput
from training.eval import report
from training.neural.data.task import Task
from training.neural.recipe.settings import Recipe
from training.neural.result import open_result
from training.neural.run import Order, run
from training.neural.summary import BEFORE, chosen, read_entries, spread
from training.neural.trainer.distributed import World


def folder_of(task: Task, of: Sequence[Task]) -> str:
    """Return the folder of one of several trainings inside the output; "" for one alone."""
    if len(of) == 1:
        return ""
    parts = [f"fold-{task.fold}"] if task.fold is not None and len({t.fold for t in of}) > 1 else []
    parts += [f"seed-{task.seed}"] if len({t.seed for t in of}) > 1 else []
    return "-".join(parts)


def train_each(found: Sequence[Task], order: Order, here: World, *, among: bool = False) -> list[str]:
    """Train tasks into folders of the output; return the folders' names, [""] for one alone.

    Args:
        found: the tasks.
        order: how, and into which folder; with resume, what is finished is passed over.
        here: the processes.
        among: these are some of more trainings, any of which may be finished or not begun.
    """
    names = [folder_of(task, found) for task in found]
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


def _check_same(folder: Path, task: Task) -> None:
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
    spreads = {system: spread(entries, system) for system in (BEFORE, recipe.name)}
    told = {
        "trainings": list(made),
        "mean and sd over them": {system: found for system, found in spreads.items() if found},
        "best on dev": best,
    }
    dump(folder / "summary.json", told)
    lines = [f"mean ± sd over {len(made)} trainings:"]
    for system, measures in spreads.items():
        cells = [f"{m} {100 * v['mean']:.1f}±{100 * v['sd']:.1f}" for m, v in measures.items()]
        lines += [f"  {system}: {', '.join(cells)}"] if cells else []
    lines.append(f"best on dev: {_told(best)}")
    return "\n".join([*lines, f"written: {folder / 'summary.json'}"])


def _told(best: Mapping[str, Any]) -> str:
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
