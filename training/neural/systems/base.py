"""What the loop asks of a system: encode, a loss over what is encoded, a retriever, save."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from indexes.corpus.corpus import Corpus
from rag.types import Floats, Retriever
from training.neural.data.batches import TrainingBatch
from training.neural.data.tokens import Tokens
from training.neural.recipe.settings import Recipe
from training.neural.systems.backbone import Task, quiet

if TYPE_CHECKING:
    from typing import Self

    from torch import Tensor

ROUTES = {"questions": "query", "articles": "document"}  # what sentence-transformers calls the parts
MAX_BATCH_TOKENS = 16_384  # tokens encoded at once


class NeuralSystem(ABC):
    """A retriever that can be trained: one file a kind, named in `training.neural.systems.registry`.

    What it encodes is split over mini-batches and processes by the loop, and put together again before
    the loss; so gradient caching and data-parallel training are the same for all of them.
    """

    kept_as: ClassVar[str] = "SentenceTransformer"  # the class of sentence-transformers that holds the module
    head: ClassVar[Task] = "feature-extraction"  # of its encoder
    labelled: ClassVar[bool] = False  # it has an output for each article, so it is built for their ids
    over_law: ClassVar[bool] = False  # it is made for one law and the questions to learn from: `of_law`
    began_with: Path | None = None  # the result whose encoder it keeps, if that is not the recipe's backbone
    # from a recipe, the hub id or folder of its encoder, and ids where it has labels
    build: ClassVar[Callable[..., NeuralSystem]]

    def __init__(self, recipe: Recipe, module: Any) -> None:  # noqa: ANN401
        """Take a torch.nn.Module with everything that is learnt, made by the recipe or read from a result."""
        self.recipe = recipe
        self.module = module
        self.tokens = Tokens(module.tokenizer, recipe.text)

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> Self:
        """Read what `save` wrote."""
        import sentence_transformers

        kind = getattr(sentence_transformers, cls.kept_as)
        with quiet():
            return cls(recipe, kind(str(folder), device="cpu", trust_remote_code=recipe.model.remote_code))

    def save(self, folder: Path) -> None:
        """Write the model in the format of sentence-transformers, without its card: ours says more."""
        with quiet():
            self.module.save(str(folder), create_model_card=False)

    @property
    def parameters(self) -> int:
        """How many numbers are learnt, each once where modules share them."""
        return sum(p.numel() for p in self.module.parameters())

    def to(self, device: str | None) -> None:
        """Lay the model on "cpu", "cuda" ..., None: the best there is, to be asked and not trained."""
        import torch

        self.module.to(device or ("cuda" if torch.cuda.is_available() else "cpu")).eval()

    @staticmethod
    def spelt() -> Iterable[str]:
        """Return what a tokenizer from scratch must know besides law and questions."""
        return ()

    def parts(self, batch: TrainingBatch) -> Mapping[str, Sequence[object]]:
        """Return what is encoded at a step, by part: the questions' texts, and the articles."""
        return {"questions": [q.text for q in batch.questions], "articles": batch.articles}

    @abstractmethod
    def encode(self, part: str, items: Sequence[Any]) -> Tensor:
        """Return (n_items, ...) float of one part, with gradients where they are on."""

    @abstractmethod
    def loss(self, encoded: Mapping[str, Tensor], batch: TrainingBatch) -> Mapping[str, Tensor]:
        """Return what is made small, under "loss", and what else a log shows; each a number.

        Of each part `encoded` has the rows of the whole batch, in the order of `parts`.
        """

    @abstractmethod
    def retriever(self, corpus: Corpus) -> Retriever:
        """Return what ranks this corpus with the weights as they are now."""

    def encoded(
        self, part: str, items: Sequence[Any], lengths: Sequence[int]
    ) -> Iterator[tuple[list[int], Floats]]:
        """Yield positions of items and their rows, (n_positions, ...) float32, the longest first.

        Without dropout or gradients, in batches of like length; `lengths` are the items' tokens.
        """
        import torch

        training = self.module.training
        self.module.eval()
        try:
            with torch.inference_mode():
                for batch in _alike(lengths):
                    yield batch, self.encode(part, [items[i] for i in batch]).float().cpu().numpy()
        finally:
            self.module.train(training)


def _alike(lengths: Sequence[int]) -> Iterator[list[int]]:
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        if batch and (len(batch) + 1) * lengths[batch[0]] > MAX_BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch
