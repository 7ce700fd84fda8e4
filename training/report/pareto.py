"""Quality, latency and size in one drawing: ours full, published as outlines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rag.corpus.svg import Figure, PlotArea, Shape

_BOX = PlotArea(70, 60, 620, 380)
_SHAPES: Sequence[Shape] = ("circle", "square", "diamond", "triangle")
_LEGEND = 22  # pixels of a line
_SMALLEST, _LARGEST = 4.0, 14.0  # pixels of a radius


@dataclass(frozen=True, slots=True)
class Point:
    """One system: what it finds, how long it takes, how large its index is."""

    system: str
    series: str  # which corpus, split and hardware; only within one can heights be compared
    published: bool
    quality: float  # R@10, a fraction
    ms: float
    megabytes: float


def front(points: Sequence[Point]) -> list[Point]:
    """Return those that no other of them beats in quality and latency, fastest first."""
    best: list[Point] = []
    for point in sorted(points, key=lambda p: (p.ms, -p.quality)):
        if not best or point.quality > best[-1].quality:
            best.append(point)
    return best


def draw(points: Sequence[Point], title: str = "Quality, latency and size") -> Figure:
    """Draw R@10 over milliseconds on a logarithmic axis; a mark grows with the logarithm of its index.

    Each series has a shape of its own, its front a line; a legend names corpus and hardware.
    """
    series = list(dict.fromkeys(p.series for p in points))
    height = int(_BOX.bottom) + 70 + _LEGEND * len(series)
    about = (
        "R@10 in percent over milliseconds a question, a logarithmic axis. The larger a mark, the larger its "
        "index. Full marks are ours, outlines are published; heights compare within one corpus only."
    )
    figure = Figure(820, height, title, about)
    figure.text(_BOX.left, 26, title, size=15)
    figure.text(
        _BOX.left, 46, "full: ours; outline: published; compare heights within one corpus", kind="soft"
    )
    low, high = (f(math.log10(p.ms) for p in points) for f in (min, max))
    low, high = math.floor(low), max(math.ceil(high), math.floor(low) + 1)
    top = 10 * (int(max(10 * p.quality for p in points)) + 1)
    sizes = [math.log10(max(p.megabytes, 0.01)) for p in points]
    least, span = min(sizes), max(max(sizes) - min(sizes), 1e-9)

    def at(point: Point) -> tuple[float, float]:
        across = (math.log10(point.ms) - low) / (high - low)
        return _BOX.left + _BOX.width * across, _BOX.bottom - _BOX.height * 100 * point.quality / top

    for percent in range(0, top + 1, 10):
        y = _BOX.bottom - _BOX.height * percent / top
        figure.line((_BOX.left, y), (_BOX.left + _BOX.width, y), "grid" if percent else "axis")
        figure.text(_BOX.left - 8, y + 4, f"{percent} %", anchor="end", kind="soft")
    for power in range(low, high + 1):
        x = _BOX.left + _BOX.width * (power - low) / (high - low)
        figure.line((x, _BOX.bottom), (x, _BOX.bottom + 5), "axis")
        figure.text(x, _BOX.bottom + 20, f"{10**power:g} ms", anchor="middle", kind="soft")
    figure.text(
        _BOX.left + _BOX.width / 2, _BOX.bottom + 42, "milliseconds a question", anchor="middle", kind="soft"
    )
    figure.upright(20, _BOX.top + _BOX.height / 2, "R@10")
    taken: list[tuple[float, float, float]] = []  # labels: left, right, base line
    for n, name in enumerate(series):
        mine = [p for p in points if p.series == name]
        best, shape, full = front(mine), _SHAPES[n % len(_SHAPES)], not mine[0].published
        if len(best) > 1:
            figure.curve([at(p) for p in best], f"front of {name}", "axis", "" if full else "5 4")
        for point, size in ((p, s) for p, s in zip(points, sizes, strict=True) if p.series == name):
            radius = _SMALLEST + (_LARGEST - _SMALLEST) * (size - least) / span
            said = (
                f"{point.system}: R@10 {100 * point.quality:.1f}, {point.ms:.3g} ms, {point.megabytes:.3g} MB"
            )
            x, y = at(point)
            figure.marker(x, y, radius, shape, f"{said}; {name}", filled=full)
            _label(figure, x, y, radius, f"{point.system}, {point.megabytes:.3g} MB", taken)
        y = _BOX.bottom + 72 + _LEGEND * n
        figure.marker(_BOX.left + 8, y - 4, 6, shape, name, filled=full)
        figure.text(_BOX.left + 24, y, name, size=12)
    return figure


def _label(
    figure: Figure, x: float, y: float, radius: float, text: str, taken: list[tuple[float, float, float]]
) -> None:
    """Write a label where it covers no other: right or left of its mark, else as little lower as it can."""
    width, gap = 6.2 * len(text), radius + 4
    for down in range(0, 200, 4):
        for left in (x + gap, x - gap - width):
            base, right = y + 4 + down, left + width
            free = all(end < left or right < start or abs(base - at) > 12 for start, end, at in taken)
            if free and left > _BOX.left:
                taken.append((left, right, base))
                figure.text(left, base, text, size=11)
                return
