"""What is measured of a corpus, its lengths and counts by how often each whole number occurs.

They repeat: a million articles have a few thousand different lengths. So nothing but the counts is
kept, and every figure is exact all the same.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from rag.corpus.card import CorpusCard

SKEWED = 20  # the largest value over the median from which a logarithmic axis shows more
QUANTILES = {"min": 0.0, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "95 %": 0.95, "max": 1.0}
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
        values, ends = list(self.counts), list(accumulate(self.counts.values()))
        low, high = (values[bisect_right(ends, i)] for i in (lower, min(lower + 1, self.n - 1)))
        found = low + (high - low) * (at - lower)
        return int(found) if found == int(found) else found

    def figures(self) -> dict[str, float | None]:
        """Return n, mean, minimum, quartiles, 95 % and maximum, by their names."""
        quantiles = {name: self.quantile(share) for name, share in QUANTILES.items()}
        return {"n": self.n, "mean": self.mean, **quantiles}


def skewed(spread: Distribution) -> bool:
    """Tell whether a few values are so large that only a logarithmic axis shows the others."""
    median, largest = spread.quantile(0.5), spread.quantile(1.0)
    return median is not None and largest is not None and largest > SKEWED * max(median, 1)


def bins(spread: Distribution, *, log: bool, most: int = 36) -> tuple[HistogramBin, ...]:
    """Group values for a histogram; all groups between the first and the last are there, empty ones too.

    On a logarithmic axis, which leaves out the value 0, groups are ten to a decade, and fewer where whole
    numbers would repeat; on a linear one they are of equal width, `most` of them at most.
    """
    values = [value for value in spread.counts if value or not log]
    if not values:
        return ()
    least, largest = values[0], values[-1]
    if log:
        first, last = math.floor(10 * math.log10(least)), math.ceil(10 * math.log10(largest + 1))
        edges = sorted({round(10 ** (i / 10)) for i in range(first, last + 1)})
        edges = [edge for edge, after in zip(edges, [*edges[1:], math.inf], strict=True) if after > least]
    else:
        step = nice((largest + 1 - least) / most)
        edges = list(range(least // step * step, largest + step + 1, step))
    return tuple(
        HistogramBin(low, high, sum(n for value, n in spread.counts.items() if low <= value < high))
        for low, high in pairwise(edges)
    )


def nice(least: float) -> int:
    """Return the smallest of 1, 2, 5, 10, 20, 50 … that is not below `least`."""
    power: int = 10 ** max(0, math.floor(math.log10(max(least, 1))))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least)


def groups(spread: Distribution, least: int = 0) -> tuple[tuple[str, int], ...]:
    """Return how often each value from `least` up to ten occurs, then 11–20, 21–50, 51–100 …, each named."""
    largest = max(spread.counts, default=-1)
    if largest < least:
        return ()
    found = [(f"{n:,}", spread.counts.get(n, 0)) for n in range(least, min(largest, _SINGLE) + 1)]
    edges = [_SINGLE]
    while edges[-1] < largest:
        edges.append(nice(edges[-1] + 1))
    for below, high in pairwise(edges):
        count = sum(n for value, n in spread.counts.items() if below < value <= high)
        found.append((f"{below + 1:,}–{high:,}", count))
    return tuple(found)


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
    column: str
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
        counts = Counter[int]()
        for spread in self.gold.values():
            counts.update(spread.counts)
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
            "splits": {name or NONE: asdict(split) for name, split in self.splits.items()},
            "languages": dict(self.languages),
            "dates": {
                "law_date": _day(self.card.law_date),
                "with_valid_from": self.dates.with_from,
                "with_valid_to": self.dates.with_to,
                "earliest_valid_from": _day(self.dates.earliest),
                "latest_valid_from": _day(self.dates.latest),
                "in_force_on_law_date": self.dates.in_force,
            },
            "columns": [asdict(column) for column in self.columns],
        }


def _json(spread: Distribution) -> dict[str, Any]:
    return {**spread.figures(), "counts": {str(value): n for value, n in spread.counts.items()}}


def _day(day: date | None) -> str | None:
    return day.isoformat() if day else None
