"""Ranking by the graph: worked by hand, and what holds of any law and any list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import BadInput
from rag.graph.graph import Graph
from rag.graph.smoothing import KINDS, GraphSmoothed, Walk, cocited, references, rerank, siblings, smoothing
from rag.retrieval.base import Mask
from rag.types import EMPTY, Article, ArticleOrder, Filter, Ints, Ranking, rank

CODE = "Code"


def pairs(*each: tuple[int, int]) -> Ints:
    return np.array(each, np.int64).reshape(-1, 2)


def law(*headings: str) -> list[Article]:
    return [Article(f"a{i}", CODE, str(i), "", (heading,)) for i, heading in enumerate(headings)]


def ranked(articles: Sequence[Article], *ids: str) -> Ranking:
    order = ArticleOrder.of([a.id for a in articles])
    at = np.array([order.positions[id_] for id_ in ids], np.int64)
    return Ranking(order, at, np.arange(len(ids), 0, -1.0))


def test_neighbours_means_by_hand() -> None:
    articles = law("A", "A", "A", "B", "C", "C")
    scores = np.array([1.0, 0.5, 0.0, 0.25, 0.2, 0.0])
    graph = Graph.of(articles, pairs((0, 3), (3, 0), (4, 3), (5, 0)))
    assert siblings(graph)(scores) == pytest.approx([0.25, 0.5, 0.75, 0, 0, 0.2])
    assert references(graph)(scores) == pytest.approx([0.125, 0, 0, 0.6, 0.25, 1.0])
    cites = pairs((0, 0), (0, 3), (1, 3), (1, 4), (1, 5), (2, 1))  # the last cites one article alone
    spread = cocited(graph, cites)(scores)
    assert spread == pytest.approx([0.25, 0, 0, (1.0 + 0.1) / 2, 0.125, 0.225])


def test_a_list_by_hand() -> None:
    articles = law("A", "A", "B", "B", "C")
    ranking = ranked(articles, "a0", "a2", "a4")
    graph = Graph.of(articles, pairs())
    found = rerank(ranking, smoothing("siblings", graph, pairs()), 0.5, 10)
    # a1 comes in by a0, who is first, a3 by a2, who is second; a1 ties with a2 and its id is the smaller one
    assert found == (("a0", 1.0), ("a1", 0.5), ("a2", 0.5), ("a4", pytest.approx(1 / 3)), ("a3", 0.25))
    keep = np.array([True, False, True, True, True])
    assert rerank(ranking, smoothing("siblings", graph, pairs()), 0.5, 3, keep).ids == ["a0", "a2", "a4"]


class Fixed:
    """Has one list, in an order of its own, as a fusion of lists of different orders has."""

    def search(self, questions: Sequence[str], k: int, where: Filter | None = None) -> list[Ranking]:
        return [Ranking.of([("a2", 2.0), ("a0", 1.0)][:k]) if question else EMPTY for question in questions]


def test_lists_may_come_in_another_order() -> None:
    articles = law("A", "A", "B", "B")
    graph, order = Graph.of(articles, pairs()), ArticleOrder.of([a.id for a in articles])
    made = GraphSmoothed(Fixed(), smoothing("siblings", graph, pairs()), 0.5, order, Mask(articles))
    found = made.search(["one", ""], 3)
    assert [ranking.ids for ranking in found] == [["a2", "a0", "a3"], []]


def test_a_walk_comes_to_rest_where_algebra_says() -> None:
    articles = law("A", "A", "B", "B", "C")
    graph = Graph.of(articles, pairs((0, 2), (4, 2)))
    walk = Walk.of(graph, pairs((0, 1), (0, 4), (1, 4)))
    start = np.array([0.5, 0.25, 0.0, 0.0, 0.25])
    back = walk.back.toarray()
    n = len(back)
    assert n == len(graph) + 2
    assert back[:, 0] == pytest.approx(
        [*[0, 0, 0.5, 0, 0], *[0, 0, 0.5, 0, 0], 0, 0]
    )  # to a2, or to its heading
    sums = back.sum(axis=0)
    assert sums[graph.root] == 0
    assert np.delete(sums, graph.root) == pytest.approx(1)
    begin = np.concatenate([start, np.zeros(n - 5)])
    for damping in (0.1, 0.5, 0.9):
        whole = np.linalg.solve(np.eye(n) - damping * back, (1 - damping) * begin)[:5]
        assert walk.probabilities(start, damping) == pytest.approx(whole / whole.max(), abs=1e-6)


def test_a_way_that_is_none() -> None:
    with pytest.raises(BadInput, match=r"'cousins'.*siblings, references, cocited, pagerank"):
        smoothing("cousins", Graph.of((), pairs()), pairs())


@dataclass(frozen=True)
class Case:
    articles: list[Article]
    references: Ints
    citations: Ints
    scores: np.ndarray
    weight: float

    def ranking(self, order: Sequence[int]) -> Ranking:
        ids = [self.articles[i].id for i in order]
        return rank(self.scores[list(order)], ArticleOrder.of(ids), len(ids))

    def graph(self, order: Sequence[int]) -> tuple[Graph, Ints]:
        new = np.argsort(order)
        cites = self.citations.copy()
        if len(cites):
            cites[:, 1] = new[cites[:, 1]]
        links = new[self.references] if len(self.references) else self.references
        return Graph.of([self.articles[i] for i in order], links), cites


@st.composite
def cases(draw: st.DrawFn) -> Case:
    n = draw(st.integers(1, 9))
    articles = law(*draw(st.lists(st.sampled_from("ABC"), min_size=n, max_size=n)))
    one = st.integers(0, n - 1)
    links = draw(st.lists(st.tuples(one, one), max_size=12))
    cites = draw(st.lists(st.tuples(st.integers(0, 3), one), max_size=10, unique=True))
    scores = draw(st.lists(st.sampled_from([1.0, 0.5, 0.25, -np.inf]), min_size=n, max_size=n))
    weight = draw(st.sampled_from([0.05, 0.3, 0.7]))
    return Case(articles, pairs(*links), pairs(*cites), np.array(scores), weight)


@given(cases(), st.sampled_from(KINDS), st.integers(0, 10))
def test_no_weight_leaves_the_list_as_it_is(case: Case, kind: str, k: int) -> None:
    order = range(len(case.articles))
    graph, cites = case.graph(order)
    ranking = case.ranking(order)
    assert rerank(ranking, smoothing(kind, graph, cites), 0.0, k) == ranking[:k]


@given(cases(), st.sampled_from(KINDS))
def test_what_was_in_the_list_stays_and_ties_go_by_id(case: Case, kind: str) -> None:
    order = range(len(case.articles))
    graph, cites = case.graph(order)
    ranking = case.ranking(order)
    found = rerank(ranking, smoothing(kind, graph, cites), case.weight, 100)
    assert set(ranking.ids) <= set(found.ids)
    assert len(set(found.ids)) == len(found)
    assert list(found) == sorted(found, key=lambda hit: (-hit.score, hit.article_id))
    keep = np.array([i % 2 == 0 for i in order])
    kept = rerank(ranking, smoothing(kind, graph, cites), case.weight, 100, keep)
    assert list(kept) == [hit for hit in found if keep[found.order.positions[hit.article_id]]]


@given(cases(), st.sampled_from(KINDS), st.randoms(use_true_random=False))
def test_the_order_of_articles_changes_nothing(case: Case, kind: str, chance: object) -> None:
    found = []
    order = list(range(len(case.articles)))
    for _ in range(2):
        graph, cites = case.graph(order)
        found.append(rerank(case.ranking(order), smoothing(kind, graph, cites), case.weight, 100))
        chance.shuffle(order)  # type: ignore[attr-defined]
    assert found[0].ids == found[1].ids
    assert found[0].scores == pytest.approx(found[1].scores)
