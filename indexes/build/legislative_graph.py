"""The legislative graph of an index: what a build writes and an update carries on."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from indexes.corpus.corpus import Corpus
from indexes.corpus.links import ReadReferences, read_references, readings_sha256, reference_source
from rag.graph.graph import FILE, Graph
from rag.types import Bools, Ints, Progress, no_progress

FOLDER = "graph"  # of a version


def build(
    corpus: Corpus, former: tuple[Graph, Ints] | None = None, progress: Progress = no_progress
) -> Graph:
    """Make the graph of a corpus; references are as `indexes.corpus.links` finds them.

    Reading them from texts takes seconds. Where a text can have no other references than it had, they are
    taken from the graph of the `former` law, which comes with (n_articles,) positions there of articles whose
    words are the same, -1 for the others. The graph is the same as without it.
    """
    articles, card = corpus.articles, corpus.card
    if (made := reference_source(articles, card)) != "texts":
        read = read_references(articles, card, progress=progress)
        about: dict[str, str] = {"references": made}
        return Graph.of(articles, read.pairs, corpus.nodes, about, read.spans, read.roles)
    about = {"references": "texts", "readings": readings_sha256(articles, card)}
    unread, known = np.arange(len(articles)), ReadReferences.empty()
    # positions are the same too where it was read alike; it has no places where an earlier release read it
    if former is not None and dict(former[0].about) == about and former[0].has_mentions:
        graph, same_words = former
        unread, known = np.flatnonzero(same_words < 0), _of_texts(graph, same_words >= 0)
    read = known.extend(read_references(articles, card, unread.tolist(), progress))
    return Graph.of(articles, read.pairs, corpus.nodes, about, read.spans, read.roles)


def _of_texts(graph: Graph, kept: Bools) -> ReadReferences:
    """Return the references that a graph has between articles, of those that are kept, (n_articles,)."""
    pairs = graph.references
    among = np.flatnonzero((pairs < graph.articles).all(axis=1))
    among = among[kept[pairs[among, 0]]]
    if graph.to_spans is None or graph.to_roles is None:
        return ReadReferences.empty()
    return ReadReferences(pairs[among], graph.to_spans[among], graph.to_roles[among])


def save(graph: Graph, folder: Path) -> None:
    """Write the graph into the folder of a version."""
    graph.save(folder / FOLDER)


def load(folder: Path) -> Graph | None:
    """Open the graph of a version; None where an earlier release built it. Raises as `Graph.load`."""
    return Graph.load(folder / FOLDER) if (folder / FOLDER / FILE).is_file() else None
