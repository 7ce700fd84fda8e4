"""Which systems are compared with which: a fusion must beat the best system that it could be replaced by."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from indexes.describing.significance import CONFIDENCE, Comparison, Values, compare
from training.eval.run import Measured
from training.eval.system_names import by_graph, fused, single

MEASURES = ("R@10", "R@100", "MRR@10")  # the measures that are compared, where they were asked for


def compared(results: Mapping[str, Measured], measures: Sequence[str], seed: int) -> tuple[Comparison, ...]:
    """Compare every system with the best single one; all comparisons together are one family.

    Of what was measured R@10, R@100 and MRR@10 are compared, else the first.
    """
    values = {name: result.values for name, result in results.items()}
    return compare(values, family(values, [m for m in MEASURES if m in measures] or measures[:1]), seed)


def family(systems: Mapping[str, Values], measures: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return (system, rival, measure) of every comparison.

    The rival is the best single system by that very measure, on the very questions: the hardest
    choice for a fusion. A fusion that names its parts has the best of these for a rival, and what is ranked
    by the graph the system itself, as far as they were measured. Where no single system was measured the
    first system is the rival.
    """
    alone = [name for name in systems if single(name)] or list(systems)[:1]
    means = {(name, m): float(of[m].mean()) for name, of in systems.items() for m in measures}
    chosen = []
    for name in systems:
        of, way = fused(name), by_graph(name)
        parts = of.parts if of is not None else (way.system,) if way is not None else ()
        among = [part for part in parts if part in systems]
        for measure in measures:
            rival = max(among or alone, key=lambda one: means[one, measure])
            if name != rival:
                chosen.append((name, rival, measure))
    return chosen


def table(comparisons: Sequence[Comparison]) -> str:
    """Return the comparisons for people: points, 95 % intervals, p-values; a star below 5 % after Holm."""
    rows = [("A vs B", "measure", "difference", "95 % CI", "p bootstrap", "p t-test", "p Holm", "")]
    for c in comparisons:
        d = c.difference
        span = f"[{100 * d.low:+.1f}, {100 * d.high:+.1f}]"
        p_values = (_p(c.p_bootstrap), _p(c.p_t), _p(c.p_holm))
        star = "*" if c.p_holm < 1 - CONFIDENCE else ""
        rows.append((f"{c.a} vs {c.b}", c.measure, f"{100 * d.value:+.1f}", span, *p_values, star))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = list(map(str.ljust, row[:2], widths)) + list(map(str.rjust, row[2:], widths[2:]))
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _p(p: float) -> str:
    if math.isnan(p):
        return "–"
    return "<0.001" if p < 0.001 else f"{p:.3f}"
