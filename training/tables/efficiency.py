"""The table of what `python -m training.benchmark --efficiency` measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from training.tables.markdown import table

COLUMNS = (
    "system", "R@10", "index, MB", "of the text", "p50, ms", "p95, ms", "p99, ms", "questions a second",
    "FLOPs", "peak, MB", "core-hours", "kWh",
)  # fmt: skip


def cells(name: str, of: Mapping[str, Any]) -> list[str]:
    """Return the row of one system: milliseconds and questions a second are of one core."""
    cost = of["training"]
    return [
        f"`{name}`",
        f"{100 * of['measures']['R@10']:.1f}",
        f"{of['index_bytes'] / 1e6:.1f}",
        f"{of['ratio']:.2f}",
        *(f"{ms:.1f}" for ms in of["core_ms"]),
        f"{of['per_core_second']:.0f}",
        f"{of['flops']:.1e}",
        f"{of['peak_bytes'] / 1e6:.0f}",
        *("–" if cost is None else f"{cost[key]:.2g}" for key in ("hours", "kwh")),
    ]


def efficiency(entry: Mapping[str, Any]) -> str:
    """Return what each way to search costs."""
    return table(COLUMNS, [cells(name, of) for name, of in entry["systems"].items()])
