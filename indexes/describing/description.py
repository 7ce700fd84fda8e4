"""What is measured of a corpus.

How whole numbers are spread: exact means and quantiles from how often each of them occurs.

Lengths and counts repeat: a million articles have a few thousand different lengths. So nothing but
the counts is kept, and every figure is exact all the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Any, NamedTuple

from rag.corpus.card import CorpusCard

SKEWED = 20  # the largest value over the median from which a logarithmic axis shows more
FIGURES = {"min": 0.0, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "95 %": 0.95, "max": 1.0}
_SINGLE = 10  # groups of counts hold one value each up to here


class HistogramBin(NamedTuple):
    """How many values lie from low (with it) to high (without it)."""

    low: int
    high: int
    number: int


@dataclass(frozen=True)
class Distribution:
    """How often each whole number from 0 on occurs, in ascending order."""

    counts: Mapping[int, int]

    @classmethod
    def of(cls, counts: Mapping[int, int]) -> Distribution:
        """Make it of counts in any order; those that are 0 are left out."""
        return cls({value: counts[value] for value in sorted(counts) if counts[value]})

    @property
    def n(self) -> int:
        """How many values there are."""
        return sum(self.counts.values())

    @property
    def total(self) -> int:
        """The sum of the values."""
        return sum(value * count for value, count in self.counts.items())

    @property
    def mean(self) -> float | None:
        """The mean; None of nothing."""
        return self.total / self.n if self.counts else None

    def quantile(self, share: float) -> float | None:
        """Return the value below which this share of them lies; None of nothing.

        Between two neighbours it goes in a straight line: the seventh definition of Hyndman and Fan
        (1996), which numpy takes too.
        """
        if not self.counts:
            return None
        at = share * (self.n - 1)
        lower = math.floor(at)
        low, high = self._ordered(lower, min(lower + 1, self.n - 1))
        found = low + (high - low) * (at - lower)
        return int(found) if found == int(found) else found

    def figures(self) -> dict[str, float | None]:
        """Return n, mean, minimum, quartiles, 95 % and maximum, by their names."""
        return {
            "n": self.n,
            "mean": self.mean,
            **{name: self.quantile(share) for name, share in FIGURES.items()},
        }

    def _ordered(self, first: int, second: int) -> tuple[int, int]:
        """Return the values at two neighbouring places, counted from 0, of all values in order."""
        found: list[int] = []
        seen = 0
        for value, count in self.counts.items():
            seen += count
            found += [value] * ((first < seen) + (second < seen) - len(found))
            if len(found) == 2:
                break
        return found[0], found[1]


def skewed(spread: Distribution) -> bool:
    """Tell whether a few values are so large that only a logarithmic axis shows the others."""
    median, largest = spread.quantile(0.5), spread.quantile(1.0)
    return median is not None and largest is not None and largest > SKEWED * max(median, 1)


def bins(spread: Distribution, *, log: bool, most: int = 36) -> tuple[HistogramBin, ...]:
    """Group values for a histogram; all groups between the first and the last are there, empty ones too.

    Args:
        spread: the values.
        log: groups of equal width on a logarithmic axis, which leaves out the value 0.
        most: how many groups at most on a linear axis.
    """
    values = [value for value in spread.counts if value or not log]
    if not values:
        return ()
    edges = _log_edges(values[0], values[-1]) if log else _edges(values[0], values[-1], most)
    found = []
    for low, high in pairwise(edges):
        count = sum(n for value, n in spread.counts.items() if low <= value < high)
        found.append(HistogramBin(low, high, count))
    return tuple(found)


def _edges(least: int, largest: int, most: int) -> list[int]:
    step = nice((largest + 1 - least) / most)
    return list(range(least // step * step, largest + step + 1, step))


def _log_edges(least: int, largest: int) -> list[int]:
    """Return whole numbers, ten to a decade; low ones, which would repeat, have fewer."""
    first, last = math.floor(10 * math.log10(least)), math.ceil(10 * math.log10(largest + 1))
    edges = sorted({round(10 ** (i / 10)) for i in range(first, last + 1)})
    return [edge for edge, after in zip(edges, [*edges[1:], math.inf], strict=True) if after > least]


def nice(least: float) -> int:
    """Return the smallest of 1, 2, 5, 10, 20, 50 … that is not below `least`."""
    power: int = 10 ** max(0, math.floor(math.log10(max(least, 1))))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least)


def groups(spread: Distribution, least: int = 0) -> tuple[tuple[str, int], ...]:
    """Return how often each value up to ten occurs, then 11–20, 21–50, 51–100 …, with a name each.

    Args:
        spread: the values.
        least: the first value that counts.
    """
    values = [value for value in spread.counts if value >= least]
    if not values:
        return ()
    found = [
        (f"{value:,}", spread.counts.get(value, 0)) for value in range(least, min(values[-1], _SINGLE) + 1)
    ]
    for low, high in _tens(values[-1]):
        count = sum(n for value, n in spread.counts.items() if low <= value <= high)
        found.append((f"{low:,}–{high:,}", count))
    return tuple(found)


def _tens(largest: int) -> Iterable[tuple[int, int]]:
    low, power = _SINGLE + 1, _SINGLE
    while low <= largest:
        for step in (2, 5, 10):
            if low <= largest:
                yield low, step * power
            low = step * power + 1
        power *= 10


NONE = "(none)"  # how files and tables name questions without a category or split


@dataclass(frozen=True, slots=True)
class Code:
    """One code and what the questions ask of it."""

    name: str
    articles: int
    cited: int  # articles that a question cites
    questions: int  # questions that cite one of its articles


@dataclass(frozen=True, slots=True)
class SplitSummary:
    """The questions of one split."""

    questions: int
    with_gold: int


@dataclass(frozen=True, slots=True)
class Dates:
    """From when and until when articles hold."""

    with_from: int
    with_to: int
    earliest: date | None  # of the days from which an article holds
    latest: date | None
    in_force: int | None  # articles in force on the day of the law; None where no days are known


@dataclass(frozen=True, slots=True)
class References:
    """What articles refer to."""

    spread: Distribution  # cross-references an article
    inside: int  # to an article of the corpus
    itself: int  # of these, of an article to itself


@dataclass(frozen=True, slots=True)
class TableColumn:
    """How often an optional column holds something."""

    of: str  # "article" or "question"
    name: str
    filled: int
    total: int
    used: bool = True  # False: kept beside the corpus, read by no system


@dataclass(frozen=True)
class Description:
    """Everything that `indexes.describing.measure` finds in a corpus."""

    card: CorpusCard
    sha256: str  # of the articles: the corpus's identity
    units: Mapping[str, str]  # "words" -> how they were counted
    lengths: Mapping[str, Mapping[str, Distribution]]  # "articles" or "questions" -> unit -> lengths
    codes: tuple[Code, ...]  # the largest first
    gold: Mapping[str, Distribution]  # category of question, "" for none -> gold articles a question
    citations: Distribution  # of all articles: by how many questions each is cited
    references: References
    splits: Mapping[str, SplitSummary]  # "" for none
    languages: Mapping[str, int]  # articles by their language
    dates: Dates
    columns: tuple[TableColumn, ...]

    @property
    def articles(self) -> int:
        """How many articles there are."""
        return self.citations.n

    @property
    def questions(self) -> int:
        """How many questions there are."""
        return self.gold_of_all.n

    @property
    def gold_of_all(self) -> Distribution:
        """Gold articles a question, whatever its category."""
        counts: dict[int, int] = {}
        for spread in self.gold.values():
            for value, count in spread.counts.items():
                counts[value] = counts.get(value, 0) + count
        return Distribution.of(counts)

    @property
    def with_gold(self) -> int:
        """How many questions have gold articles."""
        return self.questions - self.gold_of_all.counts.get(0, 0)

    @property
    def cited(self) -> int:
        """How many articles a question cites."""
        return self.articles - self.citations.counts.get(0, 0)

    @property
    def codes_cited(self) -> int:
        """How many codes have an article that a question cites."""
        return sum(code.cited > 0 for code in self.codes)

    def to_json(self) -> dict[str, Any]:
        """Return it for description.json: spreads by their figures, and how often each value occurs."""
        return {
            "sha256": self.sha256,
            "articles": self.articles,
            "questions": self.questions,
            "units": dict(self.units),
            "lengths": {of: {unit: _json(s) for unit, s in by.items()} for of, by in self.lengths.items()},
            "codes": [
                {"code": c.name, "articles": c.articles, "cited": c.cited, "questions": c.questions}
                for c in self.codes
            ],
            "gold_per_question": {"all": _json(self.gold_of_all)}
            | {"by_category": {name or NONE: _json(spread) for name, spread in self.gold.items()}},
            "citations_per_article": _json(self.citations),
            "references_per_article": _json(self.references.spread)
            | {"inside": self.references.inside, "itself": self.references.itself},
            "coverage": {
                "codes": len(self.codes),
                "codes_cited": self.codes_cited,
                "articles_cited": self.cited,
            },
            "splits": {
                name or NONE: {"questions": s.questions, "with_gold": s.with_gold}
                for name, s in self.splits.items()
            },
            "languages": dict(self.languages),
            "dates": {
                "law_date": _day(self.card.law_date),
                "with_valid_from": self.dates.with_from,
                "with_valid_to": self.dates.with_to,
                "earliest_valid_from": _day(self.dates.earliest),
                "latest_valid_from": _day(self.dates.latest),
                "in_force_on_law_date": self.dates.in_force,
            },
            "columns": [
                {"of": c.of, "column": c.name, "filled": c.filled, "total": c.total, "used": c.used}
                for c in self.columns
            ],
        }


def _json(spread: Distribution) -> dict[str, Any]:
    return {**spread.figures(), "counts": {str(value): n for value, n in spread.counts.items()}}


def _day(day: date | None) -> str | None:
    return day.isoformat() if day else None
