"""SPLADE-max: question and article become weights of the vocabulary's terms, most of them 0.

    w_t(x) = max_i log(1 + relu(logit_t(x_i)))   over the tokens i of x (Formal et al. 2021)
    s(q, a) = sum_t w_t(q) w_t(a), or the cosine
    L = NT-Xent + lambda_q FLOPS(questions) + lambda_a FLOPS(articles)
    FLOPS(X) = sum_t (mean_x w_t(x))^2   (Paria et al. 2020)

The logits are those of the head of a masked language model. Both lambdas grow as the square of the
training's share up to `flops_warmup`, so that terms are not lost before any is known to matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from indexes.corpus.corpus import Corpus
from rag.retrieval.base import Mask
from rag.retrieval.splade import Splade as Search
from rag.types import ArticleOrder, Floats, Ints, Question, Retriever
from training.neural.data.batches import TrainingBatch
from training.neural.recipe.settings import Recipe, Sparse
from training.neural.systems.backbone import load_backbone
from training.neural.systems.base import NeuralSystem
from training.neural.systems.losses import flops, similarities, softmax_loss

if TYPE_CHECKING:
    from torch import Tensor


Row: TypeAlias = tuple[Ints, npt.NDArray[np.floating]]  # columns and their weights
_NO_TERM: Row = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)


class SpladeSystem(NeuralSystem):
    """A SPLADE encoder, kept as sentence-transformers keeps a sparse encoder."""

    kept_as = "SparseEncoder"
    head = "fill-mask"

    @classmethod
    def build(cls, recipe: Recipe, source: str) -> SpladeSystem:
        """Make the model on the encoder of a hub id or a folder."""
        from sentence_transformers import SparseEncoder
        from sentence_transformers.sparse_encoder.modules import SpladePooling

        encoder = load_backbone(source, recipe.model, recipe.text.longest, task=cls.head)
        pooling = SpladePooling("max", embedding_dimension=int(encoder.model.config.vocab_size))
        similarity, modules = recipe.loss_of(Sparse).similarity, [encoder, pooling]
        return cls(recipe, SparseEncoder(modules=modules, device="cpu", similarity_fn_name=similarity))

    def ids(self, part: str, item: Any) -> list[int]:  # noqa: ANN401 - a text or an article
        """Return the token ids of one item."""
        return self.tokens.question(item) if part == "questions" else self.tokens.article(item)[0]

    def encode(self, part: str, items: Sequence[Any]) -> Tensor:
        """Return (n_items, n_terms) weights."""
        features = self.tokens.padded([self.ids(part, item) for item in items], self.module.device)
        logits = self.module[0](features)["token_embeddings"]
        # log(1 + relu) rises, so it is taken of the largest logit alone, not of every token's as the library
        # does before it: what is padded counts 0 there too
        padded = features["attention_mask"].unsqueeze(-1) == 0
        return logits.masked_fill_(padded, 0.0).max(dim=1).values.relu().log1p()

    def loss(self, encoded: Mapping[str, Tensor], batch: TrainingBatch) -> Mapping[str, Tensor]:
        """Return the loss, its ranking part, and how many terms questions and articles have."""
        settings = self.recipe.loss_of(Sparse)
        questions, articles = encoded["questions"], encoded["articles"]
        scores = similarities(questions, articles, settings.similarity)
        ranking = softmax_loss(scores, batch, settings.temperature)
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
        weights = encoder.encode("articles", corpus.articles, self.recipe.loss_of(Sparse).active)
        terms = self.tokens.tokenizer.convert_ids_to_tokens(list(range(weights.shape[1])))
        return Search(encoder, weights, order, Mask(corpus.articles), terms, encoder.uncut)


class Weights:
    """A trained SPLADE as an encoder of questions; of unit length where it compares cosines."""

    def __init__(self, system: SpladeSystem) -> None:
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
        """Return (n_items, n_terms), of each row so many terms at most, the heaviest; 0: all."""
        width = int(self.system.module.get_embedding_dimension() or 0)
        unit = self.system.recipe.loss_of(Sparse).similarity == "cosine"
        rows: list[Row] = [_NO_TERM] * len(items)
        lengths = [len(self.system.ids(part, item)) for item in items]
        active = 0
        for positions, found in self.system.encoded(part, items, lengths):
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


ARTICLES = 3  # shown of a training
TERMS = 10  # of each kind
Expansion: TypeAlias = Mapping[str, Any]  # article: its id; own and added: [term, weight], the heaviest first


def expansions(
    system: NeuralSystem, retriever: Retriever, corpus: Corpus, held: Sequence[Question]
) -> list[Expansion]:
    """Return the heaviest terms of a few articles, their own and those that the system adds.

    The articles answer the first questions held back; where they are too few, the first ones of the corpus
    follow. None where the system has no terms.
    """
    if not (isinstance(system, SpladeSystem) and isinstance(retriever, Search)):
        return []
    gold = [id_ for question in held for id_ in question.article_ids]
    by_id = {article.id: article for article in corpus.articles}
    chosen = list(dict.fromkeys([id_ for id_ in gold if id_ in by_id] + list(by_id)))[:ARTICLES]
    places = {id_: i for i, id_ in enumerate(retriever.order.ids)}
    found: list[Expansion] = []
    for id_ in chosen:
        read = system.tokens.article(by_id[id_])[0]
        own = set(system.tokens.tokenizer.convert_ids_to_tokens(read))
        terms = retriever.expansion(places[id_], retriever.weights.shape[1])
        kinds: dict[str, list[list[Any]]] = {"own": [], "added": []}
        for term, weight in terms:
            kinds["own" if term in own else "added"].append([term, weight])
        found.append({"article": id_, **{kind: rows[:TERMS] for kind, rows in kinds.items()}})
    return found


def expansion_lines(found: Sequence[Expansion]) -> str:
    """Return the terms for people, two lines an article."""
    lines = ["heaviest terms of articles, with their weights:"]
    for one in found:
        for kind, label in (("own", f"{one['article']}, its own"), ("added", "    added")):
            terms = ", ".join(f"{term} {weight:.2f}" for term, weight in one[kind])
            lines.append(f"  {label}: {terms or 'none'}")
    return "\n".join(lines)
