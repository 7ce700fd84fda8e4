"""Trains one task from beginning to end: data, negatives, the loop, measures, the result folder.

A rehearsal does with the data all that a training does, and two steps of it with a small encoder.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from indexes.corpus.corpus import SYNTHETIC
from rag.corpus.card import CorpusCard
from rag.errors import BadInput
from rag.types import Question, Ranking
from training.eval import report
from training.eval.run import Measured, SystemRun, answer, measure
from training.neural import result
from training.neural.data.batches import Batches
from training.neural.data.negatives import hard_negative_sampler
from training.neural.data.seen_questions import keys
from training.neural.data.task import TrainingTask
from training.neural.data.tokens import article_text
from training.neural.recipe.settings import BackboneSettings, Recipe, Scratch
from training.neural.result import model_facts
from training.neural.summary import BEFORE_TRAINING, question_values
from training.neural.systems import splade
from training.neural.systems.backbone import pinned
from training.neural.systems.base import NeuralSystem
from training.neural.systems.graph_network import STATIC, GraphNetwork
from training.neural.systems.registry import KINDS, build
from training.neural.trainer import resources
from training.neural.trainer.checkpoint import LOG, other
from training.neural.trainer.distributed import World
from training.neural.trainer.logging import Events, TrainingLog
from training.neural.trainer.loop import TrainingRun, train
from training.neural.trainer.resources import TO_HOLD, TO_RANK, Watch, explain_out_of_memory
from training.neural.trainer.validation import Judge

BATCH, STEPS = 8, 2  # questions of a step of the rehearsal, and its steps
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
    ask: bool = True  # whether the questions held back are asked, before and after

    @property
    def work(self) -> Path:
        """Where checkpoints lie until the result is written."""
        return self.output.with_name(f"{self.output.name}.run")


def run(task: TrainingTask, order: Order, world: World) -> dict[str, Measured]:
    """Train a task and write its result; return the measures on the questions held back.

    Raises:
        BadInput: something cannot be used; the text says what, and what to type.
    """
    task = replace(task, recipe=pinned(task.recipe))
    _make_room(order, world, task.identity)
    start = time.perf_counter()
    system = prepared(task, world, order.work / _SCRATCH)
    events = None if order.events is None else Events(order.events)
    log = TrainingLog(order.work / LOG, sys.stderr, events) if world.main else TrainingLog()
    batches, judge = training_batches(task), dev_judge(task)
    if world.main:
        log({}, plan(task, batches, system, judge))
    held = [q for q in task.held if q.article_ids and order.ask]
    collected: dict[str, SystemRun] = {}
    if world.main and held:
        with explain_out_of_memory(TO_RANK):
            collected[BEFORE_TRAINING] = _untrained_metrics(task, system, held, order)
    world.agree(0.0)
    worked, watch = time.process_time(), Watch(world)
    under_way = TrainingRun(
        system, batches, judge, world, log, order.work, task.identity, order.resume, order.save_every
    )
    state = train(under_way)
    if not world.main:
        world.agree(0.0)
        return {}
    of_training = None if state.earlier else time.process_time() - worked  # of one sitting
    peak = watch.peak()
    system.module.eval()
    worked, began = time.process_time(), time.perf_counter()
    with explain_out_of_memory(TO_RANK):
        retriever = system.retriever(task.corpus) if held else None  # may take longer than to learn
        seconds, of_indexing = time.perf_counter() - began, time.process_time() - worked
        if retriever is not None:
            answer({task.recipe.name: retriever}, held, collected)
    measured = measure(collected, held, task.seed, order.measures) if held else {}
    hours = (time.perf_counter() - start + state.earlier) / 3600
    cost = resources.cost(hours, resources.Hardware.found(world.device, world.size, order.watts))
    terms = [] if retriever is None else splade.expansions(system, retriever, task.corpus, held)
    if terms:
        log({}, splade.expansion_lines(terms))
    facts = model_facts(task, system, state, retriever) | {
        "peak memory bytes": peak,
        "peak memory of": watch.of,
        "processes": world.size,
        "device": str(world.device),
        "indexing ms an article": None if retriever is None else 1000 * seconds / len(task.corpus.articles),
        "processor seconds of training": of_training,
        "processor seconds of indexing": None if retriever is None else of_indexing,
    }
    others = "" if task.fold is None else f", all but fold {task.fold}"
    entry = report.record(
        measured, task.corpus, command=[order.command], questions=len(held),
        unanswerable=sum(not q.article_ids for q in task.held), seed=task.seed, tuned_on=None,
        learnt_from=f"{len(task.learn)} questions of {task.corpus.card.name}{others}",
    )  # fmt: skip
    entry |= {"expansion": terms} if terms else {}
    values = question_values([q.id for q in held], {name: found.values for name, found in measured.items()})
    cards = order.cards or (task.corpus.card,)
    outcome = result.TrainingResult(task, order.command, cost, facts, entry, cards, state.curve, values)
    result.write(order.output, system, outcome, log.file)
    shutil.rmtree(order.work)
    world.agree(0.0)
    return measured


def prepared(task: TrainingTask, world: World, folder: Path) -> NeuralSystem:
    """Return the system before any training; its weights follow from the seed.

    An encoder from scratch is kept in the folder meanwhile.
    """
    import torch

    torch.manual_seed(task.seed)
    if world.device.type == "cuda":
        torch.use_deterministic_algorithms(True, warn_only=True)
    articles, text = task.corpus.articles, task.recipe.text
    if KINDS[task.recipe.system].over_law:
        graph = GraphNetwork.of_law(task.recipe, task.corpus, task.learn, _began_with(task))
        with explain_out_of_memory(TO_HOLD):
            graph.to(str(world.device))
        graph.over(task.corpus)
        system: NeuralSystem = graph
    else:
        texts = chain((article_text(article, text) for article in articles), (q.text for q in task.learn))
        system = build(task.recipe, texts, world, folder, [article.id for article in articles])
    with explain_out_of_memory(TO_HOLD):
        system.module.to(world.device)
    return system


def _began_with(task: TrainingTask) -> Path | None:
    """Return the result in the backbone's folder that knows nothing of what is held back; None: it is none.

    Raises:
        BadInput: every result in it knows some of that.
    """
    folder = Path(str(task.recipe.model.backbone))
    if not folder.is_dir() or not result.holds_result(folder):
        return None
    chosen = result.uncontaminated(result.open_results(folder), keys(task.held))
    if chosen is None:
        raise BadInput(
            f"model.backbone {folder}: every model in it has learnt from questions that are held back here. "
            "Train it with the same folds, or give another."
        )
    return chosen.folder


def training_batches(task: TrainingTask) -> Batches:
    """Return what a task learns from, step by step, with its negatives."""
    recipe, draw = task.recipe, hard_negative_sampler(task)
    return Batches(task.learn, task.corpus.articles, recipe.training, recipe.negatives, draw, task.seed)


def dev_judge(task: TrainingTask) -> Judge | None:
    """Return what looks at a training's dev questions; None where it has none."""
    of = task.recipe.evaluation
    return Judge(task.corpus, task.dev, of.measure, of.candidates, task.seed) if task.dev else None


