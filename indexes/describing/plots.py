"""A description as plots: lengths, codes, gold articles a question, citations an article."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from indexes.describing.description import Code, Description, Distribution, HistogramBin, bins, groups, skewed
from indexes.describing.tables import truncate
from rag.corpus.svg import Figure, PlotArea, across_grid, log_ticks, ticks

WIDTH = 760  # pixels
CODES = 20  # the largest ones; the others are one bar
_LEFT, _RIGHT = 76, 28
_PANEL = 260  # height of a histogram with its axis
_ROW = 26  # height of a code


def plots(of: Description) -> dict[str, str]:
    """Return file name -> SVG; a plot of nothing is left out."""
    made: dict[str, str] = {}
    for what, by_unit in of.lengths.items():
        known = {unit: spread for unit, spread in by_unit.items() if spread.counts}
        if known:
            made[f"lengths_{what}.svg"] = lengths(known, what, of)
    made["codes.svg"] = codes(of)
    gold, citations, references = of.gold_of_all, of.citations, of.references.spread
    if of.with_gold:
        note = f"Mean {_number(gold.total / of.with_gold)}, most {gold.quantile(1.0):,}."
        if of.questions > of.with_gold:
            note += f" {of.questions - of.with_gold:,} questions that no article answers are left out."
        title = f"Gold articles a question: {of.with_gold:,} questions"
        made["gold.svg"] = count_histogram(gold, title, ("gold articles", "questions"), note)
        title = f"Citations an article: {of.cited:,} articles that questions cite"
        note = f"The other {of.articles - of.cited:,} of {of.articles:,} articles are cited by no question."
        axes = ("questions that cite it", "articles")
        made["citations.svg"] = count_histogram(citations, title, axes, note)
    if references.total:
        silent = references.counts.get(0, 0)
        title = f"Cross-references an article: {of.articles - silent:,} articles that refer to others"
        note = f"The other {silent:,} of {of.articles:,} articles refer to none."
        made["references.svg"] = count_histogram(references, title, ("cross-references", "articles"), note)
    return made


def lengths(by_unit: Mapping[str, Distribution], what: str, of: Description) -> str:
    """Draw a histogram for each unit, one above the other."""
    title = f"Lengths of the {next(iter(by_unit.values())).n:,} {what}"
    figure = Figure(WIDTH, 64 + _PANEL * len(by_unit), f"{title}: {of.card.name}")
    figure.text(_LEFT, 28, title, size=17)
    figure.text(_LEFT, 47, truncate(of.card.title, 90), kind="soft")
    captions = []
    for i, (unit, spread) in enumerate(by_unit.items()):
        box = PlotArea(_LEFT, 64 + i * _PANEL + 44, WIDTH - _LEFT - _RIGHT, _PANEL - 104)
        _histogram(figure, box, spread, unit, what)
        captions.append(f"{unit}: median {spread.quantile(0.5):,}, longest {spread.quantile(1.0):,}")
    figure.about = "; ".join(captions)
    return figure.svg()


def _histogram(figure: Figure, box: PlotArea, spread: Distribution, unit: str, what: str) -> None:
    log = skewed(spread)
    found = bins(spread, log=log)
    if not found:  # nothing but zeros
        return
    single = not log and found[0].high == found[0].low + 1  # a bar a value: its number under its middle
    edge = 0.5 if single else 0.0
    across = _scale(found, box, edge, log=log)
    at = ticks(max(b.number for b in found), most=4)
    across_grid(figure, box, at, what)
    for b in found:
        if b.number:
            high = box.height * b.number / at[-1]
            left = across(b.low - edge)
            width = max(across(b.high - edge) - left - 1, 1)
            values = f"{b.low:,}" if b.high == b.low + 1 else f"{b.low:,} to {b.high - 1:,}"
            area = PlotArea(left, box.bottom - high, width, high)
            figure.bar(area, f"{values} {unit}: {b.number:,} {what}")
    least, largest = found[0].low, found[-1].high
    for n in log_ticks(max(least, 1), largest) if log else ticks(largest, most=8):
        if least <= n <= largest - single:
            x = across(n)
            figure.line((x, box.bottom), (x, box.bottom + 5), "axis")
            figure.text(x, box.bottom + 19, f"{n:,}", anchor="middle", kind="soft")
    axis = f"{unit}, logarithmic axis" if log else unit
    figure.text(box.left + box.width / 2, box.bottom + 39, axis, anchor="middle")
    _marks(figure, box, spread, across)


def _marks(figure: Figure, box: PlotArea, spread: Distribution, across: Callable[[float], float]) -> None:
    """Mark the median and the length that 95 % do not pass, their names on the outer sides."""
    for name, share, ends_there, offset in (("median", 0.5, True, -5), ("95 %", 0.95, False, 5)):
        value = spread.quantile(share)
        if value is None:
            continue
        x = min(max(across(value), box.left), box.left + box.width)
        figure.line((x, box.top - 20), (x, box.bottom), "mark", "5 3")
        outside = x + offset - box.left < 110 if ends_there else x + 110 > box.left + box.width
        shift, ends = (-offset, not ends_there) if outside else (offset, ends_there)
        text = f"{name}: {_number(value)}"
        figure.text(x + shift, box.top - 10, text, anchor="end" if ends else "start", kind="said")


def _scale(
    found: Sequence[HistogramBin], box: PlotArea, shift: float, *, log: bool
) -> Callable[[float], float]:
    """Return where a value stands from left to right."""
    if not log:
        first, span = found[0].low - shift, found[-1].high - found[0].low
        return lambda value: box.left + box.width * (value - first) / span
    least = math.log(found[0].low)
    wide = math.log(found[-1].high) - least
    return lambda value: box.left + box.width * (math.log(max(value, 0.5)) - least) / wide


def count_histogram(spread: Distribution, title: str, axes: tuple[str, str], note: str) -> str:
    """Draw how often small counts occur, from one on: a bar each up to ten, then one for a range."""
    found = groups(spread, least=1)
    figure = Figure(WIDTH, 380, title, "; ".join(f"{name}: {n:,}" for name, n in found))
    figure.text(_LEFT, 28, title, size=17)
    figure.text(_LEFT, 49, note, kind="soft")
    step = min((WIDTH - _LEFT - _RIGHT) / len(found), 110)
    box = PlotArea(_LEFT, 84, max(step * len(found), 200), 224)
    at = ticks(1.08 * max(n for _, n in found), most=5)  # the number above the highest bar has room
    across_grid(figure, box, at, axes[1])
    for i, (name, n) in enumerate(found):
        high, left = box.height * n / at[-1], box.left + step * i
        figure.bar(PlotArea(left + step * 0.14, box.bottom - high, step * 0.72, high), f"{name}: {n:,}")
        figure.text(left + step / 2, box.bottom - high - 5, f"{n:,}", anchor="middle", size=12)
        figure.text(left + step / 2, box.bottom + 19, name, anchor="middle", kind="soft", size=12)
    ranges = "" if len(found) < 11 else " (ranges from 11 on)"
    figure.text(box.left + box.width / 2, box.bottom + 44, axes[0] + ranges, anchor="middle")
    return figure.svg()


def codes(of: Description) -> str:
    """Draw the articles of each code, and how many of them a question cites."""
    largest, rest = of.codes[:CODES], of.codes[CODES:]
    title = f"Articles by code: {of.articles:,} in {len(of.codes):,} code{'s' * (len(of.codes) > 1)}"
    figure = Figure(WIDTH, 116 + _ROW * (len(largest) + bool(rest)), f"{title}: {of.card.name}")
    figure.about = "; ".join(f"{c.name}: {_articles(c, of)}" for c in largest)
    figure.text(28, 28, title, size=17)
    figure.text(28, 49, truncate(of.card.title, 90), kind="soft")
    if of.with_gold:
        for x, kind, label in ((28, "strong", "cited by a question"), (186, "bar", "cited by none")):
            figure.bar(PlotArea(x, 62, 12, 12), kind=kind)
            figure.text(x + 18, 73, label, kind="soft")
    begin, most = 310, largest[0].articles
    for i, code in enumerate(largest):
        y, label = 92 + _ROW * i, _articles(code, of)
        figure.text(begin - 10, y + 16, truncate(code.name, 40), anchor="end")
        width = (WIDTH - begin - 150) * code.articles / most
        figure.bar(PlotArea(begin, y + 3, width, _ROW - 7), f"{code.name}: {label}")
        if code.cited:
            dark = max(width * code.cited / code.articles, 1.5)
            figure.bar(PlotArea(begin, y + 3, dark, _ROW - 7), f"{code.name}: {label}", "strong")
        figure.text(begin + width + 7, y + 16, label, kind="soft", size=12)
    if rest:  # no bar: together they would be the longest and make the others short
        y = 92 + _ROW * len(largest)
        others = Code("", sum(c.articles for c in rest), sum(c.cited for c in rest), 0)
        figure.text(begin - 10, y + 16, f"{len(rest):,} smaller codes", anchor="end")
        figure.text(begin, y + 16, f"{_articles(others, of)} (no bar)", kind="soft", size=12)
    return figure.svg()


def _articles(code: Code, of: Description) -> str:
    return f"{code.articles:,}, {code.cited:,} cited" if of.with_gold else f"{code.articles:,}"


def _number(value: float) -> str:
    return f"{value:,.1f}".removesuffix(".0")
