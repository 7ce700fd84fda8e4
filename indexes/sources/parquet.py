"""Parquet whose columns are told, as `table`; or the folder that our own export writes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from indexes.corpus import articles as articles_
from indexes.corpus.corpus import Corpus
from indexes.formats import parquet
from indexes.formats.validation import Inspection, SkipReason
from indexes.sources import table
from indexes.sources.source import Reading, Records, Source, read_adjacent_card
from rag.errors import BadInput

ARTICLES, QUESTIONS = "articles.parquet", "questions.parquet"
EXTRAS = "extras"  # the column that holds, as JSON, the columns that nothing uses
MARK = "pandect"  # in the file's own description: our export wrote it


def read(
    path: Path,
    reading: Reading,
    *,
    columns: str | Path | table.Mappings | None = None,
    column: Sequence[str] = (),
    questions: str | Path | None = None,
) -> Corpus:
    """Read a Parquet file, or the folder that holds articles.parquet and maybe questions.parquet.

    The options are those of `indexes.sources.table.read`; without `questions` a questions.parquet that
    lies in the folder is taken.

    Raises:
        BadInput: a mapping is unfit, a column is missing, or a row is bad and the import not lenient.
        MissingExtra: pyarrow is not installed.
    """
    file = path / ARTICLES if path.is_dir() else path
    if not file.is_file():
        raise BadInput(f"{path}: no {ARTICLES} in it. Give the Parquet file, or the folder that holds it.")
    if questions is None and path.is_dir() and (path / QUESTIONS).is_file():
        questions = path / QUESTIONS
    if MARK not in parquet.description(file):
        return table.read(file, reading, columns=columns, column=column, questions=questions)
    # What `indexes.corpus.export` wrote: the project's own keys, and extra columns as one JSON text.
    inspection, progress = reading.inspection, reading.progress
    law = parquet.rows(file, inspection, required=articles_.REQUIRED, texts=articles_.KEYS, progress=progress)
    question_rows: Records = ()
    if questions:
        question_rows = parquet.rows(
            Path(questions), inspection, required=("id", "question"), progress=progress
        )
    base = read_adjacent_card(file) or file.parent.resolve().name
    return reading.corpus(base, _opened(law, inspection), _opened(question_rows, inspection), path=file)


def _opened(found: Records, inspection: Inspection) -> Records:
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


SOURCE = Source("a Parquet file, its columns named with --column FIELD=COLUMN", read, recognises=_recognises)
