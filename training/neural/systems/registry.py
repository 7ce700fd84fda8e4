"""The systems by name: what makes each, and what reads it again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

from indexes.corpus.corpus import appearing
from indexes.store.model_trust import require_trust, trust
from training.neural.recipe.settings import Recipe
from training.neural.systems.backbone import make_scratch
from training.neural.systems.base import NeuralSystem
from training.neural.systems.biencoder import BiEncoder
from training.neural.systems.colbert import ColBERTSystem
from training.neural.systems.cross_encoder import CrossEncoder
from training.neural.systems.graph_network import GraphNetwork
from training.neural.systems.lsi import LSI
from training.neural.systems.splade import SpladeSystem
from training.neural.systems.yes_no import BASE, YesNo
from training.neural.trainer.distributed import World

KINDS: Mapping[str, type[NeuralSystem]] = {
    "biencoder": BiEncoder,
    "splade": SpladeSystem,
    "colbert": ColBERTSystem,
    "cross-encoder": CrossEncoder,
    "yes-no": YesNo,
    "lsi": LSI,
    "graph": GraphNetwork,
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
    labels = (ids,) if kind.labelled else ()
    if scratch is None:
        if world.main:
            trust(str(recipe.model.backbone))  # whoever trains has typed the recipe
        return kind.build(recipe, str(recipe.model.backbone), *labels)
    if world.main and not folder.is_dir():
        with appearing(folder) as part:
            make_scratch(scratch, chain(kind.spelt(), texts), part, task=kind.head)
    world.agree(0.0)  # the others wait for it
    torch.manual_seed(torch.initial_seed())
    return kind.build(recipe, str(folder), *labels)


def load(recipe: Recipe, folder: Path) -> NeuralSystem:
    """Read a system that was saved.

    Its recipe may be somebody else's. A model that it names is read, and a model's own code is run, where
    somebody has chosen that model on this machine; else it is `BadInput`.
    """
    elsewhere = recipe.system == "yes-no" and not (folder / BASE).is_dir()
    if recipe.model.backbone is not None and (elsewhere or recipe.model.remote_code):
        require_trust(str(recipe.model.backbone), folder)
    return KINDS[recipe.system].load(recipe, folder)
