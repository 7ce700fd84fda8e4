"""The tables of what fusing does: fusion by fusion, and how often it helps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from training.eval.system_names import TUNED, fused
from training.tables.markdown import head, points, probability, row

MEASURES = ("R@10", "R@100", "MRR@10")
FUSIONS = ("rrf", "borda", "min-max", "z-score", "percentile")  # as in "Know When to Fuse"; CombMNZ is beside
SIGNIFICANCE = 0.05  # p after Holm's correction


def fusions(entry: Mapping[str, Any]) -> str:
    """Return each fusion that names its parts against the best of them.

    Args:
        entry: what metrics.json holds.
    """
    lines = head(["fused", "how", *(f"{m}, against the best part, p after Holm" for m in MEASURES)])
    by_name = _compared(entry)
    for name in entry["systems"]:
        of = fused(name)
        if of is not None and of.parts:
            cells = [_fused_cell(entry, name, by_name.get((name, m)), m) for m in MEASURES]
            lines.append(row([_parts(of.parts), of.method, *cells]))
    return "\n".join(lines)


def helped(entry: Mapping[str, Any]) -> str:
    """Return for each set of systems how many fusions with equal weights help and hurt, and what tuning does.

    In brackets stand those that are sure: p below 0.05 after Holm's correction over the whole file.

    Args:
        entry: what metrics.json holds.
    """
    by_name, sets = _compared(entry), dict[tuple[str, ...], list[str]]()
    for name in entry["systems"]:
        of = fused(name)
        if of is not None and of.parts and of.method in (*FUSIONS, TUNED):
            sets.setdefault(of.parts, []).append(name)
    names = [f"{m}: helps (surely) / hurts (surely)" for m in ("R@10", "MRR@10")]
    lines = head(["fused, equal weights", "ways", *names, "tuned: R@10", "tuned: MRR@10"])
    for parts, members in sets.items():
        equal = [name for name in members if not name.startswith(f"{TUNED}:")]
        tuned = [name for name in members if name not in equal]
        cells = [_counts([by_name.get((name, m)) for name in equal]) for m in ("R@10", "MRR@10")]
        cells += [_difference(by_name.get((tuned[0], m)) if tuned else None) for m in ("R@10", "MRR@10")]
        lines.append(row([_parts(parts), str(len(equal)), *cells]))
    return "\n".join(lines)


def _compared(entry: Mapping[str, Any]) -> dict[tuple[str, str], Mapping[str, Any]]:
    return {(c["a"], c["measure"]): c for c in entry.get("comparisons", ())}


def _parts(parts: Sequence[str]) -> str:
    return ", ".join(f"`{part}`" for part in parts)


def _fused_cell(
    entry: Mapping[str, Any], name: str, comparison: Mapping[str, Any] | None, measure: str
) -> str:
    return f"{100 * entry['systems'][name][measure]['value']:.1f}: {_difference(comparison)}"


def _difference(comparison: Mapping[str, Any] | None) -> str:
    if comparison is None:
        return "–"
    return f"{points(comparison)}, {probability(comparison['p_holm'])}"


def _counts(compared: Sequence[Mapping[str, Any] | None]) -> str:
    known = [c for c in compared if c is not None]
    cells = []
    for sign in (1, -1):
        there = [c for c in known if sign * c["difference"]["value"] > 0]
        sure = sum((c["p_holm"] or 0) < SIGNIFICANCE for c in there)
        cells.append(f"{len(there)} ({sure})")
    return " / ".join(cells)
