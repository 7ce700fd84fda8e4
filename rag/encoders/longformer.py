"""Longformer (Beltagy et al. 2020): every token sees a window around it, a few chosen ones see all.

Its code chooses none by itself. Where the first token stands for a text it has to see all of it, or the
vector tells of half a window alone.
"""

from __future__ import annotations

from typing import Any

TYPE = "longformer"  # in config.json


def first_sees_all(module: Any) -> None:  # noqa: ANN401 - of sentence-transformers
    """Let the first token of every text see, and be seen by, all others; any other model is left alone.

    Args:
        module: sentence-transformers' around a model of transformers; it is changed.
    """
    if module.model.config.model_type == TYPE:
        module.register_forward_pre_hook(_chosen)


def _chosen(module: object, given: tuple[Any, ...]) -> tuple[Any, ...]:
    import torch

    features, *others = given
    chosen = torch.zeros_like(features["input_ids"])
    chosen[:, 0] = 1
    return ({**features, "global_attention_mask": chosen}, *others)
