"""monoBERT: question and article are read together, and a number says whether the one answers the other.

    p(q, a) = sigmoid(w . [CLS](q, a))   (Nogueira & Cho 2019)
    L = -1/N sum[ y log p + (1 - y) log(1 - p) ]   over N pairs: y = 1 for a gold one, 0 for a drawn one

It re-ranks the first places of BM25 (or of any retriever: `rag.retrieval.rerank`). The negatives of the
batch's other questions are not used, for each pair is read by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indexes.corpus.corpus import Corpus
from rag.retrieval.rerank import Reranked
from rag.types import Article, ArticleOrder, Ranking, Retriever, rank
from training.neural.data.batches import TrainingBatch
from training.neural.data.tokens import Tokens
from training.neural.recipe.settings import Pairwise, Recipe
from training.neural.systems.backbone import load_backbone, quiet, write
from training.neural.systems.encode import encoded

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder as Module
    from torch import Tensor

Pair = tuple[str, Article]


class CrossEncoder:
    """A cross-encoder, kept as sentence-transformers keeps one."""

    def __init__(self, recipe: Recipe, module: Module) -> None:
        """Take the recipe and a model that was made by it or read from a result."""
        self.recipe = recipe
        self.module = module
        self.tokens = Tokens(module.tokenizer, recipe.text)
        self._first: tuple[str, Retriever] | None = None  # BM25 of the corpus asked last

    @classmethod
    def build(cls, recipe: Recipe, source: str) -> CrossEncoder:
        """Make the model that the recipe describes, before any training."""
        from sentence_transformers import CrossEncoder as Module

        encoder = load_backbone(
            source, recipe.model, recipe.text.article_tokens, task="sequence-classification"
        )
        return cls(recipe, Module(modules=[encoder], device="cpu"))

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> CrossEncoder:
        """Read what `save` wrote."""
        from sentence_transformers import CrossEncoder as Module

        with quiet():
            return cls(recipe, Module(str(folder), device="cpu", trust_remote_code=recipe.model.remote_code))

    def save(self, folder: Path) -> None:
        """Write the model in the format of sentence-transformers."""
        write(self.module, folder)

    def parts(self, batch: TrainingBatch) -> Mapping[str, Sequence[object]]:
        """Return the gold pairs, then the drawn ones, as (question, article)."""
        gold = [
            (q.text, batch.articles[column])
            for q, column in zip(batch.questions, batch.positive, strict=True)
        ]
        drawn = [
            (q.text, batch.articles[column])
            for row, q in enumerate(batch.questions)
            for column in batch.drawn[row]
            if batch.in_loss[row, column]
        ]
        return {"pairs": [*gold, *drawn]}

    def length(self, question: str, article: Article) -> int:
        """Return how many tokens are read of a pair."""
        return len(self.tokens.pair(question, article)[0])

    def encode(self, part: str, items: Sequence[Pair]) -> Tensor:
        """Return (n_items,) logits."""
        read = [self.tokens.pair(question, article) for question, article in items]
        features = self.tokens.padded(
            [ids for ids, _ in read], self.module.device, [kinds for _, kinds in read]
        )
        return self.module(features)["scores"][:, 0]

    def loss(self, encoded: Mapping[str, Tensor], batch: TrainingBatch) -> Mapping[str, Tensor]:
        """Return the binary cross-entropy."""
        import torch
        from torch.nn.functional import binary_cross_entropy_with_logits

        logits = encoded["pairs"]
        gold = torch.zeros_like(logits)
        gold[: len(batch.questions)] = 1
        return {"loss": binary_cross_entropy_with_logits(logits, gold)}

    def retriever(self, corpus: Corpus) -> Retriever:
        """Return BM25 whose first places are read anew."""
        from training.eval.workbench import Bench  # which can measure what is trained here

        if self._first is None or self._first[0] != corpus.sha256:
            self._first = corpus.sha256, Bench(corpus).systems(["bm25"], ())["bm25"]
        return Reranked(self._first[1], PairReader(self, corpus.articles), self.depth)

    @property
    def depth(self) -> int:
        """How many candidates it orders anew."""
        if not isinstance(self.recipe.loss, Pairwise):
            raise TypeError(f"{self.recipe.name} is a {self.recipe.system}")
        return self.recipe.loss.rerank


@dataclass
class PairReader:
    """A cross-encoder as a reranker of one corpus."""

    system: CrossEncoder
    articles: Sequence[Article]

    def __post_init__(self) -> None:
        """Find articles by id."""
        self._by_id = {article.id: article for article in self.articles}

    def rerank(self, questions: Sequence[str], rankings: Sequence[Ranking], k: int) -> list[Ranking]:
        """Return the rankings by the logit that an article answers; at most k hits each.

        Not by the probability: of two that are nearly sure, five decimals could not tell which is surer.
        """
        return [self._one(q, ranking, k) for q, ranking in zip(questions, rankings, strict=True)]

    def _one(self, question: str, ranking: Ranking, k: int) -> Ranking:
        pairs: list[Any] = [(question, self._by_id[hit.article_id]) for hit in ranking]
        lengths = [self.system.length(*pair) for pair in pairs]
        logits = np.zeros(len(pairs))
        for positions, found in encoded(self.system, "pairs", pairs, lengths):
            logits[positions] = found
        return rank(logits, ArticleOrder.of([hit.article_id for hit in ranking]), k)
