"""The legislative graph of an index: what a build writes and an update carries on."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from indexes.corpus.corpus import Corpus
from indexes.corpus.links import come_with_references, readings_sha256, references
from rag.graph.graph import FILE, Graph
from rag.types import Ints, Progress, no_progress

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
    if come_with_references(articles):
        return Graph.of(articles, references(articles, card), corpus.nodes, {"references": "source"})
    about = {"references": "texts", "readings": readings_sha256(articles, card)}
    unread, known = np.arange(len(articles)), np.zeros((0, 2), np.int64)
    if former is not None and dict(former[0].about) == about:  # so positions are the same too
        graph, same_words = former
        pairs = graph.article_references
        unread, known = np.flatnonzero(same_words < 0), pairs[same_words[pairs[:, 0]] >= 0]
    found = references(articles, card, unread.tolist(), progress)
    return Graph.of(articles, np.concatenate([known, found]), corpus.nodes, about)


def save(graph: Graph, folder: Path) -> None:
    """Write the graph into the folder of a version."""
    graph.save(folder / FOLDER)


def load(folder: Path) -> Graph | None:
    """Open the graph of a version; None where an earlier release built it. Raises as `Graph.load`."""
    return Graph.load(folder / FOLDER) if (folder / FOLDER / FILE).is_file() else None
