"""Columns of a source that the project does not use: kept beside the corpus, never searched.

They are no part of a corpus's identity and do not travel into an index: some of them, such as the
marks that a data set puts on its gold articles, would give the answers away.

Places of the law that are no articles, kept beside a corpus for its graph and never searched.

Some data sets hold rows that stand for a whole act: articles refer to them, but they have no text of
their own, so they must not be found. They lie in nodes.jsonl in the corpus folder, one a line, and
are no part of the corpus's identity.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TypeAlias

from indexes.corpus import articles as articles_
from indexes.corpus import questions as questions_
from indexes.formats.jsonl import Record, dump, records, write_lines
from indexes.formats.validation import Inspection, Owner, SkipReason
from rag.errors import BadInput
from rag.graph.graph import Node

Extras: TypeAlias = Mapping[str, Mapping[str, object]]  # id -> column -> value, of JSON's types

ARTICLES = "extras.jsonl.gz"
QUESTIONS = "extras_questions.jsonl.gz"
_USED: Mapping[Owner, Collection[str]] = {"article": articles_.KEYS, "question": questions_.READ}


def check(corpus: str, what: Owner, extras: Extras, ids: Collection[str]) -> None:
    """Refuse extra columns that could not be written and read again.

    `what` they are of is "article" or "question", `ids` are those that there are in the corpus of this name.

    Raises:
        BadInput: they belong to nobody, or a column has the name of one that is used.
    """
    for id_, columns in extras.items():
        if id_ not in ids:
            raise BadInput(f"extra columns of {what} {id_!r}, not in the corpus {corpus}. Remove them.")
        taken = [column for column in columns if column in _USED[what]]
        if taken:
            raise BadInput(
                f"{what} {id_!r} of {corpus} has the extra column {taken[0]!r}, which is a field of its own. "
                "Give it another name."
            )


def write_extras(path: Path, extras: Extras, ids: Iterable[str]) -> None:
    """Write the extra columns in the order of the ids; no file where there are none."""
    if any(extras.values()):
        found = ((id_, extras[id_]) for id_ in ids if extras.get(id_))
        write_lines(path, (dump({"id": id_, **dict(sorted(columns.items()))}) for id_, columns in found))


def read_extras(folder: Path, articles: Collection[str], questions: Collection[str], to: Inspection) -> None:
    """Read what `write_extras` wrote into a folder, if anything, and tell the inspection of it.

    `articles` and `questions` are the ids of those that were read from there; the columns of others are
    refused.

    Raises:
        BadInput: a line cannot be used.
    """
    files: Mapping[Owner, tuple[str, Collection[str]]] = {
        "article": (ARTICLES, articles),
        "question": (QUESTIONS, questions),
    }
    for of, (name, ids) in files.items():
        found = records(folder / name, to) if (folder / name).is_file() else ()
        for place, record, id_ in to.parsed(found, owner_id):
            if id_ not in ids:
                to.refuse(SkipReason.UNKNOWN_OWNER, place, f"no {of} has the id {id_!r}", "Remove the line")
                continue
            to.keep(of, id_, {column: value for column, value in record.items() if column not in _USED[of]})


def owner_id(record: Record) -> str:
    """Return the id of the article or question that a record of extra columns is of.

    Raises:
        UnfitError: it is missing, empty, or no text or whole number.
    """
    return articles_.name({"id": None, **record}, "id")


FILE = "nodes.jsonl"


def write_nodes(folder: Path, nodes: Iterable[Node]) -> None:
    """Write nodes.jsonl into a corpus folder; no file where there are none."""
    lines = [dump({key: value for key, value in asdict(node).items() if value}) for node in nodes]
    if lines:
        write_lines(folder / FILE, lines)


def read_nodes(folder: Path, *, inspection: Inspection | None = None) -> tuple[Node, ...]:
    """Read nodes.jsonl of a corpus folder; none where it is absent.

    Raises:
        BadInput: a line cannot be used and the inspection is not lenient.
    """
    inspection = inspection or Inspection()
    path = folder / FILE
    found = records(path, inspection) if path.is_file() else ()
    return tuple(node for _, _, node in inspection.parsed(found, parse_node))


def parse_node(record: Record) -> Node:
    """Make a node of a record.

    Raises:
        UnfitError: a value is missing or of another type.
    """
    given = {"id": None, "title": None, **record}
    return Node(
        id=articles_.name(given, "id"),
        title=articles_.name(given, "title"),
        headings=articles_.texts(record, "headings"),
        references=articles_.ids(record, "references"),
    )
