"""What a result says of a training besides measures: size, steps, time, memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rag.retrieval.dense import Dense
from rag.retrieval.splade import Splade
from rag.types import Question, Retriever
from training.neural.data.task import Task
from training.neural.systems.backbone import parameters
from training.neural.systems.base import System
from training.neural.trainer.checkpoint import State
from training.neural.trainer.distributed import World
from training.neural.trainer.peak import Peak


def facts_of(
    task: Task, system: System, state: State, retriever: Retriever, world: World, peak: Peak
) -> dict[str, Any]:
    """Return the size of the model and of what it ranks with, and how the training went.

    Args:
        task: that was trained.
        system: with its weights as they are in the end.
        state: of the training.
        retriever: over the whole corpus.
        world: the processes.
        peak: memory held while it was trained.
    """
    return {
        "parameters": parameters([system.module]),
        "steps": state.step,
        "best step": None if state.best is None else state.best_step,
        f"dev {task.recipe.evaluation.measure}": state.best,
        "training seconds": state.seconds,
        "index bytes": size_of(retriever),
        "active terms": getattr(retriever, "active", None),  # of an article, where it has terms
        "active terms before the cut": getattr(retriever, "uncut", None),
        "active terms of a question": terms_of(retriever, [q for q in task.held if q.article_ids]),
        "peak memory bytes": peak.bytes,
        "peak memory of": peak.of,
        "processes": world.size,
        "device": str(world.device),
    }


def terms_of(retriever: Retriever, questions: Sequence[Question]) -> float | None:
    """Return the terms of a question that have a weight, on average; None without terms or questions."""
    if not isinstance(retriever, Splade) or not questions:
        return None
    return retriever.encoder.encode_questions([q.text for q in questions]).nnz / len(questions)


def size_of(retriever: Retriever) -> int | None:
    """Return what the vectors or postings of a retriever take; None where it does not tell."""
    if isinstance(retriever, Dense):
        return int(retriever.index.ntotal * retriever.index.d * np.dtype(np.float32).itemsize)
    return getattr(retriever, "nbytes", None)
