"""GIR: message passing over the legislative graph, from the frozen vectors of an encoder."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.errors import BadInput, MissingExtra
from rag.graph.graph import Graph
from rag.types import Article, Ints
from tests.fakes.models.neural import (
    NEEDS_TORCH,
    TINY,
    batch_of,
    gradient,
    here,
    order_of,
    recipe,
    system_of,
    task_of,
    weights,
)
from tests.fakes.ranking.benchmark import ARTICLES, CORPUS, QUESTIONS
from training.neural import result
from training.neural.data.task import Data, tasks
from training.neural.graph.network import make_network
from training.neural.graph.tensors import CONTENT, HIERARCHY, Incoming, edges, sample, tensors
from training.neural.recipe.recipe import parse_recipe
from training.neural.recipe.settings import GraphSettings, Recipe
from training.neural.run import prepared, run
from training.neural.systems.graph_network import GraphNetwork

pytestmark = [
    *NEEDS_TORCH,
    pytest.mark.skipif(
        find_spec("torch_geometric") is None,
        reason="could not import 'torch_geometric': the extra [train] is not installed",
    ),
]
ARCHITECTURES = ("graphconv", "sage", "gat", "gatv2", "hgt")
REFERRING = ("none", "merged", "relation")
ALL = list(product(ARCHITECTURES, REFERRING))
SMALL = tuple(Article(str(n), "Code", str(n), f"texte {n}", ("I" if n < 3 else "II",)) for n in range(6))
PAIRS: Ints = np.array([[0, 4], [2, 5], [4, 1]])


def gir(training: dict[str, Any] | None = None, **graph: Any) -> Recipe:
    """The tiny recipe as a graph network over the static encoder."""
    return parse_recipe({
        **TINY,
        "system": "graph",
        "model": {"backbone": "static", "graph": {"hidden": 8, **graph}},
        "training": {"batch": 64, "steps": 6, "learning_rate": 0.05, **(training or {})},
        "negatives": {},
    })  # fmt: skip


def network(architecture: str, references: str, dim: int = 5) -> Any:
    """A network in evaluation whose output is not zero, as it is before training."""
    import torch

    from training.neural.systems.graph_network import _kinds

    of: Any = GraphSettings(architecture=architecture, references=references, hidden=8)
    torch.manual_seed(3)
    made = make_network(of, dim, _kinds(of))
    torch.nn.init.normal_(made.output.weight)
    return made.eval()


def refined(made: Any, graph: Graph, vectors: np.ndarray[Any, Any], references: str) -> np.ndarray[Any, Any]:
    import torch

    rows = torch.from_numpy(vectors)
    nodes = {CONTENT: rows[: graph.articles], HIERARCHY: rows[graph.articles :]}
    with torch.inference_mode():
        found = made(nodes, tensors(edges(graph, references=references != "none")))
    return np.asarray(found.numpy())


def vectors_of(graph: Graph, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).normal(size=(len(graph), 5)).astype(np.float32)


@pytest.mark.hypothesis
@pytest.mark.parametrize(("architecture", "references"), ALL)
@settings(max_examples=10)
@given(order=st.permutations(range(6)))
def test_articles_in_another_order_get_the_same_vectors(
    architecture: str, references: str, order: list[int]
) -> None:
    made, graph = network(architecture, references), Graph.of(SMALL, PAIRS)
    vectors = vectors_of(graph)
    turned = Graph.of([SMALL[i] for i in order], np.argsort(order)[PAIRS])
    # headings are numbered in the order in which articles first stand under them
    place = {graph.label(node): node for node in range(6, len(graph))}
    above = [place[turned.label(node)] for node in range(6, len(turned))]
    found = refined(made, turned, vectors[[*order, *above]], references)
    np.testing.assert_allclose(found, refined(made, graph, vectors, references)[order], atol=1e-4)


@pytest.mark.parametrize(("architecture", "references"), ALL)
def test_references_count_where_they_are_read(architecture: str, references: str) -> None:
    made, graph = network(architecture, references), Graph.of(SMALL, PAIRS)
    vectors = vectors_of(graph)
    alone = refined(made, Graph.of(SMALL, PAIRS[:0]), vectors, references)
    assert np.array_equal(refined(made, graph, vectors, references), alone) == (references == "none")


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_merged_references_have_no_more_weights_than_their_own_relation(architecture: str) -> None:
    none, merged, own = (
        sum(p.numel() for p in network(architecture, references).parameters()) for references in REFERRING
    )
    assert none <= merged < own
    if architecture != "hgt":  # which has no structural edges among articles, so a type of its own for these
        assert none == merged


@pytest.mark.parametrize(("architecture", "references"), ALL)
def test_untrained_articles_keep_the_vectors_of_the_encoder(architecture: str, references: str) -> None:
    system = system_of(gir(architecture=architecture, references=references))
    given_vectors = system.encoder.encode_articles(ARTICLES)
    np.testing.assert_allclose(system.refined(CORPUS), given_vectors, atol=1e-5)


@pytest.mark.parametrize(("architecture", "references"), ALL)
def test_a_step_moves_articles_and_no_question(architecture: str, references: str) -> None:
    import torch

    of = gir(architecture=architecture, references=references, dropout=0.0)
    system = system_of(of)
    torch.nn.init.normal_(system.module.output.weight, std=0.1)  # 0 at first lets no gradient through
    before = system.encode("questions", ["que dire du mur"]).numpy()
    losses, gradients = gradient(system, batch_of(of), 0)
    assert np.isfinite(losses["loss"])
    assert all(np.isfinite(each).all() for each in gradients)
    reached = {name for name, p in system.module.named_parameters() if p.grad is not None and p.grad.any()}
    for part in ("inputs.content", "inputs.hierarchy", "layers.0", "output"):
        assert any(name.startswith(part) for name in reached), part
    with torch.no_grad():
        for weight in system.module.parameters():
            weight -= 0.1 * weight.grad if weight.grad is not None else 0
    assert np.array_equal(system.encode("questions", ["que dire du mur"]).numpy(), before)
    moved = system.refined(CORPUS)
    assert np.abs(moved - system.encoder.encode_articles(ARTICLES)).max() > 1e-3
    np.testing.assert_allclose(np.linalg.norm(moved, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("optimiser", ["adamw", "sgd"])
def test_the_loss_of_the_questions_learnt_falls(optimiser: str) -> None:
    import torch

    of = gir(dropout=0.0)
    system, batch = system_of(of), batch_of(of)
    torch.nn.init.normal_(
        system.module.output.weight, std=0.3
    )  # the encoder has learnt them: nothing is left
    learner: Any = {"adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}[optimiser]
    step = learner(system.module.parameters(), lr=0.01)
    first, _ = gradient(system, batch, 0)
    for _ in range(20):
        last, _ = gradient(system, batch, 0)
        step.step()
    assert last["loss"] < first["loss"]


def test_a_training_is_reproduced_by_its_seed_and_read_again(tmp_path: Path) -> None:
    task = task_of(gir())
    for name in ("one", "two"):
        run(task, order_of(tmp_path / name), here())
    one, two = weights_of(tmp_path / "one"), weights_of(tmp_path / "two")
    assert one.keys() == two.keys()
    assert all(np.array_equal(one[name], two[name]) for name in one)
    system = result.open_result(tmp_path / "one").system("cpu")
    assert isinstance(system, GraphNetwork)
    again = tmp_path / "again"
    system.save(again)
    found = GraphNetwork.load(system.recipe, again)
    np.testing.assert_array_equal(found.refined(CORPUS), system.refined(CORPUS))
    [ranking] = system.retriever(CORPUS).search(["Que dire de bail loyer ?"], 5)
    assert len(ranking) == 5


def weights_of(folder: Path) -> dict[str, np.ndarray[Any, Any]]:
    from safetensors.numpy import load_file

    return dict(load_file(folder / "model" / "weights.safetensors"))


def test_a_graph_over_a_biencoder_says_what_that_has_learnt(tmp_path: Path) -> None:
    dar = tmp_path / "dar"
    [task] = tasks(recipe(), Data(CORPUS, QUESTIONS), folds=3, only="0", seeds=(1,))
    run(task, order_of(dar), here())
    assert weights(dar)
    over = gir()
    over = parse_recipe({**over.source, "model": {**over.source["model"], "backbone": str(dar)}})
    [task] = tasks(over, Data(CORPUS, QUESTIONS), folds=3, only="0", seeds=(1,))
    task = replace(task, learn=task.learn[:4], dev=task.dev[:2])  # less than the encoder knows
    run(task, order_of(tmp_path / "gir"), here())
    assert result.learnt.read(tmp_path / "gir") >= result.learnt.read(dar)
    system = result.open_result(tmp_path / "gir").system("cpu")
    system.save(tmp_path / "again")  # the encoder goes along, twice
    again = GraphNetwork.load(system.recipe, tmp_path / "again")
    np.testing.assert_allclose(again.refined(CORPUS), system.refined(CORPUS), atol=1e-6)
    [other] = tasks(over, Data(CORPUS, QUESTIONS), folds=3, only="1", seeds=(1,))
    with pytest.raises(BadInput, match="Train it with the same folds"):
        prepared(other, here(), tmp_path / "none")


def test_a_result_of_somebody_else_chooses_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its graph.json may name any model, as an index's manifest may."""
    loaded: list[tuple[str, object]] = []

    class Loaded(Exception):
        pass

    def load(model: str, *, revision: object = None) -> None:
        loaded.append((model, revision))
        raise Loaded

    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("rag.encoders.transformer.TransformerEncoder", load)
    about = {"encoder": "acme/law", "revision": "1f"}
    (tmp_path / "graph.json").write_text(json.dumps(about), encoding="utf-8")
    with pytest.raises(BadInput, match="names the model 'acme/law', which nobody has chosen"):
        GraphNetwork.load(gir(), tmp_path)
    assert not loaded
    of_mine = parse_recipe({**gir().source, "model": {**gir().source["model"], "backbone": "acme/law"}})
    with pytest.raises(Loaded):  # a person who trains one has chosen it
        GraphNetwork.of_law(of_mine, CORPUS, QUESTIONS)
    with pytest.raises(Loaded):
        GraphNetwork.load(gir(), tmp_path)
    assert loaded == [("acme/law", None), ("acme/law", "1f")]


