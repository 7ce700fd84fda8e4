"""ColBERT: question and article become a vector a token, and each token of the question its best match.

    s(q, a) = sum_i max_j q_i . a_j   over unit vectors (MaxSim; Khattab & Zaharia 2020)
    v_i = W h_i / |W h_i|             h_i the encoder's last layer at token i, W linear
    L = PAIR + NT-Xent, both softmaxes over s(q, a) / t
    PAIR    over a question's positive and the negatives that were drawn for it (ColBERT)
    NT-Xent over its positive and what else counts in the batch (ColBERTv2, Santhanam et al. 2022)

A question is filled up with [MASK] to its full length, and those count; punctuation of an article does
not. A marker stands first in each, [Q] or [D]. The encoder, its mask and MaxSim are those of
sentence-transformers' `MultiVectorEncoder`; ours are the loss, which hides gold articles and gathers over
processes, and the search (`rag.retrieval.colbert`).
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indexes.corpus.corpus import Corpus
from rag.encoders.late_interaction import LateInteractionEncoder, late_kind, load_late
from rag.errors import BadInput
from rag.retrieval.base import Mask
from rag.retrieval.colbert import ColBERT as Search
from rag.retrieval.token_index import Neighbourhoods, TokenSearch, TokenVectors
from rag.types import ArticleOrder, Bools
from training.neural.data.batches import TrainingBatch
from training.neural.data.tokens import article_text
from training.neural.recipe.settings import LateInteraction, Recipe
from training.neural.systems.backbone import check_length, load_backbone, quiet, sound
from training.neural.systems.base import ROUTES, NeuralSystem
from training.neural.systems.losses import softmax_loss

if TYPE_CHECKING:
    from sentence_transformers import MultiVectorEncoder
    from torch import Tensor


MARKERS = {"query": "[Q]", "document": "[D]"}
# What an encoder from scratch says of a token's place, beside what of the token: were both alike, as BERT's
# initialisation has it, the best match of any token would be the one at its own place, and nothing be learnt.
PLACES = 0.1


class ColBERTSystem(NeuralSystem):
    """A late-interaction encoder, kept as sentence-transformers keeps one."""

    @classmethod
    def build(cls, recipe: Recipe, source: str) -> ColBERTSystem:
        """Make the model on the encoder of a hub id or a folder.

        One of late interaction keeps its linear layer, its markers, and what it leaves out of articles.

        Raises:
            BadInput: it has vectors of another length than the recipe says.
        """
        loss, text = recipe.loss_of(LateInteraction), recipe.text
        with quiet():
            if late_kind(source, recipe.model.revision) is None:
                module = _fresh(recipe, source)
            else:
                of = recipe.model
                module = load_late(source, device="cpu", remote_code=of.remote_code, revision=of.revision)
        if (dim := module.get_embedding_dimension()) != loss.dim:
            cure = f"--set loss.dim={dim}"
            raise BadInput(f"{source} has vectors of {dim} numbers a token, [loss] dim is {loss.dim}: {cure}")
        encoder: Any = module[0]
        check_length(encoder.model, source, text.longest)
        encoder.max_seq_length = text.longest
        encoder.query_length, encoder.document_length = None, text.article_tokens
        encoder.query_expansion = {"strategy": "fixed", "attend": loss.attend, "length": text.question_tokens}
        prompt = module.prompts.get("query") or ""  # the marker; a published model may have none
        module.prompts["query"] = prompt + text.question_prompt  # that of articles is in what is read of them
        return cls(recipe, module)

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> ColBERTSystem:
        """Read what `save` wrote."""
        with quiet():
            return cls(recipe, load_late(folder, device="cpu", remote_code=recipe.model.remote_code))

    def encode(self, part: str, items: Sequence[Any]) -> Tensor:
        """Return (n_items, tokens, dim), as many tokens as the recipe allows; zeros where none counts."""
        from sentence_transformers.util import batch_to_device
        from torch.nn.functional import pad

        task, text = ROUTES[part], self.recipe.text
        read = items if part == "questions" else [article_text(article, text) for article in items]
        with quiet():  # it would tell of every question that is cut
            features = self.module.preprocess(
                [sound(one) for one in read], prompt=self.module.prompts.get(task), task=task
            )
        found = self.module(batch_to_device(features, self.module.device), task=task)
        vectors: Tensor = found["token_embeddings"] * found["attention_mask"].unsqueeze(-1)
        width = text.question_tokens if part == "questions" else text.article_tokens
        # pieces and processes are put together by row: all are of one width until the loss
        return pad(vectors, (0, 0, 0, width - vectors.shape[1]))

    def loss(self, encoded: Mapping[str, Tensor], batch: TrainingBatch) -> Mapping[str, Tensor]:
        """Return the loss and its two parts; without drawn negatives the pairs' is 0."""
        from sentence_transformers.util.similarity import maxsim

        temperature = self.recipe.loss_of(LateInteraction).temperature
        questions, articles = _trimmed(encoded["questions"]), _trimmed(encoded["articles"])
        scores = maxsim(questions, articles, _mask(questions), _mask(articles))
        pair, others = pairs(batch)
        drawn = softmax_loss(scores, replace(batch, in_loss=pair), temperature)
        in_batch = softmax_loss(scores, replace(batch, in_loss=others), temperature)
        return {"loss": drawn + in_batch, "pairs": drawn, "in batch": in_batch}

    def retriever(self, corpus: Corpus) -> Search:
        """Return MaxSim over the tokens of the corpus, which lie on disk for as long as it is held."""
        encoder = LateInteractionEncoder(self.module, partial(article_text, text=self.recipe.text))
        order, mask = ArticleOrder.of([article.id for article in corpus.articles]), Mask(corpus.articles)
        vectors = TokenVectors.temporary(encoder.dim, encoder.in_batches(corpus.articles))
        if not (depth := self.recipe.loss_of(LateInteraction).candidates):
            return Search(encoder, vectors, order, mask)
        near = Neighbourhoods.build(vectors, seed=1)
        return Search(encoder, vectors, order, mask, TokenSearch(near, order, mask), depth)


