"""What a result says of a training besides measures: size, steps, time, memory."""

from __future__ import annotations

import resource
import sys
from typing import Any

import numpy as np

from rag.retrieval.dense import Dense
from rag.types import Retriever
from training.neural.backbone import parameters
from training.neural.checkpoint import State
from training.neural.system import System
from training.neural.task import Task
from training.neural.world import World


def facts_of(task: Task, system: System, state: State, retriever: Retriever, world: World) -> dict[str, Any]:
    """Return the size of the model and of what it ranks with, and how the training went.

    Args:
        task: that was trained.
        system: with its weights as they are in the end.
        state: of the training.
        retriever: over the whole corpus.
        world: the processes.
    """
    return {
        "parameters": parameters([system.module]),
        "steps": state.step,
        "best step": None if state.best is None else state.best_step,
        f"dev {task.recipe.evaluation.measure}": state.best,
        "training seconds": state.seconds,
        "index bytes": size_of(retriever),
        "active terms": getattr(retriever, "active", None),  # of an article, where it has terms
        "peak memory bytes": peak_memory(world),
        "processes": world.size,
        "device": str(world.device),
    }


def size_of(retriever: Retriever) -> int | None:
    """Return what the vectors or postings of a retriever take; None where it does not tell."""
    if isinstance(retriever, Dense):
        return int(retriever.index.ntotal * retriever.index.d * np.dtype(np.float32).itemsize)
    return getattr(retriever, "nbytes", None)


def peak_memory(world: World) -> int:
    """Return the most that the device held, or the process where there is no GPU; bytes."""
    if world.device.type == "cuda":
        import torch

        return int(torch.cuda.max_memory_allocated(world.device))
    return peak_of_process()


def peak_of_process() -> int:
    """Return the most that this process ever held, bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
