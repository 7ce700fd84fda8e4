"""A rehearsal: everything a training does with the data, two steps of it, with a small encoder."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from training.neural.data.batches import Batches
from training.neural.data.hard_negatives import draw_of
from training.neural.data.task import Task
from training.neural.recipe.settings import Scratch
from training.neural.run import plan, prepared
from training.neural.trainer.distributed import World
from training.neural.trainer.log import Log
from training.neural.trainer.loop import Run, train
from training.neural.trainer.validation import Judge

BATCH = 8  # questions of a step of the rehearsal
STEPS = 2


def dry_run(task: Task, world: World) -> str:
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
    draw = draw_of(task)
    whole = Batches(task.learn, task.corpus.articles, recipe.training, recipe.negatives, draw, task.seed)
    batches = Batches(task.learn, task.corpus.articles, training, recipe.negatives, draw, task.seed)
    measure = recipe.evaluation.measure
    judge = (
        Judge(task.corpus, task.dev, measure, recipe.evaluation.candidates, task.seed) if task.dev else None
    )
    with tempfile.TemporaryDirectory() as folder:
        system = prepared(rehearsed, world, Path(folder) / "scratch")
        state = train(Run(system, batches, judge, world, Log(None, None), None, task.seed, ""))
    return "\n".join(
        [
            plan(task, whole, None, judge),
            f"rehearsed {state.step} steps of {training.batch} with an encoder of {scratch.layers} layer and "
            f"{scratch.width} numbers a token: all of it runs. Nothing was written.",
        ]
    )
