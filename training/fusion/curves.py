"""What every weight of a pair of systems gives: curves over alpha, drawn side by side.

They are measured on the questions asked: to be shown, not to choose by.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rag.corpus.svg import Figure, PlotArea
from rag.fusion.settings import scale
from rag.types import Qrels, Run
from training.eval.system_names import fused, single
from training.fusion.weight_search import Point, SystemRankings, curves

JSON, SVG = "curves.json", "curves.svg"
MEASURES = ("R@10", "R@100", "MRR@10")
CURVE_MEASURE = "R@10"
SCALES = ("min-max", "z-score")
NOTE = "measured on the questions asked: to be shown, not to choose by"
_INK = {"min-max": ("mark", ""), "z-score": ("axis", "5 3")}  # scale -> kind of line and its dashes
_WIDE, _HIGH, _LEFT, _TOP, _ACROSS = 210, 150, 52, 76, 3  # a panel, its margins, panels in a row
_STEP_X, _STEP_Y = _WIDE + 66, _HIGH + 74

Curves = Mapping[str, Mapping[tuple[str, str], Sequence[Point]]]  # scale -> pair -> its curve


def measured(runs: Mapping[str, Run], qrels: Qrels) -> Curves:
    """Return the curves of the pairs that a fusion names; where none does, of all pairs of single systems."""
    alone = {name: run for name, run in runs.items() if single(name)}
    named = (of.parts for of in map(fused, runs) if of is not None and set(of.parts) <= set(alone))
    pairs = list(dict.fromkeys((parts[0], parts[1]) for parts in named if len(parts) == 2))
    lists = SystemRankings.of(alone, list(qrels))
    found = {}
    for name in SCALES:
        share, decimals = scale(name)
        found[name] = curves(lists, qrels, MEASURES, pairs=pairs or None, share=share, decimals=decimals)
    return found


def to_json(found: Curves) -> dict[str, Any]:
    """Return them as curves.json holds them; alpha is the weight of a, b has the rest."""
    written: dict[str, list[dict[str, Any]]] = {name: [] for name in found}
    for name, of_pairs in found.items():
        for (a, b), points in of_pairs.items():
            curve = [{"alpha": p.alpha, **p.values} for p in points]
            written[name].append({"a": a, "b": b, "points": curve})
    return {"note": NOTE, "curves": written}


def write(folder: Path, found: Curves, title: str) -> None:
    """Write curves.json and curves.svg into a folder."""
    text = json.dumps(to_json(found), ensure_ascii=False, indent=1)
    (folder / JSON).write_text(text + "\n", encoding="utf-8")
    (folder / SVG).write_text(draw_curves(found, title), encoding="utf-8")


def draw_curves(found: Curves, title: str) -> str:
    """Return the curves as SVG: a panel a pair, a line a scale, R@10 over the weight."""
    pairs = list(next(iter(found.values()), {}))
    values = [
        100 * p.values[CURVE_MEASURE] for of in found.values() for points in of.values() for p in points
    ]
    low, high = (5 * int(min(values) // 5), 5 * int(-(-max(values) // 5))) if values else (0, 100)
    rows = -(-len(pairs) // _ACROSS)
    width = _LEFT + max(2, min(len(pairs), _ACROSS)) * _STEP_X
    figure = Figure(width, _TOP + rows * _STEP_Y, title, f"Lines over the weight of a system; {NOTE}.")
    figure.text(_LEFT, 26, title, size=15)
    for number, name in enumerate(found):
        x = _LEFT + 120 * number
        figure.curve([(x, 46), (x + 28, 46)], name, *_INK[name])
        figure.text(x + 36, 50, name, kind="soft")
    for number, (a, b) in enumerate(pairs):
        box = PlotArea(_LEFT + number % _ACROSS * _STEP_X, _TOP + number // _ACROSS * _STEP_Y, _WIDE, _HIGH)
        _panel(figure, box, (a, b), found, (min(low, high - 5), high))
    return figure.svg()


def _panel(
    figure: Figure, box: PlotArea, pair: tuple[str, str], found: Curves, span: tuple[int, int]
) -> None:
    (a, b), (low, high) = pair, span

    def up(percent: float) -> float:
        return box.bottom - box.height * (percent - low) / (high - low)

    for tick in range(low, high + 1, 5 if high - low <= 30 else 10):
        figure.line((box.left, up(tick)), (box.left + box.width, up(tick)))
        figure.text(box.left - 6, up(tick) + 4, f"{tick} %", anchor="end", kind="soft")
    for name, of in found.items():
        at = [(box.left + box.width * p.alpha, up(100 * p.values[CURVE_MEASURE])) for p in of[pair]]
        figure.curve(at, f"{a} and {b}, {name}", *_INK[name])
    figure.text(box.left, box.bottom + 20, f"{b} alone")
    figure.text(box.left + box.width, box.bottom + 38, f"{a} alone", anchor="end")
