"""JSON Lines of a benchmark, each record checked; what cannot be used is named by file and line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias, TypeVar

from indexes.formats.jsonl import records
from indexes.formats.validation import Inspection
from rag.errors import BadInput

Record: TypeAlias = Mapping[str, object]
_T = TypeVar("_T")


class Unfit(Exception):
    """A record that cannot be used; says what came and what was expected."""


def read(path: Path, make: Callable[[Record, str], _T], expected: str) -> list[_T]:
    """Return what is made of each line's object.

    Args:
        path: of the file, plain or gzip.
        make: takes the record and its line number as text; raises `Unfit`.
        expected: what a line should look like, for the errors.

    Raises:
        BadInput: a line cannot be used, or there is none.
    """
    found = list(_made(path, make, expected))
    if not found:
        raise BadInput(f"{path}: no record in it. Expected on each line: {expected}")
    return found


def _made(path: Path, make: Callable[[Record, str], _T], expected: str) -> Iterator[_T]:
    for place, record in records(path, Inspection()):
        try:
            yield make(record, str(place.line))
        except Unfit as unfit:
            raise BadInput(f"{place}: {unfit}. Expected on each line: {expected}") from None


def text(record: Record, name: str) -> str:
    """Return a field that must be text with something in it."""
    value = record.get(name)
    if not isinstance(value, str) or not value.strip():
        raise Unfit(f'"{name}" is {shown(value)}, not text')
    return value


def texts(record: Record, name: str) -> list[str]:
    """Return a field that must be a list of texts, at least one and none twice."""
    value = record.get(name)
    if not isinstance(value, list) or not value or not all(isinstance(v, str) and v.strip() for v in value):
        raise Unfit(f'"{name}" is {shown(value)}, not a list of texts')
    if len(set(value)) < len(value):
        raise Unfit(f'"{name}" is {shown(value)}: one of them comes twice')
    return value


def shown(value: object) -> str:
    """Return a value as an error shows it: short."""
    said = "missing" if value is None else repr(value)
    return said if len(said) <= 60 else f"{said[:57]}..."
