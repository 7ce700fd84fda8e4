"""The tables of what fusing does: fusion by fusion, and how often it helps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from training.eval.system_names import TUNED, fused
from training.tables.markdown import compared, percent, points, table

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


def study_counts(entry: Mapping[str, Any]) -> str:
    """Return of a study how many configurations are better than each part, and how many worse than one.

    In brackets stand those whose paired 95 % interval against the best part leaves 0 out.
    """
    rows = []
    listed = entry["configurations"]
    for title, weights in (
        ("equal weights", ("equal",)),
        ("tuned weights", ("tuned",)),
        ("all", ("equal", "tuned")),
    ):
        own = [c for c in listed if c["weights"] in weights]
        better = sum(c["better"] for c in own), sum(c["difference"]["low"] > 0 for c in own)
        worse = sum(c["worse"] for c in own), sum(c["difference"]["high"] < 0 for c in own)
        rows.append([title, str(len(own)), *(f"{n} ({sure})" for n, sure in (better, worse))])
    names = ["configurations", "number", "better than each part (surely)", "worse than one (surely)"]
    return table(names, rows)


def study_table(entry: Mapping[str, Any]) -> str:
    """Return R@10 of every combination by every method, marked as in "Know When to Fuse".

    + is better than each part, - worse than one; twice where the paired 95 % interval against the best part
    leaves 0 out.
    """
    listed = entry["configurations"]
    hows = list(dict.fromkeys((c["method"], c["weights"]) for c in listed))
    rows = [
        [f"`{name}`", *([percent(of["R@10"])] + [""] * (len(hows) - 1))]
        for name, of in entry["systems"].items()
    ]
    for parts in dict.fromkeys(tuple(c["parts"]) for c in listed):
        own = {(c["method"], c["weights"]): c for c in listed if tuple(c["parts"]) == parts}
        rows.append([_parts(parts), *(_marked(own[how]) for how in hows)])
    for name, of in entry["oracle"].items():
        rows.append([f"oracle {name}", percent(of["R@10"]), *[""] * (len(hows) - 1)])
    names = [how if how in ("borda", "rrf") else f"{how}, {weights}" for how, weights in hows]
    return table(["R@10", *names], rows)


def _marked(one: Mapping[str, Any]) -> str:
    d = one["difference"]
    mark = "+" if one["better"] else "-" if one["worse"] else ""
    return f"{100 * one['R@10']:.1f} {mark * (2 if d['low'] > 0 or d['high'] < 0 else 1)}".strip()


def study_differences(entry: Mapping[str, Any]) -> str:
    """Return every configuration against the best of its parts: R@10, with its paired 95 % interval."""
    listed = entry["configurations"]
    hows = list(dict.fromkeys((c["method"], c["weights"]) for c in listed))
    rows = []
    for parts in dict.fromkeys(tuple(c["parts"]) for c in listed):
        own = {(c["method"], c["weights"]): c for c in listed if tuple(c["parts"]) == parts}
        rows.append([_parts(parts), *(points(own[how]["difference"]) for how in hows)])
    names = [how if how in ("borda", "rrf") else f"{how}, {weights}" for how, weights in hows]
    return table(["R@10, against the best part", *names], rows)


def regions(entry: Mapping[str, Any]) -> str:
    """Return where right and wrong pairs stand by the quartiles of two systems' own scores."""
    listed = entry["complementarity"]["regions"]
    names = [name for name in listed[0] if name not in ("a", "b")]
    rows = [
        [
            f"`{r['a']}`, `{r['b']}`",
            *(f"{100 * r[n]['right']:.0f} / {100 * r[n]['wrong']:.0f}" for n in names),
        ]
        for r in listed
    ]
    return table(["a, b: % of right / wrong pairs", *names], rows)


def found_alone(entry: Mapping[str, Any]) -> str:
    """Return how many gold articles are found by which systems and no others."""
    found = entry["complementarity"]["found"]
    counts = {" + ".join(f"`{one}`" for one in name.split(" + ")): n for name, n in found["by"].items()}
    counts["none of them"] = found["gold"] - sum(counts.values())
    rows = [[name, str(n), f"{100 * n / max(found['gold'], 1):.1f}"] for name, n in counts.items()]
    return table([f"gold articles among the first {found['first']} of", f"of {found['gold']:,}", "%"], rows)


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
