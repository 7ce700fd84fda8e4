"""What is said when memory runs out: never a traceback of the library, always what to make smaller."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rag.errors import BadInput
from training.neural.recipe.settings import Training

_SAID = ("out of memory", "can't allocate memory", "not enough memory", "bad alloc")
TO_RANK = (
    "too little memory to encode and rank the whole corpus: lower text.article_tokens, have dev questions "
    "asked over fewer articles (--set evaluation.candidates=10000), or use a smaller encoder"
)


def of_a_step(training: Training) -> str:
    """Return what to do where a step does not fit: smaller pieces have the same gradients."""
    smaller = max(training.mini_batch // 2, 1) if training.mini_batch else 16
    return (
        f"too little memory for a batch of {training.batch}: --set training.mini_batch={smaller} encodes so "
        "many texts at once, with the same gradients (gradient caching); or lower text.article_tokens"
    )


TO_HOLD = (
    "too little memory for the encoder and its optimiser, which keeps two numbers a parameter: use a smaller "
    "encoder, a machine with more memory, or --device cpu"
)


@contextmanager
def enough(otherwise: str) -> Iterator[None]:
    """Say this where memory runs out inside; any other error stays itself.

    Raises:
        BadInput: there was too little.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:  # torch raises a RuntimeError for it
        if isinstance(error, MemoryError) or any(said in str(error).lower() for said in _SAID):
            raise BadInput(otherwise) from error
        raise
