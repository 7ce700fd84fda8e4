"""What a folder's own files say of the model in it, without loading it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal


def kind(folder: Path) -> Literal["sparse", "cross-encoder"] | None:
    """Return the kind of a model that is no encoder of vectors; None where the files do not say so.

    A SPLADE of sentence-transformers names its pooling, and a classifier its head.
    """
    if any("SpladePooling" in str(module) for module in _read(folder / "modules.json", [])):
        return "sparse"
    heads = _read(folder / "config.json", {}).get("architectures") or ()
    return "cross-encoder" if any(str(h).endswith("ForSequenceClassification") for h in heads) else None


def reads(folder: Path) -> int | None:
    """Return how many tokens it reads; None where the files do not say."""
    found = _read(folder / "config.json", {}).get("max_position_embeddings")
    return found if isinstance(found, int) else None


def similarity(folder: Path) -> str | None:
    """Return by what its vectors are compared, as sentence-transformers wrote it; None where it did not."""
    found = _read(folder / "config_sentence_transformers.json", {}).get("similarity_fn_name")
    return found if isinstance(found, str) else None


def _read(path: Path, otherwise: Any) -> Any:  # noqa: ANN401 - JSON
    """Return what a JSON file holds; one that lacks, or is of another shape, says nothing."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return otherwise
    return found if isinstance(found, type(otherwise)) else otherwise
