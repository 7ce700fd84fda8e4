"""The figures of complementarity as SVG: told apart by dash and shape, so that ink alone will do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from rag.corpus.svg import Figure, PlotArea, Shape
from rag.types import Bools, Doubles
from training.fusion.complementarity import REGIONS, SCALINGS, Complementarity

DISTRIBUTIONS, REGION_BARS, SCATTER = "distributions.svg", "regions.svg", "scatter.svg"
_LINES: Sequence[tuple[str, str, Shape]] = (  # kind of line, dashes, shape: of one system after the other
    ("mark", "", "circle"),
    ("axis", "7 4", "square"),
    ("mark", "2 3", "triangle"),
    ("axis", "9 3 2 3", "plus"),
    ("mark", "5 2", "cross"),
)
_WIDE, _HIGH, _LEFT, _TOP = 210, 150, 56, 70  # a panel and the margins
_STEP_X, _STEP_Y = _WIDE + 66, _HIGH + 76
_DRAWN = 150  # pairs of a kind in a panel


def write(folder: Path, found: Complementarity, title: str) -> None:
    """Write the figures into a folder."""
    for name, svg in draw(found, title).items():
        (folder / name).write_text(svg, encoding="utf-8")


def draw(found: Complementarity, title: str) -> dict[str, str]:
    """Return the figures by the names of their files."""
    return {
        DISTRIBUTIONS: _distributions(found, title),
        REGION_BARS: _regions(found, title),
        SCATTER: _scatter(found, title),
    }


def _distributions(found: Complementarity, title: str) -> str:
    """Draw a panel a scaling, a line a system: the share of the candidates over the scaled score."""
    shape = f"{title}: scores of the candidates by scaling"
    figure = Figure(
        _LEFT + 2 * _STEP_X, _TOP + 2 * _STEP_Y, shape, "Lines over scaled scores, a system each."
    )
    figure.text(_LEFT, 22, shape, size=15)
    names = list(found.distributions["raw"])
    _key(figure, names)
    for number, scaling in enumerate(SCALINGS):
        box = PlotArea(_LEFT + number % 2 * _STEP_X, _TOP + number // 2 * _STEP_Y, _WIDE, _HIGH)
        of = found.distributions[scaling]
        top = max(float(share.max()) for _, share in of.values()) or 1.0
        ends = next(iter(of.values()))[0]
        low, high = float(ends[0]), float(ends[-1])
        for y, label in ((box.bottom, "0"), (box.top, f"{100 * top:.0f} %")):
            figure.line((box.left, y), (box.left + _WIDE, y))
            figure.text(box.left - 6, y + 4, label, anchor="end", kind="soft")
        least, most = ("least", "largest") if scaling == "raw" else (f"{low:.3g}", f"{high:.3g}")
        figure.text(box.left, box.bottom + 18, least, kind="soft")
        figure.text(box.left + _WIDE, box.bottom + 18, most, anchor="end", kind="soft")
        figure.text(box.left + _WIDE / 2, box.bottom + 34, scaling, anchor="middle")
        for (name, (edges, share)), (kind, dash, mark) in zip(of.items(), _LINES, strict=False):
            middle = (edges[:-1] + edges[1:]) / 2
            across = box.left + _WIDE * (middle - low) / ((high - low) or 1.0)
            up = box.bottom - _HIGH * share / top
            points = list(zip(across.tolist(), up.tolist(), strict=True))
            figure.curve(points, f"{name}, {scaling}", kind, dash)
            figure.marks(points[3::9], mark, kind=kind)
    return figure.svg()


def _key(figure: Figure, names: Sequence[str]) -> None:
    for number, (name, (kind, dash, shape)) in enumerate(zip(names, _LINES, strict=False)):
        x = _LEFT + 130 * number
        figure.curve([(x, 44), (x + 30, 44)], name, kind, dash)
        figure.marks([(x + 15, 44)], shape, kind=kind)
        figure.text(x + 36, 48, name, kind="soft")


def _regions(found: Complementarity, title: str) -> str:
    """Draw for each pair of systems how many right and wrong pairs are in each region: two bars, numbered."""
    shape = f"{title}: regions of right and wrong pairs"
    rows = len(found.regions)
    step = 30 * len(REGIONS) + 44
    figure = Figure(640, _TOP + rows * step, shape, "Bars: shares of right and of wrong pairs by region.")
    figure.text(20, 22, shape, size=15)
    figure.bar(PlotArea(20, 38, 26, 9), kind="strong")
    figure.text(52, 47, "right: the article answers the question", kind="soft")
    figure.bar(PlotArea(330, 38, 26, 9))
    figure.text(362, 47, "wrong: drawn at random", kind="soft")
    for number, ((a, b), regions) in enumerate(found.regions.items()):
        top = _TOP + number * step
        figure.text(20, top + 8, f"a = {a}, b = {b}")
        for line, region in enumerate(REGIONS):
            y = top + 20 + 30 * line
            figure.text(150, y + 14, region, anchor="end", kind="soft")
            for below, kind in enumerate(("right", "wrong")):
                share = regions[region][kind]
                box = PlotArea(160, y + 11 * below, 380 * share, 9)
                figure.bar(
                    box, f"{region}, {kind}: {100 * share:.0f} %", "strong" if kind == "right" else "bar"
                )
                label = f"{100 * share:.0f} % {kind}"
                figure.text(166 + 380 * share, y + 9 + 11 * below, label, kind="soft", size=11)
    return figure.svg()


def _scatter(found: Complementarity, title: str) -> str:
    """Draw a panel a pair of systems: scores of right pairs as circles, of wrong ones as crosses."""
    shape = f"{title}: scores of pairs"
    pairs = list(combinations(found.scatter, 2))
    across = min(3, max(2, len(pairs)))
    height = _TOP + -(-len(pairs) // across) * _STEP_Y
    figure = Figure(_LEFT + across * _STEP_X, height, shape, "Points: two systems' scores of the same pair.")
    figure.text(_LEFT, 22, shape, size=15)
    figure.marks([(_LEFT + 4, 44)], "circle", kind="mark")
    figure.text(_LEFT + 14, 48, "right", kind="soft")
    figure.marks([(_LEFT + 74, 44)], "cross", kind="axis")
    figure.text(_LEFT + 84, 48, "wrong", kind="soft")
    figure.line((_LEFT + 150, 44), (_LEFT + 178, 44), "axis", "4 3")
    figure.text(_LEFT + 184, 48, "quartiles over the corpus; unmatched: at the edge", kind="soft")
    for number, (a, b) in enumerate(pairs):
        box = PlotArea(_LEFT + number % across * _STEP_X, _TOP + number // across * _STEP_Y, _WIDE, _HIGH)
        (x, x_quartiles), (y, y_quartiles) = (_unit(found.scatter, name) for name in (a, b))
        figure.line((box.left, box.bottom), (box.left + _WIDE, box.bottom), "axis")
        figure.line((box.left, box.top), (box.left, box.bottom), "axis")
        for at in x_quartiles:
            figure.line((box.left + _WIDE * at, box.top), (box.left + _WIDE * at, box.bottom), "axis", "4 3")
        for at in y_quartiles:
            figure.line(
                (box.left, box.bottom - _HIGH * at),
                (box.left + _WIDE, box.bottom - _HIGH * at),
                "axis",
                "4 3",
            )
        ways: Sequence[tuple[Bools, Shape, str]] = (
            (~found.right, "cross", "axis"),
            (found.right, "circle", "mark"),
        )
        for kind, mark, ink in ways:
            rows = np.flatnonzero(kind)
            rows = rows[np.unique(np.linspace(0, len(rows) - 1, min(_DRAWN, len(rows))).astype(int))].tolist()
            points = [(box.left + _WIDE * x[i], box.bottom - _HIGH * y[i]) for i in rows]
            figure.marks(points, mark, kind=ink)
        figure.text(box.left + _WIDE / 2, box.bottom + 18, a, anchor="middle", kind="soft")
        figure.upright(box.left - 12, box.top + _HIGH / 2, b)
    return figure.svg()


def _unit(
    scatter: Mapping[str, tuple[Doubles, tuple[float, float]]], name: str
) -> tuple[Doubles, tuple[float, float]]:
    """Return a system's scores and its quartiles from 0 to 1; what it does not match stands at 0."""
    scores, quartiles = scatter[name]
    known = scores[np.isfinite(scores)]
    ends = [*known.tolist(), *quartiles]
    low, high = min(ends), max(ends)
    spread = (high - low) or 1.0
    unit = np.where(np.isfinite(scores), (scores - low) / spread, 0.0)
    return unit, ((quartiles[0] - low) / spread, (quartiles[1] - low) / spread)
