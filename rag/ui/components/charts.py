"""Curves as pictures, whose numbers stand in a table beside; and what papers print of other corpora."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag.corpus.quality import ReliabilityBin, TopicRate
from rag.corpus.svg import Figure, PlotArea
from rag.ui.html import Html, tag
from rag.ui.i18n import Interface

_BOX = PlotArea(56, 18, 500, 230)
_MIDDLE = _BOX.left + _BOX.width / 2
_SIZE = (620, 300)
_LINE = 20  # pixels of a line below the axis that names a curve
_DASHES = ("6 4", "2 3", "8 3 2 3")


def picture(figure: Figure) -> Html:
    """Return a drawing as an element that follows light and dark and leaves the page's style alone."""
    data = base64.b64encode(figure.svg().encode()).decode()
    return tag("img", src=f"data:image/svg+xml;base64,{data}", alt=figure.title, class_="pd-plot")


def recall_curves(curves: Mapping[str, Mapping[int, TopicRate]], t: Interface) -> Figure:
    """Draw recall over how many articles are looked at, a curve a way to search; the first is the page's."""
    width, height = _SIZE
    title = t("Answering articles found, by how many articles are looked at")
    figure = Figure(width, height + _LINE * len(curves), title)
    _percents(figure, t)
    at = sorted({k for curve in curves.values() for k in curve})
    low, high = math.log(at[0]), math.log(at[-1])

    def x(k: int) -> float:
        return _BOX.left + _BOX.width * ((math.log(k) - low) / (high - low) if high > low else 0.5)

    for k in at:
        figure.text(x(k), _BOX.bottom + 20, t.number(k), anchor="middle", kind="soft")
    figure.text(_MIDDLE, _BOX.bottom + 40, t("articles looked at"), anchor="middle", kind="soft")
    for n, (name, curve) in enumerate(curves.items()):
        points = [(x(k), _y(rate.value)) for k, rate in curve.items()]
        kind, dash = ("mark", "") if not n else ("axis", _DASHES[(n - 1) % len(_DASHES)])
        figure.curve(points, name, kind, dash)
        y = height + _LINE * n
        figure.curve([(_BOX.left, y - 4), (_BOX.left + 40, y - 4)], name, kind, dash)
        figure.text(_BOX.left + 50, y, name)
        if not n:
            for (px, py), (k, rate) in zip(points, curve.items(), strict=True):
                figure.dot(px, py, 4, f"{t.number(k)} → {percent(rate.value, t)}")
    return figure


def reliability(bins: Sequence[ReliabilityBin], t: Interface) -> Figure:
    """Draw what was predicted against what came true; on the diagonal both are the same."""
    name = t("How likely the page held an answer to be, and how often there was one")
    figure = Figure(*_SIZE, name)
    _percents(figure, t)
    figure.line((_BOX.left, _BOX.bottom), (_BOX.left + _BOX.width, _BOX.top), "axis", "4 4")
    most = max(b.questions for b in bins)
    for part in (0, 0.5, 1):
        x = _BOX.left + _BOX.width * part
        figure.text(x, _BOX.bottom + 20, percent(part, t), anchor="middle", kind="soft")
    figure.text(
        _MIDDLE, _BOX.bottom + 40, t("likelihood that the page estimated"), anchor="middle", kind="soft"
    )
    points = [(_BOX.left + _BOX.width * b.predicted, _y(b.observed)) for b in bins]
    figure.curve(points, name)
    for (x, y), b in zip(points, bins, strict=True):
        tooltip = f"{percent(b.predicted, t)} → {percent(b.observed, t)}"
        figure.dot(x, y, 3 + 5 * math.sqrt(b.questions / most), tooltip)
    return figure


def _percents(figure: Figure, t: Interface) -> None:
    for part in (0, 0.25, 0.5, 0.75, 1):
        figure.line((_BOX.left, _y(part)), (_BOX.left + _BOX.width, _y(part)), "grid" if part else "axis")
        figure.text(_BOX.left - 8, _y(part) + 4, percent(part, t), anchor="end", kind="soft")


def _y(share: float) -> float:
    return _BOX.bottom - _BOX.height * share


def percent(share: float, t: Interface) -> str:
    """Return a share in whole percent."""
    return t("{number}%", number=round(100 * share))


@dataclass(frozen=True, slots=True)
class Published:
    """One row of a paper's table."""

    corpus: str
    paper: str
    system: str
    trained: bool  # on questions of that corpus
    measures: Mapping[str, float]  # percent, as printed


_STARD = ("STARD", "Su et al. 2024")
_BSARD = ("BSARD", "Louis & Spanakis 2022")
_LLEQA = ("LLeQA", "Louis et al. 2025")
_NSF = "BM25 + DPR + ColBERT"  # fused by their z-scores: the best of theirs on the test questions
ROWS = (
    Published(*_STARD, "BM25", False, {"R@10": 39.43, "R@100": 64.93}),
    Published(*_STARD, "Dense-STARD", True, {"R@10": 60.61, "R@100": 90.65}),
    Published(*_BSARD, "BM25", False, {"R@100": 51.33}),
    Published(*_BSARD, "Two-tower bi-encoder", True, {"R@100": 74.78}),
    Published("BSARD", "JuriFindIT 2025", "DAR + GIR", True, {"R@100": 88.7}),  # the highest known
    Published(*_LLEQA, "BM25", False, {"R@10": 36.7}),
    Published(*_LLEQA, _NSF, False, {"R@10": 40.7}),
)
