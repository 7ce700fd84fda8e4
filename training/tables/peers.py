"""The table of what `python -m training.benchmark --peers` measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from training.tables.markdown import table

COLUMNS = (
    "ours / it", "", "build, s", "MB", "p50, ms", "p95, ms", "p50, wall", "p95, wall", "p50 of 1,000",
    "R@100", "of our 100",
)  # fmt: skip
_TIMES = ("p50_ms", "p95_ms", "wall_p50_ms", "wall_p95_ms", "deep_p50_ms")


def peers(entry: Mapping[str, Any]) -> str:
    """Return all systems, of each law in turn, and under them our hybrid against the libraries' lists."""
    rows = []
    for corpus in entry["corpora"]:
        title = f"**{corpus['name']}: {corpus['articles']:,} articles, {corpus['questions']} questions**"
        rows += [only("", title), *map(cells, corpus["systems"]), target(corpus["hybrid"])]
    return table(COLUMNS, rows)


def cells(of: Mapping[str, Any]) -> list[str]:
    """Return the row of one system; what was not measured is empty."""
    ratio = of["ours_over_it"]
    return [
        "" if ratio is None else f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.1g}",
        of["system"],
        f"{of['build_s']:.2f}",
        f"{of['grown_bytes'] / 1e6:.0f}",
        *("" if of[key] is None else f"{of[key]:.3f}" for key in _TIMES),
        *("" if of[key] is None else f"{100 * of[key]:.1f}" for key in ("R@100", "of_ours")),
    ]


def target(hybrid: Mapping[str, Any]) -> list[str]:
    """Return the row of our hybrid against the fastest libraries for its two lists."""
    names = " + ".join(hybrid["libraries"])
    return only(
        f"{hybrid['ratio']:.2f}", f"our hybrid / ({names}), of 1,000 each; to be {hybrid['aim']} at most"
    )


def only(ratio: str, text: str) -> list[str]:
    """Return a row of nothing else."""
    return [ratio, text, *("" for _ in COLUMNS[2:])]
