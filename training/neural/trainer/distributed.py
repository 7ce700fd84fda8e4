"""The processes that train together (torchrun), and what they tell each other; one process is a world too."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from rag.errors import BadInput

if TYPE_CHECKING:
    import torch
    from torch import Tensor

WAIT = timedelta(hours=12)  # for the process that evaluates alone


@dataclass(frozen=True)
class World:
    """This process among those that train together."""

    device: torch.device
    rank: int = 0
    size: int = 1

    @property
    def main(self) -> bool:
        """Whether this process evaluates and writes."""
        return self.rank == 0

    def own(self, total: int) -> range:
        """Return which of so many items this process encodes."""
        return range(self.rank, total, self.size)

    def gather(self, rows: Tensor, total: int) -> Tensor:
        """Return the rows of all processes in the order of the items, without gradients.

        `rows` (n_own, ...) are those of `own(total)`; whoever has none gives any one row.
        """
        rows = rows.detach()
        if self.size == 1:
            return rows
        import torch

        most = -(-total // self.size)
        padded = rows.new_zeros((most, *rows.shape[1:]))
        count = len(self.own(total))
        padded[:count] = rows[:count]
        found = [torch.empty_like(padded) for _ in range(self.size)]
        torch.distributed.all_gather(found, padded.contiguous())
        return torch.stack(found, dim=1).flatten(0, 1)[:total]  # item i is row i // size of process i % size

    def sum_gradients(self, parameters: Iterable[Any]) -> None:
        """Add up what every process found, so that all take the same step."""
        if self.size == 1:
            return
        import torch

        for parameter in (p for p in parameters if p.requires_grad):
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            torch.distributed.all_reduce(parameter.grad)

    def agree(self, value: float) -> float:
        """Return the value that the main process has; the others wait for it."""
        if self.size == 1:
            return value
        import torch

        values = torch.tensor([value], dtype=torch.float64, device=self.device)
        torch.distributed.broadcast(values, src=0)
        return float(values)


@contextmanager
def world(device: str | None = None) -> Iterator[World]:
    """Join the other processes that torchrun started, if there are any, and leave them at the end.

    Raises BadInput where there is no such device; None takes the best there is.
    """
    import torch

    local = int(os.environ.get("LOCAL_RANK", "0"))
    name = device or (f"cuda:{local}" if torch.cuda.is_available() else "cpu")
    try:
        at = torch.device(name)
    except RuntimeError as error:
        raise BadInput(f"--device {name}: no such device. Give cpu, cuda or cuda:N.") from error
    if at.type == "cuda":
        if not torch.cuda.is_available():
            raise BadInput(
                f"--device {name}: torch finds no GPU here. Give --device cpu, or install torch for CUDA."
            )
        # before its first product: else cuBLAS adds up in whatever order it likes
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        yield World(at)
        return
    if at.type == "cuda":
        torch.cuda.set_device(at)
    torch.distributed.init_process_group("nccl" if at.type == "cuda" else "gloo", timeout=WAIT)
    try:
        yield World(at, torch.distributed.get_rank(), size)
    finally:
        torch.distributed.destroy_process_group()
