"""Size and shape of a legislative graph, as JuriFindIT's Table 10 has them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rag.graph.graph import Graph


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is counted of a graph.

    The paper does not say what its heights and paths are of. Here a height is that of an act, a node right
    under the super-root: the edges of the longest way down to one of its articles, 0 for an act without
    articles. A path leads from the super-root to an article.
    """

    content_nodes: int
    hierarchy_nodes: int  # the super-root is one of them
    structural_edges: int
    reference_edges: int
    between_articles: int  # reference edges from an article to an article
    average_height: float  # in edges, over the acts
    average_path: float  # in edges, over the articles

    @classmethod
    def of(cls, graph: Graph) -> Statistics:
        """Count a graph."""
        above = np.asarray(graph.parent, np.int64)
        n, acts = len(graph), graph.below(graph.root)
        # one step up the tree at a time, all nodes at once: no tree is deeper than its law has headings
        path, act, at = np.zeros(n, np.int64), np.arange(n), np.arange(n)
        while (up := np.flatnonzero(above[at] >= 0)).size:
            path[up] += 1
            act[up] = at[up]  # the last node before the super-root
            at[up] = above[at[up]]
        paths = path[: graph.articles]
        deepest = np.zeros(n, np.int64)
        np.maximum.at(deepest, act[: graph.articles], paths - 1)
        return cls(
            content_nodes=graph.articles,
            hierarchy_nodes=n - graph.articles,
            structural_edges=n - 1,
            reference_edges=len(graph.to),
            between_articles=len(graph.article_references),
            average_height=float(deepest[acts].mean()) if len(acts) else 0.0,
            average_path=float(paths.mean()) if len(paths) else 0.0,
        )

    def rows(self) -> dict[str, int | float]:
        """Return the rows of Table 10, under its names."""
        return {
            "content nodes": self.content_nodes,
            "hierarchical nodes": self.hierarchy_nodes,
            "total nodes": self.content_nodes + self.hierarchy_nodes,
            "structural edges": self.structural_edges,
            "reference edges": self.reference_edges,
            "total edges": self.structural_edges + self.reference_edges,
            "average height": self.average_height,
            "average path length": self.average_path,
        }
