"""Columns of a source that the project does not use: kept beside the corpus, never searched.

They are no part of a corpus's identity and do not travel into an index: some of them, such as the
marks that a data set puts on its gold articles, would give the answers away.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from indexes.corpus import articles as articles_
from indexes.corpus import questions as questions_
from indexes.formats.jsonl import dump, records, write_lines
from indexes.formats.validation import Inspection, Owner, Reason, UnfitError
from rag.errors import BadInput

Extras: TypeAlias = Mapping[str, Mapping[str, object]]  # id -> column -> value, of JSON's types

ARTICLES = "extras.jsonl.gz"
QUESTIONS = "extras_questions.jsonl.gz"


def check(corpus: str, what: str, extras: Extras, ids: Collection[str]) -> None:
    """Refuse extra columns that could not be written and read again.

    Args:
        corpus: its name, for the error.
        what: "article" or "question".
        extras: the columns.
        ids: of the articles or questions that there are.

    Raises:
        BadInput: they belong to nobody, or a column has the name of one that is used.
    """
    used = articles_.KEYS if what == "article" else questions_.READ
    for id_, columns in extras.items():
        if id_ not in ids:
            raise BadInput(f"extra columns of {what} {id_!r}, not in the corpus {corpus}. Remove them.")
        taken = [column for column in columns if column in used]
        if taken:
            raise BadInput(
                f"{what} {id_!r} of {corpus} has the extra column {taken[0]!r}, which is a field of its own. "
                "Give it another name."
            )


def write_extras(path: Path, extras: Extras, ids: Iterable[str]) -> None:
    """Write the extra columns in the order of the ids; no file where there are none."""
    if any(extras.values()):
        write_lines(path, _lines(extras, ids))


def _lines(extras: Extras, ids: Iterable[str]) -> Iterator[bytes]:
    for id_ in ids:
        columns = extras.get(id_)
        if columns:
            yield dump({"id": id_, **dict(sorted(columns.items()))})


def read_extras(folder: Path, articles: Collection[str], questions: Collection[str], to: Inspection) -> None:
    """Read what `write_extras` wrote into a folder, if anything, and tell the inspection of it.

    Args:
        folder: of a corpus.
        articles: ids of those that were read from it.
        questions: likewise.
        to: keeps the columns; a lenient one skips those of nobody.

    Raises:
        BadInput: a line cannot be used.
    """
    files: tuple[tuple[str, Owner, Collection[str]], ...] = (
        (ARTICLES, "article", articles),
        (QUESTIONS, "question", questions),
    )
    for name, of, ids in files:
        path = folder / name
        if not path.is_file():
            continue
        for place, record in records(path, to):
            try:
                id_ = articles_.name({"id": None, **record}, "id")
            except UnfitError as unfit:
                to.refuse(unfit.reason, place, unfit.problem, unfit.cure)
                continue
            if id_ not in ids:
                to.refuse(Reason.UNKNOWN_OWNER, place, f"no {of} has the id {id_!r}", "Remove the line")
                continue
            used = articles_.KEYS if of == "article" else questions_.READ
            to.keep(of, id_, {column: value for column, value in record.items() if column not in used})
