"""The loop that trains every system: batches in, gradients down, a look at dev questions now and then.

Whatever is drawn at a step (its batch, its negatives, its dropout) follows from the seed and the step's
number, so a run goes on from a checkpoint as if it had never stopped.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rag.errors import BadInput
from training.neural.data.batches import Batches
from training.neural.recipe.settings import Training
from training.neural.systems.base import NeuralSystem
from training.neural.trainer import checkpoint
from training.neural.trainer.checkpoint import BEST, CheckpointState
from training.neural.trainer.distributed import World
from training.neural.trainer.logging import TrainingLog, duration
from training.neural.trainer.resources import TO_HOLD, TO_RANK, explain_out_of_memory, memory_hint
from training.neural.trainer.step import Cast, gradients

PROGRESS_LINES = 50  # lines of progress over a training, about


@dataclass(frozen=True)
class TrainingRun:
    """One training: what is trained, on what, and where it is kept."""

    system: NeuralSystem
    batches: Batches
    judge: Callable[[NeuralSystem], float] | None  # None: nobody looks
    world: World
    log: TrainingLog
    work: Path | None = None  # for checkpoints; None keeps nothing
    identity: str = ""  # of recipe, seed and data
    resume: bool = False
    save_every: int = 0  # steps; 0: at every look


def train(run: TrainingRun) -> CheckpointState:
    """Train to the end, or until no look is better than the best for a while.

    The system holds the weights of the best look afterwards, or the last ones, as the recipe says.

    Raises:
        BadInput: too little memory, a loss that is no number, or no checkpoint to go on from.
    """
    import torch

    recipe = run.system.recipe
    with explain_out_of_memory(TO_HOLD):
        module = run.system.module.to(run.world.device)
        optimiser = _optimiser(module, recipe.training)
    state = CheckpointState(run.identity)
    if run.resume and run.work is not None and checkpoint.has_checkpoint(run.work):
        state = checkpoint.load(run.work, module, optimiser, run.identity)
        if run.world.main:
            run.log.back_to(state.step)
            run.log({"resumed": state.step}, f"resumed after step {state.step}")
    else:
        _look(run, state)
    every = recipe.evaluation.every or run.batches.per_epoch
    cast = caster(recipe.training, run.world.device)
    module.train()
    start = time.perf_counter() - state.seconds
    patience = recipe.evaluation.patience
    while state.step < run.batches.steps and not (patience and state.worse >= patience):
        rate = recipe.training.learning_rate * rate_share(state.step, run.batches.steps, recipe.training)
        drawn = np.random.SeedSequence((run.batches.seed, 4, state.step, run.world.rank)).generate_state(1)
        torch.manual_seed(int(drawn[0]))  # of the dropout
        losses = _step(run, optimiser, state.step, rate, cast)
        state.step += 1
        state.seconds = time.perf_counter() - start
        _tell(run, state, losses, rate)
        looked = state.step % every == 0 or state.step == run.batches.steps
        if looked:
            _look(run, state)
            state.seconds = time.perf_counter() - start
        due = looked or (run.save_every and state.step % run.save_every == 0)
        if due and run.work is not None and run.world.main:
            checkpoint.save(run.work, module, optimiser, state)
    restore = recipe.evaluation.keep == "best" and state.best is not None and state.best_step != state.step
    if restore and run.work is not None:
        run.world.agree(0.0)  # the main process has written them by now
        checkpoint.load_weights(module, run.work / BEST)
    return state


def rate_share(step: int, steps: int, training: Training) -> float:
    """Return the share of the learning rate at a step, counted from 0: rising, then by schedule."""
    warmup = training.warmup_steps + round(training.warmup_share * steps)
    if step < warmup:
        return (step + 1) / warmup
    left = (steps - step) / max(steps - warmup, 1)
    if training.schedule == "linear":
        return left
    return 1.0 if training.schedule == "constant" else 0.5 * (1 + math.cos(math.pi * (1 - left)))


def caster(training: Training, device: Any) -> Cast:  # noqa: ANN401 - of torch
    """Return what encodings are made in: bfloat16 where it is asked for or the GPU has it, else nothing."""
    import torch

    wanted = training.precision == "bfloat16"
    if training.precision == "auto" and device.type == "cuda":
        wanted = torch.cuda.is_bf16_supported(including_emulation=False)
    return partial(torch.autocast, device.type, dtype=torch.bfloat16) if wanted else nullcontext


def _optimiser(module: Any, training: Training) -> Any:  # noqa: ANN401 - of torch
    """Return AdamW (Loshchilov & Hutter 2019) or SGD; biases and norms, vectors all, do not decay."""
    import torch

    learnt = [p for p in module.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in learnt if p.ndim > 1], "weight_decay": training.weight_decay},
        {"params": [p for p in learnt if p.ndim <= 1], "weight_decay": 0.0},
    ]
    if training.optimiser == "sgd":
        return torch.optim.SGD(groups, lr=training.learning_rate, momentum=training.momentum)
    return torch.optim.AdamW(groups, lr=training.learning_rate, betas=(training.beta1, training.beta2))


def _step(run: TrainingRun, optimiser: Any, step: int, rate: float, cast: Cast) -> dict[str, float]:  # noqa: ANN401
    import torch

    training, module = run.system.recipe.training, run.system.module
    optimiser.zero_grad(set_to_none=True)
    with explain_out_of_memory(memory_hint(training)):
        losses = gradients(run.system, run.batches(step), training.mini_batch, run.world, cast)
    if not math.isfinite(losses["loss"]):
        raise BadInput(
            f"the loss is {losses['loss']} at step {step + 1}: lower training.learning_rate, raise "
            "loss.temperature, or --set training.precision=float32"
        )
    if training.clip:
        torch.nn.utils.clip_grad_norm_(module.parameters(), training.clip)
    for group in optimiser.param_groups:
        group["lr"] = rate
    with explain_out_of_memory(TO_HOLD):  # it takes its memory at the first step
        optimiser.step()
    return losses


def _look(run: TrainingRun, state: CheckpointState) -> None:
    """Ask the dev questions, and keep the weights if they were never better."""
    if run.judge is None:
        return
    started = time.perf_counter()
    with explain_out_of_memory(TO_RANK):
        found = run.judge(run.system) if run.world.main else 0.0
    value = run.world.agree(found)
    better = state.best is None or value > state.best
    measure = run.system.recipe.evaluation.measure
    state.curve.append({"step": state.step, measure: value})
    state.worse = 0 if better else state.worse + 1
    if better:
        state.best, state.best_step = value, state.step
        if run.work is not None and run.world.main:
            checkpoint.save_weights(run.system.module, run.work / BEST)
    if run.world.main:
        took, best = time.perf_counter() - started, state.best or 0.0
        run.log(
            {"step": state.step, measure: value, "best": best, "seconds": took},
            f"step {state.step}: {measure} {100 * value:.1f} on the dev questions (best {100 * best:.1f} at "
            f"step {state.best_step}), {took:.1f} s",
        )


def _tell(run: TrainingRun, state: CheckpointState, losses: dict[str, float], rate: float) -> None:
    """Log the first step, the last one, and so many between them that all are about PROGRESS_LINES."""
    step, steps = state.step, run.batches.steps
    if run.world.main and (step in (1, steps) or step % max(steps // PROGRESS_LINES, 1) == 0):
        left = duration((steps - step) * state.seconds / step)
        parts = " ".join(f"{name} {value:.4f}" for name, value in losses.items())
        run.log(
            {"step": step, **losses, "rate": rate, "seconds": state.seconds},
            f"step {step}/{steps}: {parts}, rate {rate:.2e}, {left} left",
        )
