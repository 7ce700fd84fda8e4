"""What the engine answers: articles in order, each with the reason it is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Literal, TypeAlias

from rag.corpus.card import Elsewhere, Moved
from rag.retrieval.translation_model import Bridged, Removed
from rag.text import Mended
from rag.types import Article, Filter

Mode: TypeAlias = Literal["hybrid", "keyword", "meaning"]
Status: TypeAlias = Literal["empty", "found", "nothing"]


SURE = 0.7  # calibrated probability; 181 of 185 test questions above it were answered: docs/confidence.md


class Level(StrEnum):
    """How likely it is that one of the first ten answers, as far as a reader is told."""

    DOUBTFUL = "doubtful"  # probably none does
    UNSURE = "unsure"  # one may
    SURE = "sure"  # one very probably does


@dataclass(frozen=True, slots=True)
class Why:
    """The reason an article is shown."""

    terms: frozenset[str] = frozenset()  # analysed terms of the question that stand in the article
    ranks: Mapping[str, int] = field(default_factory=dict)  # system -> rank in its list, ties sharing one
    asked: tuple[str, ...] = ()  # annotated questions that cite the article and share words with this one
    known: bool = False  # the question named this article by number
    moved_from: str | None = None  # the old number, when this article took over its content
    shares: Mapping[str, float] = field(default_factory=dict)  # system -> what its list adds to the score
    bridged: frozenset[str] = (
        frozenset()
    )  # terms of the law, told in `Result.bridged`, that stand in the article


@dataclass(frozen=True, slots=True)
class Shown:
    """One article of a result."""

    rank: int  # from 1
    article: Article
    score: float
    why: Why


@dataclass(frozen=True, slots=True)
class KnownItem:
    """An article that a question names by its number."""

    reference: str  # as typed
    article_no: str
    code: str | None  # None: no code was named, so every code's article of that number is meant
    found: tuple[str, ...]  # article ids that bear the number now
    moved: tuple[Moved, ...] = ()  # where the content of that number went
    former: bool = False  # "ancien article": the content of then is meant, not what bears the number now


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to one question."""

    question: str
    status: Status
    shown: tuple[Shown, ...] = ()
    known: tuple[KnownItem, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()
    milliseconds: float = 0.0
    mode: Mode = "hybrid"  # how it was searched
    confidence: float | None = None  # calibrated probability that one of the first ten answers
    doubtful: bool = False  # the confidence is below its threshold: probably no article answers
    in_force_on: date | None = None  # the day whose law was asked for; None: of any day
    where: Filter | None = None  # which articles could be shown
    mended: tuple[Mended, ...] = ()  # words of the question that were read as others: typing errors
    bridged: tuple[Bridged, ...] = ()  # words of the law that it was searched by too: the strongest, if shown
    without: Removed = frozenset()  # those that it was not to be searched by

    @property
    def level(self) -> Level | None:
        """How sure to be; None where nothing was fitted to tell it."""
        if self.doubtful:
            return Level.DOUBTFUL
        if self.confidence is None:
            return None
        return Level.SURE if self.confidence >= SURE else Level.UNSURE
