"""Causal language models with low-rank matrices: what loads them, and what peft says that nobody needs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rag.errors import BadInput, MissingExtra
from training.neural.recipe.settings import Recipe
from training.neural.systems.backbone import check_length, quiet

_TRUST = "trust_remote_code"


def load_causal(source: str, recipe: Recipe) -> tuple[Any, Any]:
    """Return a causal model and its tokenizer.

    Raises:
        BadInput: it cannot be loaded, or reads fewer tokens than the recipe's.
    """
    import transformers

    trust: dict[str, Any] = {_TRUST: True} if recipe.model.remote_code else {}
    try:
        with quiet():
            model = transformers.AutoModelForCausalLM.from_pretrained(source, **trust)
            tokenizer = transformers.AutoTokenizer.from_pretrained(source, **trust)
    except (OSError, ValueError, KeyError, TypeError, ImportError) as error:
        said = " ".join(str(error).split())[:300]
        raise BadInput(
            f"the causal model {source} cannot be loaded ({said}): give a folder that holds one, or a hub "
            "id and a connection to the hub (HF_ENDPOINT names another one)"
        ) from error
    check_length(model, source, recipe.text.article_tokens)
    return model, tokenizer


@contextmanager
def silent() -> Iterator[None]:
    """Pass over what peft 0.21 makes transformers 5.23 warn of: an attribute's old name."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*is_gradient_checkpointing.*", category=FutureWarning)
        yield


def libraries() -> tuple[Any, Any]:
    """Return torch and peft.

    Raises:
        MissingExtra: one of them, or transformers, is not installed.
    """
    try:
        import peft
        import torch
        import transformers  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            f"a language model that says yes or no needs {error.name}: run pip install 'pandect[train]'"
        ) from error
    return torch, peft
