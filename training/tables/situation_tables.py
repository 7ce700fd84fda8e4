"""The table of what `python -m training.situations` measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from training.tables.markdown import head, row

MEASURES = ("R@10", "MRR@10")
_NAMES = {"hybrid": "hybrid", "keyword": "words", "meaning": "meaning"}


def situations(entry: Mapping[str, Any]) -> str:
    """Return each search as it is, and what the right and the wrong sentence in front change, in points."""
    lines = head(["search", "measure", "as it is", "right sentence", "wrong sentence"])
    for mode, measured in entry["modes"].items():
        for measure in MEASURES:
            told = measured[measure]
            changed = (_change(told[which]) for which in ("right", "wrong"))
            lines.append(row([_NAMES[mode], measure, f"{100 * told['as it is']['value']:.1f}", *changed]))
    return "\n".join(lines)


def _change(found: Mapping[str, float]) -> str:
    value, low, high = (100 * found[key] for key in ("value", "low", "high"))
    return f"{value:+.1f} ({low:+.1f} to {high:+.1f})"