def pairs(batch: TrainingBatch) -> tuple[Bools, Bools]:
    """Return the columns of the two softmaxes, (n_questions, n_articles) each.

    The positive and the negatives drawn for the question; the positive and all that counts besides.
    """
    own = np.zeros_like(batch.in_loss)
    for row, columns in enumerate(batch.drawn):
        own[row, list(columns)] = True
    pair, others = batch.in_loss & own, batch.in_loss & ~own
    rows = np.arange(len(batch.positive))
    pair[rows, batch.positive] = others[rows, batch.positive] = True
    return pair, others


def punctuation(vocabulary: Mapping[str, int]) -> list[str]:
    """Return the tokens of a vocabulary that are nothing but punctuation, of any script, sorted.

    ColBERT leaves out the marks of ASCII, alone or after the sign of a new word; here also «, 。 and such.
    """

    def mark(sign: str) -> bool:
        return sign in string.punctuation or unicodedata.category(sign).startswith("P")

    bare = {token: token.removeprefix("##").lstrip("▁Ġ") for token in vocabulary}
    return sorted(token for token, text in bare.items() if text and all(map(mark, text)))


def _fresh(recipe: Recipe, source: str) -> MultiVectorEncoder:
    """Return an encoder with a linear layer that knows nothing yet, and markers of its own."""
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.base.modules import Dense, Normalize
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask
    from torch.nn import Identity
    from transformers import AddedToken

    encoder = load_backbone(source, recipe.model, recipe.text.longest)
    tokenizer, model = encoder.tokenizer, encoder.model
    if tokenizer.mask_token is None:
        raise BadInput(f"{source} has no [MASK], which fills questions up: give an encoder such as BERT's")
    marks = [AddedToken(marker, normalized=False, special=True) for marker in MARKERS.values()]
    tokenizer.add_special_tokens({"additional_special_tokens": marks})
    held = model.get_input_embeddings().weight.shape[0]
    model.resize_token_embeddings(max(len(tokenizer), held), mean_resizing=False)
    if recipe.model.scratch is not None:
        model.embeddings.position_embeddings.weight.data.mul_(PLACES)
    hidden = int(encoder.get_embedding_dimension())
    dim, tokens = recipe.loss_of(LateInteraction).dim, "token_embeddings"
    linear = Dense(hidden, dim, bias=False, activation_function=Identity(), module_input_name=tokens)
    modules = [encoder, linear, MultiVectorMask(punctuation(tokenizer.get_vocab())), Normalize(tokens)]
    prompts = {task: f"{marker} " for task, marker in MARKERS.items()}
    return MultiVectorEncoder(modules=modules, device="cpu", prompts=prompts)


def _mask(vectors: Tensor) -> Tensor:
    """Return (n_texts, n_tokens) bool: a vector of zeros is none, for those that count have length 1."""
    return (vectors.detach() != 0).any(dim=-1)


def _trimmed(vectors: Tensor) -> Tensor:
    """Return the vectors up to the last token that counts in any text."""
    held = _mask(vectors).any(dim=0).nonzero()
    return vectors[:, : int(held[-1]) + 1 if len(held) else 1]
