"""Sweeps: trainings that differ in one thing, in one file, with what a paper printed beside each."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from indexes.corpus.corpus import HELD_OUT
from rag.errors import BadInput
from rag.types import Question, Retriever
from training.eval.context import BenchLike, Extra, FoldContext, System
from training.eval.metrics import parse
from training.eval.system_names import MODEL as OF_MODEL
from training.eval.system_names import by_graph, fused, parse_rerank, refuse_unfit
from training.neural.data.seen_questions import key, keys
from training.neural.data.task import DEV, MODEL, TrainingTask, cap_synthetic
from training.neural.recipe.recipe import FOLDER, parse_recipe, read_recipe
from training.neural.recipe.settings import Recipe
from training.neural.recipe.toml import number, read_table
from training.neural.trainer.validation import split_dev

SWEEPS = FOLDER / "sweeps"
SYSTEMS = "systems"  # folder in the output of what its systems reach
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
    negatives: str | None = None  # the training whose model draws those that the recipe has from "model"
    synthetic: int | None = number(0, 1000, None)  # training.synthetic; None: as the recipe has it
    published: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))  # percent


@dataclass(frozen=True, slots=True)
class PublishedSystem:
    """What a paper printed of a system, to stand beside ours."""

    name: str  # as the paper has it
    paper: str  # with the table
    protocol: str  # how it was measured
    values: Mapping[str, float]  # percent
    beside: str | None = None  # the system of ours that is the same


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
    # what is asked when all is trained, as training.eval --systems has it; model:NAME is the training NAME
    systems: tuple[str, ...] = ()
    published: tuple[PublishedSystem, ...] = ()


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
        for name, value in (("after", part.after), ("negatives", part.negatives)):
            if value is not None and value not in earlier:
                raise BadInput(f"{where}: {name} = {value!r} of {part.name!r} names no training above it")
        if (at := folder(part.name)) in folders or not at.strip("-."):
            raise BadInput(f"{where}: the name {part.name!r} cannot be told from another's: change it")
        earlier.add(part.name)
        folders.add(at)
    if sweep.compare and (len(sweep.compare) != 2 or not set(sweep.compare) <= earlier):
        raise BadInput(f"{where}: compare is {list(sweep.compare)}: expected two names of {sorted(earlier)}")
    if not sweep.runs:
        raise BadInput(f"{where}: runs is empty: add a [[runs]]")
    _check_systems(sweep, where)
    _check_published(sweep, where)


def _check_published(sweep: Sweep, where: str) -> None:
    for row in sweep.published:
        if row.beside is not None and row.beside not in sweep.systems:
            raise BadInput(
                f"{where}: published {row.name!r} stands beside {row.beside!r}, which is none of systems: "
                f"{', '.join(sweep.systems) or 'none'}"
            )
        for measure in row.values:
            if measure not in sweep.measures:
                raise BadInput(
                    f"{where}: published {row.name!r} has {measure}: add it to measures, now "
                    f"{', '.join(sweep.measures)}"
                )


def _check_systems(sweep: Sweep, where: str) -> None:
    """Refuse systems now that could not be asked after hours of training."""
    for part in sweep.runs if sweep.systems else ():
        if set(part.name) & set(",:=") or folder(part.name) == SYSTEMS:
            raise BadInput(
                f"{where}: a training {part.name!r} beside systems: take another name, without , : and ="
            )
    if len(set(sweep.systems)) < len(sweep.systems):
        raise BadInput(f"{where}: systems names one twice: {', '.join(sweep.systems)}")
    brought = {f"{OF_MODEL}{part.name}": Extra(_untrained) for part in sweep.runs}
    for name in rerankings(sweep.systems):
        how, below = parse_rerank(name) or ("", "")
        if how in brought:
            brought[name] = Extra(_untrained, (below,))
    try:
        refuse_unfit(sweep.systems, learning=True, more=brought)
    except BadInput as error:
        raise BadInput(f"{where}: systems: {error}") from error


def _untrained(bench: BenchLike, context: FoldContext, system: System) -> Retriever:
    raise BadInput("the systems of a sweep are made after its trainings")


def made_of(system: str) -> list[str]:
    """Return a system and all systems that it is made of, by name."""
    if (way := by_graph(system)) is not None:
        parts: Sequence[str] = (way.system,)
    elif (reranked := parse_rerank(system)) is not None:
        parts = (reranked[1],)
    else:
        fusion = fused(system)
        parts = fusion.parts if fusion is not None else ()
    return [system, *(name for part in parts for name in made_of(part))]


def rerankings(systems: Sequence[str]) -> list[str]:
    """Return those of these systems, and of what they are made of, that re-rank another one."""
    names = dict.fromkeys(name for system in systems for name in made_of(system))
    return [name for name in names if parse_rerank(name) is not None]


def models_of(system: str) -> set[str]:
    """Return the names of the trainings whose models a system asks."""
    found = {parts[0] for name in made_of(system) if (parts := parse_rerank(name)) is not None}
    found |= {name for name in made_of(system) if parse_rerank(name) is None}
    return {name.removeprefix(OF_MODEL) for name in found if name.startswith(OF_MODEL)}


def only(sweep: Sweep, wanted: Sequence[str] | None) -> Sweep:
    """Return the sweep with those trainings alone that are named; None takes all.

    Systems that ask the model of another one are left out.

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
        if part.negatives is not None and part.negatives not in wanted:
            raise BadInput(f"{part.name!r} draws negatives by the model of {part.negatives!r}: name that too")
    systems = tuple(system for system in sweep.systems if models_of(system) <= set(wanted))
    return replace(sweep, runs=runs, systems=systems)


def folder(name: str) -> str:
    """Return the folder of a training, of its name."""
    return re.sub(r"[^\w.]+", "-", name.casefold())


def training_recipe(
    sweep: Sweep,
    part: SweepPart,
    changes: Sequence[str],
    base: Path | None,
    *,
    drawn: Path | None = None,
    scratch: bool = False,
) -> Recipe:
    """Return the recipe of a training, with the sweep's changes, its own, and those of the command line.

    It begins with the model of the result `base`, None leaves the recipe's own; a graph network has that
    result for its encoder. The result `drawn` draws the negatives that are from "model"; where there is none
    yet, as in a rehearsal, BM25 draws all. `scratch` puts a small encoder with random weights in the place of
    the recipe's.
    """
    own = [*sweep.set, *part.set]
    own += [] if part.synthetic is None else [f"training.synthetic={part.synthetic}"]
    if part.negatives is not None:
        changes = [*changes, f"negatives.model={json.dumps(str(drawn))}"]
    recipe = read_recipe(part.recipe, [*own, *changes], scratch=scratch)
    if part.negatives is not None and drawn is None:
        others = {k: v for k, v in recipe.source["negatives"].items() if k != "model"}
        recipe = parse_recipe(
            {**recipe.source, "negatives": {**others, "stages": [{"mix": {"bm25": 1.0}}]}}, part.name
        )
    if base is None:
        return recipe
    model = {k: v for k, v in recipe.source.get("model", {}).items() if k not in ("scratch", "backbone")}
    backbone = base if recipe.system == "graph" else base / MODEL
    return parse_recipe({**recipe.source, "model": {**model, "backbone": str(backbone)}}, part.name)


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


def without_asked(task: TrainingTask) -> TrainingTask:
    """Return the task without questions to learn from, or to look at, that are asked word for word."""
    barred = keys(task.held)
    learn, dev = (tuple(q for q in part if key(q) not in barred) for part in (task.learn, task.dev))
    return replace(task, learn=learn, dev=dev)
