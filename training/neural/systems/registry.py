"""The systems by name: what makes each, and what reads it again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from indexes.corpus.corpus import appearing
from training.neural.recipe.settings import Recipe
from training.neural.systems.backbone import make_scratch
from training.neural.systems.base import NeuralSystem
from training.neural.systems.biencoder import BiEncoder
from training.neural.systems.colbert import ColBERTSystem
from training.neural.systems.cross_encoder import CrossEncoder
from training.neural.systems.lsi import LSI
from training.neural.systems.splade import SpladeSystem
from training.neural.systems.yes_no import YesNo
from training.neural.trainer.distributed import World


@dataclass(frozen=True, slots=True)
class SystemKind:
    """One kind of system."""

    made: type[NeuralSystem]
    build: Callable[..., NeuralSystem]  # from a recipe, its encoder's hub id or folder, labels if it has some
    labels: bool = False  # it has an output for each article, so it is built for their ids


KINDS: Mapping[str, SystemKind] = {
    "biencoder": SystemKind(BiEncoder, BiEncoder.build),
    "splade": SystemKind(SpladeSystem, SpladeSystem.build),
    "colbert": SystemKind(ColBERTSystem, ColBERTSystem.build),
    "cross-encoder": SystemKind(CrossEncoder, CrossEncoder.build),
    "yes-no": SystemKind(YesNo, YesNo.build),
    "lsi": SystemKind(LSI, LSI.build, labels=True),
}


def build(
    recipe: Recipe, texts: Iterable[str], world: World, folder: Path, ids: Sequence[str] = ()
) -> NeuralSystem:
    """Make the system that a recipe describes, before any training; torch's seed decides its weights.

    One process makes an encoder from scratch, with a tokenizer trained on the texts, in the folder, where a
    training that goes on finds it again. What is put on it is drawn anew from the seed: one process alone
    made the encoder. A system with an output for each article takes their ids.
    """
    import torch

    kind, scratch = KINDS[recipe.system], recipe.model.scratch
    labels = (ids,) if kind.labels else ()
    if scratch is None:
        return kind.build(recipe, str(recipe.model.backbone), *labels)
    if world.main and not folder.is_dir():
        with appearing(folder) as part:
            make_scratch(scratch, chain(kind.made.spelt(), texts), part, task=kind.made.head)
    world.agree(0.0)  # the others wait for it
    torch.manual_seed(torch.initial_seed())
    return kind.build(recipe, str(folder), *labels)


def load(recipe: Recipe, folder: Path) -> NeuralSystem:
    """Read a system that was saved."""
    return KINDS[recipe.system].made.load(recipe, folder)
