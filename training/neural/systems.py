"""The systems by name: what makes each, and what reads it again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from training.neural.biencoder import BiEncoder
from training.neural.settings import Recipe
from training.neural.system import System


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of system."""

    build: Callable[[Recipe, Iterable[str]], System]  # from a recipe and texts for a tokenizer
    load: Callable[[Recipe, Path], System]  # from a recipe and the folder that `save` filled


KINDS: Mapping[str, Kind] = MappingProxyType({"biencoder": Kind(BiEncoder.build, BiEncoder.load)})


def build(recipe: Recipe, texts: Iterable[str]) -> System:
    """Make the system that a recipe describes, before any training; torch's seed decides its weights."""
    return KINDS[recipe.system].build(recipe, texts)


def load(recipe: Recipe, folder: Path) -> System:
    """Read a system that was saved."""
    return KINDS[recipe.system].load(recipe, folder)
