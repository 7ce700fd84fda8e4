"""The gradient of one step: encoded in pieces and over processes, yet that of the whole batch.

Gradient caching (Gao et al. 2021): encode everything without keeping activations; take the loss and its
gradient with respect to the encodings alone; encode once more, piece by piece, with the same dropout,
and hand each piece its part of that gradient. By the chain rule the sum is the gradient of the whole
batch, while only the activations of one piece are alive. Without pieces the second encoding is left out.
The same cut between encodings and loss serves many processes: each encodes its share, all see all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeAlias

from training.neural.data.batches import TrainingBatch
from training.neural.systems.base import NeuralSystem
from training.neural.trainer.distributed import World

if TYPE_CHECKING:
    from torch import Tensor

Cast: TypeAlias = Callable[[], AbstractContextManager[Any]]  # autocast to bfloat16, or nothing


def gradients(
    system: NeuralSystem, batch: TrainingBatch, mini_batch: int, world: World, cast: Cast
) -> dict[str, float]:
    """Add the gradient of a batch's loss to the parameters' own; return the loss and what a log shows.

    `mini_batch` items are encoded at once, 0: all of a process's; `cast` is entered around every encoding.
    """
    import torch

    parts = system.parts(batch)
    # a process that has no items takes the first one, whose row is not used
    own = {name: [items[i] for i in world.own(len(items))] or items[:1] for name, items in parts.items()}
    held: dict[str, Tensor] = {}
    states: dict[str, list[Any]] = {}
    for name, items in own.items():
        if mini_batch:
            with torch.no_grad():
                held[name], states[name] = _encoded(system, name, items, mini_batch, cast)
        else:
            with cast():
                held[name] = system.encode(name, items)
            held[name] = held[name].float()
    whole = {name: world.gather(held[name], len(items)).requires_grad_() for name, items in parts.items()}
    losses = system.loss(whole, batch)
    losses["loss"].backward()
    for name, items in own.items():
        mine, gradient = world.own(len(parts[name])), whole[name].grad
        if gradient is None or not len(mine) or not (mini_batch or held[name].requires_grad):
            continue  # it has no share in the loss, or is frozen
        wanted = gradient[mine.start :: world.size]
        if not mini_batch:
            held[name][: len(wanted)].backward(wanted)
            continue
        for begin, state in zip(range(0, len(wanted), mini_batch), states[name], strict=True):
            with state:
                with cast():
                    rows = system.encode(name, items[begin : begin + mini_batch])
                rows.float().backward(wanted[begin : begin + mini_batch])
    world.sum_gradients(system.module.parameters())
    return {name: float(value.detach()) for name, value in losses.items()}


def _encoded(
    system: NeuralSystem, name: str, items: Sequence[Any], size: int, cast: Cast
) -> tuple[Tensor, list[Any]]:
    """Encode without activations; return the rows, and the random state before each piece."""
    import torch
    from sentence_transformers.base.losses.gradcache import RandContext

    rows, states = [], []
    for begin in range(0, len(items), size):
        states.append(RandContext(torch.empty(0, device=next(system.module.parameters()).device)))
        with cast():
            rows.append(system.encode(name, items[begin : begin + size]).float())
    return torch.cat(rows), states
