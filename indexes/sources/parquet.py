"""Parquet whose columns are told, as `table`; or the folder that our own export writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Unpack

from indexes.corpus import articles as articles_
from indexes.corpus.card import CardOptions, with_options
from indexes.corpus.corpus import Corpus
from indexes.formats import parquet
from indexes.formats.jsonl import Record
from indexes.formats.validation import ImportReport, Inspection, SkipReason, SourceLocation
from indexes.sources import table
from indexes.sources.source import Source, assembled, read_adjacent_card
from rag.errors import BadInput
from rag.types import Progress, no_progress

ARTICLES, QUESTIONS = "articles.parquet", "questions.parquet"
EXTRAS = "extras"  # the column that holds, as JSON, the columns that nothing uses
MARK = "pandect"  # in the file's own description: our export wrote it


def load(
    path: Path,
    *,
    lenient: bool = False,
    progress: Progress = no_progress,
    columns: str | Path | table.Mappings | None = None,
    column: Sequence[str] = (),
    questions: str | Path | None = None,
    **card: Unpack[CardOptions],
) -> tuple[Corpus, ImportReport]:
    """Load a Parquet file, or the folder that holds articles.parquet and maybe questions.parquet.

    Args:
        path: the file or the folder.
        lenient: skip and count bad rows.
        progress: called with rows read and rows in all, for each file.
        columns: the mapping of columns to fields, as `indexes.sources.table.load` takes it.
        column: the same one by one, as "text=contenu".
        questions: a file of questions, of any format that table reads; None takes questions.parquet
            if it lies in the folder.
        card: what the card shall say; the language must be given where there is no card.json.

    Raises:
        BadInput: a mapping is unfit, a column is missing, or a row is bad and lenient is off.
        MissingExtra: pyarrow is not installed.
    """
    file = path / ARTICLES if path.is_dir() else path
    if not file.is_file():
        raise BadInput(f"{path}: no {ARTICLES} in it. Give the Parquet file, or the folder that holds it.")
    if questions is None and path.is_dir() and (path / QUESTIONS).is_file():
        questions = path / QUESTIONS
    if MARK in parquet.description(file):
        return _own(file, Path(questions) if questions else None, lenient, progress, card)
    options = {"columns": columns, "column": column, "questions": questions}
    return table.load(file, lenient=lenient, progress=progress, **options, **card)  # type: ignore[arg-type]


def _own(
    file: Path, questions_file: Path | None, lenient: bool, progress: Progress, card: CardOptions
) -> tuple[Corpus, ImportReport]:
    """Read what `indexes.corpus.export` wrote: the project's own keys, and extra columns as one JSON text."""
    inspection = Inspection(lenient=lenient)
    made = with_options(read_adjacent_card(file), card, file.parent.resolve().name)
    found = parquet.rows(file, inspection, required=articles_.REQUIRED, progress=progress)
    questions: Iterable[tuple[SourceLocation, Record]] = ()
    if questions_file is not None:
        questions = parquet.rows(questions_file, inspection, required=("id", "question"), progress=progress)
    law, queries = _opened(found, inspection), _opened(questions, inspection)
    return assembled(made, law, queries, inspection, file)


def _opened(
    found: Iterable[tuple[SourceLocation, Record]], inspection: Inspection
) -> Iterator[tuple[SourceLocation, Record]]:
    for place, row in found:
        record = {key: value for key, value in row.items() if key != EXTRAS and value is not None}
        text = row.get(EXTRAS)
        try:
            extras = json.loads(text) if isinstance(text, str) else {}
        except (ValueError, RecursionError) as error:
            extras = error
        if not isinstance(extras, dict):
            problem, cure = f"the extra columns are no JSON object ({extras})", "Export the corpus again"
            inspection.refuse(SkipReason.INVALID_JSON, place, problem, cure)
            continue
        yield place, {**extras, **record}


def _recognises(path: Path) -> bool:
    return path.suffix == ".parquet" or (path / ARTICLES).is_file()


SOURCE = Source("a Parquet file, its columns named with --column FIELD=COLUMN", load, recognises=_recognises)
