"""Pieces of the Markdown tables: rows, intervals, differences, p-values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a whole table."""
    return "\n".join([*head(names), *map(row, rows)])


def head(names: Sequence[str]) -> list[str]:
    """Return the first two lines of a table."""
    return [row(names), "|" + "---|" * len(names)]


def row(cells: Sequence[str]) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(cells)} |"


def percent(measure: Mapping[str, Any] | None) -> str:
    """Return a value in percent with its interval; a dash for one that was not measured."""
    if measure is None or measure["value"] is None:
        return "–"
    return f"{100 * measure['value']:.1f} ({span(measure)})"


def span(measure: Mapping[str, float]) -> str:
    """Return an interval in percent."""
    return f"{100 * measure['low']:.1f}–{100 * measure['high']:.1f}"


def points(d: Mapping[str, float] | None) -> str:
    """Return a difference in points with its interval; a dash for one that was not measured."""
    if d is None:
        return "–"
    return f"{100 * d['value']:+.1f} [{100 * d['low']:+.1f}, {100 * d['high']:+.1f}]"


def probability(p: float | None) -> str:
    """Return a p-value as a table shows it; None is one that cannot be said."""
    if p is None:
        return "–"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def compared(comparison: Mapping[str, Any] | None) -> str:
    """Return a difference with its p-value after Holm's correction; a dash for a comparison not made."""
    if comparison is None:
        return "–"
    return f"{points(comparison['difference'])}, {probability(comparison['p_holm'])}"
