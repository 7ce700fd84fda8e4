"""SPLADE-max: question and article become weights of the vocabulary's terms, most of them 0.

    w_t(x) = max_i log(1 + relu(logit_t(x_i)))   over the tokens i of x (Formal et al. 2021)
    s(q, a) = sum_t w_t(q) w_t(a), or the cosine
    L = NT-Xent + lambda_q FLOPS(questions) + lambda_a FLOPS(articles)
    FLOPS(X) = sum_t (mean_x w_t(x))^2   (Paria et al. 2020)

The logits are those of the head of a masked language model. Both lambdas grow as the square of the
training's share up to `flops_warmup`, so that terms are not lost before any is known to matter.

What a trained SPLADE says of an article: the heaviest of its own terms, and of those that it adds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from indexes.corpus.corpus import Corpus
from rag.retrieval.base import Mask
from rag.retrieval.splade import Splade as Search
from rag.types import ArticleOrder, Floats, Ints, Question, Retriever
from training.neural.data.batches import TrainingBatch, split_texts
from training.neural.data.tokens import Tokens
from training.neural.recipe.settings import Recipe, Sparse
from training.neural.systems.backbone import load_backbone, quiet, write
from training.neural.systems.base import NeuralSystem
from training.neural.systems.encode import encoded
from training.neural.systems.losses import flops, similarities, softmax_loss

if TYPE_CHECKING:
    from sentence_transformers import SparseEncoder
    from torch import Tensor


Row: TypeAlias = tuple[Ints, npt.NDArray[np.floating]]  # columns and their weights
_NO_TERM: Row = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)


class SpladeSystem:
    """A SPLADE encoder, kept as sentence-transformers keeps a sparse encoder."""

    def __init__(self, recipe: Recipe, module: SparseEncoder) -> None:
        """Take the recipe and a model that was made by it or read from a result."""
        self.recipe = recipe
        self.module = module
        self.tokens = Tokens(module.tokenizer, recipe.text)

    @classmethod
    def build(cls, recipe: Recipe, source: str) -> SpladeSystem:
        """Make the model that the recipe describes, before any training."""
        from sentence_transformers import SparseEncoder
        from sentence_transformers.sparse_encoder.modules import SpladePooling

        encoder = load_backbone(source, recipe.model, Tokens.longest(recipe.text), task="fill-mask")
        pooling = SpladePooling("max", embedding_dimension=int(encoder.model.config.vocab_size))
        similarity = _loss(recipe).similarity
        return cls(
            recipe, SparseEncoder(modules=[encoder, pooling], device="cpu", similarity_fn_name=similarity)
        )

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> SpladeSystem:
        """Read what `save` wrote."""
        from sentence_transformers import SparseEncoder

        trust = recipe.model.remote_code
        with quiet():
            return cls(recipe, SparseEncoder(str(folder), device="cpu", trust_remote_code=trust))

    def save(self, folder: Path) -> None:
        """Write the model in the format of sentence-transformers."""
        write(self.module, folder)

    def parts(self, batch: TrainingBatch) -> Mapping[str, Sequence[object]]:
        """Return the questions' texts and the articles."""
        return split_texts(batch)

    def ids(self, part: str, item: Any) -> list[int]:  # noqa: ANN401 - a text or an article
        """Return the token ids of one item."""
        return self.tokens.question(item) if part == "questions" else self.tokens.article(item)[0]

    def encode(self, part: str, items: Sequence[Any]) -> Tensor:
        """Return (n_items, n_terms) weights."""
        features = self.tokens.padded([self.ids(part, item) for item in items], self.module.device)
        return self.module(features)["sentence_embedding"]

    def loss(self, encoded: Mapping[str, Tensor], batch: TrainingBatch) -> Mapping[str, Tensor]:
        """Return the loss, its ranking part, and how many terms questions and articles have."""
        settings = _loss(self.recipe)
        questions, articles = encoded["questions"], encoded["articles"]
        ranking = softmax_loss(
            similarities(questions, articles, settings.similarity), batch, settings.temperature
        )
        grown = min(batch.share / settings.flops_warmup, 1.0) ** 2 if settings.flops_warmup else 1.0
        sparse = settings.flops_questions * flops(questions) + settings.flops_articles * flops(articles)
        return {
            "loss": ranking + grown * sparse,
            "ranking": ranking,
            "terms a question": (questions > 0).sum(dim=1).float().mean(),
            "terms an article": (articles > 0).sum(dim=1).float().mean(),
        }

    def retriever(self, corpus: Corpus) -> Retriever:
        """Return an inverted index of the corpus."""
        encoder = Weights(self)
        order = ArticleOrder.of([article.id for article in corpus.articles])
        weights = encoder.encode("articles", corpus.articles, _loss(self.recipe).active)
        terms = self.tokens.tokenizer.convert_ids_to_tokens(list(range(weights.shape[1])))
        return Search(encoder, weights, order, Mask(corpus.articles), terms, encoder.uncut)


