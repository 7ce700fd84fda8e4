"""Bi-encoders: question and article become vectors, by one encoder (siamese) or two (two-tower).

    s(q, a) = E_q(q) . E_a(a)   or their cosine

    E(x) = pool(encoder(x)): the vector of [CLS], or the mean or maximum over tokens
    E_a(a) = 1/C sum_c E(chunk_c) where articles are read in C chunks, or
    E_a(a) = max_c T(E(chunk_1) + p_1, ..., E(chunk_C) + p_C)_c with a second transformer T over them

BSARD (Louis & Spanakis 2022) has both kinds with the mean of chunks. DSR, the first stage of G-DSR (Louis,
van Dijck & Spanakis 2023), has T, which knows a chunk's place by a learnt vector p. DPR (Karpukhin et al.
2020; LLeQA) is the siamese with articles cut at 512 tokens, DAR (JuriFindIT) one encoder of long context
without chunks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from indexes.corpus.corpus import Corpus
from rag.retrieval.base import Mask
from rag.retrieval.dense import Dense, build_vectors
from rag.types import Article, ArticleOrder, Floats, Retriever
from training.neural.data.batches import TrainingBatch
from training.neural.recipe.settings import Contrastive, Recipe
from training.neural.systems.backbone import load_backbone, make_article_transformer
from training.neural.systems.base import ROUTES, NeuralSystem
from training.neural.systems.losses import similarities, softmax_loss

if TYPE_CHECKING:
    from torch import Tensor

CHUNKS = "chunks"  # the route of the second transformer beside those of `ROUTES`


class BiEncoder(NeuralSystem):
    """A siamese or two-tower bi-encoder, kept as sentence-transformers keeps it."""

    @classmethod
    def build(cls, recipe: Recipe, source: str) -> BiEncoder:
        """Make the model on the encoder of a hub id or a folder; two towers begin alike.

        With a second transformer it has a route of its own, which reads chunk vectors.
        """
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.base.modules import Router
        from sentence_transformers.sentence_transformer.modules import Pooling

        towers = []
        for _ in range(recipe.model.towers):
            encoder = load_backbone(source, recipe.model, recipe.text.longest)
            towers.append([encoder, Pooling(encoder.get_embedding_dimension(), recipe.model.pooling)])
        asked, told = towers[0], towers[-1]
        if (articles := recipe.model.articles) is not None:
            second = make_article_transformer(told[0], articles, recipe.text.chunks)
            over = [second, Pooling(second.get_embedding_dimension(), articles.pooling)]
            modules = [Router({"query": asked, "document": told, CHUNKS: over}, default_route="document")]
        else:
            modules = asked if len(towers) == 1 else [Router.for_query_document(asked, told)]
        prompts = {"query": recipe.text.question_prompt, "document": recipe.text.article_prompt}
        kind = recipe.loss_of(Contrastive).similarity
        module = SentenceTransformer(modules=modules, device="cpu", similarity_fn_name=kind, prompts=prompts)
        return cls(recipe, module)

    def encode(self, part: str, items: Sequence[Any]) -> Tensor:
        """Return (n_items, dim): an article's is made of its chunks', encoded in one padded batch."""
        import torch

        chunks = [self.chunks(part, item) for item in items]
        flat = [ids for own in chunks for ids in own]
        vectors = self._forward(part, flat)
        if part == "articles" and self.recipe.model.articles is not None:
            return self._joined(vectors, [len(own) for own in chunks])
        if len(flat) == len(chunks):
            return vectors
        owner = np.repeat(np.arange(len(chunks)), [len(own) for own in chunks])
        share = torch.zeros((len(chunks), len(flat)), dtype=vectors.dtype, device=vectors.device)
        for column, row in enumerate(owner):
            share[row, column] = 1 / len(chunks[row])
        return share @ vectors  # a product, for adding by index is not deterministic on a GPU

    def chunks(self, part: str, item: Any) -> list[list[int]]:  # noqa: ANN401 - a text or an article
        """Return the token ids of one item, chunk by chunk."""
        return [self.tokens.question(item)] if part == "questions" else self.tokens.article(item)

    def _forward(self, part: str, rows: Sequence[list[int]]) -> Tensor:
        features = self.tokens.padded(rows, self.module.device)
        routed = self.recipe.model.towers == 2 or self.recipe.model.articles is not None
        found = self.module[0](features, task=ROUTES[part]) if routed else self.module(features)
        return found["sentence_embedding"]

    def _joined(self, vectors: Tensor, counts: Sequence[int]) -> Tensor:
        """Return (n_articles, dim): what the second transformer makes of so many rows an article."""
        import torch
        from torch.nn.utils.rnn import pad_sequence

        padded = pad_sequence(vectors.split(list(counts)), batch_first=True)
        there = torch.arange(padded.shape[1]) < torch.tensor(counts)[:, None]
        features = {"inputs_embeds": padded, "attention_mask": there.long().to(padded.device)}
        return self.module[0](features, task=CHUNKS)["sentence_embedding"]

    def loss(self, encoded: Mapping[str, Tensor], batch: TrainingBatch) -> Mapping[str, Tensor]:
        """Return the softmax loss."""
        settings = self.recipe.loss_of(Contrastive)
        scores = similarities(encoded["questions"], encoded["articles"], settings.similarity)
        return {"loss": softmax_loss(scores, batch, settings.temperature)}

    def retriever(self, corpus: Corpus) -> Retriever:
        """Return exact search over the vectors of the corpus."""
        encoder = TextVectors(self)
        order = ArticleOrder.of([article.id for article in corpus.articles])
        index = build_vectors(encoder.encode_articles(corpus.articles))
        return Dense(encoder, index, order, Mask(corpus.articles))


class TextVectors:
    """A trained bi-encoder as an `Encoder`; its vectors have unit length only where it compares cosines."""

    def __init__(self, system: BiEncoder) -> None:
        self.system, self.name = system, system.recipe.name

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self.system.module.get_embedding_dimension() or 0)

    def encode_questions(self, questions: Sequence[str]) -> Floats:
        """Return (n_questions, dim) float32; zeros for a blank question."""
        vectors = self._encode("questions", questions)
        vectors[[not question.strip() for question in questions]] = 0
        return vectors

    def encode_articles(self, articles: Sequence[Article]) -> Floats:
        """Return (n_articles, dim) float32."""
        return self._encode("articles", articles)

    def _encode(self, part: str, items: Sequence[Any]) -> Floats:
        vectors = np.zeros((len(items), self.dim), dtype=np.float32)
        lengths = [sum(map(len, self.system.chunks(part, item))) for item in items]
        for positions, found in self.system.encoded(part, items, lengths):
            vectors[positions] = found
        if self.system.recipe.loss_of(Contrastive).similarity == "cosine":
            length = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
            vectors /= np.where(length > 0, length, 1)
        return vectors
