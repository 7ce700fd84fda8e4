"""What the loop asks of a system: encode, a loss over what is encoded, a retriever, save."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from indexes.corpus.corpus import Corpus
from rag.types import Retriever
from training.neural.data.batches import TrainingBatch
from training.neural.recipe.settings import Recipe

if TYPE_CHECKING:
    from torch import Tensor


class NeuralSystem(Protocol):
    """A retriever that can be trained: one file a kind, named in `training.neural.systems.registry`.

    What it encodes is split over mini-batches and processes by the loop, and put together again before
    the loss; so gradient caching and data-parallel training are the same for all of them.
    """

    recipe: Recipe
    module: Any  # a torch.nn.Module with everything that is learnt

    def parts(self, batch: TrainingBatch) -> Mapping[str, Sequence[object]]:
        """Return what is encoded at a step, by part: such as questions, and articles."""
        ...

    def encode(self, part: str, items: Sequence[Any]) -> Tensor:
        """Return (n_items, ...) float of one part, with gradients where they are on."""
        ...

    def loss(self, encoded: Mapping[str, Tensor], batch: TrainingBatch) -> Mapping[str, Tensor]:
        """Return what is made small, under "loss", and what else a log shows; each a number.

        Args:
            encoded: of each part the rows of the whole batch, in the order of `parts`.
            batch: what they are.
        """
        ...

    def retriever(self, corpus: Corpus) -> Retriever:
        """Return what ranks this corpus with the weights as they are now."""
        ...

    def save(self, folder: Path) -> None:
        """Write the model into an empty folder, so that `training.neural.systems.registry.load` reads it."""
        ...
