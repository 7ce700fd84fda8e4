"""The gradient of one step: encoded in pieces and over processes, yet that of the whole batch.

Gradient caching (Gao et al. 2021): encode everything without keeping activations; take the loss and its
gradient with respect to the encodings alone; encode once more, piece by piece, with the same dropout,
and hand each piece its part of that gradient. By the chain rule the sum is the gradient of the whole
batch, while only the activations of one piece are alive. Without pieces the second encoding is left out.
The same cut between encodings and loss serves many processes: each encodes its share, all see all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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

    Args:
        system: whose parameters.
        batch: of all processes.
        mini_batch: items encoded at once; 0 encodes all of a process's at once.
        world: the processes.
        cast: entered around every encoding.
    """
    import torch

    parts = system.parts(batch)
    own = {name: _own(items, world) for name, items in parts.items()}
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
        wanted = _of_own(whole[name].grad, len(parts[name]), world)
        if wanted is None:
            continue
        if mini_batch:
            _again(system, name, items, wanted, states[name], mini_batch, cast)
        else:
            held[name][: len(wanted)].backward(wanted)
    world.sum_gradients(system.module.parameters())
    return {name: float(value.detach()) for name, value in losses.items()}


def _own(items: Sequence[Any], world: World) -> list[Any]:
    """Return the items of this process; one that has none takes the first, whose row is not used."""
    return [items[i] for i in world.own(len(items))] or list(items[:1])


def _of_own(gradient: Tensor | None, total: int, world: World) -> Tensor | None:
    mine = world.own(total)
    return None if gradient is None or not len(mine) else gradient[mine.start :: world.size]


def _encoded(
    system: NeuralSystem, name: str, items: Sequence[Any], size: int, cast: Cast
) -> tuple[Tensor, list[Any]]:
    """Encode without activations; return the rows, and the random state before each piece."""
    import torch
    from sentence_transformers.base.losses.gradcache import RandContext

    rows, states = [], []
    for piece in _pieces(items, size):
        states.append(RandContext(torch.empty(0, device=next(system.module.parameters()).device)))
        with cast():
            rows.append(system.encode(name, piece).float())
    return torch.cat(rows), states


def _again(
    system: NeuralSystem,
    name: str,
    items: Sequence[Any],
    wanted: Tensor,
    states: Sequence[AbstractContextManager[Any]],
    size: int,
    cast: Cast,
) -> None:
    done = 0
    for piece, state in zip(_pieces(items[: len(wanted)], size), states, strict=True):
        with state:
            with cast():
                rows = system.encode(name, piece)
            rows.float().backward(wanted[done : done + len(piece)])
        done += len(piece)


def _pieces(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for begin in range(0, len(items), size):
        yield items[begin : begin + size]


def format_losses(losses: Mapping[str, float]) -> str:
    """Return the losses as a log line has them."""
    return " ".join(f"{name} {value:.4f}" for name, value in losses.items())
