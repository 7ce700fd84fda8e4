"""What is measured of a corpus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from indexes.describing.spread import Spread
from rag.corpus.card import CorpusCard

NONE = "(none)"  # how files and tables name questions without a category or split


@dataclass(frozen=True, slots=True)
class Code:
    """One code and what the questions ask of it."""

    name: str
    articles: int
    cited: int  # articles that a question cites
    questions: int  # questions that cite one of its articles


@dataclass(frozen=True, slots=True)
class Split:
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

    spread: Spread  # cross-references an article
    inside: int  # to an article of the corpus
    itself: int  # of these, of an article to itself


@dataclass(frozen=True, slots=True)
class Column:
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
    lengths: Mapping[str, Mapping[str, Spread]]  # "articles" or "questions" -> unit -> lengths
    codes: tuple[Code, ...]  # the largest first
    gold: Mapping[str, Spread]  # category of question, "" for none -> gold articles a question
    citations: Spread  # of all articles: by how many questions each is cited
    references: References
    splits: Mapping[str, Split]  # "" for none
    languages: Mapping[str, int]  # articles by their language
    dates: Dates
    columns: tuple[Column, ...]

    @property
    def articles(self) -> int:
        """How many articles there are."""
        return self.citations.n

    @property
    def questions(self) -> int:
        """How many questions there are."""
        return self.gold_of_all.n

    @property
    def gold_of_all(self) -> Spread:
        """Gold articles a question, whatever its category."""
        counts: dict[int, int] = {}
        for spread in self.gold.values():
            for value, count in spread.counts.items():
                counts[value] = counts.get(value, 0) + count
        return Spread.of(counts)

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


def _json(spread: Spread) -> dict[str, Any]:
    return {**spread.figures(), "counts": {str(value): n for value, n in spread.counts.items()}}


def _day(day: date | None) -> str | None:
    return day.isoformat() if day else None
