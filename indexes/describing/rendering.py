"""A table as text for a terminal, as Markdown, and as CSV."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

WIDTH = 80  # columns of a terminal
LIMIT = 20  # rows that people see; the CSV file has all


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole: a fraction in files, percent for people; nothing of nothing."""

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        """The fraction."""
        return self.part / self.whole if self.whole else None


Cell: TypeAlias = str | int | float | Share | None


@dataclass(frozen=True)
class Table:
    """Rows under named columns."""

    name: str  # of its CSV file
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


def shown(cell: Cell) -> str:
    """Return a cell for people."""
    match cell:
        case None:
            return "–"
        case str():
            return "".join(c for c in " ".join(cell.split()) if c.isprintable())  # no escapes of a terminal
        case Share():
            return "–" if cell.value is None else f"{100 * cell.value:.1f} %"
        case int():
            return f"{cell:,}"
        case float():
            return f"{cell:,.1f}"


def as_text(table: Table, width: int = WIDTH) -> str:
    """Return the table in columns.

    Where a line would be too long, a last column of words goes on in the next line, and else the first
    column is cut.
    """
    rows = [[shown(cell) for cell in row] for row in table.rows[:LIMIT]]
    grid = [list(table.columns), *rows]
    right = [_is_number(table, i) for i in range(len(table.columns))]
    wide = [max(columns(row[i]) for row in grid) for i in range(len(table.columns))]
    at = 0 if right[-1] else len(wide) - 1
    wide[at] = max(8, min(wide[at], width - sum(wide) + wide[at] - 2 * (len(wide) - 1)))
    lines = [cut(table.title, width), "-" * min(columns(table.title), width)]
    for row in grid:
        last = [row[-1]] if right[-1] else _wrapped(row[-1], wide[-1]) or [""]
        for n, end in enumerate(last):
            cells = [*(row[:-1] if n == 0 else [""] * (len(row) - 1)), end]
            padded = [_padded(cut(c, w), w, right=r) for c, w, r in zip(cells, wide, right, strict=True)]
            lines.append("  ".join(padded).rstrip())
    lines += _wrapped(_rest(table), width)
    return "\n".join(lines)


def as_markdown(table: Table, level: int = 2) -> str:
    """Return the table with its title and its note."""
    rest = _rest(table)
    parts = [f"{'#' * level} {table.title}", grid(table), *([_escaped(rest)] if rest else [])]
    return "\n\n".join(parts)


def grid(table: Table) -> str:
    """Return the table itself as Markdown."""
    right = (_is_number(table, i) for i in range(len(table.columns)))
    lines = [f"| {' | '.join(map(_escaped, table.columns))} |"]
    lines.append("|" + "".join("---:|" if r else "---|" for r in right))
    lines += [f"| {' | '.join(_escaped(shown(cell)) for cell in row)} |" for row in table.rows[:LIMIT]]
    return "\n".join(lines)


def as_csv(table: Table) -> str:
    """Return all rows as they are: fractions, no thousands apart, empty for what is not there."""
    written = io.StringIO()
    rows = csv.writer(written)  # its own line ends: with them it quotes a carriage return too
    rows.writerow(table.columns)
    rows.writerows([cell.value if isinstance(cell, Share) else cell for cell in row] for row in table.rows)
    return written.getvalue()


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes: two for each Chinese character."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def cut(text: str, width: int) -> str:
    """Return the text, or its beginning and an ellipsis, in at most so many columns."""
    if columns(text) <= width:
        return text
    kept = ""
    for c in text:
        if columns(kept + c) > width - 1:
            break
        kept += c
    return kept.rstrip() + "…"


def _is_number(table: Table, column: int) -> bool:
    cells = [row[column] for row in table.rows if row[column] is not None]
    return bool(cells) and not any(isinstance(cell, str) for cell in cells)


def _padded(text: str, width: int, *, right: bool) -> str:
    blanks = " " * max(0, width - columns(text))
    return blanks + text if right else text + blanks


def _rest(table: Table) -> str:
    more = len(table.rows) - LIMIT
    return " ".join(filter(None, [f"… and {more:,} more rows." if more > 0 else "", table.note]))


def _wrapped(text: str, width: int) -> Sequence[str]:
    lines, line = [], ""
    for word in text.split():
        while columns(line) == 0 and columns(word) > width:  # Chinese has no blanks
            lines.append(cut(word, width + 1).removesuffix("…"))
            word = word[len(lines[-1]) :]
        if line and columns(line) + 1 + columns(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, line] if line else lines


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
