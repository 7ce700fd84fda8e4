"""The systems by name: what makes each, and what reads it again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from indexes.corpus.corpus import appearing
from training.neural.recipe.settings import Recipe
from training.neural.systems.backbone import Task, make_scratch
from training.neural.systems.base import NeuralSystem
from training.neural.systems.biencoder import BiEncoder
from training.neural.systems.colbert import ColBERTSystem
from training.neural.systems.cross_encoder import CrossEncoder
from training.neural.systems.lsi import LSI
from training.neural.systems.splade import SpladeSystem
from training.neural.systems.yes_no import YesNo, required_words
from training.neural.trainer.distributed import World


@dataclass(frozen=True, slots=True)
class SystemKind:
    """One kind of system."""

    build: Callable[
        ..., NeuralSystem
    ]  # from a recipe, the hub id or folder of its encoder, labels if it has some
    load: Callable[[Recipe, Path], NeuralSystem]  # from a recipe and the folder that `save` filled
    task: Task = "feature-extraction"  # the head that its encoder has
    labels: bool = False  # it has an output for each article, so it is built for their ids
    spelt: Callable[[], Iterable[str]] = tuple  # what else a tokenizer from scratch must know


KINDS: Mapping[str, SystemKind] = MappingProxyType(
    {
        "biencoder": SystemKind(BiEncoder.build, BiEncoder.load),
        "splade": SystemKind(SpladeSystem.build, SpladeSystem.load, "fill-mask"),
        "colbert": SystemKind(ColBERTSystem.build, ColBERTSystem.load),
        "cross-encoder": SystemKind(CrossEncoder.build, CrossEncoder.load, "sequence-classification"),
        "yes-no": SystemKind(YesNo.build, YesNo.load, "text-generation", spelt=required_words),
        "lsi": SystemKind(LSI.build, LSI.load, labels=True),
    }
)


def build(
    recipe: Recipe, texts: Callable[[], Iterable[str]], world: World, folder: Path, ids: Sequence[str] = ()
) -> NeuralSystem:
    """Make the system that a recipe describes, before any training; torch's seed decides its weights.

    What is put on an encoder from scratch is drawn anew from that seed: only one process made the encoder.

    Args:
        recipe: which.
        texts: what the tokenizer of an encoder from scratch is trained on; not asked for another.
        world: the processes; one of them makes what is from scratch.
        folder: where it is kept, and found again by a training that goes on.
        ids: of the articles, for a system that has an output for each.
    """
    import torch

    kind, scratch = KINDS[recipe.system], recipe.model.scratch
    labels = (ids,) if kind.labels else ()
    if scratch is None:
        return kind.build(recipe, str(recipe.model.backbone), *labels)
    if world.main and not folder.is_dir():
        with appearing(folder) as part:
            make_scratch(scratch, chain(kind.spelt(), texts()), part, task=kind.task)
    world.agree(0.0)  # the others wait for it
    torch.manual_seed(torch.initial_seed())
    return kind.build(recipe, str(folder), *labels)


def load(recipe: Recipe, folder: Path) -> NeuralSystem:
    """Read a system that was saved."""
    return KINDS[recipe.system].load(recipe, folder)
