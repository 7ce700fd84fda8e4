"""The table of what `python -m training.benchmark --growth` measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from training.tables.markdown import table

COLUMNS = (
    "articles", "on disk", "built in", "peak", "opened in", "cold", "first answer, cold",
    "answer: p50", "p95", "p99", "again: p50", "p95", "answer by the clock: p50", "p95",
    "memory", "of it no file's",
)  # fmt: skip


def growth(entry: Mapping[str, Any]) -> str:
    """Return what an index costs, a row a size."""
    return table(COLUMNS, map(cells, entry["sizes"]))


def cells(of: Mapping[str, Any]) -> list[str]:
    """Return the row of one size."""
    ms = [
        f"{value:.1f} ms"
        for value in (of["cold_answer_ms"], *of["new_ms"], *of["again_ms"][:2], *of["new_wall_ms"][:2])
    ]
    gb = [f"{of[key] / 1e9:.2f} GB" for key in ("on_disk", "build_peak", "peak", "anonymous")]
    seconds = [f"{of[key]:.2f} s" for key in ("open_seconds", "cold_open_seconds")]
    return [f"{of['articles']:,}", gb[0], f"{of['build_seconds']:.0f} s", gb[1], *seconds, *ms, *gb[2:]]
