"""Reads a TOML table into a frozen dataclass, strictly: what does not fit is refused, with a cure."""

from __future__ import annotations

import difflib
import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from rag.errors import BadInput

_T = TypeVar("_T")
_NAMES = {int: "a whole number", float: "a number", str: "a text in quotes", bool: "true or false"}


@dataclass(frozen=True, slots=True)
class ValueRange:
    """The least and the most that a number may be; both may be reached."""

    low: float
    high: float = math.inf

    def __str__(self) -> str:
        """Say it as an error does."""
        bounds = [b for b in (self.low, self.high) if b != math.inf]
        shown_bounds = [f"{int(bound):,}" if bound == int(bound) else f"{bound:g}" for bound in bounds]
        return " to ".join(shown_bounds) if len(shown_bounds) == 2 else f"{shown_bounds[0]} or more"


def number(low: float, high: float = math.inf, default: Any = MISSING) -> Any:  # noqa: ANN401 - as dataclasses.field
    """Return a field that holds a number within limits; without a default it must be given."""
    return field(default=default, metadata={"limits": ValueRange(low, high)})


def read_table(kind: type[_T], table: object, where: str) -> _T:
    """Return a dataclass made of a table.

    Fields may be texts, numbers, truth values, choices (`Literal`), lists of these, tables of numbers
    (`Mapping[str, float]`), other dataclasses, lists of other dataclasses, or one of these or None. Errors
    call the table `where`, such as "recipe.toml: [training]".

    Raises:
        BadInput: no table, a key is unknown or lacks, or a value is of another type or out of its limits.
    """
    if not isinstance(table, dict):
        raise BadInput(f"{where} is {table!r}: expected a table")
    known = {f.name: f for f in fields(kind)}  # type: ignore[arg-type]
    for key in table:
        if key not in known:
            raise BadInput(f"{where} has no key {key!r}{_near(key, list(known))}. Keys: {', '.join(known)}.")
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    for name, of in known.items():
        if name in table:
            values[name] = _value(hints[name], table[name], f"{where} {name}", of.metadata.get("limits"))
        elif of.default is MISSING and of.default_factory is MISSING:
            raise BadInput(f"{where} needs the key {name!r}: add it")
    return kind(**values)


def choose(name: str, known: Mapping[str, _T], where: str) -> _T:
    """Return what a name stands for; BadInput lists the names where it stands for nothing."""
    if name not in known:
        raise BadInput(f"{where}: no {name!r}{_near(name, list(known))}. Use one of: {', '.join(known)}.")
    return known[name]


def _near(typed: str, known: list[str]) -> str:
    near = difflib.get_close_matches(typed, known, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _value(hint: Any, value: Any, where: str, limits: ValueRange | None) -> Any:  # noqa: ANN401 - of any type
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):  # X | None: TOML has no null, so the key is there with an X
        [hint] = [each for each in inside if each is not type(None)]
        return _value(hint, value, where, limits)
    if origin is Literal:
        if value not in inside:
            raise BadInput(f"{where} is {value!r}: expected one of {', '.join(map(repr, inside))}")
        return value
    if origin is tuple:
        if not isinstance(value, list):
            raise BadInput(f"{where} is {value!r}: expected a list")
        return tuple(_value(inside[0], each, f"{where}[{i}]", limits) for i, each in enumerate(value))
    if isinstance(hint, type) and is_dataclass(hint):
        return read_table(hint, value, where)
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, dict):
            raise BadInput(f"{where} is {value!r}: expected a table")
        return {key: _value(inside[1], each, f"{where}.{key}", limits) for key, each in value.items()}
    return _plain(hint, value, where, limits)


def _plain(hint: Any, value: Any, where: str, limits: ValueRange | None) -> Any:  # noqa: ANN401
    if hint is float and type(value) is int:
        value = float(value)
    if type(value) is not hint:  # not isinstance: to Python true is a whole number
        raise BadInput(f"{where} is {value!r}: expected {_NAMES[hint]}")
    if hint is float and not math.isfinite(value):
        raise BadInput(f"{where} is {value!r}: expected a finite number")
    if limits is not None and not limits.low <= value <= limits.high:
        raise BadInput(f"{where} is {value!r}: expected {limits}")
    return value
