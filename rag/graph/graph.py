"""The legislative graph: articles, the headings that they stand under, and what refers to what.

Content nodes are articles, hierarchy nodes the codes and headings above them, joined under one super-root, so
that the structural edges are a tree; reference edges lead from a node to what its text names (JuriFindIT:
Noce et al. 2026). A node is a number: content nodes have the positions of their articles in the corpus, then
comes the super-root, then the other hierarchy nodes in the order in which articles first stand under them.

A graph is arrays, which are read from where they lie on disk: opening one of any size takes milliseconds, and
so much of it is read as is looked at.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from rag.errors import BadInput
from rag.storage import load_array
from rag.types import Article, Ints

Kind: TypeAlias = Literal["content", "hierarchy"]
Numbers: TypeAlias = npt.NDArray[np.int32]
Roles: TypeAlias = npt.NDArray[np.int8]
FILE = "graph.json"
_ARRAYS = ("parent", "child_ends", "children", "to_ends", "to", "from_ends", "from_")
_LABELS = ("labels", "label_ends")
_MENTIONS = ("to_spans", "to_roles")  # of a graph that an earlier release wrote there are none
NOWHERE = -1  # the start and end of a reference that no text of the corpus makes


@dataclass(frozen=True, slots=True)
class Node:
    """A place in the tree of a law to which articles may refer: an act, a book, a section."""

    id: str
    title: str
    headings: tuple[str, ...] = ()  # outermost first
    references: tuple[str, ...] = ()  # ids of articles or nodes


@dataclass(frozen=True, eq=False)
class Graph:
    """A legislative graph of n nodes, of which the first `articles` are content nodes.

    Neighbours of one kind stand in one array, those of a node from its end of the node before on to its own
    end; they are sorted, each once.
    """

    articles: int
    parent: Numbers = field(repr=False)  # (n,); -1 of the super-root
    child_ends: Numbers = field(repr=False)  # (n,)
    children: Numbers = field(repr=False)  # (n - 1,)
    to_ends: Numbers = field(repr=False)  # (n,)
    to: Numbers = field(repr=False)  # (n_references,), what nodes refer to
    from_ends: Numbers = field(repr=False)  # (n,)
    from_: Numbers = field(repr=False)  # (n_references,), what refers to them
    labels: npt.NDArray[np.uint8] = field(repr=False)  # UTF-8, of the hierarchy nodes
    label_ends: Numbers = field(repr=False)  # (n - articles,)
    # (n_references, 2), characters of the text of the article that refers: its first mention; else `NOWHERE`
    to_spans: Numbers | None = field(default=None, repr=False)
    to_roles: Roles | None = field(default=None, repr=False)  # (n_references,), numbers of references.ROLES
    ids: Mapping[str, int] = field(default_factory=dict, repr=False)  # of hierarchy nodes that have one
    about: Mapping[str, Any] = field(default_factory=dict)  # where the references are from

    @classmethod
    def of(
        cls,
        articles: Sequence[Article],
        references: Ints,
        nodes: Sequence[Node] = (),
        about: Mapping[str, Any] | None = None,
        spans: Numbers | None = None,
        roles: Roles | None = None,
    ) -> Graph:
        """Make the graph of a corpus.

        Args:
            articles: in the corpus's order, which may be none.
            references: (n_references, 2), the positions of an article and of one that it refers to.
            nodes: hierarchy nodes that have an id. Articles that have it among their references refer to
                them; their own references count too. One without articles is a node as well.
            about: whatever is to be known of the graph later, of JSON's types.
            spans: (n_references, 2), where in its text an article first names the other; `NOWHERE` twice
                where it does not.
            roles: (n_references,), what it names it for: numbers of `rag.graph.references.reference.ROLES`.

        A reference of a node to itself is no edge; nor is one to an id that is not there.
        """
        n = len(articles)
        labels: list[str] = [""]  # of the hierarchy nodes: the super-root has none
        parent: list[int] = [-1]
        at: dict[tuple[int, str], int] = {}  # (number of the node above, heading) -> number

        def place(path: Sequence[str]) -> int:
            node = n
            for heading in path:
                below = at.get((node, heading))
                if below is None:
                    below = at[node, heading] = n + len(labels)
                    labels.append(heading)
                    parent.append(node)
                node = below
            return node

        of_articles = [place((article.code, *article.headings)) for article in articles]
        ids = {node.id: place((node.title, *node.headings)) for node in nodes}
        number: dict[str, int] = {article.id: i for i, article in enumerate(articles)}
        more: list[tuple[int, int]] = []
        if ids:
            more += [(i, ids[id_]) for i, a in enumerate(articles) for id_ in a.references if id_ in ids]
            number |= {id_: at_ for id_, at_ in ids.items() if id_ not in number}
            more += [(ids[x.id], number[id_]) for x in nodes for id_ in x.references if id_ in number]
        edges = np.concatenate([references.reshape(-1, 2), np.array(more, np.int64).reshape(-1, 2)])
        places, purposes = np.full((len(edges), 2), NOWHERE, np.int32), np.zeros(len(edges), np.int8)
        if spans is not None and roles is not None:
            places[: len(spans)], purposes[: len(roles)] = spans, roles
        others = edges[:, 0] != edges[:, 1]
        edges, places, purposes = edges[others], places[others], purposes[others]
        above = np.array([*of_articles, *parent], np.int32)
        total, texts = len(above), [label.encode() for label in labels]
        _, first = np.unique(edges[:, 0] * total + edges[:, 1], return_index=True)  # as `_listed` sorts them
        below = np.flatnonzero(above >= 0)
        return cls(
            n,
            above,
            *_listed(above[below], below, total),
            *_listed(edges[:, 0], edges[:, 1], total),
            *_listed(edges[:, 1], edges[:, 0], total),
            labels=np.frombuffer(b"".join(texts), np.uint8),
            label_ends=_ends([len(text) for text in texts]),
            to_spans=places[first],
            to_roles=purposes[first],
            ids=ids,
            about=about or {},
        )

    def __len__(self) -> int:
        """Return how many nodes there are."""
        return len(self.parent)

    @property
    def root(self) -> int:
        """The super-root, above every act."""
        return self.articles

    def kind(self, node: int) -> Kind:
        """Tell whether a node is an article or stands above articles."""
        return "content" if node < self.articles else "hierarchy"

    def label(self, node: int) -> str:
        """Return the heading of a hierarchy node, "" for the super-root."""
        at = node - self.articles
        begin = int(self.label_ends[at - 1]) if at else 0
        return bytes(self.labels[begin : int(self.label_ends[at])]).decode()

    def parents(self, node: int) -> list[int]:
        """Return the nodes above one, the nearest first, the super-root last."""
        found = []
        while (node := int(self.parent[node])) >= 0:
            found.append(node)
        return found

    def below(self, node: int) -> Numbers:
        """Return the nodes right under one."""
        return _of(self.children, self.child_ends, node)

    def siblings(self, node: int) -> Numbers:
        """Return the other nodes right under the node that this one stands under."""
        above = int(self.parent[node])
        beside = self.below(above) if above >= 0 else self.children[:0]
        others: Numbers = beside[beside != node]
        return others

    def refers_to(self, node: int) -> Numbers:
        """Return what a node refers to."""
        return _of(self.to, self.to_ends, node)

    def referred_by(self, node: int) -> Numbers:
        """Return what refers to a node."""
        return _of(self.from_, self.from_ends, node)

    @property
    def has_mentions(self) -> bool:
        """Whether it keeps where texts make its references; one that an earlier release wrote does not."""
        return self.to_spans is not None and self.to_roles is not None

    def mention(self, node: int, other: int) -> tuple[int, int, int]:
        """Return where a node's text first names another, start and end, and the number of the role.

        `NOWHERE` twice and 0 where no text does, or an earlier release wrote the graph.
        """
        begin = int(self.to_ends[node - 1]) if node else 0
        at = begin + int(np.searchsorted(self.refers_to(node), other))
        if self.to_spans is None or self.to_roles is None or at == self.to_ends[node] or self.to[at] != other:
            return NOWHERE, NOWHERE, 0
        start, end = self.to_spans[at].tolist()
        return start, end, int(self.to_roles[at])

    def neighbours(self, node: int) -> Numbers:
        """Return all nodes that an edge of any kind joins with one, whichever way it leads."""
        above = self.parent[node : node + 1]
        parts = above[above >= 0], self.below(node), self.refers_to(node), self.referred_by(node)
        return np.unique(np.concatenate(parts))

    @cached_property
    def references(self) -> Ints:
        """(n_references, 2) of nodes: one, and one that it refers to."""
        counts = np.diff(self.to_ends, prepend=0)
        return np.stack([np.repeat(np.arange(len(self)), counts), self.to.astype(np.int64)], axis=1)

    @cached_property
    def article_references(self) -> Ints:
        """(n, 2) positions of articles: one, and one that it refers to."""
        return self.references[(self.references < self.articles).all(axis=1)]

    def save(self, folder: Path) -> None:
        """Write the graph into a new folder; the same graph gives the same bytes."""
        folder.mkdir(parents=True)
        for name in (*_ARRAYS, *_LABELS, *_MENTIONS):
            if (values := getattr(self, name)) is not None:
                np.save(folder / f"{name}.npy", values, allow_pickle=False)
        record = {"articles": self.articles, "about": dict(self.about), "ids": dict(self.ids)}
        (folder / FILE).write_text(json.dumps(record, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Graph:
        """Open what `save` wrote, its arrays memory-mapped.

        Raises:
            OSError, ValueError, KeyError, TypeError: a file is missing or is something else.
            BadInput: the files do not belong together.
        """
        record = json.loads((folder / FILE).read_text(encoding="utf-8"))
        names = (*_ARRAYS, *_LABELS, *(name for name in _MENTIONS if (folder / f"{name}.npy").is_file()))
        found = {name: load_array(folder / f"{name}.npy") for name in names}
        graph = cls(int(record["articles"]), **found, ids=record["ids"], about=record["about"])
        n, references = len(graph), len(graph.to)
        lengths = {"child_ends": n, "children": n - 1, "to_ends": n, "from_ends": n, "from_": references}
        lengths |= {"label_ends": n - graph.articles}
        odd = [name for name, length in lengths.items() if found[name].shape != (length,)]
        shapes = dict(zip(_MENTIONS, ((references, 2), (references,)), strict=True))
        odd += [name for name in names if name in shapes and found[name].shape != shapes[name]]
        odd += [name for name in _ARRAYS if found[name].dtype != np.int32 or found[name].ndim != 1]
        if odd:
            raise BadInput(f"{folder}: {odd[0]}.npy is of another graph")
        return graph


def _listed(of: npt.NDArray[np.integer], what: npt.NDArray[np.integer], n: int) -> tuple[Numbers, Numbers]:
    """Return where the neighbours of each of n nodes end, (n,), and the neighbours, sorted and each once."""
    pairs = np.unique(np.asarray(of, np.int64) * n + what)
    return _ends(np.bincount(pairs // n, minlength=n)), (pairs % n).astype(np.int32)


def _ends(sizes: npt.ArrayLike) -> Numbers:
    return np.cumsum(np.asarray(sizes, np.int64)).astype(np.int32)


def _of(all_of: Numbers, ends: Numbers, node: int) -> Numbers:
    return all_of[ends[node - 1] if node else 0 : ends[node]]
