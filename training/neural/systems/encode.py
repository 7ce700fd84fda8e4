"""What a trained system says of many texts: without dropout or gradients, in batches of like length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rag.types import Floats
from training.neural.systems.base import NeuralSystem

MAX_BATCH_TOKENS = 16_384  # tokens encoded at once


def encoded(
    system: NeuralSystem, part: str, items: Sequence[Any], lengths: Sequence[int]
) -> Iterator[tuple[list[int], Floats]]:
    """Yield positions of items and their rows, (n_positions, ...) float32, the longest first.

    Args:
        system: in whose part the items are.
        part: which.
        items: to encode.
        lengths: tokens of each.
    """
    import torch

    order = sorted(range(len(items)), key=lambda i: (-lengths[i], i))
    was = system.module.training
    system.module.eval()
    try:
        with torch.inference_mode():
            for batch in _alike(order, lengths):
                yield batch, system.encode(part, [items[i] for i in batch]).float().cpu().numpy()
    finally:
        system.module.train(was)


def _alike(order: Sequence[int], lengths: Sequence[int]) -> Iterator[list[int]]:
    batch: list[int] = []
    for i in order:
        if batch and (len(batch) + 1) * lengths[batch[0]] > MAX_BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch
