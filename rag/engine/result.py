"""What the engine answers: articles in order, and why each stands there, every total the sum of its parts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Literal, TypeAlias

from rag.corpus.card import Elsewhere
from rag.engine.topic_view import TopicCase
from rag.retrieval.translation_model import ExpansionTerm, Removed
from rag.text import SpellingCorrection
from rag.types import Filter, KnownItem, Reason, Shown, WordShare

Mode: TypeAlias = Literal["hybrid", "keyword", "meaning"]
Status: TypeAlias = Literal["empty", "found", "nothing"]
MAX_CHARS = 2000  # of a question that are read: some twenty sentences, more facts blur the search


class Level(StrEnum):
    """How likely it is that one of the first ten answers, as far as a reader is told."""

    DOUBTFUL = "doubtful"  # probably none does
    UNSURE = "unsure"  # one may
    SURE = "sure"  # one of the first few very probably does


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
    mended: tuple[SpellingCorrection, ...] = ()  # words that were read as others: typing errors
    bridged: tuple[ExpansionTerm, ...] = ()  # words of the law that it was searched by too: the strongest
    without: Removed = frozenset()  # those that it was not to be searched by
    answer_set: int | None = None  # an answer is very probably among so many of the first; None: not told
    marked: bool = False  # the first article very probably answers
    missing: tuple[str, ...] = ()  # parts of the collection that did not answer: articles may be left out
    topic: tuple[TopicCase, ...] = ()  # questions to choose from where a few words name a matter

    @property
    def level(self) -> Level | None:
        """How sure to be; None where nothing was fitted to tell it."""
        if self.doubtful:
            return Level.DOUBTFUL
        if self.confidence is None:
            return None
        return Level.UNSURE if self.answer_set is None else Level.SURE


@dataclass(frozen=True, slots=True)
class MeaningShare:
    """What one term of the question adds to the cosine; below 0 where it leads away from the article."""

    term: str
    word: str  # as the question writes it first
    share: float


@dataclass(frozen=True, slots=True)
class ResultPlace:
    """An article's rank in one system's list, and what that list adds to the fused score."""

    system: str
    rank: int  # from 1; equal scores share a rank
    share: float | None = None  # None: nothing was fused, or the score is no sum of what lists add


@dataclass(frozen=True, slots=True)
class SimilarQuestion:
    """An annotated question that cites the article, with its similarity to the question."""

    text: str
    shared: tuple[str, ...]  # terms in common, sorted
    overlap: float  # terms in common / terms of either (Jaccard 1901), 0 to 1
    cosine: float | None = None  # None: no encoder, or a text that it cannot read

    @property
    def nearness(self) -> float:
        """The cosine where there is one, else the overlap."""
        return self.overlap if self.cosine is None else self.cosine


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that put one article where it is; what a system cannot say is empty or None."""

    article_id: str
    words: tuple[WordShare, ...] = ()  # the largest share first
    cosine: float | None = None  # None: no encoder, or none of the question's words is known to it
    meaning: tuple[MeaningShare, ...] = ()  # the largest first; empty for an encoder that is no sum
    places: tuple[ResultPlace, ...] = ()  # in the order of the systems' names
    alike: tuple[SimilarQuestion, ...] = ()  # the nearest first
    reasons: tuple[Reason, ...] = ()  # of a learned fusion, the largest first; they add up to the score

    @property
    def bm25(self) -> float:
        """The article's BM25 score; 0 where no word is shared."""
        return math.fsum(word.share for word in self.words)

    @property
    def fused(self) -> float | None:
        """The fused score; None where nothing was fused."""
        shares = [reason.share for reason in self.reasons]
        shares = shares or [place.share for place in self.places if place.share is not None]
        return math.fsum(shares) if shares else None


def shorten(question: str) -> tuple[str, bool]:
    """Return the part of the question that is used, cut between words, and whether anything was left out."""
    question = question.strip()
    if len(question) <= MAX_CHARS:
        return question, False
    head = question[: MAX_CHARS + 1]
    end = max(head.rfind(" "), head.rfind("\n"))
    if end <= MAX_CHARS // 2:  # hardly a space: Chinese, or no text at all
        end = MAX_CHARS
    return head[:end].rstrip(), True
