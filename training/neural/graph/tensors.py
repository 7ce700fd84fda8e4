"""A legislative graph as tensors: edges by kind, and the part of it that a few articles see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rag.graph.graph import Graph
from rag.types import Ints

if TYPE_CHECKING:
    from torch import Tensor

CONTENT, HIERARCHY = "content", "hierarchy"
UP, DOWN, REFERS = "up", "down", "refers"
# (kind of the source, relation, kind of the target)
EdgeType: TypeAlias = tuple[str, str, str]
Edges: TypeAlias = Mapping[EdgeType, Ints]  # (2, n_edges): source and target, each numbered within its kind
STRUCTURAL: tuple[EdgeType, ...] = (
    (CONTENT, UP, HIERARCHY), (HIERARCHY, DOWN, CONTENT),
    (HIERARCHY, UP, HIERARCHY), (HIERARCHY, DOWN, HIERARCHY),
)  # fmt: skip
REFERENCES: tuple[EdgeType, ...] = (
    (CONTENT, REFERS, CONTENT), (CONTENT, REFERS, HIERARCHY), (HIERARCHY, REFERS, CONTENT),
)  # fmt: skip


def edges(graph: Graph, *, references: bool) -> Edges:
    """Return the edges of a graph by type, structural ones and references both ways."""
    n = graph.articles
    child = np.flatnonzero(graph.parent >= 0)
    parent = graph.parent[child].astype(np.int64) - n
    content = child < n
    found = {
        (CONTENT, UP, HIERARCHY): np.stack([child[content], parent[content]]),
        (HIERARCHY, UP, HIERARCHY): np.stack([child[~content] - n, parent[~content]]),
    }
    found[HIERARCHY, DOWN, CONTENT] = found[CONTENT, UP, HIERARCHY][::-1]
    found[HIERARCHY, DOWN, HIERARCHY] = found[HIERARCHY, UP, HIERARCHY][::-1]
    if references:
        pairs = np.unique(np.concatenate([graph.references, graph.references[:, ::-1]]), axis=0).T
        for source, relation, target in REFERENCES:
            own = ((pairs[0] < n) == (source == CONTENT)) & ((pairs[1] < n) == (target == CONTENT))
            within = pairs[:, own] - np.array([[0 if k == CONTENT else n] for k in (source, target)])
            found[source, relation, target] = within
    return {kind: np.ascontiguousarray(of) for kind, of in found.items()}


@dataclass(frozen=True, eq=False)
class Incoming:
    """The edges that lead to each node, by type, for drawing some of them."""

    ends: Mapping[EdgeType, Ints]  # (n_targets,)
    sources: Mapping[EdgeType, Ints]

    @classmethod
    def of(cls, of: Edges, sizes: Mapping[str, int]) -> Incoming:
        """Sort the edges by their targets; sizes are the numbers of nodes of each kind."""
        ends, sources = {}, {}
        for kind, (source, target) in of.items():
            ends[kind] = np.cumsum(np.bincount(target, minlength=sizes[kind[2]]))
            sources[kind] = source[np.argsort(target, kind="stable")]
        return cls(ends, sources)

    def draw(self, kind: EdgeType, targets: Ints, most: int, rng: np.random.Generator) -> Ints:
        """Return (2, n) edges to the targets, at most so many to each, drawn without replacement."""
        ends, sources = self.ends[kind], self.sources[kind]
        found = []
        for target in targets.tolist():
            begin, end = int(ends[target - 1]) if target else 0, int(ends[target])
            own = np.arange(begin, end)
            if len(own) > most:
                own = rng.choice(own, most, replace=False)
            found.append(np.stack([sources[own], np.full(len(own), target)]))
        return np.concatenate(found, axis=1) if found else np.zeros((2, 0), np.int64)


@dataclass(frozen=True, eq=False)
class Part:
    """Nodes of a graph, those asked for first, and the edges among them in their own numbers."""

    nodes: Mapping[str, Ints]  # of each kind, numbers in the whole graph
    edges: Edges


def sample(
    incoming: Incoming, articles: Sequence[int], hops: int, most: int, rng: np.random.Generator
) -> Part:
    """Return what some articles see in so many hops, of each node at most so many neighbours of a kind.

    That is the sampling of GraphSAGE (Hamilton, Ying & Leskovec 2017).
    """
    nodes: dict[str, dict[int, int]] = {CONTENT: {a: i for i, a in enumerate(articles)}, HIERARCHY: {}}
    frontier = {CONTENT: np.array(list(nodes[CONTENT]), np.int64), HIERARCHY: np.zeros(0, np.int64)}
    drawn: dict[EdgeType, list[Ints]] = {kind: [] for kind in incoming.ends}
    for _ in range(hops):
        fresh: dict[str, dict[int, None]] = {CONTENT: {}, HIERARCHY: {}}
        for kind, of in drawn.items():
            got = incoming.draw(kind, frontier[kind[2]], most, rng)
            of.append(got)
            for source in got[0].tolist():
                if source not in nodes[kind[0]]:
                    nodes[kind[0]][source] = len(nodes[kind[0]])
                    fresh[kind[0]][source] = None
        frontier = {name: np.array(list(of), np.int64) for name, of in fresh.items()}
    within = {}
    for kind, parts in drawn.items():
        whole = np.concatenate(parts, axis=1) if parts else np.zeros((2, 0), np.int64)
        rows = [
            [nodes[name][node] for node in row]
            for name, row in zip((kind[0], kind[2]), whole.tolist(), strict=True)
        ]
        within[kind] = np.array(rows, np.int64).reshape(2, -1)
    return Part({name: np.array(list(of), np.int64) for name, of in nodes.items()}, within)


def tensors(of: Edges) -> dict[EdgeType, Tensor]:
    """Return the edges as tensors of torch."""
    import torch

    return {kind: torch.from_numpy(pairs) for kind, pairs in of.items()}
