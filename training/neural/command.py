"""`python -m training.train RECIPE`: the command line."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from rag.errors import BadInput
from training import report
from training.measure import Measured
from training.metrics import DEFAULT, parse
from training.neural.backbone import require
from training.neural.dry import dry_run
from training.neural.recipe import names, read_recipe
from training.neural.run import BEFORE, Order, run
from training.neural.settings import Recipe
from training.neural.task import Task, read_data, tasks
from training.neural.world import World, world
from training.provenance import cards_of, warnings

EPILOG = """\
examples
  see what would be done, with a small encoder in the place of the model; nothing is written:
    python -m training.train bsard-siamese --corpus bsard --dry-run
  train on the fold that training.eval --folds 5 holds back first, and measure it there:
    python -m training.train scratch-siamese --corpus law --folds 5 --fold 0 --output out/siamese
    python -m training.eval --corpus law --folds 5 --only-fold 0 --trained siamese=out/siamese \\
      --systems bm25 model:siamese rrf:bm25,model:siamese
  change a setting; go on after a stop; two processes:
    python -m training.train scratch-siamese --corpus law --set training.batch=16 --output out/small
    python -m training.train scratch-siamese --corpus law --set training.batch=16 --output out/small --resume
    torchrun --nproc-per-node 2 -m training.train scratch-siamese --corpus law --output out/two

what an index uses besides what its build fits:
    python -m training.train fusion --help
