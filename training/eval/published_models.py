"""Published models of kinds that are trained here too, as they are: SPLADE, and monoBERT, which re-ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from rag.encoders import model_recipes
from rag.encoders.model_recipes import HubRecipe
from rag.errors import BadInput
from rag.types import Reranker, Retriever
from training.eval.system_names import ENCODER
from training.neural.recipe.recipe import made
from training.neural.recipe.settings import Pairwise, Recipe
from training.neural.systems.backbone import require
from training.neural.systems.base import System
from training.neural.systems.cross_encoder import CrossEncoder, Reader
from training.neural.systems.splade import Splade

if TYPE_CHECKING:
    from training.eval.workbench import Bench

_SYSTEMS: Mapping[str, str] = {"sparse": "splade", "cross-encoder": "cross-encoder"}


def recipe_of(of: HubRecipe, *, remote_code: bool = False) -> Recipe:
    """Return the recipe that reads texts as a published model wants them.

    What it says of training is not used. Of a pair the question has a quarter of the window, as in our
    recipes of monoBERT, where nothing is said of it.

    Args:
        of: of the kind "sparse" or "cross-encoder".
        remote_code: run the code that comes with the model.
    """
    pairs = of.kind == "cross-encoder"
    asked = of.question_window or (of.window // 4 if pairs else of.window)
    text = {"question_tokens": asked, "article_tokens": of.window}
    prompts = {"question_prompt": of.question_prompt, "article_prompt": of.passage_prompt}
    return made(
        {
            "name": PurePath(of.name).name,
            "system": _SYSTEMS[of.kind],
            "model": {"backbone": of.model, "remote_code": remote_code},
            "text": {**text, **prompts},
            "training": {"batch": 1, "steps": 1},
            "negatives": {"per_question": 1},
            "loss": {} if pairs else {"similarity": of.similarity or "dot"},
        },
        of.name,
    )


def splade(of: HubRecipe, options: Mapping[str, Any], bench: Bench) -> Retriever:
    """Return an inverted index of a corpus, by a published SPLADE.

    Args:
        of: of the kind "sparse".
        options: remote_code, and the device; None takes the best there is.
        bench: whose corpus.

    Raises:
        MissingExtra: torch is not installed.
        BadInput: the model cannot be loaded.
    """
    require()
    system = Splade.build(recipe_of(of, remote_code=options["remote_code"]), of.model)
    _place(system, options["device"])
    bench.tell(f"encoding articles with {of.name}", 0, 1)
    made_ = system.retriever(bench.corpus)
    bench.tell(f"encoding articles with {of.name}", 1, 1)
    return made_


@dataclass
class PairModel:
    """A published model that reads question and article together, loaded when it is first used."""

    published: HubRecipe
    options: Mapping[str, Any]  # remote_code, and the device
    _system: CrossEncoder | None = field(default=None, repr=False)

    @property
    def depth(self) -> int:
        """How many articles it puts in order where nobody says."""
        return Pairwise().rerank

    def reader(self, bench: Bench) -> Reranker:
        """Return it as what puts any system's first articles in order.

        Raises:
            MissingExtra: torch is not installed.
            BadInput: the model cannot be loaded, or says more than one number of a pair.
        """
        if self._system is None:
            require()
            recipe = recipe_of(self.published, remote_code=self.options["remote_code"])
            try:
                self._system = CrossEncoder.build(recipe, self.published.model)
            except RuntimeError as error:  # torch's, of a head with other outputs than one
                raise BadInput(
                    f"{self.published.model} does not say one number of a pair: give a model with one output"
                ) from error
            _place(self._system, self.options["device"])
        return Reader(self._system, bench.corpus.articles)


def pair_models(
    encoders: Sequence[str], *, remote_code: bool = False, device: str | None = None
) -> dict[str, PairModel]:
    """Return those of the encoders that read question and article together, by name: "encoder:NAME".

    Raises:
        BadInput: one brings code that may not be run, or two are of one name.
    """
    found: dict[str, PairModel] = {}
    for typed in encoders:
        recipe = model_recipes.recipe_of(typed)
        if recipe.kind != "cross-encoder":
            continue
        model_recipes.check(recipe, kinds=("cross-encoder",), remote_code=remote_code)
        name = f"{ENCODER}{PurePath(recipe.name).name}".replace(",", "-")
        if name in found:
            raise BadInput(f"{name} was given twice, or two folders bear this name: rename one")
        found[name] = PairModel(recipe, {"remote_code": remote_code, "device": device})
    return found


def _place(system: System, device: str | None) -> None:
    import torch

    system.module.to(device or ("cuda" if torch.cuda.is_available() else "cpu")).eval()