def test_a_node_sees_so_many_neighbours_of_a_kind() -> None:
    graph = Graph.of(SMALL, PAIRS)
    of = edges(graph, references=True)
    incoming = Incoming.of(of, {CONTENT: 6, HIERARCHY: len(graph) - 6})
    rng = np.random.default_rng(1)
    whole = sample(incoming, [4, 0], 2, 100, rng)
    assert whole.nodes[CONTENT][:2].tolist() == [4, 0]
    drawn = {
        (kind, int(whole.nodes[kind[0]][s]), int(whole.nodes[kind[2]][t]))
        for kind, pairs in whole.edges.items()
        for s, t in pairs.T.tolist()
    }
    there = {(kind, s, t) for kind, pairs in of.items() for s, t in pairs.T.tolist()}
    assert drawn <= there
    assert {edge for edge in there if edge[0][2] == CONTENT and edge[2] in (0, 4)} <= drawn
    for kind, pairs in sample(incoming, [4, 0], 2, 1, rng).edges.items():
        assert np.bincount(pairs[1], minlength=1).max() <= 1, kind


def test_sampled_training_learns_too() -> None:
    of = gir(neighbours=2, layers=2)
    losses, gradients = gradient(system_of(of), batch_of(of), 0)
    assert np.isfinite(losses["loss"])
    assert any(each.any() for each in gradients)


def test_heads_that_do_not_share_the_width_are_refused() -> None:
    with pytest.raises(BadInput, match="hidden = 8 cannot be shared among heads = 3 of hgt"):
        gir(architecture="hgt", heads=3)
    gir(architecture="gat", heads=3)


def test_what_does_not_belong_together_is_refused() -> None:
    with pytest.raises(BadInput, match="belong together"):
        parse_recipe({**gir().source, "system": "biencoder"})
    with pytest.raises(BadInput, match="architecture"):
        gir(architecture="gcn")


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    with pytest.raises(MissingExtra, match="PyTorch Geometric"):
        GraphNetwork.of_law(gir(), CORPUS, ())
