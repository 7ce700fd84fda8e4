"""The graph neural networks of GIR: one of five kinds of message passing over content and hierarchy nodes.

    h = W_in,k x          of a node of kind k, from its encoder's vector x
    h' = dropout(relu(norm_k(sum over relations r of conv_r(h)))) + h      once a layer
    z = x + W_out,k h'

JuriFindIT has input and output projections of the encoder's size, GraphNorm (Cai et al. 2021), a residual and
dropout around one layer; where the residual leads is not told. Ours leads around each layer, and from x to z;
W_out begins at 0, so that untrained articles keep the vectors of the encoder.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rag.errors import MissingExtra, install_hint
from training.neural.graph.tensors import CONTENT, DOWN, HIERARCHY, REFERS, STRUCTURAL, UP, EdgeType
from training.neural.recipe.settings import GraphSettings

if TYPE_CHECKING:
    from torch import Tensor

_KINDS = (CONTENT, HIERARCHY)


def require() -> None:
    """Raise MissingExtra where PyTorch Geometric is not installed."""
    try:
        import torch_geometric  # noqa: F401
    except ImportError as error:
        raise MissingExtra(f"a graph network needs PyTorch Geometric: run {install_hint('train')}") from error


def make_network(settings: GraphSettings, dim: int, kinds: tuple[EdgeType, ...]) -> Any:  # noqa: ANN401 - of torch
    """Return a torch.nn.Module: node vectors and edges by kind in, refined vectors of the content nodes out.

    `kinds` are the types of edges that there are; `dim` is the length of the encoder's vectors.
    """
    import torch
    from torch import nn
    from torch_geometric import nn as geometric

    hidden = settings.hidden

    class Layer(nn.Module):  # type: ignore[misc]  # torch has no types here
        def __init__(self) -> None:
            super().__init__()
            if settings.architecture == "hgt":
                own = list(dict.fromkeys(_merged(kind, settings) for kind in kinds))
                self.passing: Any = geometric.HGTConv(hidden, hidden, (list(_KINDS), own), settings.heads)
            else:
                self.passing = nn.ModuleDict(
                    {name: _convolution(settings) for name in _names(kinds, settings)}
                )
            self.norms = nn.ModuleDict({kind: geometric.GraphNorm(hidden) for kind in _KINDS})
            self.dropout = nn.Dropout(settings.dropout)

        def forward(self, nodes: Mapping[str, Tensor], edges: Mapping[EdgeType, Tensor]) -> dict[str, Tensor]:
            if settings.architecture == "hgt":
                passed = self.passing(dict(nodes), _joined(edges, settings))
            else:
                passed = {}
                for kind, pairs in edges.items():
                    got = self.passing[_name(kind, settings)]((nodes[kind[0]], nodes[kind[2]]), pairs)
                    passed[kind[2]] = passed[kind[2]] + got if kind[2] in passed else got
            return {
                kind: of + self.dropout(torch.relu(self.norms[kind](passed[kind]))) if kind in passed else of
                for kind, of in nodes.items()
            }

    class Network(nn.Module):  # type: ignore[misc]  # torch has no types here
        def __init__(self) -> None:
            super().__init__()
            self.inputs = nn.ModuleDict({kind: nn.Linear(dim, hidden) for kind in _KINDS})
            self.layers = nn.ModuleList([Layer() for _ in range(settings.layers)])
            self.output = nn.Linear(hidden, dim)
            nn.init.zeros_(self.output.weight)
            nn.init.zeros_(self.output.bias)

        def forward(self, nodes: Mapping[str, Tensor], edges: Mapping[EdgeType, Tensor]) -> Tensor:
            """Return (n_content, dim) of node vectors by kind, (n, dim), and edges by type, (2, n_edges)."""
            held = {kind: self.inputs[kind](of) for kind, of in nodes.items()}
            for layer in self.layers:
                held = layer(held, edges)
            return nodes[CONTENT] + self.output(held[CONTENT])

    return Network()


def _convolution(settings: GraphSettings) -> Any:  # noqa: ANN401 - of torch
    """Return the message passing along one type of edge, of an architecture that is not HGT."""
    from torch_geometric import nn as geometric

    between = (settings.hidden, settings.hidden)
    if settings.architecture == "graphconv":
        return geometric.GraphConv(between, settings.hidden)  # sums: the mean is GraphSAGE's
    if settings.architecture == "sage":
        return geometric.SAGEConv(between, settings.hidden)
    attention = geometric.GATConv if settings.architecture == "gat" else geometric.GATv2Conv
    return attention(
        between, settings.hidden, heads=settings.heads, concat=False, add_self_loops=False,
        dropout=settings.dropout,
    )  # fmt: skip


def _merged(kind: EdgeType, settings: GraphSettings) -> EdgeType:
    """Return as which type HGT reads an edge: merged references are structural edges of the same two kinds.

    There are none from article to article, so these references stay a type: its projections go by the kinds.
    """
    source, relation, target = kind
    if settings.references == "merged" and relation == REFERS and source != target:
        relation = DOWN if target == CONTENT else UP
    return source, relation, target


def _joined(edges: Mapping[EdgeType, Tensor], settings: GraphSettings) -> dict[EdgeType, Tensor]:
    """Return the edges by the type that HGT reads them as."""
    import torch

    parts: dict[EdgeType, list[Tensor]] = {}
    for kind, pairs in edges.items():
        parts.setdefault(_merged(kind, settings), []).append(pairs)
    return {kind: torch.cat(own, dim=1) for kind, own in parts.items()}


def _name(kind: EdgeType, settings: GraphSettings) -> str:
    """Return whose weights an edge's type has: merged references have those of the structural edges."""
    source, relation, target = kind
    if settings.references == "merged" and relation == REFERS:
        source, relation = (HIERARCHY, DOWN) if target == CONTENT else (CONTENT, UP)
    return f"{source}-{relation}-{target}"


def _names(kinds: tuple[EdgeType, ...], settings: GraphSettings) -> list[str]:
    return sorted({_name(kind, settings) for kind in (*STRUCTURAL, *kinds)})