def plan(task: TrainingTask, batches: Batches, system: NeuralSystem | None, judge: Judge | None) -> str:
    """Return what is about to be done, for people; without a system its size is left out."""
    recipe = task.recipe
    model = recipe.model.backbone or "an encoder from scratch"
    fold = f", fold {task.fold}" if task.fold is not None else ""
    size = f", {system.parameters:,} parameters" if system is not None else ""
    written, most, synthetic = sum(q.split == SYNTHETIC for q in task.learn), recipe.training.synthetic, ""
    if written or most:
        synthetic = f"\n{written} of those to learn from are synthetic"
        synthetic += f", at most {most} an article" if most else ""
        synthetic += "" if written else ": give some by --option splits=... or --questions"
    return (
        f"{recipe.name} ({recipe.system}), seed {task.seed}{fold}: {model}{size}\n"
        f"{len(task.learn)} questions ({len(batches.pairs)} examples) to learn from, {len(task.dev)} dev, "
        f"{len(task.held)} held back, {len(task.corpus.articles):,} articles\n"
        f"{batches.steps} steps of {min(recipe.training.batch, len(batches.pairs))}, "
        f"{recipe.negatives.per_question} drawn negatives a question; looked at by "
        f"{judge.description if judge else 'nobody'}{synthetic}"
    )


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


def _untrained_metrics(
    task: TrainingTask, system: NeuralSystem, held: Sequence[Question], order: Order
) -> SystemRun:
    """Ask the untrained system the questions held back; a run that goes on reads what it answered."""
    path = order.work / _BEFORE_FILES
    if order.resume and path.exists():
        found = json.loads(path.read_text(encoding="utf-8"))
        run = {q: Ranking.of(ranking) for q, ranking in found["run"].items()}
        return SystemRun(run, found["seconds"], found["folds"])
    collected: dict[str, SystemRun] = {}
    answer({BEFORE_TRAINING: system.retriever(task.corpus)}, held, collected)
    untrained = collected[BEFORE_TRAINING]
    answers = {question: list(ranking) for question, ranking in untrained.run.items()}
    record = {"run": answers, "seconds": untrained.seconds, "folds": untrained.folds}
    path.write_text(json.dumps(record), encoding="utf-8")
    return untrained


def _small(recipe: Recipe, scratch: Scratch) -> BackboneSettings:
    """Return the encoder of a rehearsal; a graph network's is fitted in no time as it is."""
    if recipe.system == "graph":
        return replace(recipe.model, backbone=STATIC)
    return replace(recipe.model, backbone=None, scratch=scratch)


def dry_run(task: TrainingTask, world: World) -> str:
    """Read, split, draw negatives, take two steps and evaluate, with a small encoder; write nothing.

    Returns the plan of the whole training, and what the rehearsal found.
    """
    recipe, text = task.recipe, task.recipe.text
    longest = max(text.question_tokens, text.article_tokens, text.chunk_tokens + 2)
    scratch = Scratch(layers=1, width=16, heads=2, feedforward=16, vocabulary=300, positions=longest)
    training = replace(
        recipe.training, steps=STEPS, epochs=0.0, batch=min(recipe.training.batch, BATCH),
        warmup_steps=min(recipe.training.warmup_steps, 1), precision="float32",
    )  # fmt: skip
    small = replace(
        recipe,
        model=_small(recipe, scratch),
        training=training,
        evaluation=replace(recipe.evaluation, every=STEPS, keep="last"),
    )
    whole, judge = training_batches(task), dev_judge(task)
    batches = Batches(task.learn, task.corpus.articles, training, recipe.negatives, whole.draw, task.seed)
    with tempfile.TemporaryDirectory() as folder:
        system = prepared(replace(task, recipe=small), world, Path(folder) / _SCRATCH)
        state = train(TrainingRun(system, batches, judge, world, TrainingLog()))
    return (
        f"{plan(task, whole, None, judge)}\n"
        f"rehearsed {state.step} steps of {training.batch} with an encoder of {scratch.layers} layer and "
        f"{scratch.width} numbers a token: all of it runs. Nothing was written."
    )
