"""What papers printed: `published.json`, as printed, of tables in which something was measured.

A row is a system with the values of some of its table's metrics; scores have the table's unit, percent or
fraction. Nothing of it was measured by this project.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

FILE = Path(__file__).with_name("published.json")
_SCORE = re.compile(r"(R@|RP$|MRR|MAP|nDCG|accuracy|precision|recall|f1)")


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A table of a paper."""

    paper: str  # bsard, know_when_to_fuse, stard, jurifindit
    cite: str
    number: str
    about: str
    dataset: str
    split: str
    protocol: str
    metrics: tuple[str, ...]
    rows: tuple[
        tuple[str, Mapping[str, Any], str], ...
    ]  # a system, its values with scores as fractions, a note
    hardware: Mapping[str, str]  # metric of time -> what it was measured on


@cache
def tables() -> tuple[PublishedTable, ...]:
    """Return all tables in the order of papers and numbers."""
    found = []
    for paper in json.loads(FILE.read_text(encoding="utf-8")):
        for of in paper["tables"]:
            unit = 0.01 if of["unit"].startswith("percent") else 1.0
            rows = tuple((r["system"], _fractions(r["values"], unit), r.get("note", "")) for r in of["rows"])
            protocol = f"{of['dataset']}, {of['split']}; {of['setting']}; {of['protocol']}"
            metrics, hardware = tuple(of["metrics"]), MappingProxyType(of.get("hardware", {}))
            found.append(
                PublishedTable(
                    paper["paper"], paper["cite"], of["table"], of["about"], of["dataset"], of["split"],
                    protocol, metrics, rows, hardware,
                )
            )  # fmt: skip
    return tuple(found)


def papers() -> Sequence[str]:
    """Return the names of the papers."""
    return list(dict.fromkeys(table.paper for table in tables()))


def is_score(metric: str) -> bool:
    """Tell whether a metric is one from 0 to 1, which people are shown in percent."""
    return _SCORE.match(metric) is not None


def _fractions(values: Mapping[str, Any], unit: float) -> Mapping[str, Any]:
    return {m: v * unit if is_score(m) and isinstance(v, float | int) else v for m, v in values.items()}