class Weights:
    """A trained SPLADE as an encoder of questions; of unit length where it compares cosines."""

    def __init__(self, system: SpladeSystem) -> None:
        """Encode with the weights as they are now."""
        self.system = system
        self.uncut = 0.0  # terms a row that was encoded last, on average, the lightest ones included

    def encode_questions(self, questions: Sequence[str]) -> sp.csr_array:
        """Return (n_questions, n_terms); an empty row for a blank question."""
        found = self.encode("questions", questions, 0)
        nonempty = np.array([bool(question.strip()) for question in questions], dtype=np.float32)
        weights = sp.csr_array(found.multiply(nonempty[:, None]))
        weights.eliminate_zeros()
        return weights

    def encode(self, part: str, items: Sequence[Any], most: int) -> sp.csr_array:
        """Return (n_items, n_terms), of each row the heaviest terms.

        Args:
            part: questions or articles.
            items: texts or articles.
            most: terms a row; 0: all.
        """
        width = int(self.system.module.get_embedding_dimension() or 0)
        unit = _loss(self.system.recipe).similarity == "cosine"
        rows: list[Row] = [_NO_TERM] * len(items)
        lengths = [len(self.system.ids(part, item)) for item in items]
        active = 0
        for positions, found in encoded(self.system, part, items, lengths):
            for position, row in zip(positions, found, strict=True):
                rows[position] = _heaviest(row, most, unit=unit)
                active += int(np.count_nonzero(row))
        self.uncut = active / max(len(items), 1)
        ends = np.cumsum([0, *(len(columns) for columns, _ in rows)])
        columns, weights = (np.concatenate([_NO_TERM[i], *(row[i] for row in rows)]) for i in (0, 1))
        return sp.csr_array((weights.astype(np.float32), columns, ends), shape=(len(items), width))


def _heaviest(row: Floats, most: int, *, unit: bool) -> Row:
    """Return columns and weights of a row's heaviest terms, all where most is 0; of unit length if asked."""
    columns = np.flatnonzero(row)
    if most and len(columns) > most:
        columns = np.sort(columns[np.lexsort((columns, -row[columns]))[:most]])
    weights = row[columns]
    return columns, weights / np.linalg.norm(weights) if unit and len(columns) else weights


def _loss(recipe: Recipe) -> Sparse:
    if not isinstance(recipe.loss, Sparse):
        raise TypeError(f"{recipe.name} is a {recipe.system}")
    return recipe.loss


ARTICLES = 3  # shown of a training
TERMS = 10  # of each kind
OWN, ADDED = "own", "added"

Expansion: TypeAlias = Mapping[str, Any]  # article: its id; own and added: [term, weight], the heaviest first


def expansions(
    system: NeuralSystem, retriever: Retriever, corpus: Corpus, held: Sequence[Question], most: int = ARTICLES
) -> list[Expansion]:
    """Return the terms of a few articles: those that answer the first questions held back.

    Args:
        system: with the weights that the retriever was made with.
        retriever: over the corpus.
        corpus: the law.
        held: questions held back; where they are too few, the first articles of the corpus follow.
        most: articles.

    Returns:
        One an article; none where the system has no terms.
    """
    if not (isinstance(system, SpladeSystem) and isinstance(retriever, Search)):
        return []
    gold = [id_ for question in held for id_ in question.article_ids]
    by_id = {article.id: article for article in corpus.articles}
    chosen = list(dict.fromkeys([id_ for id_ in gold if id_ in by_id] + list(by_id)))[:most]
    places = {id_: i for i, id_ in enumerate(retriever.order.ids)}
    found: list[Expansion] = []
    for id_ in chosen:
        read = system.tokens.article(by_id[id_])[0]
        own = set(system.tokens.tokenizer.convert_ids_to_tokens(read))
        terms = retriever.expansion(places[id_], retriever.weights.shape[1])
        entry = {
            OWN: [[term, weight] for term, weight in terms if term in own][:TERMS],
            ADDED: [[term, weight] for term, weight in terms if term not in own][:TERMS],
        }
        found.append({"article": id_, **entry})
    return found


def expansion_lines(found: Sequence[Expansion]) -> str:
    """Return the terms for people, two lines an article."""
    lines = ["heaviest terms of articles, with their weights:"]
    for one in found:
        for kind, label in ((OWN, f"{one['article']}, its own"), (ADDED, "    added")):
            terms = ", ".join(f"{term} {weight:.2f}" for term, weight in one[kind])
            lines.append(f"  {label}: {terms or 'none'}")
    return "\n".join(lines)
