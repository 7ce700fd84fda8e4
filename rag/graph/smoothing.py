"""Ranking by the graph without training: what stands near a good article is lifted.

An article may have a share of its neighbours' scores (score regularisation: Diaz 2005), or a random walk
that begins at the articles of a list and goes along the graph may rank them (personalised PageRank: Page et
al. 1999, Haveliwala 2002; over documents: Kurland & Lee 2005). Neighbours are articles right under the same
heading, articles that refer to one or that it refers to, and articles that the same annotated questions cite:
questions and articles are the two sides of a bipartite graph (click graphs: Craswell & Szummer 2007).

Scores are 1 / rank. By min-max a list's own scores lie so close together at its head that the least weight
brings the neighbours of any article before the first: on STARD every way lost by them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, log
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rag.errors import BadInput
from rag.fusion.rank_fusion import ranks
from rag.graph.graph import Graph
from rag.retrieval.base import Mask
from rag.types import EMPTY, ArticleOrder, Bools, Doubles, Filter, Ints, Ranking, Retriever, rank

DEPTH = 1000  # articles of the list that are looked at
DECIMALS = 9  # that scores are rounded to: less is what the order of a sum makes of it
_TOLERANCE = 1e-9  # by how much all probabilities of a walk together may still be off
SIBLINGS, REFERENCES, COCITED, PAGERANK = "siblings", "references", "cocited", "pagerank"
KINDS = (SIBLINGS, REFERENCES, COCITED, PAGERANK)

# (scores of all articles, (n_articles,)) -> for each the mean of its neighbours', 0 where it has none
Spread: TypeAlias = Callable[[Doubles], Doubles]
# (scores of all articles, weight) -> their scores by the graph
Smooth: TypeAlias = Callable[[Doubles, float], Doubles]


def smoothing(kind: str, graph: Graph, citations: Ints) -> Smooth:
    """Return a way of `KINDS` to rank by a graph; the citations, as for `cocited`, are of two of them.

    The weight is a share of the neighbours' mean that is added, 0 or more; of "pagerank" it is the damping,
    0 to under 1: the probability that the walk goes on.

    Raises:
        BadInput: there is no such way.
    """
    if kind == PAGERANK:
        return Walk.of(graph, citations).probabilities
    if kind == SIBLINGS:
        spread = siblings(graph)
    elif kind == REFERENCES:
        spread = references(graph)
    elif kind == COCITED:
        spread = cocited(graph, citations)
    else:
        raise BadInput(f"no way {kind!r} to rank by a graph: choose among {', '.join(KINDS)}")
    return lambda scores, weight: scores + weight * spread(scores)


def rerank(ranking: Ranking, smooth: Smooth, weight: float, k: int, keep: Bools | None = None) -> Ranking:
    """Return the first k of a ranking, which is in the corpus's order, by its scores, 1 / rank, smoothed.

    An article that is not in the ranking has 0, and joins it where the graph lifts it, unless `keep`,
    (n_articles,), leaves it out. Weight 0 returns the ranking as it is.
    """
    if not weight or not len(ranking) or k <= 0:
        return ranking[:k] if k > 0 else EMPTY
    own = np.zeros(len(ranking.order.ids))
    own[ranking.positions] = 1 / ranks(ranking)
    scores = smooth(own, weight)
    there = scores > 0.5 * 10.0**-DECIMALS
    there[ranking.positions] = True
    at = np.flatnonzero(there)
    return rank(scores[at], ranking.order, k, keep, positions=at, decimals=DECIMALS)


@dataclass(frozen=True, eq=False)
class GraphSmoothed:
    """Ranks by a retriever, then by the graph of its corpus."""

    retriever: Retriever
    smooth: Smooth
    weight: float
    order: ArticleOrder
    mask: Mask

    def search(self, questions: Sequence[str], k: int, where: Filter | None = None) -> list[Ranking]:
        """Return one ranking of at most k hits a question; whatever the graph adds passes the filter too."""
        keep = self.mask(where)
        found = self.retriever.search(questions, max(k, DEPTH) if k > 0 else 0, where)
        lists = (ranking.within(self.order) for ranking in found)  # a fusion may have an order of its own
        return [rerank(ranking, self.smooth, self.weight, k, keep) for ranking in lists]


def siblings(graph: Graph) -> Spread:
    """Return the mean over the other articles right under the same heading."""
    _, section = np.unique(graph.parent[: graph.articles], return_inverse=True)
    others = _doubles(np.bincount(section)[section] - 1.0 if len(section) else section)

    def spread(scores: Doubles) -> Doubles:
        sums = _doubles(np.bincount(section, weights=scores)[section] - scores if len(section) else scores)
        return _over(sums, others)

    return spread


def references(graph: Graph) -> Spread:
    """Return the mean over the articles that an article refers to or that refer to it."""
    n, pairs = graph.articles, graph.article_references
    both = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
    links = sp.csr_array((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(n, n))
    degree = np.diff(links.indptr).astype(np.float64)
    return lambda scores: _over(_times(links, scores), degree)


def cocited(graph: Graph, citations: Ints) -> Spread:
    """Return the mean, over an article's annotated questions, of the mean of what else each of them cites.

    The citations are (n, 2): the number of a question, and the position of an article that it cites.
    """
    n, cites = graph.articles, np.asarray(citations, np.int64).reshape(-1, 2)
    many = np.bincount(cites[:, 0])[cites[:, 0]] > 1 if len(cites) else np.zeros(0, np.bool_)
    cites = cites[many]  # a question that cites one article says nothing of another
    shape = (int(cites[:, 0].max(initial=-1)) + 1, n)
    citing = sp.csr_array((np.ones(len(cites)), (cites[:, 0], cites[:, 1])), shape=shape)
    others = _doubles(np.bincount(cites[:, 0], minlength=shape[0]) - 1)
    asked = _doubles(np.bincount(cites[:, 1], minlength=n))
    back = sp.csr_array(citing.T)
    # what an article's own score counts in those means
    own = _times(back, _over(np.ones(len(others)), others))

    def spread(scores: Doubles) -> Doubles:
        means = _over(_times(citing, scores), others)
        return _over(_times(back, means) - scores * own, asked)

    return spread


def _doubles(values: npt.ArrayLike) -> Doubles:
    return np.asarray(values, np.float64).ravel()


def _times(matrix: sp.csr_array, vector: Doubles) -> Doubles:
    product: Any = matrix @ vector
    return np.asarray(product, np.float64)


def _over(sums: Doubles, counts: Doubles) -> Doubles:
    return np.divide(sums, counts, out=np.zeros(len(sums)), where=counts > 0)


@dataclass(frozen=True, eq=False)
class Walk:
    """A random walk over articles, headings and annotated questions."""

    back: sp.csr_array  # (n, n): row i has the probabilities of a step to i
    articles: int

    @classmethod
    def of(cls, graph: Graph, citations: Ints | None = None) -> Walk:
        """Make a walk along structural edges (but those of the super-root), references and citations.

        Edges are walked both ways. A step first takes one of the kinds of edges that a node has, each as
        likely as the others, then one of its edges of this kind. The citations are as for `cocited`.
        """
        below = np.flatnonzero(graph.parent >= 0)
        below = below[graph.parent[below] != graph.root]
        cites = np.zeros((0, 2), np.int64) if citations is None else np.asarray(citations, np.int64)
        cites = cites.reshape(-1, 2)
        asked = np.stack([cites[:, 0] + len(graph), cites[:, 1]], axis=1)
        structural = np.stack([below, graph.parent[below].astype(np.int64)], axis=1)
        n = len(graph) + int(cites[:, 0].max(initial=-1)) + 1
        steps, kinds = sp.csr_array((n, n)), np.zeros(n)
        for pairs in (structural, graph.references, asked):
            both = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
            degree = np.bincount(both[:, 0], minlength=n)
            kinds += degree > 0
            of_kind = (1.0 / degree[both[:, 0]], (both[:, 0], both[:, 1]))
            steps = steps + sp.csr_array(of_kind, shape=(n, n))
        scaled = sp.diags_array(np.divide(1.0, kinds, out=np.zeros(n), where=kinds > 0)) @ steps
        return cls(sp.csr_array(scaled.T), graph.articles)

    def probabilities(self, start: Doubles, damping: float) -> Doubles:
        """Return how often the walk is at each article when it has come to rest, the most often once.

        It goes on with probability `damping`, 0 to under 1, and else begins anew at an article of
        `start`, (n_articles,) of 0 or more, in proportion to that; from a node without edges it begins anew.
        """
        begin = np.zeros(self.back.shape[0])
        begin[: self.articles] = start / start.sum()
        at = begin
        for _ in range(ceil(log(_TOLERANCE / 2) / log(damping)) if damping else 0):
            gone = damping * _times(self.back, at)
            at = gone + (1 - gone.sum()) * begin
        found = at[: self.articles]
        return _doubles(found / found.max())
