"""Trains one task from beginning to end: data, negatives, the loop, measures, the result folder.

A rehearsal: everything a training does with the data, two steps of it, with a small encoder.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from indexes.corpus.corpus import SYNTHETIC, Corpus
from rag.corpus.card import CorpusCard
from rag.errors import BadInput
from rag.types import Hit, Question, Retriever
from training.eval import report
from training.eval.run import Measured, SystemRun, answer, measure
from training.neural import result
from training.neural.data.batches import Batches
from training.neural.data.negatives import hard_negative_sampler
from training.neural.data.task import TrainingTask
from training.neural.data.tokens import article_text
from training.neural.recipe.settings import Scratch
from training.neural.result import model_facts
from training.neural.summary import BEFORE_TRAINING, question_values
from training.neural.systems import splade
from training.neural.systems.base import NeuralSystem
from training.neural.systems.registry import build
from training.neural.trainer import resources
from training.neural.trainer.checkpoint import LOG, other
from training.neural.trainer.distributed import World
from training.neural.trainer.logging import Events, TrainingLog
from training.neural.trainer.loop import TrainingRun, train
from training.neural.trainer.resources import TO_HOLD, TO_RANK, Watch, explain_out_of_memory
from training.neural.trainer.validation import Judge

_BEFORE_FILES, _SCRATCH, _IDENTITY = "before.json", "scratch", "identity"  # in the work folder


@dataclass(frozen=True)
class Order:
    """How a task is run: what was typed besides recipe and data."""

    command: str
    output: Path
    measures: tuple[str, ...]
    resume: bool = False
    save_every: int = 0
    watts: float | None = None
    cards: tuple[CorpusCard, ...] = ()
    events: Path | None = None  # where TensorBoard looks

    @property
    def work(self) -> Path:
        """Where checkpoints lie until the result is written."""
        return self.output.with_name(f"{self.output.name}.run")


def run(
    task: TrainingTask, order: Order, world: World, log: TrainingLog | None = None
) -> dict[str, Measured]:
    """Train a task and write its result; return the measures on the questions held back.

    Args:
        task: what is learnt, looked at and held back.
        order: how, and where to.
        world: the processes.
        log: where to tell; None writes to the work folder and to stderr.

    Raises:
        BadInput: something cannot be used; the text says what, and what to type.
    """
    _make_room(order, world, task.identity)
    start = time.perf_counter()
    system = prepared(task, world, order.work / _SCRATCH)
    log = log or _log(order, world)
    batches = training_batches(task)
    evaluation = task.recipe.evaluation
    judge = (
        Judge(task.corpus, task.dev, evaluation.measure, evaluation.candidates, task.seed)
        if task.dev
        else None
    )
    if world.main:
        log({}, plan(task, batches, system, judge))
    held = [q for q in task.held if q.article_ids]
    collected: dict[str, SystemRun] = {}
    if world.main and held:
        with explain_out_of_memory(TO_RANK):
            collected[BEFORE_TRAINING] = _untrained_metrics(task, system, held, order)
    world.agree(0.0)
    worked, watch = time.process_time(), Watch(world)
    state = train(
        TrainingRun(
            system,
            batches,
            judge,
            world,
            log,
            order.work,
            task.seed,
            task.identity,
            order.resume,
            order.save_every,
        )
    )
    if not world.main:
        world.agree(0.0)
        return {}
    processor = {"training": None if state.earlier else time.process_time() - worked}  # of one sitting
    peak = watch.peak()
    system.module.eval()
    worked = time.process_time()
    with explain_out_of_memory(TO_RANK):
        retriever, seconds = _indexed(system, task.corpus)
        processor["indexing"] = time.process_time() - worked
        if held:
            answer({task.recipe.name: retriever}, held, collected)
    measured = measure(collected, held, task.seed, order.measures) if held else {}
    hours = (time.perf_counter() - start + state.earlier) / 3600
    cost = resources.cost(hours, resources.Hardware.found(world.device, world.size, order.watts))
    if terms := splade.expansions(system, retriever, task.corpus, held):
        log({}, splade.expansion_lines(terms))
    facts = model_facts(task, system, state, retriever, world, peak) | {
        "indexing ms an article": 1000 * seconds / len(task.corpus.articles),
        "processor seconds of training": processor["training"],
        "processor seconds of indexing": processor["indexing"],
    }
    entry = report.record(
        measured,
        task.corpus,
        command=[order.command],
        questions=len(held),
        unanswerable=len(task.held) - len(held),
        seed=task.seed,
        tuned_on=None,
        learnt_from=_learnt_from(task),
    )
    entry |= {"expansion": terms} if terms else {}
    outcome = result.TrainingResult(
        task,
        order.command,
        cost,
        facts,
        entry,
        order.cards or (task.corpus.card,),
        state.curve,
        question_values([q.id for q in held], {name: found.values for name, found in measured.items()}),
    )
    result.write(order.output, system, outcome, log.file)
    shutil.rmtree(order.work)
    world.agree(0.0)
    return measured


def _log(order: Order, world: World) -> TrainingLog:
    if not world.main:
        return TrainingLog(None, None)
    return TrainingLog(order.work / LOG, sys.stderr, None if order.events is None else Events(order.events))


def prepared(task: TrainingTask, world: World, folder: Path) -> NeuralSystem:
    """Return the system before any training; its weights follow from the seed.

    Args:
        task: whose recipe.
        world: the processes.
        folder: where an encoder from scratch is kept meanwhile.
    """
    import torch

    torch.manual_seed(task.seed)
    if world.device.type == "cuda":
        torch.use_deterministic_algorithms(True, warn_only=True)
    text = task.recipe.text

    def texts() -> Iterator[str]:
        yield from (article_text(article, text) for article in task.corpus.articles)
        yield from (question.text for question in task.learn)

    system = build(task.recipe, texts, world, folder, [article.id for article in task.corpus.articles])
    with explain_out_of_memory(TO_HOLD):
        system.module.to(world.device)
    return system


def training_batches(task: TrainingTask) -> Batches:
    """Return what a task learns from, step by step, with its negatives."""
    return Batches(
        task.learn,
        task.corpus.articles,
        task.recipe.training,
        task.recipe.negatives,
        hard_negative_sampler(task),
        task.seed,
    )


def plan(task: TrainingTask, batches: Batches, system: NeuralSystem | None, judge: Judge | None) -> str:
    """Return what is about to be done, for people; without a system its size is left out."""
    recipe = task.recipe
    model = recipe.model.backbone or "an encoder from scratch"
    fold = f", fold {task.fold}" if task.fold is not None else ""
    size = f", {system.parameters:,} parameters" if system is not None else ""
    return (
        f"{recipe.name} ({recipe.system}), seed {task.seed}{fold}: {model}{size}\n"
        f"{len(task.learn)} questions ({len(batches.pairs)} examples) to learn from, {len(task.dev)} dev, "
        f"{len(task.held)} held back, {len(task.corpus.articles):,} articles\n"
        f"{batches.steps} steps of {min(recipe.training.batch, len(batches.pairs))}, "
        f"{recipe.negatives.per_question} drawn negatives a question; looked at by "
        f"{judge.description if judge else 'nobody'}{_synthetic(task)}"
    )


def _synthetic(task: TrainingTask) -> str:
    """Say how many of the questions to learn from a model wrote, where some are or the recipe takes some."""
    written, most = sum(q.split == SYNTHETIC for q in task.learn), task.recipe.training.synthetic
    if not written and not most:
        return ""
    line = f"\n{written} of those to learn from are synthetic"
    line += f", at most {most} an article" if most else ""
    return line if written else f"{line}: give some by --option splits=... or --questions"


def _make_room(order: Order, world: World, identity: str) -> None:
    """Refuse to write over what is there, and to go on with another training; all processes do."""
    work = order.work
    if order.output.exists():
        raise BadInput(f"{order.output} is there already: remove it (rm -r) or give another --output")
    if not order.resume and work.exists() and any(work.iterdir()):
        raise BadInput(
            f"{work} holds a training that was not finished: add --resume to go on, or remove it (rm -r)"
        )
    if order.resume and not work.exists():
        raise BadInput(f"--resume: there is no {work} to go on from. Start without --resume.")
    stamp = work / _IDENTITY
    if order.resume and stamp.exists() and stamp.read_text(encoding="utf-8") != identity:
        raise BadInput(other(work))
    world.agree(0.0)  # nobody makes it before all have looked
    if world.main:
        try:
            work.mkdir(parents=True, exist_ok=True)
            stamp.write_text(identity, encoding="utf-8")
        except OSError as error:
            raise BadInput(f"{work} cannot be made ({error.strerror}): give another --output") from error


def _indexed(system: NeuralSystem, corpus: Corpus) -> tuple[Retriever, float]:
    start = time.perf_counter()
    with explain_out_of_memory(TO_RANK):
        return system.retriever(corpus), time.perf_counter() - start


def _untrained_metrics(
    task: TrainingTask, system: NeuralSystem, held: Sequence[Question], order: Order
) -> SystemRun:
    """Ask the untrained system the questions held back; a run that goes on reads what it answered."""
    path = order.work / _BEFORE_FILES
    if order.resume and path.exists():
        found = json.loads(path.read_text(encoding="utf-8"))
        run = {q: tuple(Hit(id_, score) for id_, score in ranking) for q, ranking in found["run"].items()}
        return SystemRun(run, found["seconds"], found["folds"])
    collected: dict[str, SystemRun] = {}
    answer({BEFORE_TRAINING: system.retriever(task.corpus)}, held, collected)
    found = collected[BEFORE_TRAINING]
    path.write_text(
        json.dumps({"run": found.run, "seconds": found.seconds, "folds": found.folds}), encoding="utf-8"
    )
    return found


def _learnt_from(task: TrainingTask) -> str:
    return f"{len(task.learn)} questions of {task.corpus.card.name}" + (
        "" if task.fold is None else f", all but fold {task.fold}"
    )


BATCH = 8  # questions of a step of the rehearsal
STEPS = 2


def dry_run(task: TrainingTask, world: World) -> str:
    """Read, split, draw negatives, take two steps and evaluate, with a small encoder; write nothing.

    Returns:
        The plan of the whole training, and what the rehearsal found.
    """
    recipe = task.recipe
    text = recipe.text
    longest = max(text.question_tokens, text.article_tokens, text.chunk_tokens + 2)
    scratch = Scratch(layers=1, width=16, heads=2, feedforward=16, vocabulary=300, positions=longest)
    training = replace(
        recipe.training, steps=STEPS, epochs=0.0, batch=min(recipe.training.batch, BATCH),
        warmup_steps=min(recipe.training.warmup_steps, 1), precision="float32",
    )  # fmt: skip
    small = replace(
        recipe,
        model=replace(recipe.model, backbone=None, scratch=scratch),
        training=training,
        evaluation=replace(recipe.evaluation, every=STEPS, keep="last"),
    )
    rehearsed = replace(task, recipe=small)
    draw = hard_negative_sampler(task)
    whole = Batches(task.learn, task.corpus.articles, recipe.training, recipe.negatives, draw, task.seed)
    batches = Batches(task.learn, task.corpus.articles, training, recipe.negatives, draw, task.seed)
    measure = recipe.evaluation.measure
    judge = (
        Judge(task.corpus, task.dev, measure, recipe.evaluation.candidates, task.seed) if task.dev else None
    )
    with tempfile.TemporaryDirectory() as folder:
        system = prepared(rehearsed, world, Path(folder) / "scratch")
        state = train(
            TrainingRun(system, batches, judge, world, TrainingLog(None, None), None, task.seed, "")
        )
    return "\n".join(
        [
            plan(task, whole, None, judge),
            f"rehearsed {state.step} steps of {training.batch} with an encoder of {scratch.layers} layer and "
            f"{scratch.width} numbers a token: all of it runs. Nothing was written.",
        ]
    )
