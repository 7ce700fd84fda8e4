"""`python -m training.train RECIPE`: the command line."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from rag.errors import BadInput
from training.eval.metrics import DEFAULT, parse
from training.eval.report import question_cards, warnings
from training.neural.data.task import read_data, tasks
from training.neural.recipe.recipe import names, read_recipe
from training.neural.recipe.settings import Recipe
from training.neural.recipe.sweep import only, read_sweep, refuse_own_questions, sweep_names
from training.neural.run import Order, dry_run
from training.neural.run_many import run_sweep, train_each
from training.neural.summary import write_summary
from training.neural.systems.backbone import require
from training.neural.trainer.distributed import World, world
from training.neural.trainer.logging import summary_writer

EPILOG = """\
examples
  see what would be done, with a small encoder in the place of the model; nothing is written:
    python -m training.train bsard-siamese --corpus bsard --dry-run
  train on the fold that training.eval --folds 5 holds back first, and measure it there:
    python -m training.train scratch-siamese --corpus law --folds 5 --fold 0 --output out/siamese
    python -m training.eval --corpus law --folds 5 --only-fold 0 --trained siamese=out/siamese \\
      --systems bm25 model:siamese rrf:bm25,model:siamese
  a paper's recipe with a small encoder from random weights, where no model can be had:
    python -m training.train bsard-siamese --corpus bsard --scratch --set model.scratch.layers=1 \\
      --output out/try
  change a setting; go on after a stop; two processes:
    python -m training.train scratch-siamese --corpus law --set training.batch=16 --output out/small
    python -m training.train scratch-siamese --corpus law --set training.batch=16 --output out/small --resume
    torchrun --nproc-per-node 2 -m training.train scratch-siamese --corpus law --output out/two

  train a sweep, several trainings of one question, and see what was published beside:
    python -m training.train jurifindit-batch --corpus jurifindit --output out/batch
  from the hub through DAR, GIR, a reranker and their fusions to a table beside the published rows:
    python -m training.train bsard-pipeline --corpus bsard --unasked --output out/bsard

what an index uses besides what its build fits:
    python -m training.train fusion --help
