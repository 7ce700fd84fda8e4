"""A flame graph of what a profiler saw: how wide a function is, is how long it and what it calls took.

Read from folded stacks, a line each as `py-spy record --format raw` and perf's scripts write them: functions
from the outermost on, with semicolons between, a blank and how often that was seen (Gregg 2016).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rag.corpus.svg import Figure, PlotArea
from rag.errors import BadInput

WIDTH, HEIGHT = 1200, 20  # pixels, of all and of one function
NARROWEST = 2.0  # what is less wide is not drawn
LETTER = 7.0  # pixels of width
_FRAME = re.compile(r"^(.*) \((.*?)(?::\d+)?\)$")


@dataclass
class _Call:
    """A function in one place of the stack."""

    seen: int = 0
    calls: dict[str, _Call] = field(default_factory=dict)


def draw(lines: Iterable[str], title: str, below: Sequence[str] = ()) -> str:
    """Return the drawing as SVG; a stack begins below the first function of one of these names, if any.

    Raises:
        BadInput: a line is no folded stack, or none goes through such a function.
    """
    root = _Call()
    for number, line in enumerate(filter(None, map(str.strip, lines)), start=1):
        stack, _, count = line.rpartition(" ")
        if not stack or not count.isdecimal():
            raise BadInput(
                f"line {number}: {line[:60]!r} is no stack and its count: py-spy record --format raw"
            )
        frames = [_name(frame) for frame in stack.split(";")]
        at = next((n for n, frame in enumerate(frames) if frame.split(" ")[0] in below), None)
        if below and at is None:
            continue
        call = root
        call.seen += int(count)
        for frame in frames[at or 0 :]:
            call = call.calls.setdefault(frame, _Call())
            call.seen += int(count)
    if not root.seen:
        raise BadInput(
            f"no stack goes through {', '.join(below) or 'anything'}: profile the process that asks"
        )
    figure = Figure(WIDTH, HEIGHT * (_depth(root) + 1) + 10, title)
    figure.text(4, HEIGHT - 6, f"{title}: {root.seen:,} samples")
    _drawn(figure, root, 0.0, HEIGHT, WIDTH / root.seen)
    return figure.svg()


def _name(frame: str) -> str:
    """Return a function with its file, whatever its line: "rank (rag/types.py)"."""
    found = _FRAME.match(frame)
    return f"{found[1]} ({found[2]})" if found else frame


def _depth(call: _Call) -> int:
    return 1 + max(map(_depth, call.calls.values()), default=-1)


def _drawn(figure: Figure, call: _Call, left: float, top: float, scale: float) -> None:
    for name, inner in sorted(call.calls.items(), key=lambda each: -each[1].seen):
        width = inner.seen * scale
        if width >= NARROWEST:
            share = f"{name}: {100 * inner.seen * scale / WIDTH:.1f} %"
            figure.bar(PlotArea(left, top, width - 1, HEIGHT - 1), share)
            short = name.split(" ")[0].rsplit(".", 1)[-1]
            if len(short) * LETTER < width:
                figure.text(left + 3, top + HEIGHT - 6, short, size=12)
            _drawn(figure, inner, left, top + HEIGHT, scale)
        left += width
