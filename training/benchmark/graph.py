"""What the legislative graph of a law costs: made, saved, opened, asked, written as GraphML, carried on."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from indexes.build import legislative_graph
from indexes.corpus.links import read_references
from indexes.sources import registry
from rag.graph.graph import Graph
from rag.graph.graphml import graphml
from training.benchmark.timing import ReportFigure, mebibytes

ASKED = 10_000  # articles, drawn by seed
CHANGED = 100  # one text in so many is another when the graph is carried on
_T = TypeVar("_T")


def measure(path: Path, say: ReportFigure) -> None:
    """Measure the graph of a law; `say` is called with each figure.

    Raises:
        BadInput: the law cannot be read.
    """

    def timed(what: str, action: Callable[[], _T]) -> _T:
        start = time.perf_counter()
        made = action()
        say(what, time.perf_counter() - start, "s")
        return made

    corpus = registry.law(path)
    articles = corpus.articles
    say("articles", len(articles), "")
    found = timed(
        "references read, or taken as the source has them", lambda: read_references(articles, corpus.card)
    )
    timed("graph made of them", lambda: Graph.of(articles, found.pairs, corpus.nodes))
    graph = legislative_graph.build(corpus)
    same = np.arange(len(articles))
    same[::CHANGED] = -1
    timed(f"the same, one text in {CHANGED} changed", lambda: legislative_graph.build(corpus, (graph, same)))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "graph"
        timed("graph saved", lambda: graph.save(folder))
        say("graph on disk", mebibytes(folder), "MiB")
        opened = timed("graph opened, memory-mapped", lambda: Graph.load(folder))
        drawn = np.random.default_rng(0).integers(len(articles), size=ASKED).tolist()
        for what in ("parents", "siblings", "neighbours", "refers_to", "referred_by"):
            ask = getattr(opened, what)
            start = time.perf_counter()
            for node in drawn:
                ask(node)
            say(f"{what} of an article", (time.perf_counter() - start) / ASKED * 1e6, "µs")
        timed("written as GraphML", lambda: sum(len(line) for line in graphml(opened, articles)))