"""


def main(arguments: Sequence[str]) -> int:
    """Train what the recipe describes; errors are raised for the caller to print."""
    parsed = parser().parse_args(arguments)
    if parsed.list:
        _list()
        return 0
    if parsed.recipe is None:
        known = ", ".join([*names(), *sweep_names()])
        raise BadInput(f"which recipe? Give the path of a TOML file or one of {known}")
    require()
    command = shlex.join(["python", "-m", "training.train", *arguments])
    changes = list(parsed.set)
    if parsed.steps is not None:
        changes += [f"training.steps={parsed.steps}", "training.epochs=0"]
    sweep = read_sweep(parsed.recipe)
    recipe = read_recipe(parsed.recipe, changes, scratch=parsed.scratch) if sweep is None else None
    for name in parsed.measures or ():
        parse(name)
    if parsed.output is None and not parsed.dry_run:
        raise BadInput("give --output FOLDER for the result, or --dry-run to see what would be done")
    if parsed.tensorboard is not None:
        summary_writer()  # or say what to install before anything is trained
    with world(parsed.device) as here:
        if sweep is not None:
            run_sweep(only(sweep, parsed.only), parsed, command, changes, here)
        elif recipe is not None:
            _train(parsed, recipe, command, here)
    return 0


def _list() -> None:
    for name in names():
        print(f"{name:28} {read_recipe(name).about}")
    print("\nsweeps, which are several trainings:")
    for name in sweep_names():
        sweep = read_sweep(name)
        print(f"{name:28} {sweep.about if sweep else ''}")


def _train(parsed: argparse.Namespace, recipe: Recipe, command: str, here: World) -> None:
    if parsed.data:
        raise BadInput("--data is for sweeps, which name their data: give --corpus and --questions")
    if parsed.only:
        raise BadInput(f"--only is for sweeps, which are several trainings: {recipe.name} is one")
    refuse_own_questions(recipe, brought=parsed.questions is not None)
    data = read_data(recipe, parsed.corpus, parsed.questions, parsed.language, parsed.option)
    seeds = range(parsed.seed, parsed.seed + parsed.seeds)
    found = list(tasks(
        recipe, data, folds=parsed.folds, splits=parsed.splits, only=parsed.fold, fold_seed=parsed.fold_seed,
        seeds=seeds,
    ))  # fmt: skip
    cards = question_cards(data.corpus.card, (parsed.questions,))
    if here.main:
        for line in warnings(cards):
            print(line, file=sys.stderr)
    if parsed.dry_run:
        print(dry_run(found[0], here))
        return
    order = Order(
        command, parsed.output, tuple(parsed.measures or DEFAULT),
        parsed.resume, parsed.checkpoint, parsed.watts, cards, parsed.tensorboard,
        ask=not parsed.unasked,
    )  # fmt: skip
    made = train_each(found, order, here)
    if here.main and len(found) > 1:
        print(write_summary(parsed.output, made, recipe))


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar."""
    top = argparse.ArgumentParser(
        prog="python -m training.train",
        description="Train a retriever from a recipe, and measure it on questions that it does not know.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = top.add_argument
    add("recipe", nargs="?", metavar="RECIPE", help="a recipe that ships (--list) or a TOML file")
    add("--list", action="store_true", help="name the recipes that ship")
    of_hub = "a corpus folder, an articles' file, a data set or the name of one on the hub (what ships)"
    add("--corpus", type=Path, help=of_hub)
    add("--data", action="append", default=[], metavar="NAME=PATH", help="other data that a sweep names")
    add("--only", nargs="+", metavar="NAME", help="of a sweep: these of its trainings, as it names them")
    add("--questions", type=Path, help="questions with gold articles (those of the corpus)")
    add("--language", metavar="XX", help="of a corpus without card.json")
    of_format, of_recipe = "of the data set's format, as in import", "change a setting of the recipe"
    add("--option", action="append", default=[], metavar="KEY=VALUE", help=of_format)
    add("--set", action="append", default=[], metavar="TABLE.KEY=VALUE", help=of_recipe)
    small = "a small encoder with random weights in the place of the recipe's model; "
    add("--scratch", action="store_true", help=f"{small}--set model.scratch.KEY=VALUE changes it")
    parts = top.add_mutually_exclusive_group()
    parts.add_argument("--folds", type=int, metavar="K", help="hold back each of k folds in turn")
    parts.add_argument("--splits", type=Path, metavar="FILE", help="the folds of a file of training.splits")
    add("--fold", metavar="I", help="hold back this fold alone, from 0")
    add("--fold-seed", type=int, default=42, help="of the folds: --seed of training.eval (42)")
    add("--seed", type=int, default=1, help="of weights, order, negatives and dropout (1)")
    add("--seeds", type=int, default=1, metavar="N", help="train N times, with N seeds")
    add("--steps", type=int, help="instead of the recipe's steps or epochs")
    add("--measures", nargs="+", metavar="MEASURE", help=f"({' '.join(DEFAULT)}; a sweep names its own)")
    add("--output", type=Path, help="a new folder for the result")
    add("--resume", action="store_true", help="go on with a training that was stopped")
    looks = "save every N steps (at each look at dev questions)"
    add("--checkpoint", type=int, default=0, metavar="N", help=looks)
    alone = "train alone: the questions held back are not asked, which takes longer than a few steps"
    add("--unasked", action="store_true", help=alone)
    add("--dry-run", action="store_true", help="two steps with a small encoder; nothing is written")
    add("--tensorboard", type=Path, metavar="FOLDER", help="write the log for TensorBoard too")
    add("--device", help="cpu, cuda or cuda:N (the best there is)")
    add("--watts", type=float, help="power of the machine while it trains, if it was measured")
    return top
