"""Pieces of the Markdown tables: rows, intervals, p-values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def head(names: Sequence[str]) -> list[str]:
    """Return the first two lines of a table."""
    return [row(names), "|" + "---|" * len(names)]


def row(cells: Sequence[str]) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(cells)} |"


def span(measure: Mapping[str, float]) -> str:
    """Return an interval in percent."""
    return f"{100 * measure['low']:.1f}–{100 * measure['high']:.1f}"


def points(comparison: Mapping[str, Any]) -> str:
    """Return a difference in points with its interval."""
    d = comparison["difference"]
    return f"{100 * d['value']:+.1f} [{100 * d['low']:+.1f}, {100 * d['high']:+.1f}]"


def probability(p: float | None) -> str:
    """Return a p-value as a table shows it; None is one that cannot be said."""
    if p is None:
        return "–"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
