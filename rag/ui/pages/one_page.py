"""What fits on one printed page: lines told from letters, shared out, and texts cut to them.

A server cannot set type. It counts lines of so few letters as hardly ever stand on one, and the style sheet
cuts each text at its lines once more when it is printed (`--pd-lines`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

PAGE = 58  # lines of 13 points on A4 within margins of 10 mm: 785 points, and two lines to spare
FRAME = 10  # of them: the title, four headings, and the border around what happened
LINE = 95  # letters on a line of ten points
SMALL = 112  # on one of 8.5 points
GAP = 0.5  # of a line, above each article
LEAST = 2  # lines of an article, however many there are
WRITTEN = 4  # lines of what happened at least, for a pen too
SHARE = 0.6  # of what is left, to the articles; the rest is the person's
MARK = " …"


@dataclass(frozen=True, slots=True)
class Room:
    """Lines that a page has."""

    facts: int
    article: int  # for each, at most


def room(heads: Sequence[str], texts: Sequence[str], small: Sequence[str]) -> Room:
    """Share one page out.

    What is shared does not hang on what the person writes, who may print before it has been sent.

    Args:
        heads: of the articles.
        texts: of the articles; a short one leaves its lines to the others, and then to what happened.
        small: the lines in small letters below.
    """
    left: float = PAGE - FRAME - sum(lines(text, SMALL) for text in small)
    left -= sum(lines(head) + GAP for head in heads)
    needed = [lines(text) for text in texts]
    each = LEAST
    while each < max(needed, default=0) and sum(min(need, each + 1) for need in needed) <= SHARE * left:
        each += 1
    taken = sum(min(need, each) for need in needed)
    return Room(max(WRITTEN, int(left - taken)), each)


def lines(text: str, wide: int = LINE) -> int:
    """Return how many lines of so many letters a text takes; an empty one takes one."""
    return sum(max(1, -(-_width(line) // wide)) for line in text.splitlines() or [""])


def cut(text: str, count: int, wide: int = LINE) -> str:
    """Return a text that takes so many lines, with a mark where it was cut."""
    if lines(text, wide) <= count:
        return text
    kept: list[str] = []
    for line in text.splitlines():
        left = count - sum(lines(each, wide) for each in kept)
        if lines(line, wide) > left:
            kept += [_head(line, left * wide - _width(MARK))] if left else []
            break
        kept.append(line)
    return "\n".join(kept).rstrip() + MARK


def _head(line: str, wide: int) -> str:
    taken = 0
    for at, letter in enumerate(line):
        taken += _width(letter)
        if taken > wide:
            space = line.rfind(" ", 0, at + 1)
            return line[: space if space > at // 2 else at]  # hardly a space: Chinese
    return line


def _width(text: str) -> int:
    """Return how wide a text is, in letters of Latin script."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
