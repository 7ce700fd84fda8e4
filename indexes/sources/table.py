"""Any CSV, Parquet or JSON Lines file whose columns are told: text from "contenu", code from "loi"."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from indexes.corpus import articles as articles_
from indexes.corpus import questions as questions_
from indexes.corpus.corpus import Corpus
from indexes.formats import parquet
from indexes.formats.csv import rows
from indexes.formats.jsonl import records
from indexes.formats.validation import Inspection
from indexes.sources.source import Reading, Records, Source
from rag.errors import BadInput

# field -> the column (or columns, for headings) it comes from; "=Code rural" is the same text for all
Mapped: TypeAlias = Mapping[str, str | Sequence[str]]
Mappings: TypeAlias = Mapping[str, str | Sequence[str] | Mapped]  # the same, and "questions" -> theirs
_LISTS = {"headings": " > ", "references": ",", "article_ids": ","}  # what separates the parts of one cell
_QUESTIONS = "questions"
_SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")


def read(
    path: Path,
    reading: Reading,
    *,
    columns: str | Path | Mappings | None = None,
    column: Sequence[str] = (),
    delimiter: str | None = None,
    questions: str | Path | None = None,
) -> Corpus:
    r"""Read articles from a file of any columns; a field that is not told comes from the column of its name.

    In a CSV, headings in one column are cut at " > ", references and article_ids at commas.

    Args:
        path: .csv or .tsv (.gz too), .parquet, or JSON Lines with any other ending; or a folder that holds
            one .csv or .tsv.
        reading: the import; the language must be typed.
        columns: the mapping, or the TOML or JSON file that holds it; field = "column",
            headings = ["column", "column"], code = "=the same text for all".
        column: the same one by one, as "text=contenu", "headings=titre,chapitre", "code==Code rural";
            those of the questions as "questions.question=vraag" (in a file: a table named questions).
        delimiter: of a CSV; None takes the one of , ; and tab that cuts the header most.
        questions: a file of questions in either format.

    Raises:
        BadInput: a mapping is unfit, a column is missing, or a row is bad and the import not lenient.
    """
    if isinstance(columns, str | Path):
        columns = _mapping_file(Path(columns))
    mapping, asking = _parted({**(columns or {}), **_typed(column)})
    _check(mapping, articles_.KEYS)
    _check(asking, (*questions_.KEYS, "code", "article_no"))
    if path.is_dir():
        found = _csv_files(path)
        if len(found) != 1:
            names = ", ".join(each.name for each in found) or "none"
            raise BadInput(
                f"{path}: one .csv or .tsv was expected in this folder, there: {names}. Give a file's path."
            )
        path = found[0]
    law = _mapped(path, mapping, ("id", "code", "text"), reading, delimiter)
    # A law without article numbers has them empty; the project's own format wants the key itself.
    numbered = ((place, {"article_no": "", **record}) for place, record in law)
    question_rows: Records = ()
    if questions is not None:
        needed = ("id", "question")
        question_rows = _mapped(Path(questions), asking, needed, reading, delimiter, prefix=f"{_QUESTIONS}.")
    return reading.corpus(path.name.split(".")[0], numbered, question_rows, path=path)


def is_table(name: str) -> bool:
    """Tell whether a file is named as a table is; JSON Lines may have other names too."""
    return name.lower().removesuffix(".gz").endswith(_SUFFIXES)


def columns(path: Path) -> tuple[str, ...]:
    """Return the columns of a table, or the keys of its first record; () where it has no row."""
    inspection = Inspection(lenient=True)
    if _is_csv(path):
        found = rows(path, inspection)
    elif path.suffix == ".parquet":
        found = parquet.rows(path, inspection)
    else:
        found = records(path, inspection)
    return tuple(next((row for _, row in found), {}))


def _mapped(
    path: Path, mapping: Mapped, needed: Sequence[str], reading: Reading, mark: str | None, prefix: str = ""
) -> Records:
    named = {field: [of] if isinstance(of, str) else list(of) for field, of in mapping.items()}
    fixed = {field: of[0][1:] for field, of in named.items() if len(of) == 1 and of[0].startswith("=")}
    taken = {field: of for field, of in named.items() if field not in fixed}
    used = {column for of in taken.values() for column in of}
    inspection, progress = reading.inspection, reading.progress
    if _is_csv(path):
        must = used | {field for field in needed if field not in named}
        wanted = {column: f"{prefix}{field}" for field, names in taken.items() for column in names}
        fields = {**{column: f"{prefix}{column}" for column in must}, **wanted}
        found = rows(
            path, inspection, required=sorted(must), fields=fields, delimiter=mark, progress=progress
        )
    elif path.suffix == ".parquet":
        own = {*articles_.KEYS, *questions_.READ} - named.keys()
        found = parquet.rows(path, inspection, required=sorted(used), texts=own, progress=progress)
    else:
        found = records(path, inspection, progress)
    for place, row in found:
        # A column that another field takes is not also the field of its own name.
        record: dict[str, object] = {
            key: value for key, value in row.items() if key not in used and key not in fixed
        }
        for field, of in taken.items():
            record[field] = _joined([row.get(column) for column in of])
        record |= fixed
        yield place, {key: _cell(key, value) for key, value in record.items()}


def _is_csv(path: Path) -> bool:
    return path.name.lower().removesuffix(".gz").endswith((".csv", ".tsv"))


def _csv_files(folder: Path) -> list[Path]:
    return sorted(each for each in folder.iterdir() if _is_csv(each) and each.is_file())


def _recognises(path: Path) -> bool:
    return len(_csv_files(path)) == 1 if path.is_dir() else _is_csv(path)


def _joined(values: list[object]) -> object:
    if len(values) == 1:
        return values[0]
    parts = [part for value in values for part in (value if isinstance(value, list) else [value])]
    return [part for part in parts if part is not None and part != ""]


def _cell(key: str, value: object) -> object:
    """Cut the text of a cell into a list where the field is one; an empty cell is no value."""
    if not isinstance(value, str):
        return value
    if key not in _LISTS:
        return value.strip() or (None if key in ("valid_from", "valid_to") else value)
    parts = value.strip("[] ").split(_LISTS[key]) if _LISTS[key] == "," else value.split(_LISTS[key])
    return [part.strip() for part in parts if part.strip()]


def _typed(pairs: Sequence[str]) -> dict[str, str | Sequence[str]]:
    mapping: dict[str, str | Sequence[str]] = {}
    for pair in pairs:
        field, equals, of = pair.partition("=")
        if not (field and equals and of):
            raise BadInput(f"{pair!r} is not FIELD=COLUMN. Type it as --column text=contenu.")
        mapping[field] = of if of.startswith("=") or "," not in of else of.split(",")
    return mapping


def _mapping_file(path: Path) -> Mappings:
    try:
        content = path.read_text(encoding="utf-8")
        mapping = json.loads(content) if path.suffix == ".json" else tomllib.loads(content)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}). Give a TOML or JSON file.") from None
    except ValueError as error:  # tomllib, json and UTF-8 errors are all of this kind
        raise BadInput(f'{path}: not a mapping ({error}). Write lines such as text = "contenu".') from None
    if not isinstance(mapping, dict):
        raise BadInput(f'{path}: an object was expected. Write {{"text": "contenu", ...}}.')
    return mapping


def _parted(mapping: Mappings) -> tuple[Mapped, Mapped]:
    """Tell the columns of the articles from those of the questions."""
    ours: dict[str, str | Sequence[str]] = {}
    theirs: dict[str, str | Sequence[str]] = {}
    for field, of in mapping.items():
        if isinstance(of, Mapping):
            if field != _QUESTIONS:
                raise BadInput(f"no table {field!r} in a mapping. Only {_QUESTIONS} may be one.")
            theirs |= of
        elif field.startswith(f"{_QUESTIONS}."):
            theirs[field.removeprefix(f"{_QUESTIONS}.")] = of
        else:
            ours[field] = of
    return ours, theirs


def _check(mapping: Mapped, known: Sequence[str]) -> None:
    for field, of in mapping.items():
        if field not in known:
            raise BadInput(f"no field {field!r} to map a column to. Map some of: {', '.join(known)}.")
        listed = isinstance(of, list | tuple) and of and all(isinstance(name, str) for name in of)
        if not isinstance(of, str) and not listed:
            raise BadInput(f"{field} comes from {of!r}. Give the name of a column, or a list of names.")


SOURCE = Source(
    "any CSV or JSON Lines file, its columns named with --column FIELD=COLUMN", read, recognises=_recognises
)
