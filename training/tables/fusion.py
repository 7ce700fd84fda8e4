"""The tables of what fusing does: fusion by fusion, and how often it helps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from training.eval.system_names import TUNED, fused
from training.tables.markdown import compared, table

MEASURES = ("R@10", "R@100", "MRR@10")
FUSIONS = ("rrf", "borda", "min-max", "z-score", "percentile")  # as in "Know When to Fuse"; CombMNZ is beside
SIGNIFICANCE = 0.05  # p after Holm's correction


def fusions(entry: Mapping[str, Any]) -> str:
    """Return each fusion that names its parts against the best of them, of what metrics.json holds."""
    by_name = _compared(entry)
    rows = []
    for name, system in entry["systems"].items():
        of = fused(name)
        if of is not None and of.parts:
            cells = (f"{100 * system[m]['value']:.1f}: {compared(by_name.get((name, m)))}" for m in MEASURES)
            rows.append([_parts(of.parts), of.method, *cells])
    return table(["fused", "how", *(f"{m}, against the best part, p after Holm" for m in MEASURES)], rows)


def helped(entry: Mapping[str, Any]) -> str:
    """Return for each set of systems how many fusions with equal weights help and hurt, and what tuning does.

    In brackets stand those that are sure: p below 0.05 after Holm's correction over the whole file.
    """
    by_name, sets = _compared(entry), dict[tuple[str, ...], list[str]]()
    for name in entry["systems"]:
        of = fused(name)
        if of is not None and of.parts and of.method in (*FUSIONS, TUNED):
            sets.setdefault(of.parts, []).append(name)
    rows = []
    for parts, members in sets.items():
        equal = [name for name in members if not name.startswith(f"{TUNED}:")]
        tuned = [name for name in members if name not in equal]
        cells = [_counts([by_name.get((name, m)) for name in equal]) for m in ("R@10", "MRR@10")]
        cells += [compared(by_name.get((tuned[0], m)) if tuned else None) for m in ("R@10", "MRR@10")]
        rows.append([_parts(parts), str(len(equal)), *cells])
    names = [f"{m}: helps (surely) / hurts (surely)" for m in ("R@10", "MRR@10")]
    return table(["fused, equal weights", "ways", *names, "tuned: R@10", "tuned: MRR@10"], rows)


def _compared(entry: Mapping[str, Any]) -> dict[tuple[str, str], Mapping[str, Any]]:
    return {(c["a"], c["measure"]): c for c in entry.get("comparisons", ())}


def _parts(parts: Sequence[str]) -> str:
    return ", ".join(f"`{part}`" for part in parts)


def _counts(found: Sequence[Mapping[str, Any] | None]) -> str:
    cells = []
    for sign in (1, -1):
        favouring = [c for c in found if c is not None and sign * c["difference"]["value"] > 0]
        sure = sum((c["p_holm"] or 0) < SIGNIFICANCE for c in favouring)
        cells.append(f"{len(favouring)} ({sure})")
    return " / ".join(cells)