"""


def main(arguments: Sequence[str]) -> int:
    """Train what the recipe describes; errors are raised for the caller to print."""
    parsed = parser().parse_args(arguments)
    if parsed.list:
        for name in names():
            print(f"{name:28} {read_recipe(name).about}")
        return 0
    if parsed.recipe is None:
        raise BadInput(f"which recipe? Give the path of a TOML file or one of {', '.join(names())}")
    require()
    command = " ".join(["python", "-m", "training.train", *arguments])
    recipe = read_recipe(parsed.recipe, parsed.set)
    if parsed.steps is not None:
        recipe = read_recipe(
            parsed.recipe, [*parsed.set, f"training.steps={parsed.steps}", "training.epochs=0"]
        )
    for name in parsed.measures:
        parse(name)
    if parsed.output is None and not parsed.dry_run:
        raise BadInput("give --output FOLDER for the result, or --dry-run to see what would be done")
    with world(parsed.device) as here:
        _train(parsed, recipe, command, here)
    return 0


def _train(parsed: argparse.Namespace, recipe: Recipe, command: str, here: World) -> None:
    data = read_data(recipe, parsed.corpus, parsed.questions, parsed.language, parsed.option)
    seeds = range(parsed.seed, parsed.seed + parsed.seeds)
    found = list(
        tasks(
            recipe, data, folds=parsed.folds, splits=parsed.splits, only=parsed.fold,
            fold_seed=parsed.fold_seed, seeds=seeds,
        )
    )  # fmt: skip
    cards = cards_of(data.corpus.card, (parsed.questions,))
    if here.main:
        for line in warnings(cards):
            print(line, file=sys.stderr)
    if parsed.dry_run:
        print(dry_run(found[0], here))
        return
    results: dict[str, Mapping[str, Measured]] = {}
    for task in found:
        name = _name(task, found)
        order = Order(
            command, parsed.output / name if name else parsed.output, tuple(parsed.measures),
            parsed.resume, parsed.checkpoint, parsed.watts, cards,
        )  # fmt: skip
        if name and parsed.resume and order.output.exists():
            continue  # done before the stop
        if name and parsed.resume and not order.work.exists():
            order = replace(order, resume=False)  # not begun before the stop
        results[name] = run(task, order, here)
        if here.main:
            _tell(results[name], order)
    if here.main and len(found) > 1:
        print(_summary(parsed.output, [_name(task, found) for task in found], recipe))


def _name(task: Task, of: Sequence[Task]) -> str:
    """Return the folder of one of several trainings inside the output; "" for one alone."""
    if len(of) == 1:
        return ""
    parts = [f"fold-{task.fold}"] if task.fold is not None and len({t.fold for t in of}) > 1 else []
    parts += [f"seed-{task.seed}"] if len({t.seed for t in of}) > 1 else []
    return "-".join(parts)


def _tell(measured: Mapping[str, Measured], order: Order) -> None:
    if measured:
        print(report.table(measured, order.measures))
    print(f"written: {order.output}")


def _summary(folder: Path, made: Sequence[str], recipe: Recipe) -> str:
    """Write and tell mean and spread over folds and seeds, and which did best on its dev questions."""
    entries = {
        name: json.loads((folder / name / report.METRICS).read_text(encoding="utf-8")) for name in made
    }
    dev = f"dev {recipe.evaluation.measure}"
    best = max(made, key=lambda name: entries[name]["facts"][dev] or 0)
    spread: dict[str, dict[str, object]] = {}
    for system in (BEFORE, recipe.name):
        rows = [entry["systems"].get(system) for entry in entries.values()]
        for measure in rows[0] or {} if all(rows) else {}:
            values = [row[measure]["value"] for row in rows if "value" in row.get(measure, {})]
            if len(values) == len(rows):
                said = {"mean": float(np.mean(values)), "sd": float(np.std(values, ddof=1))}
                spread.setdefault(system, {})[measure] = said
    told = {"trainings": list(made), "mean and sd over them": spread, "best on dev": best, "chosen by": dev}
    part = folder / f"summary.json.{os.getpid()}.tmp"
    part.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    part.replace(folder / "summary.json")
    lines = [f"mean ± sd over {len(made)} trainings:"]
    for system, measures in spread.items():
        cells = [f"{m} {100 * v['mean']:.1f}±{100 * v['sd']:.1f}" for m, v in measures.items()]  # type: ignore[index]
        lines.append(f"  {system}: {', '.join(cells)}")
    return "\n".join([*lines, f"best on dev ({dev}): {best}", f"written: {folder / 'summary.json'}"])


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar."""
    top = argparse.ArgumentParser(
        prog="python -m training.train",
        description="Train a retriever from a recipe, and measure it on questions that it does not know.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument(
        "recipe", nargs="?", metavar="RECIPE", help="a recipe that ships (--list) or a TOML file"
    )
    top.add_argument("--list", action="store_true", help="name the recipes that ship")
    top.add_argument(
        "--corpus", type=Path, help="a corpus folder, an articles' file or a data set (what ships)"
    )
    top.add_argument("--questions", type=Path, help="questions with gold articles (those of the corpus)")
    top.add_argument("--language", metavar="XX", help="of a corpus without card.json")
    top.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="of the data set's format, as in import",
    )
    top.add_argument(
        "--set", action="append", default=[], metavar="TABLE.KEY=VALUE", help="change a setting of the recipe"
    )
    parts = top.add_mutually_exclusive_group()
    parts.add_argument("--folds", type=int, metavar="K", help="hold back each of k folds in turn")
    parts.add_argument("--splits", type=Path, metavar="FILE", help="the folds of a file of training.splits")
    top.add_argument("--fold", metavar="I", help="hold back this fold alone, from 0")
    top.add_argument("--fold-seed", type=int, default=42, help="of the folds: --seed of training.eval (42)")
    top.add_argument("--seed", type=int, default=1, help="of weights, order, negatives and dropout (1)")
    top.add_argument("--seeds", type=int, default=1, metavar="N", help="train N times, with N seeds")
    top.add_argument("--steps", type=int, help="instead of the recipe's steps or epochs")
    top.add_argument(
        "--measures", nargs="+", default=list(DEFAULT), metavar="MEASURE", help=" ".join(DEFAULT)
    )
    top.add_argument("--output", type=Path, help="a new folder for the result")
    top.add_argument("--resume", action="store_true", help="go on with a training that was stopped")
    top.add_argument(
        "--checkpoint",
        type=int,
        default=0,
        metavar="N",
        help="save every N steps (at each look at dev questions)",
    )
    top.add_argument(
        "--dry-run", action="store_true", help="two steps with a small encoder; nothing is written"
    )
    top.add_argument("--device", help="cpu, cuda or cuda:N (the best there is)")
    top.add_argument("--watts", type=float, help="power of the machine while it trains, if it was measured")
    return top
