"""One label an article: a classifier over all articles of a corpus (STARD's LSI baseline, Su et al. 2024).

    z = W E(q) + b, one number an article; E(q) the pooled encoder, [CLS] in the paper
    softmax:  L = -1/|G| * sum of log softmax(z)_a over the gold articles a of q, averaged over questions
    bce:      L = -mean over q and a of [ y_qa log sigmoid(z_qa) + (1 - y_qa) log(1 - sigmoid(z_qa)) ]

The article's text is never read, so one that no question to learn from cites stays where chance put it: that
is why the system trails every other, and why it is measured. STARD does not say which of the two losses it
took; the softmax is the default here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indexes.corpus.corpus import Corpus
from rag.errors import BadInput
from rag.retrieval.base import Mask, ScoredRetriever
from rag.types import ArticleOrder, Floats, Retriever
from training.neural.data.batches import TrainingBatch
from training.neural.recipe.settings import LabelSettings, Recipe
from training.neural.systems.backbone import load_backbone, quiet
from training.neural.systems.base import NeuralSystem

if TYPE_CHECKING:
    from torch import Tensor

LABELS = "labels.json"  # beside the model: the ids of the articles, in the order of the outputs


class LSI(NeuralSystem):
    """An encoder of questions and a linear layer, kept as sentence-transformers keeps them."""

    labelled = True

    def __init__(self, recipe: Recipe, module: Any, ids: Sequence[str]) -> None:  # noqa: ANN401 - of torch
        """Take the articles that the outputs stand for."""
        super().__init__(recipe, module)
        self.ids = tuple(ids)
        self._column = {id_: i for i, id_ in enumerate(self.ids)}

    @classmethod
    def build(cls, recipe: Recipe, source: str, ids: Sequence[str]) -> LSI:
        """Make the model on the encoder of a hub id or a folder, with a label for each article."""
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Dense, Pooling
        from torch.nn import Identity

        encoder = load_backbone(source, recipe.model, recipe.text.question_tokens)
        width = encoder.get_embedding_dimension()
        head = Dense(width, len(ids), activation_function=Identity())
        modules = [encoder, Pooling(width, recipe.model.pooling), head]
        return cls(recipe, SentenceTransformer(modules=modules, device="cpu"), ids)

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> LSI:
        """Read what `save` wrote."""
        from sentence_transformers import SentenceTransformer

        ids = json.loads((folder / LABELS).read_text(encoding="utf-8"))
        trust = recipe.model.remote_code
        with quiet():
            return cls(recipe, SentenceTransformer(str(folder), device="cpu", trust_remote_code=trust), ids)

    def save(self, folder: Path) -> None:
        """Write the model in the format of sentence-transformers, and the labels."""
        super().save(folder)
        (folder / LABELS).write_text(json.dumps(self.ids, ensure_ascii=False) + "\n", encoding="utf-8")

    def parts(self, batch: TrainingBatch) -> Mapping[str, Sequence[object]]:
        """Return the questions' texts: no article is read."""
        return {"questions": [q.text for q in batch.questions]}

    def encode(self, part: str, items: Sequence[Any]) -> Tensor:
        """Return (n_items, n_articles) logits."""
        rows = [self.tokens.question(item) for item in items]
        found: Tensor = self.module(self.tokens.padded(rows, self.module.device))["sentence_embedding"]
        return found

    def loss(self, encoded: Mapping[str, Tensor], batch: TrainingBatch) -> Mapping[str, Tensor]:
        """Return the softmax loss or the binary cross-entropy over all articles."""
        import torch
        from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

        logits = encoded["questions"]
        gold = torch.zeros_like(logits)
        for row, question in enumerate(batch.questions):
            gold[row, [self._column[id_] for id_ in question.article_ids]] = 1.0
        if self.recipe.loss_of(LabelSettings).function == "bce":
            return {"loss": binary_cross_entropy_with_logits(logits, gold)}
        return {"loss": cross_entropy(logits, gold / gold.sum(dim=1, keepdim=True))}

    def retriever(self, corpus: Corpus) -> Retriever:
        """Return what ranks the articles by their outputs; BadInput where it has no label for one of them."""
        order = ArticleOrder.of([article.id for article in corpus.articles])
        if unknown := [id_ for id_ in order.ids if id_ not in self._column]:
            raise BadInput(
                f"{self.recipe.name} has labels for {len(self.ids)} articles, and none for {len(unknown)} of "
                f"this corpus, such as {unknown[0]}: train it on this corpus"
            )
        return Classifier(self, order, Mask(corpus.articles))


class Classifier(ScoredRetriever):
    """Ranks articles by the classifier's numbers; a blank question has no ranking."""

    def __init__(self, system: LSI, order: ArticleOrder, mask: Mask) -> None:
        super().__init__(order, mask)
        self.system = system
        self._columns = np.array([system._column[id_] for id_ in order.ids])

    @property
    def nbytes(self) -> int:
        """What an article costs: its row of weights."""
        return sum(p.numel() * p.element_size() for p in self.system.module[-1].parameters())

    def scores(self, question: str) -> Floats:
        """Return (n_articles,) float32; -inf throughout for a blank question."""
        if not question.strip():
            return np.full(len(self.order.ids), -np.inf, dtype=np.float32)
        length = len(self.system.tokens.question(question))
        [(_, found)] = self.system.encoded("questions", [question], [length])
        return np.asarray(found[0][self._columns], dtype=np.float32)
