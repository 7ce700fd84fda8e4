"""Places of the law that are no articles, kept beside a corpus for its graph and never searched.

Some data sets hold rows that stand for a whole act: articles refer to them, but they have no text of
their own, so they must not be found. They lie in nodes.jsonl in the corpus folder, one a line, and
are no part of the corpus's identity.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from indexes.corpus.articles import ids, name, texts
from indexes.formats.jsonl import Record, dump, records, write_lines
from indexes.formats.validation import Inspection, UnfitError

FILE = "nodes.jsonl"


@dataclass(frozen=True, slots=True)
class Node:
    """A place in the tree of a law to which articles may refer: an act, a book, a section."""

    id: str
    title: str
    headings: tuple[str, ...] = ()  # outermost first
    references: tuple[str, ...] = ()  # ids of articles or nodes


def write_nodes(folder: Path, nodes: Iterable[Node]) -> None:
    """Write nodes.jsonl into a corpus folder; no file where there are none."""
    lines = [dump(_record_of(node)) for node in nodes]
    if lines:
        write_lines(folder / FILE, lines)


def read_nodes(folder: Path, *, inspection: Inspection | None = None) -> tuple[Node, ...]:
    """Read nodes.jsonl of a corpus folder; none where it is absent.

    Raises:
        BadInput: a line cannot be used and the inspection is not lenient.
    """
    inspection = inspection or Inspection()
    path, found = folder / FILE, []
    if path.is_file():
        for place, record in records(path, inspection):
            try:
                found.append(node_of(record))
            except UnfitError as unfit:
                inspection.refuse(unfit.reason, place, unfit.problem, unfit.cure)
    return tuple(found)


def node_of(record: Record) -> Node:
    """Make a node of a record.

    Raises:
        UnfitError: a value is missing or of another type.
    """
    given = {"id": None, "title": None, **record}
    return Node(
        id=name(given, "id"),
        title=name(given, "title"),
        headings=texts(record, "headings"),
        references=ids(record, "references"),
    )


def _record_of(node: Node) -> Record:
    record = {"id": node.id, "title": node.title, "headings": node.headings, "references": node.references}
    return {key: value for key, value in record.items() if value}
