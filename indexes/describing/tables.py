"""A description as tables: as text for a terminal, as Markdown, and as CSV."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from indexes.describing.description import NONE, QUANTILES, Description, Distribution, groups
from rag.corpus.licence import licence_of

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
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Table:
    """Rows under named columns."""

    name: str  # of its CSV file
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


def format_cell(cell: Cell) -> str:
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
    rows = [[format_cell(cell) for cell in row] for row in table.rows[:LIMIT]]
    grid = [list(table.columns), *rows]
    right = [_is_number(table, i) for i in range(len(table.columns))]
    wide = [max(columns(row[i]) for row in grid) for i in range(len(table.columns))]
    at = 0 if right[-1] else len(wide) - 1
    wide[at] = max(8, min(wide[at], width - sum(wide) + wide[at] - 2 * (len(wide) - 1)))
    lines = [truncate(table.title, width), "-" * min(columns(table.title), width)]
    for row in grid:
        last = [row[-1]] if right[-1] else _wrapped(row[-1], wide[-1]) or [""]
        for n, end in enumerate(last):
            cells = [*(row[:-1] if n == 0 else [""] * (len(row) - 1)), end]
            padded = []
            for cell, width_, is_right in zip(map(truncate, cells, wide), wide, right, strict=True):
                blanks = " " * (width_ - columns(cell))
                padded.append(blanks + cell if is_right else cell + blanks)
            lines.append("  ".join(padded).rstrip())
    lines += _wrapped(_rest(table), width)
    return "\n".join(lines)


def as_markdown(table: Table) -> str:
    """Return the table with its title and its note."""
    parts = (f"## {table.title}", grid(table), _escaped(_rest(table)))
    return "\n\n".join(filter(None, parts))


def grid(table: Table) -> str:
    """Return the table itself as Markdown."""
    right = (_is_number(table, i) for i in range(len(table.columns)))
    lines = [f"| {' | '.join(map(_escaped, table.columns))} |"]
    lines.append("|" + "".join("---:|" if r else "---|" for r in right))
    lines += [f"| {' | '.join(_escaped(format_cell(cell)) for cell in row)} |" for row in table.rows[:LIMIT]]
    return "\n".join(lines)


def as_csv(table: Table) -> str:
    """Return all rows as they are: fractions, no thousands apart, empty for what is not there.

    Of a text that a spreadsheet would take for a formula an apostrophe stands in front.
    """
    written = io.StringIO()
    rows = csv.writer(written)  # its own line ends: with them it quotes a carriage return too
    rows.writerow(table.columns)
    rows.writerows(map(_csv_cell, row) for row in table.rows)
    return written.getvalue()


def _csv_cell(cell: Cell) -> Cell:
    if isinstance(cell, Share):
        return cell.value
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes: two for each Chinese character."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def truncate(text: str, width: int) -> str:
    """Return the text, or its beginning and an ellipsis, in at most so many columns."""
    if columns(text) <= width:
        return text
    head = ""
    for c in text:
        if columns(head + c) > width - 1:
            break
        head += c
    return head.rstrip() + "…"


def _is_number(table: Table, column: int) -> bool:
    cells = [row[column] for row in table.rows if row[column] is not None]
    return bool(cells) and not any(isinstance(cell, str) for cell in cells)


def _rest(table: Table) -> str:
    more = len(table.rows) - LIMIT
    return " ".join(filter(None, [f"… and {more:,} more rows." if more > 0 else "", table.note]))


def _wrapped(text: str, width: int) -> list[str]:
    lines, line = [], ""
    for word in text.split():
        while columns(line) == 0 and columns(word) > width:  # Chinese has no blanks
            lines.append(truncate(word, width + 1).removesuffix("…"))
            word = word[len(lines[-1]) :]
        if line and columns(line) + 1 + columns(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, line] if line else lines


def _escaped(text: str) -> str:
    return plain_markdown(text.replace("\\", "\\\\").replace("|", "\\|"))


def plain_markdown(text: str) -> str:
    """Return a text on one line where nothing becomes an element or a link: anybody may write a card."""
    line = "".join(c for c in " ".join(text.split()) if c.isprintable())  # no escapes of a terminal
    return line.replace("<", "&lt;").replace("[", "\\[")


Row: TypeAlias = tuple[Cell, ...]


def tables(of: Description) -> tuple[Table, ...]:
    """Return all tables, in the order in which they are read; those without rows are left out."""
    made = (*_of_all(of), *_of_questions(of), *_of_articles(of))
    return tuple(table for table in made if table.rows)


def _of_all(of: Description) -> Iterator[Table]:
    card = of.card
    rows: list[Row] = [
        ("title", card.title),
        ("articles", of.articles),
        ("codes", len(of.codes)),
        ("questions", of.questions),
        ("questions with gold articles", of.with_gold),
        ("language", card.language),
        ("jurisdiction", card.jurisdiction or None),
        ("law as of", card.law_date.isoformat() if card.law_date else None),
        ("text", "unofficial summaries" if card.text_kind == "summary" else "official text"),
        ("licence", licence_of(card).named),
        ("source", card.source or None),
    ]
    yield Table("overview", f"The corpus {card.name}", ("what", "found"), tuple(rows), f"sha256 {of.sha256}")

    figures = ("mean", *QUANTILES)
    rows = [
        (f"{what}, {unit}", *_figures(spread, figures))
        for what, by_unit in of.lengths.items()
        for unit, spread in by_unit.items()
        if spread.counts
    ]
    how = "; ".join(f"{unit}: {name}" for unit, name in of.units.items())
    note = f"Of the text alone, without code and headings. Counted as {how}."
    yield Table("lengths", "Lengths", ("length of", *figures), tuple(rows), note)

    head: tuple[str, ...] = ("code", "articles", "of all")
    note = ""
    rows = [(c.name, c.articles, Share(c.articles, of.articles)) for c in of.codes]
    if of.with_gold:
        head += ("cited", "of code", "questions")
        question_cells = ((c.cited, Share(c.cited, c.articles), c.questions) for c in of.codes)
        rows = [row + more for row, more in zip(rows, question_cells, strict=True)]
        note = "Cited: articles that a question cites. Questions: those that cite an article of the code."
    yield Table("codes", "Articles by code", head, tuple(rows), note)


def _of_questions(of: Description) -> Iterator[Table]:
    if of.with_gold:
        found = (("codes", of.codes_cited, len(of.codes)), ("articles", of.cited, of.articles))
        cited = tuple((what, part, whole, Share(part, whole)) for what, part, whole in found)
        yield Table("coverage", "What questions cite", ("what", "cited", "of", "share"), cited)

    rows = [(name or NONE, *_gold_row(spread)) for name, spread in of.gold.items()]
    if len(rows) > 1:
        rows.append(("all", *_gold_row(of.gold_of_all)))
    head = ("category", "questions", "without", *_GOLD)
    note = "Without: questions that no article answers; they are left out of the figures beside."
    yield Table("gold", "Gold articles a question, by category", head, tuple(rows), note)

    counts = groups(of.gold_of_all)
    yield Table("gold_counts", "Gold articles a question", ("gold articles", "questions"), counts)
    counts = groups(of.citations) if of.with_gold else ()
    yield Table("citations", "Citations an article", ("questions that cite it", "articles"), counts)


def _of_articles(of: Description) -> Iterator[Table]:
    total = of.references.spread.total
    counts = groups(of.references.spread) if total else ()
    note = (
        f"{total:,} references, {of.references.inside:,} of them to articles of this corpus"
        f" and {of.references.itself:,} of an article to itself."
    )
    yield Table("references", "Cross-references an article", ("cross-references", "articles"), counts, note)

    rows: list[Row] = [(name or NONE, s.questions, s.with_gold) for name, s in of.splits.items()]
    head = ("split", "questions", "with gold articles")
    yield Table("splits", "Splits of the questions", head, tuple(rows))

    rows = [(name, n, Share(n, of.articles)) for name, n in of.languages.items()]
    note = "Articles that name no language have that of the card."
    yield Table("languages", "Languages", ("language", "articles", "share"), tuple(rows), note)

    dates, day = of.dates, of.card.law_date
    rows = [("articles that say from when they hold", dates.with_from)]
    rows.append(("articles that say until when", dates.with_to))
    if dates.earliest and dates.latest:
        rows.append(("the earliest first day", dates.earliest.isoformat()))
        rows.append(("the latest first day", dates.latest.isoformat()))
    if dates.in_force is not None and day is not None:
        rows.append((f"in force on {day.isoformat()}, the day of the law", dates.in_force))
    yield Table("dates", "Days on which articles hold", ("what", "found"), tuple(rows))

    rows = [
        (f"{c.column} of {c.of}s{'' if c.used else ' (kept, not used)'}", c.filled, Share(c.filled, c.total))
        for c in of.columns
    ]
    yield Table("columns", "Optional columns that are filled", ("column", "filled", "share"), tuple(rows))


_GOLD = ("mean", "median", "95 %", "max")


def _gold_row(spread: Distribution) -> Row:
    answered = Distribution.of({value: n for value, n in spread.counts.items() if value})
    return (spread.n, spread.counts.get(0, 0), *_figures(answered, _GOLD))


def _figures(spread: Distribution, names: tuple[str, ...]) -> Row:
    found = spread.figures()
    return tuple(found[name] for name in names)
