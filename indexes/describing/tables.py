"""A description as tables, the same for terminal, Markdown and CSV."""

from __future__ import annotations

from collections.abc import Iterator

from indexes.describing.description import NONE, Description
from indexes.describing.rendering import Cell, Share, Table
from indexes.describing.spread import Spread, groups
from rag.corpus.licence import licence_of

FIGURES = ("mean", "min", "25 %", "median", "75 %", "95 %", "max")


def tables(of: Description) -> tuple[Table, ...]:
    """Return all tables, in the order in which they are read; those without rows are left out."""
    made = (
        _overview(of), _lengths(of), _codes(of), _coverage(of), _gold(of), _gold_counts(of), _citations(of),
        _references(of), _splits(of), _languages(of), _dates(of), _columns(of),
    )  # fmt: skip
    return tuple(table for table in made if table.rows)


def _overview(of: Description) -> Table:
    card = of.card
    rows: list[tuple[Cell, ...]] = [
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
    note = f"sha256 {of.sha256}"
    return Table("overview", f"The corpus {card.name}", ("what", "found"), tuple(rows), note)


def _lengths(of: Description) -> Table:
    rows = [
        (f"{what}, {unit}", *_figures(spread))
        for what, by_unit in of.lengths.items()
        for unit, spread in by_unit.items()
        if spread.counts
    ]
    how = "; ".join(f"{unit}: {name}" for unit, name in of.units.items())
    note = f"Of the text alone, without code and headings. Counted as {how}."
    return Table("lengths", "Lengths", ("length of", *FIGURES), tuple(rows), note)


def _codes(of: Description) -> Table:
    if not of.with_gold:
        plain = tuple((c.name, c.articles, Share(c.articles, of.articles)) for c in of.codes)
        return Table("codes", "Articles by code", ("code", "articles", "of all"), plain)
    rows = [
        (c.name, c.articles, Share(c.articles, of.articles), c.cited, Share(c.cited, c.articles), c.questions)
        for c in of.codes
    ]
    head = ("code", "articles", "of all", "cited", "of code", "questions")
    note = "Cited: articles that a question cites. Questions: those that cite an article of the code."
    return Table("codes", "Articles by code", head, tuple(rows), note)


def _coverage(of: Description) -> Table:
    if not of.with_gold:
        return Table("coverage", "", (), ())
    rows = (
        ("codes", of.codes_cited, len(of.codes), Share(of.codes_cited, len(of.codes))),
        ("articles", of.cited, of.articles, Share(of.cited, of.articles)),
    )
    return Table("coverage", "What questions cite", ("what", "cited", "of", "share"), rows)


def _gold(of: Description) -> Table:
    by_category = [(name or NONE, spread) for name, spread in of.gold.items()]
    rows = [(name, *_gold_row(spread)) for name, spread in by_category]
    if len(rows) > 1:
        rows.append(("all", *_gold_row(of.gold_of_all)))
    head = ("category", "questions", "without", "mean", "median", "95 %", "max")
    return Table(
        "gold",
        "Gold articles a question, by category",
        head,
        tuple(rows),
        "Without: questions that no article answers; they are left out of the figures beside.",
    )


def _gold_row(spread: Spread) -> tuple[Cell, ...]:
    answered = Spread.of({value: n for value, n in spread.counts.items() if value})
    figures = answered.figures()
    return (spread.n, spread.counts.get(0, 0), *(figures[name] for name in ("mean", "median", "95 %", "max")))


def _gold_counts(of: Description) -> Table:
    rows = groups(of.gold_of_all)
    return Table("gold_counts", "Gold articles a question", ("gold articles", "questions"), rows)


def _citations(of: Description) -> Table:
    rows = groups(of.citations) if of.with_gold else ()
    return Table("citations", "Citations an article", ("questions that cite it", "articles"), rows)


def _references(of: Description) -> Table:
    found = of.references
    rows = groups(found.spread) if found.spread.total else ()
    note = (
        f"{found.spread.total:,} references, {found.inside:,} of them to articles of this corpus"
        f" and {found.itself:,} of an article to itself."
    )
    return Table("references", "Cross-references an article", ("cross-references", "articles"), rows, note)


def _splits(of: Description) -> Table:
    rows = tuple((name or NONE, s.questions, s.with_gold) for name, s in of.splits.items())
    return Table("splits", "Splits of the questions", ("split", "questions", "with gold articles"), rows)


def _languages(of: Description) -> Table:
    rows = tuple((name, n, Share(n, of.articles)) for name, n in of.languages.items())
    note = "Articles that name no language have that of the card."
    return Table("languages", "Languages", ("language", "articles", "share"), rows, note)


def _dates(of: Description) -> Table:
    return Table("dates", "Days on which articles hold", ("what", "found"), tuple(_days(of)))


def _days(of: Description) -> Iterator[tuple[Cell, ...]]:
    dates, day = of.dates, of.card.law_date
    yield "articles that say from when they hold", dates.with_from
    yield "articles that say until when", dates.with_to
    if dates.earliest and dates.latest:
        yield "the earliest first day", dates.earliest.isoformat()
        yield "the latest first day", dates.latest.isoformat()
    if dates.in_force is not None and day is not None:
        yield f"in force on {day.isoformat()}, the day of the law", dates.in_force


def _columns(of: Description) -> Table:
    rows = [
        (f"{c.name} of {c.of}s" + ("" if c.used else " (kept, not used)"), c.filled, Share(c.filled, c.total))
        for c in of.columns
    ]
    return Table("columns", "Optional columns that are filled", ("column", "filled", "share"), tuple(rows))


def _figures(spread: Spread) -> tuple[Cell, ...]:
    found = spread.figures()
    return tuple(found[name] for name in FIGURES)
