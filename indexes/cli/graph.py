"""`python -m indexes graph`: size and shape of an index's legislative graph, and the graph as GraphML."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from indexes.corpus.corpus import read
from indexes.store import paths
from indexes.store.atomic import replacing
from indexes.store.open_index import damaged_if_unreadable, open_graph
from rag.errors import BadInput
from rag.graph.graph import Graph
from rag.graph.graphml import graphml
from rag.graph.statistics import Statistics

_READ = {
    "source": "as the source of the law gives them",
    "texts": "read from the texts",
    "both": "as the source of the law marks them, and others read from the texts",
    "official text": "read from the official texts, of which these are summaries",
}


def graph(name: str | None, file: Path | None) -> Iterator[str]:
    """Yield the statistics of the graph of an index, and write it into a new file if there is one.

    Raises:
        BadInput: the file is there already.
        MissingIndex, DamagedIndex: there is no such index, or it cannot be read.
    """
    if file is not None and file.exists():
        raise BadInput(f"{file} is there already. Remove it or give another --graphml FILE.")
    opened = open_graph(name)
    found = Statistics.of(opened)
    for what, value in found.rows().items():
        yield f"{what:28} {value:>12,.2f}" if isinstance(value, float) else f"{what:28} {value:>9,}"
    yield f"{'references between articles':28} {found.between_articles:>9,}"
    yield f"references: {_READ[opened.about['references']]}"
    if file is not None:
        _write(opened, name, file)
        yield f"written: {file}"


def _write(opened: Graph, name: str | None, file: Path) -> None:
    folder, cure = paths.locate(name)
    with damaged_if_unreadable(folder, cure):
        corpus = read(folder / "corpus")
    with replacing(file) as part, part.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(f"{line}\n" for line in graphml(opened, corpus.articles))
