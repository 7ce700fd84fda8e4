"""GIR: articles refined by message passing over the legislative graph (JuriFindIT: Noce et al. 2026).

Nodes start from the vectors of an encoder that stays as it is; questions keep its vectors too, so that at
question time refined vectors of articles are searched in the place of the encoder's, at no cost. G-DSR
(Louis, van Dijck & Spanakis 2023) is the same over the vectors of DSR, along the headings alone.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from indexes.build import legislative_graph
from indexes.build.encoder_choice import pretrained
from indexes.corpus.corpus import Corpus
from indexes.store.model_trust import require_trust, trust
from rag.encoders.static import StaticEncoder
from rag.errors import BadInput
from rag.retrieval.base import Mask
from rag.retrieval.dense import Dense, build_vectors
from rag.text.analysers import analyser
from rag.types import Article, ArticleOrder, Encoder, Floats, Question, Retriever, no_progress
from training.eval.encoders import EncoderFits
from training.neural.data.batches import TrainingBatch
from training.neural.data.seen_questions import keys
from training.neural.graph.network import make_network, require
from training.neural.graph.tensors import CONTENT, HIERARCHY, Edges, Incoming, edges, sample, tensors
from training.neural.recipe.recipe import parse_recipe
from training.neural.recipe.settings import Contrastive, GraphSettings, Recipe
from training.neural.systems.base import NeuralSystem
from training.neural.systems.biencoder import BiEncoder, TextVectors
from training.neural.systems.losses import similarities, softmax_loss

if TYPE_CHECKING:
    from torch import Tensor

_K = TypeVar("_K")
_V = TypeVar("_V")
STATIC = "static"  # the encoder of an index, fitted to the law and the questions to learn from
_ABOUT, _ENCODER, _WEIGHTS = "graph.json", "encoder", "weights.safetensors"
KEPT = 6  # encoders and laws that stay at hand: trainings of one sweep and fold share them
_fitted: dict[str, StaticEncoder] = {}


@dataclass(frozen=True, eq=False)
class _Law:
    """A corpus as the network reads it."""

    encoder: Encoder  # held, so that no other has its identity
    position: Mapping[str, int]
    nodes: Mapping[str, Tensor]  # kind -> (n, dim)
    edges: Edges
    incoming: Incoming


_laws: dict[tuple[str, int, bool], _Law] = {}


class GraphNetwork(NeuralSystem):
    """A graph network over the frozen vectors of an encoder."""

    over_law = True

    def __init__(self, recipe: Recipe, encoder: Encoder, kind: str) -> None:
        """Make the network, with random weights; `kind` says where the encoder is from."""
        require()
        self.recipe, self.encoder, self.kind = recipe, encoder, kind
        settings = graph_settings(recipe)
        kinds = tuple(_kinds(settings))
        self.module = make_network(settings, encoder.dim, kinds)
        self._law: _Law | None = None
        self._asked: dict[str, Floats] = {}
        self._step = 0

    @classmethod
    def of_law(
        cls, recipe: Recipe, corpus: Corpus, learn: Sequence[Question], began_with: Path | None = None
    ) -> GraphNetwork:
        """Make the system of a recipe; a static encoder is fitted to the law and the questions to learn from.

        `began_with` is the result whose encoder is used, None for the one that the recipe names.

        Raises:
            BadInput: the result is no biencoder.
            MissingExtra: PyTorch Geometric is not installed.
        """
        require()  # before minutes are spent on an encoder
        named = str(recipe.model.backbone)
        if named == STATIC:
            return cls(recipe, _static(corpus, learn), STATIC)
        if began_with is not None:
            made = cls(recipe, _of_result(began_with), str(began_with))
            made.began_with = began_with
            return made
        trust(named)
        return cls(recipe, _of_hub(named, recipe.model.revision), named)

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> GraphNetwork:
        """Read what `save` wrote."""
        from safetensors.torch import load_model

        about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
        encoder: Encoder
        if about["encoder"] == STATIC:
            encoder = StaticEncoder.load(folder / _ENCODER, analyser(**about["analyser"]))
        elif (folder / _ENCODER).is_dir():
            encoder = _of_result(folder / _ENCODER)
        else:
            require_trust(about["encoder"], folder)
            encoder = _of_hub(about["encoder"], about.get("revision"))
        kept = (folder / _ENCODER).is_dir() and about["encoder"] != STATIC
        made = cls(recipe, encoder, str(folder / _ENCODER) if kept else about["encoder"])
        load_model(made.module, str(folder / _WEIGHTS))
        return made

    def save(self, folder: Path) -> None:
        """Write the network's weights, and the encoder unless a hub has it."""
        from safetensors.torch import save_model

        about: dict[str, Any] = {"encoder": self.kind}
        folder.mkdir(parents=True, exist_ok=True)
        if isinstance(self.encoder, StaticEncoder):
            self.encoder.save(folder / _ENCODER)
            about["analyser"] = {"language": self.encoder.analyser.language}
        elif Path(self.kind).is_dir():
            shutil.copytree(self.kind, folder / _ENCODER)
            about["encoder"] = "result"
        elif revision := getattr(self.encoder, "revision", None):  # the commit on the hub
            about["revision"] = revision
        save_model(self.module, str(folder / _WEIGHTS))
        (folder / _ABOUT).write_text(json.dumps(about, ensure_ascii=False) + "\n", encoding="utf-8")

    def to(self, device: str | None) -> None:
        """Lay the network and a trained encoder on a device, as the base class says."""
        super().to(device)
        if isinstance(self.encoder, TextVectors):  # it reads the whole law: hours on a processor
            self.encoder.system.to(device)

    def over(self, corpus: Corpus) -> _Law:
        """Return the graph of a corpus with the encoder's vectors; the last one stays at hand."""
        import torch

        referring = graph_settings(self.recipe).references != "none"
        key = corpus.sha256, id(self.encoder), referring
        if key not in _laws:
            graph = legislative_graph.build(corpus)
            of = edges(graph, references=referring)
            content = self.encoder.encode_articles(corpus.articles)
            labels = [graph.label(node) for node in range(graph.articles, len(graph))]
            headings = self.encoder.encode_articles([Article("", "", "", label) for label in labels])
            vectors = {CONTENT: content, HIERARCHY: headings}
            nodes = {kind: torch.from_numpy(np.array(v, dtype=np.float32)) for kind, v in vectors.items()}
            position = {article.id: i for i, article in enumerate(corpus.articles)}
            sizes = {kind: len(v) for kind, v in nodes.items()}
            _keep(_laws, key, _Law(self.encoder, position, nodes, of, Incoming.of(of, sizes)))
        self._law = _laws[key]
        return self._law

    def refined(self, corpus: Corpus) -> Floats:
        """Return (n_articles, dim) float32, of unit length: what is searched in place of the encoder's."""
        import torch

        law, training = self.over(corpus), self.module.training
        self.module.eval()
        try:
            with torch.inference_mode():
                device = next(self.module.parameters()).device
                nodes = {kind: v.to(device) for kind, v in law.nodes.items()}
                found = self.module(nodes, {k: e.to(device) for k, e in tensors(law.edges).items()})
        finally:
            self.module.train(training)
        vectors: Floats = found.float().cpu().numpy()
        length = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
        unit: Floats = (vectors / np.where(length > 0, length, 1)).astype(np.float32, copy=False)
        return unit

    def encode(self, part: str, items: Sequence[Any]) -> Tensor:
        """Return (n_items, dim): frozen vectors of questions, refined ones of articles."""
        import torch

        device = next(self.module.parameters()).device
        if part == "questions":
            fresh = [text for text in dict.fromkeys(items) if text not in self._asked]
            self._asked.update(zip(fresh, self.encoder.encode_questions(fresh), strict=True) if fresh else ())
            return torch.from_numpy(np.stack([self._asked[text] for text in items])).to(device)
        if self._law is None:
            raise RuntimeError("the law of the batches is set by `over`")
        law, settings = self._law, graph_settings(self.recipe)
        at = [law.position[article.id] for article in items]
        if not settings.neighbours:
            nodes = {kind: v.to(device) for kind, v in law.nodes.items()}
            return self.module(nodes, {k: e.to(device) for k, e in tensors(law.edges).items()})[at]
        self._step += 1
        seen = sample(
            law.incoming, at, settings.layers, settings.neighbours, np.random.default_rng(self._step)
        )
        nodes = {kind: law.nodes[kind][of].to(device) for kind, of in seen.nodes.items()}
        return self.module(nodes, {k: e.to(device) for k, e in tensors(seen.edges).items()})[: len(at)]

    def loss(self, encoded: Mapping[str, Tensor], batch: TrainingBatch) -> Mapping[str, Tensor]:
        """Return the softmax loss."""
        settings = self.recipe.loss_of(Contrastive)
        scores = similarities(encoded["questions"], encoded["articles"], settings.similarity)
        return {"loss": softmax_loss(scores, batch, settings.temperature)}

    def retriever(self, corpus: Corpus) -> Retriever:
        """Return exact search over the refined vectors of the corpus."""
        order = ArticleOrder.of([article.id for article in corpus.articles])
        return Dense(self.encoder, build_vectors(self.refined(corpus)), order, Mask(corpus.articles))


