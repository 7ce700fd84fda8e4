"""The legislative graph: its tree and its references, worked by hand, and what holds of any law."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import BadInput
from rag.graph.graph import Graph, Node
from rag.graph.graphml import graphml
from rag.graph.statistics import Statistics
from rag.types import Article, Ints

CIVIL, LABOUR = "Code civil", "Code du travail"
LAW = (
    Article("c1", CIVIL, "1", "Des puits.", ("Livre I", "Titre I")),
    Article("c2", CIVIL, "2", "Des fours.", ("Livre I", "Titre I"), references=("c1", "livre", "gone")),
    Article("c3", CIVIL, "3", "Des haies.", ("Livre II",)),
    Article("t1", LABOUR, "1", "Du pain.", references=("act", "t1")),
    Article("c4", CIVIL, "4", "Des chèvres.", ("Livre I",)),
)
NODES = (
    Node("livre", CIVIL, ("Livre I",), references=("c3", "livre")),
    Node("act", "Loi sans article", references=("livre",)),
)
NAMES = [
    "c1",
    "c2",
    "c3",
    "t1",
    "c4",
    "",
    CIVIL,
    "Livre I",
    "Titre I",
    "Livre II",
    LABOUR,
    "Loi sans article",
]


def pairs(*each: tuple[int, int]) -> Ints:
    return np.array(each, np.int64).reshape(-1, 2)


def village() -> Graph:
    return Graph.of(LAW, pairs((1, 0), (3, 3)), NODES, {"references": "source"})


def name(graph: Graph, node: int) -> str:
    return LAW[node].id if graph.kind(node) == "content" else graph.label(node)


def named(graph: Graph, nodes: Sequence[int] | np.ndarray) -> list[str]:
    return [name(graph, int(node)) for node in nodes]


def test_articles_stand_under_their_headings_and_all_under_one_root() -> None:
    graph = village()
    assert named(graph, range(len(graph))) == NAMES
    assert graph.root == 5
    assert named(graph, graph.parents(0)) == ["Titre I", "Livre I", CIVIL, ""]
    assert graph.parents(graph.root) == []
    assert named(graph, graph.siblings(0)) == ["c2"]
    assert named(graph, graph.siblings(3)) == []
    assert named(graph, graph.siblings(4)) == ["Titre I"]  # an article beside a heading
    assert len(graph.siblings(graph.root)) == 0
    assert named(graph, graph.below(graph.root)) == [CIVIL, LABOUR, "Loi sans article"]
    assert named(graph, graph.below(7)) == ["c4", "Titre I"]


def test_references_lead_to_articles_and_to_what_stands_above_them() -> None:
    graph = village()
    assert named(graph, graph.refers_to(1)) == ["c1", "Livre I"]  # "gone" is not there
    assert named(graph, graph.refers_to(3)) == ["Loi sans article"]  # and not to itself
    assert named(graph, graph.refers_to(7)) == ["c3"]
    assert named(graph, graph.referred_by(7)) == ["c2", "Loi sans article"]
    assert named(graph, graph.referred_by(0)) == ["c2"]
    assert named(graph, graph.neighbours(7)) == ["c2", "c3", "c4", CIVIL, "Titre I", "Loi sans article"]
    assert graph.article_references.tolist() == [[1, 0]]
    assert graph.ids == {"livre": 7, "act": 11}


def test_statistics_are_those_of_the_papers_table() -> None:
    found = Statistics.of(village())
    assert found.rows() == {
        "content nodes": 5,
        "hierarchical nodes": 7,
        "total nodes": 12,
        "structural edges": 11,
        "reference edges": 5,
        "total edges": 16,
        "average height": pytest.approx((3 + 1 + 0) / 3),  # c1 is three steps below its code, t1 one
        "average path length": pytest.approx((4 + 4 + 3 + 2 + 3) / 5),
    }
    assert found.between_articles == 1


def test_a_law_without_articles_has_a_root() -> None:
    graph = Graph.of((), pairs())
    assert (len(graph), graph.root, graph.label(0)) == (1, 0, "")
    assert Statistics.of(graph).rows()["total edges"] == 0
    assert Statistics.of(graph).average_path == 0


def test_graphml_is_read_back() -> None:
    odd = replace(LAW[0], article_no="1 <&> \"'\x00\x0b]]>", id="c&1")
    articles = (odd, *LAW[1:])
    graph = Graph.of(articles, pairs((1, 0)), NODES)
    text = "\n".join(graphml(graph, articles))
    document = ElementTree.fromstring(text.encode())  # noqa: S314  (it is ours)
    space = "{http://graphml.graphdrawing.org/xmlns}"
    nodes = [
        {data.get("key"): data.text for data in node.iter(f"{space}data")}
        for node in document.iter(f"{space}node")
    ]
    assert len(nodes) == len(graph)
    label = "1 <&> \"'\ufffd\ufffd]]>"
    assert nodes[0] == {"kind": "content", "id": "c&1", "label": label, "code": CIVIL}
    assert nodes[7] == {"kind": "hierarchy", "id": "livre", "label": "Livre I"}
    assert nodes[graph.root] == {"kind": "hierarchy"}
    edges = [
        (edge.attrib["source"], edge.attrib["target"], edge.findtext(f"{space}data"))
        for edge in document.iter(f"{space}edge")
    ]
    assert len(edges) == len(set(edges)) == Statistics.of(graph).rows()["total edges"]
    assert {("n7", "n4", "structural"), ("n1", "n0", "reference"), ("n11", "n7", "reference")} <= set(edges)
    with pytest.raises(BadInput, match="5 articles"):
        list(graphml(graph, LAW[:2]))


def test_files_of_another_graph_are_refused(tmp_path: Path) -> None:
    village().save(tmp_path / "one")
    Graph.of(LAW[:3], pairs()).save(tmp_path / "other")
    (tmp_path / "one" / "to_ends.npy").write_bytes((tmp_path / "other" / "to_ends.npy").read_bytes())
    with pytest.raises(BadInput, match=r"to_ends\.npy"):
        Graph.load(tmp_path / "one")
    np.save(tmp_path / "other" / "to.npy", np.zeros(0))
    with pytest.raises(BadInput, match=r"to\.npy"):
        Graph.load(tmp_path / "other")


@st.composite
def laws(draw: st.DrawFn) -> tuple[list[Article], Ints]:
    headings = st.lists(st.sampled_from(["A", "B", "é", ""]), max_size=3).map(tuple)
    n = draw(st.integers(0, 8))
    articles = [
        Article(f"x{i}", draw(st.sampled_from([CIVIL, LABOUR])), str(i), "", draw(headings)) for i in range(n)
    ]
    one = st.integers(0, max(n - 1, 0))
    return articles, pairs(*draw(st.lists(st.tuples(one, one), max_size=12 if n else 0)))


@given(laws())
def test_what_holds_of_any_law(law: tuple[list[Article], Ints]) -> None:
    articles, references = law
    graph = Graph.of(articles, references)
    assert len(graph) == graph.articles + len({("",)} | {
        (a.code, *a.headings[:depth]) for a in articles for depth in range(len(a.headings) + 1)
    })  # fmt: skip
    for node in range(len(graph)):
        above = graph.parents(node)
        assert (above[-1] if above else node) == graph.root
        assert all(node in graph.below(parent) for parent in above[:1])
        assert (
            set(graph.siblings(node)) == {int(n) for n in graph.below(above[0])} - {node} if above else True
        )
        assert all(node in graph.referred_by(other) for other in graph.refers_to(node))
        assert all(node in graph.refers_to(other) for other in graph.referred_by(node))
        assert all(node in graph.neighbours(other) for other in graph.neighbours(node))
    for node, article in enumerate(articles):
        path = [graph.label(above) for above in graph.parents(node)]
        assert path[::-1] == ["", article.code, *article.headings]
    wanted = {(a, b) for a, b in references.tolist() if a != b}
    assert set(map(tuple, graph.references.tolist())) == wanted
    assert len(graph.references) == len(wanted)


@given(laws())
def test_a_graph_that_is_opened_is_the_one_that_was_saved(law: tuple[list[Article], Ints]) -> None:
    graph = Graph.of(*law, NODES, {"references": "source"})
    with tempfile.TemporaryDirectory() as folder:
        graph.save(Path(folder) / "graph")
        found = Graph.load(Path(folder) / "graph")
        assert (found.articles, found.ids, found.about) == (graph.articles, graph.ids, graph.about)
        for node in range(len(graph)):
            assert found.parents(node) == graph.parents(node)
            assert found.neighbours(node).tolist() == graph.neighbours(node).tolist()
            if graph.kind(node) == "hierarchy":
                assert found.label(node) == graph.label(node)


@given(laws(), st.randoms(use_true_random=False))
def test_the_order_of_articles_changes_numbers_alone(law: tuple[list[Article], Ints], chance: object) -> None:
    articles, references = law
    order = list(range(len(articles)))
    chance.shuffle(order)  # type: ignore[attr-defined]
    new = np.argsort(order) if order else np.zeros(0, np.int64)
    graph = Graph.of(articles, references)
    other = Graph.of([articles[i] for i in order], new[references] if len(references) else references)
    for node, article in enumerate(articles):
        at = order.index(node)
        assert {articles[i].id for i in graph.refers_to(node)} == {
            articles[order[i]].id for i in other.refers_to(at)
        }
        beside = {i for i in graph.siblings(node) if i < len(articles)}
        assert {articles[i].id for i in beside} == {
            articles[order[i]].id for i in other.siblings(at) if i < len(articles)
        }, article.id
    assert Statistics.of(graph).rows() == pytest.approx(Statistics.of(other).rows())
