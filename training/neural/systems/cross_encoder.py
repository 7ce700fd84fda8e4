"""monoBERT: question and article are read together, and a number says whether the one answers the other.

    p(q, a) = sigmoid(w . [CLS](q, a))   (Nogueira & Cho 2019)
    L = -1/N sum[ y log p + (1 - y) log(1 - p) ]   over N pairs: y = 1 for a gold one, 0 for a drawn one

It re-ranks the first places of BM25 (or of any retriever: `rag.retrieval.rerank`). The negatives of the
batch's other questions are not used, for each pair is read by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from indexes.corpus.corpus import Corpus
from rag.retrieval.rerank import Reranked
from rag.types import Article, ArticleOrder, Ranking, Retriever, rank
from training.neural.data.batches import TrainingBatch
from training.neural.recipe.settings import Pairwise, Recipe
from training.neural.systems.backbone import Task, load_backbone
from training.neural.systems.base import NeuralSystem

if TYPE_CHECKING:
    from torch import Tensor

Pair = tuple[str, Article]


class CrossEncoder(NeuralSystem):
    """A cross-encoder, kept as sentence-transformers keeps one."""

    kept_as = "CrossEncoder"
    head: ClassVar[Task] = "sequence-classification"
    _first: tuple[str, Retriever] | None = None  # BM25 of the corpus asked last

    @classmethod
    def build(cls, recipe: Recipe, source: str) -> CrossEncoder:
        """Make the model on the encoder of a hub id or a folder."""
        from sentence_transformers import CrossEncoder as Module

        encoder = load_backbone(source, recipe.model, recipe.text.article_tokens, task=cls.head)
        return cls(recipe, Module(modules=[encoder], device="cpu"))

    def parts(self, batch: TrainingBatch) -> Mapping[str, Sequence[object]]:
        """Return the gold pairs, then the drawn ones, as (question, article)."""
        columns = [(row, int(column)) for row, column in enumerate(batch.positive)]
        columns += [(row, c) for row, drawn in enumerate(batch.drawn) for c in drawn if batch.in_loss[row, c]]
        return {"pairs": [(batch.questions[row].text, batch.articles[column]) for row, column in columns]}

    def length(self, question: str, article: Article) -> int:
        """Return how many tokens are read of a pair."""
        return len(self.tokens.pair(question, article)[0])

    def encode(self, part: str, items: Sequence[Pair]) -> Tensor:
        """Return (n_items,) logits."""
        read = [self.tokens.pair(question, article) for question, article in items]
        rows, kinds = [ids for ids, _ in read], [kinds for _, kinds in read]
        features = self.tokens.padded(rows, self.module.device, kinds)
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
        depth = self.recipe.loss_of(Pairwise).rerank
        return Reranked(self._first[1], PairReader(self, corpus.articles), depth)


class PairReader:
    """A cross-encoder as a reranker of one corpus."""

    def __init__(self, system: CrossEncoder, articles: Sequence[Article]) -> None:
        self.system = system
        self._by_id = {article.id: article for article in articles}

    def rerank(self, questions: Sequence[str], rankings: Sequence[Ranking], k: int) -> list[Ranking]:
        """Return the rankings by the logit that an article answers; at most k hits each.

        Not by the probability: of two that are nearly sure, five decimals could not tell which is surer.
        """
        reranked = []
        for question, ranking in zip(questions, rankings, strict=True):
            pairs = [(question, self._by_id[hit.article_id]) for hit in ranking]
            logits = np.zeros(len(pairs))
            lengths = [self.system.length(*pair) for pair in pairs]
            for positions, found in self.system.encoded("pairs", pairs, lengths):
                logits[positions] = found
            reranked.append(rank(logits, ArticleOrder.of([hit.article_id for hit in ranking]), k))
        return reranked
