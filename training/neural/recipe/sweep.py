"""Sweeps: trainings that differ in one thing, in one file, with what a paper printed beside each."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from indexes.corpus.corpus import HELD_OUT
from rag.errors import BadInput
from rag.types import Question
from training.eval.metrics import parse
from training.neural.data.seen_questions import key, keys
from training.neural.data.task import DEV, TrainingTask, cap_synthetic
from training.neural.recipe.recipe import FOLDER, parse_recipe, read_recipe
from training.neural.recipe.settings import Recipe
from training.neural.recipe.toml import number, read_table
from training.neural.trainer.validation import split_dev

SWEEPS = FOLDER / "sweeps"
CORPUS = "corpus"  # the data that --corpus names
TEST = "test"


@dataclass(frozen=True, slots=True)
class SweepPart:
    """One training of a sweep."""

    name: str
    recipe: str  # a recipe that ships, or the path of a file
    set: tuple[str, ...] = ()  # changes, as --set takes them
    data: str = CORPUS  # --corpus, or the NAME of a --data NAME=PATH
    options: tuple[str, ...] = ()  # of the data's format, as --option takes them
    learn: str | None = None  # the NAME of a --data NAME=FILE with questions to learn from instead
    after: str | None = None  # the training whose model this one begins with
    synthetic: int | None = number(0, 1000, None)  # training.synthetic; None: as the recipe has it
    published: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))  # percent


@dataclass(frozen=True, slots=True)
class Sweep:
    """What is trained one after the other, and held side by side."""

    name: str
    runs: tuple[SweepPart, ...]
    about: str = ""
    paper: str = ""  # whose numbers stand beside ours
    protocol: str = ""  # how those were measured
    measures: tuple[str, ...] = ("R@10", "R@100", "MRR@10")
    held: str | None = None  # the split that is held back, where the paper measures on another than test
    compare: tuple[str, ...] = ()  # two trainings: what the first gains over the second
    set: tuple[str, ...] = ()  # changes of all trainings, before their own


def sweep_names() -> list[str]:
    """Return the names of the sweeps that ship."""
    return sorted(path.stem for path in SWEEPS.glob("*.toml"))


def read_sweep(named: str) -> Sweep | None:
    """Read a sweep; None where it is a recipe or nothing at all, BadInput where it cannot be used."""
    path = SWEEPS / f"{named}.toml" if named in sweep_names() else Path(named)
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return None  # what reads recipes says so
    if "runs" not in tables:
        return None
    sweep = read_table(Sweep, tables, f"{path.name}:")
    _check(sweep, path.name)
    return sweep


def _check(sweep: Sweep, where: str) -> None:
    for measure in sweep.measures:
        parse(measure)
    earlier, folders = set[str](), set[str]()
    for part in sweep.runs:
        if part.after is not None and part.after not in earlier:
            raise BadInput(f"{where}: after = {part.after!r} of {part.name!r} names no training above it")
        if (at := folder(part.name)) in folders or not at.strip("-."):
            raise BadInput(f"{where}: the name {part.name!r} cannot be told from another's: change it")
        earlier.add(part.name)
        folders.add(at)
    if sweep.compare and (len(sweep.compare) != 2 or not set(sweep.compare) <= earlier):
        raise BadInput(f"{where}: compare is {list(sweep.compare)}: expected two names of {sorted(earlier)}")
    if not sweep.runs:
        raise BadInput(f"{where}: runs is empty: add a [[runs]]")


def only(sweep: Sweep, wanted: Sequence[str] | None) -> Sweep:
    """Return the sweep with those trainings alone that are named; None takes all.

    Raises BadInput where it has none of such a name, or one begins with the model of one that is not named.
    """
    if not wanted:
        return sweep
    known = [part.name for part in sweep.runs]
    if strange := [name for name in wanted if name not in known]:
        raise BadInput(
            f"--only {strange[0]!r}: the trainings of {sweep.name} are {', '.join(map(repr, known))}"
        )
    runs = tuple(part for part in sweep.runs if part.name in wanted)
    for part in runs:
        if part.after is not None and part.after not in wanted:
            raise BadInput(f"{part.name!r} begins with the model of {part.after!r}: name that too")
    return replace(sweep, runs=runs)


def folder(name: str) -> str:
    """Return the folder of a training, of its name."""
    return re.sub(r"[^\w.]+", "-", name.casefold())


def training_recipe(
    sweep: Sweep, part: SweepPart, changes: Sequence[str], base: Path | None, *, scratch: bool = False
) -> Recipe:
    """Return the recipe of a training, with the sweep's changes, its own, and those of the command line.

    It begins with the model `base`, None leaves the recipe's own; `scratch` puts a small encoder with random
    weights in its place.
    """
    few = [] if part.synthetic is None else [f"training.synthetic={part.synthetic}"]
    recipe = read_recipe(part.recipe, [*sweep.set, *part.set, *few, *changes], scratch=scratch)
    if base is None:
        return recipe
    model = {k: v for k, v in recipe.source.get("model", {}).items() if k not in ("scratch", "backbone")}
    return parse_recipe({**recipe.source, "model": {**model, "backbone": str(base)}}, part.name)


def refuse_own_questions(recipe: Recipe, *, brought: bool) -> None:
    """Raise BadInput for a recipe that needs others than the corpus's own questions, if none were brought.

    It would be another system; the text says how to give them.
    """
    if recipe.needs is None or brought:
        return
    such = [
        f", such as python -m training.train {sweep.name} --corpus FOLDER --data {part.learn}=FILE"
        for sweep in filter(None, map(read_sweep, sweep_names()))
        for part in sweep.runs
        if part.recipe == recipe.name and part.learn is not None
    ]
    raise BadInput(
        f"{recipe.name} must not learn from the corpus's own questions, or it is another system: give "
        f'--questions FILE, or a sweep with learn = "NAME" and --data NAME=FILE{"".join(such[:1])}'
    )


def sweep_questions(sweep: Sweep, questions: Sequence[Question]) -> tuple[Question, ...]:
    """Return the questions with the sweep's split held back; BadInput where none bears it."""
    if sweep.held is None:
        return tuple(questions)
    if all(q.split != sweep.held for q in questions):
        raise BadInput(f"{sweep.name}: no question bears the split {sweep.held!r}, which is held back")
    selected = [q for q in questions if q.split == sweep.held or q.split not in HELD_OUT]
    return tuple(replace(q, split=TEST) if q.split == sweep.held else q for q in selected)


def learning(task: TrainingTask, questions: Sequence[Question] | None) -> TrainingTask:
    """Return the task, learning from these questions instead, none of which it is measured on.

    Raises BadInput where nothing is left to learn from.
    """
    if questions is None:
        return task
    barred = keys(task.held)
    left = [q for q in questions if q.article_ids and q.split not in HELD_OUT and key(q) not in barred]
    left = cap_synthetic(left, task.recipe.training.synthetic)
    marked = [q for q in questions if q.article_ids and q.split in DEV and key(q) not in barred]
    if not left:
        raise BadInput(
            "the questions to learn from instead have no gold articles in this corpus: give others"
        )
    learn, dev = (left, marked) if marked else split_dev(left, task.recipe.evaluation.dev, task.seed)
    return replace(task, learn=tuple(learn), dev=tuple(dev))
