"""Why an article stands where it does, as data: every total is the sum of the parts beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class WordShare:
    """What one term of the question adds to an article's BM25 score."""

    term: str
    word: str  # as the question writes it first
    share: float
    fields: Mapping[str, float] = field(default_factory=dict)  # field -> its part of `share`; they add up
    bridged: str = ""  # the word of the law that it was searched by as well, where this is the share of that


@dataclass(frozen=True, slots=True)
class MeaningShare:
    """What one term of the question adds to the cosine; below 0 where it leads away from the article."""

    term: str
    word: str  # as the question writes it first
    share: float


@dataclass(frozen=True, slots=True)
class TokenMatch:
    """Which token of the article one of the question's met, of a retriever that compares token by token."""

    asked: str  # as a person reads it; "[MASK]" and its like fill a question up
    found: str
    share: float  # the cosine of the two: what it adds to the score


@dataclass(frozen=True, slots=True)
class Place:
    """An article's rank in one system's list, and what that list adds to the fused score."""

    system: str
    rank: int  # from 1; equal scores share a rank
    share: float | None = None  # None: nothing was fused, or the score is no sum of what lists add


@dataclass(frozen=True, slots=True)
class Alike:
    """An annotated question that cites the article, with how near it is to the one asked."""

    text: str
    shared: tuple[str, ...]  # terms in common, sorted
    overlap: float  # terms in common / terms of either (Jaccard 1901), 0 to 1
    cosine: float | None = None  # None: no encoder, or a text that it cannot read

    @property
    def nearness(self) -> float:
        """The cosine where there is one, else the overlap."""
        return self.overlap if self.cosine is None else self.cosine


@dataclass(frozen=True, slots=True)
class Reason:
    """What one kind of evidence moved an article's learned score by."""

    group: str  # a value of `rag.ltr.features.GROUPS`, or "base": what every candidate begins with
    share: float  # below 0 where it spoke against the article


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that put one article where it is; what a system cannot say is empty or None."""

    article_id: str
    words: tuple[WordShare, ...] = ()  # the largest share first
    cosine: float | None = None  # None: no encoder, or none of the question's words is known to it
    meaning: tuple[MeaningShare, ...] = ()  # the largest first; empty for an encoder that is no sum
    places: tuple[Place, ...] = ()  # in the order of the systems' names
    alike: tuple[Alike, ...] = ()  # the nearest first
    reasons: tuple[Reason, ...] = ()  # of a learned fusion, the largest first; they add up to the score
    matches: tuple[TokenMatch, ...] = ()  # of late interaction, in the order of the question

    @property
    def bm25(self) -> float:
        """The article's BM25 score; 0 where no word is shared."""
        return math.fsum(word.share for word in self.words)

    @property
    def max_sim(self) -> float | None:
        """The score of late interaction; None where nothing was compared token by token."""
        return math.fsum(match.share for match in self.matches) if self.matches else None

    @property
    def fused(self) -> float | None:
        """The fused score; None where nothing was fused."""
        shares = [reason.share for reason in self.reasons]
        shares = shares or [place.share for place in self.places if place.share is not None]
        return math.fsum(shares) if shares else None
