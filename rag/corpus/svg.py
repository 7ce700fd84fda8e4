"""Plots as SVG, written by hand: text, axes and bars that can be read on a light page and on a dark one.

The colours are set by classes, which follow the reader's own choice of light or dark. Whatever comes
from a corpus is escaped.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

SIZE = 13  # pixels of a letter's height
_STYLE = (
    ".bg{fill:#fff}.ink{fill:#1c2126}.soft{fill:#5b6168}.grid{stroke:#e2dfd8}.axis{stroke:#8b9096}"
    ".bar{fill:#7fb3c2}.strong{fill:#1d5161}.mark{stroke:#b26a00}.said{fill:#8f5500}"
    ".dot{fill:#1d5161;fill-opacity:.75}"
    "@media (prefers-color-scheme:dark){.bg{fill:#14181d}.ink{fill:#ece9e3}.soft{fill:#b3b4b0}"
    ".grid{stroke:#2d343c}.axis{stroke:#6d747c}.bar{fill:#3d7486}.strong{fill:#a9dbe8}"
    ".mark{stroke:#e0a545}.said{fill:#e9b765}.dot{fill:#a9dbe8}}"
)
Anchor = Literal["start", "middle", "end"]
Shape = Literal["circle", "cross", "square", "diamond", "triangle", "plus"]
_SHAPES: dict[Shape, str] = {  # around the point that the path has moved to
    "circle": "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0",
    "cross": "m-3-3l6 6m0-6l-6 6",
    "square": "m-3-3h6v6h-6z",
    "diamond": "m0-4l4 4l-4 4l-4-4z",
    "triangle": "m0-4l4 7h-8z",
    "plus": "m-4 0h8m-4-4v8",
}


# what XML cannot hold, with which no program opens the file, and what turns the direction of writing
_TAKEN_OUT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def escape(text: str) -> str:
    """Return a text as XML holds it."""
    return html.escape(_TAKEN_OUT.sub("", text))


@dataclass(frozen=True, slots=True)
class PlotArea:
    """Where the bars of a plot stand, in pixels from the upper left corner."""

    left: float
    top: float
    width: float
    height: float

    @property
    def bottom(self) -> float:
        """The line that the bars stand on."""
        return self.top + self.height


@dataclass
class Figure:
    """A drawing to which parts are added."""

    width: int
    height: int
    title: str
    about: str = ""  # what it shows, for who cannot see it
    _parts: list[str] = field(default_factory=list)

    def text(
        self, x: float, y: float, text_: str, *, anchor: Anchor = "start", kind: str = "ink", size: int = SIZE
    ) -> None:
        """Write a line of text; y is its base line."""
        style = f' font-size="{size}"' if size != SIZE else ""
        self._parts.append(
            f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>'
            f"{escape(text_)}</text>"
        )

    def upright(self, x: float, y: float, label: str) -> None:
        """Write a line that goes up, its middle at (x, y)."""
        self._parts.append(
            f'<text class="soft" transform="translate({x:.1f} {y:.1f}) rotate(-90)" text-anchor="middle">'
            f"{escape(label)}</text>"
        )

    def bar(self, box: PlotArea, tooltip: str = "", kind: str = "bar") -> None:
        """Draw a bar; a pointer that rests on it is told what it says."""
        title_element = f"<title>{escape(tooltip)}</title>" if tooltip else ""
        self._parts.append(
            f'<rect class="{kind}" x="{box.left:.1f}" y="{box.top:.1f}" width="{box.width:.1f}" '
            f'height="{box.height:.1f}">{title_element}</rect>'
        )

    def dot(self, x: float, y: float, radius: float, tooltip: str) -> None:
        """Draw a disc, with what it says."""
        self._parts.append(
            f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"><title>{escape(tooltip)}</title>'
            "</circle>"
        )

    def marker(
        self, x: float, y: float, radius: float, shape: Shape, tooltip: str, *, filled: bool = True
    ) -> None:
        """Draw a mark whose shape tells as much as its colour, full or as an outline, with what it says."""
        style = 'class="strong"' if filled else 'class="mark" fill="none" stroke-width="2"'
        place = f'transform="translate({x:.1f} {y:.1f}) scale({radius / 3:.2f})"'
        self._parts.append(
            f'<path {style} vector-effect="non-scaling-stroke" {place} d="M0 0{_SHAPES[shape]}">'
            f"<title>{escape(tooltip)}</title></path>"
        )

    def line(
        self, start: tuple[float, float], end: tuple[float, float], kind: str = "grid", dash: str = ""
    ) -> None:
        """Draw a straight line."""
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        (x, y), (to_x, to_y) = start, end
        self._parts.append(f'<path class="{kind}" d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}"{dashed}/>')

    def curve(
        self, points: Sequence[tuple[float, float]], tooltip: str, kind: str = "mark", dash: str = ""
    ) -> None:
        """Draw a line through points, with what it says."""
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self._parts.append(
            f'<path class="{kind}" d="M{path}" fill="none" stroke-width="2"{dashed}>'
            f"<title>{escape(tooltip)}</title></path>"
        )

    def marks(
        self, points: Sequence[tuple[float, float]], shape: Shape, tooltip: str = "", kind: str = "mark"
    ) -> None:
        """Draw the same shape at many points, as one part: what shapes tell apart needs no colour."""
        path = "".join(f"M{x:.0f} {y:.0f}{_SHAPES[shape]}" for x, y in points)
        title_element = f"<title>{escape(tooltip)}</title>" if tooltip else ""
        self._parts.append(f'<path class="{kind}" d="{path}" fill="none">{title_element}</path>')

    def svg(self) -> str:
        """Return the file."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" font-family="system-ui,sans-serif" '
            f'font-size="{SIZE}" role="img">'
        )
        about = [f"<desc>{escape(self.about)}</desc>"] if self.about else []
        ground = f'<style>{_STYLE}</style>\n<rect class="bg" width="100%" height="100%"/>'
        title_element = f"<title>{escape(self.title)}</title>"
        return "\n".join([head, title_element, *about, ground, *self._parts, "</svg>", ""])


def ticks(largest: float, most: int = 5) -> list[int]:
    """Return round whole numbers from 0 to at least the largest value, the axis of a count."""
    rough = max(largest, 1) / most
    power: int = 10 ** max(0, math.floor(math.log10(max(rough, 1))))
    step = next(n * power for n in (1, 2, 5, 10) if n * power >= rough)
    return list(range(0, math.ceil(max(largest, 1) / step) * step + 1, step))


def log_ticks(least: float, largest: float) -> list[int]:
    """Return the powers of ten between two values, with 2 and 5 of each where there are few of them."""
    powers = range(math.floor(math.log10(least)), math.ceil(math.log10(largest)) + 1)
    steps = (1, 2, 5) if len(powers) <= 4 else (1,)
    found = (n * 10**p for p in powers if p >= 0 for n in steps)
    return [n for n in found if least <= n <= largest]


def across_grid(figure: Figure, box: PlotArea, at: Sequence[int], name: str) -> None:
    """Draw the lines of an axis that counts upwards, their numbers on the left, and its name."""
    for n in at:
        y = box.bottom - box.height * n / at[-1]
        figure.line((box.left, y), (box.left + box.width, y), "axis" if n == 0 else "grid")
        figure.text(box.left - 8, y + 4, f"{n:,}", anchor="end", kind="soft")
    figure.upright(16, box.top + box.height / 2, name)