def _keep(of: dict[_K, _V], key: _K, value: _V) -> None:
    while len(of) >= KEPT:
        of.pop(next(iter(of)))
    of[key] = value


def graph_settings(recipe: Recipe) -> GraphSettings:
    """Return the settings of the network, which a recipe of this system has."""
    return recipe.model.graph or GraphSettings()


def _kinds(settings: GraphSettings) -> tuple[tuple[str, str, str], ...]:
    from training.neural.graph.tensors import REFERENCES, STRUCTURAL

    return STRUCTURAL if settings.references == "none" else (*STRUCTURAL, *REFERENCES)


def _static(corpus: Corpus, learn: Sequence[Question]) -> StaticEncoder:
    key = f"{corpus.sha256} {sorted(keys(learn))}"
    if key not in _fitted:
        cut = analyser(corpus.card.language)
        made = EncoderFits([corpus], lambda: cut, 1, None, no_progress).encoder(learn)
        _keep(_fitted, key, made)
    return _fitted[key]


def _of_hub(model: str, revision: str | None) -> Encoder:
    return pretrained(model, {"revision": revision} if revision else {}).encoder


@lru_cache(maxsize=KEPT)
def _of_result(folder: Path) -> Encoder:
    recipe = parse_recipe(json.loads((folder / "recipe.json").read_text(encoding="utf-8")), f"{folder}")
    if recipe.system != "biencoder":
        raise BadInput(f"model.backbone {folder} is a {recipe.system}: a graph starts from a biencoder")
    system = BiEncoder.load(recipe, folder / "model")
    system.to("cpu")
    return TextVectors(system)
