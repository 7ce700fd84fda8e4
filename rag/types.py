"""The field's nouns as frozen dataclasses, the interfaces, and the one function that sorts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property, partial
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from rag.corpus.card import Moved

Floats: TypeAlias = npt.NDArray[np.float32]
Doubles: TypeAlias = npt.NDArray[np.float64]
Reals: TypeAlias = npt.NDArray[np.floating]
Bools: TypeAlias = npt.NDArray[np.bool_]
Ints: TypeAlias = npt.NDArray[np.int64]

# what is being done, how much of it is done, how much in all (None: not known)
Progress: TypeAlias = Callable[[str, int, int | None], object]
DECIMALS = 5  # scores are rounded to this many places before ranking: see rank()


@dataclass(frozen=True, slots=True)
class Article:
    """The unit that is retrieved and cited: one numbered article of one code."""

    id: str
    code: str
    article_no: str
    text: str
    headings: tuple[str, ...] = ()  # outermost first: Livre, Titre, Chapitre, Section
    language: str | None = None
    jurisdiction: str | None = None
    law_type: str | None = None  # "national" or "regional"
    region: str | None = None
    url: str | None = None
    valid_from: date | None = None  # the first day on which it is in force
    valid_to: date | None = None  # the first day on which it no longer is
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """What a person asks, with the articles that answer it where they are known (gold)."""

    id: str
    text: str
    article_ids: tuple[str, ...] = ()
    category: str | None = None
    answer: str | None = None
    split: str | None = None


class Hit(NamedTuple):
    """An article and the score that one retriever gave it."""  # a tuple: thousands are made a question

    article_id: str
    score: float


_HIT: Callable[[tuple[str, float]], Hit] = partial(tuple.__new__, Hit)
Ranking: TypeAlias = tuple[Hit, ...]  # best first
Found: TypeAlias = tuple[Ints, Doubles]  # positions of articles, best first; their scores
NOTHING: Found = (np.zeros(0, dtype=np.int64), np.zeros(0))
Run: TypeAlias = Mapping[str, Ranking]  # question id -> its ranking
Qrels: TypeAlias = Mapping[str, frozenset[str]]  # question id -> its gold article ids


@dataclass(frozen=True, slots=True)
class Filter:
    """Which articles may be returned; an empty set means that the field is not looked at."""

    codes: frozenset[str] = frozenset()
    law_types: frozenset[str] = frozenset()
    regions: frozenset[str] = frozenset()
    in_force_on: date | None = None

    def admits(self, article: Article) -> bool:
        """Tell whether the article passes; one with no date or no region is never shut out by it."""
        return (
            (not self.codes or article.code in self.codes)
            and (not self.law_types or article.law_type is None or article.law_type in self.law_types)
            and (not self.regions or article.region is None or article.region in self.regions)
            and (self.in_force_on is None or in_force(article, self.in_force_on))
        )


def in_force(article: Article, day: date) -> bool:
    """Tell whether an article holds on a day: from its first day on, and no more on the day it ends."""
    started = article.valid_from is None or article.valid_from <= day
    return started and (article.valid_to is None or day < article.valid_to)


class Retriever(Protocol):
    """Ranks a corpus for each question; a hybrid is a retriever, a reranked retriever is one."""

    def search(self, questions: Sequence[str], k: int, where: Filter | None = None) -> list[Ranking]:
        """Return one ranking of at most k hits a question, in the order of the questions."""


class Reranker(Protocol):
    """Reorders rankings that a retriever made."""

    def rerank(self, questions: Sequence[str], rankings: Sequence[Ranking], k: int) -> list[Ranking]:
        """Return one reordered ranking of at most k hits a question."""


class Encoder(Protocol):
    """Turns text into vectors; row i of the result belongs to text i."""

    @property
    def name(self) -> str:
        """What manifests and pages call it."""

    @property
    def dim(self) -> int:
        """Length of a vector."""

    def encode_questions(self, questions: Sequence[str]) -> Floats:
        """Return l2-normalised vectors, (n_questions, dim) float32; an empty text gives zeros."""

    def encode_articles(self, articles: Sequence[Article]) -> Floats:
        """Return l2-normalised vectors, (n_articles, dim) float32."""


@dataclass(frozen=True)
class ArticleOrder:
    """The ids of a corpus in their positions, with the order that breaks ties."""

    ids: tuple[str, ...]
    by_id: Ints = field(repr=False)  # by_id[i] < by_id[j] just when ids[i] < ids[j]

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """Where each id stands."""
        return {id_: position for position, id_ in enumerate(self.ids)}

    @classmethod
    def of(cls, ids: Sequence[str]) -> ArticleOrder:
        """Make the order of these ids; ids compare as strings."""
        by_id = np.empty(len(ids), dtype=np.int64)
        by_id[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
        return cls(tuple(ids), by_id)


def rank(
    scores: Reals, order: ArticleOrder, k: int, keep: Bools | None = None, *, decimals: int | None = DECIMALS
) -> Ranking:
    """Sort articles by their scores, (n_articles,), as `first` does, and return the hits."""
    return hits(order, *first(scores, order.by_id, k, keep, decimals=decimals))


def hits(order: ArticleOrder, positions: Ints, scores: Doubles) -> Ranking:
    """Return a ranking of articles that are sorted already."""
    ids = [order.ids[p] for p in positions.tolist()]
    return tuple(map(_HIT, zip(ids, scores.tolist(), strict=True)))  # thousands a question: no Python between


def first(
    scores: Reals, by_id: Ints, k: int, keep: Bools | None = None, *, decimals: int | None = DECIMALS
) -> Found:
    """Sort positions by score: the one place that does, so that one tie rule holds everywhere.

    Scores, (n_articles,), are rounded to 5 decimals, the larger first; equal ones by article id as a
    string (`ArticleOrder.by_id`). A result depends neither on insertion order nor on batching. It is at most
    k positions, best first, and their scores as they were rounded.

    -inf or nan marks an article that was not scored; where `keep`, (n_articles,), is given, only these may
    be returned. `decimals` is None for scores that are exact already (sums over whole ranks).
    """
    if k <= 0 or not len(scores):
        return NOTHING
    values = scores.astype(np.float64, copy=False)
    if decimals is not None:
        values = np.round(values, decimals) + 0.0  # + 0.0 turns -0.0 into 0.0
    admitted = np.isfinite(values) if keep is None else np.isfinite(values) & keep
    positions = np.flatnonzero(admitted)
    if len(positions) > k:
        candidates = values[positions]
        kth = np.partition(candidates, len(candidates) - k)[len(candidates) - k]
        positions = positions[candidates >= kth]  # keeps every tie at the edge
    best = positions[np.lexsort((by_id[positions], -values[positions]))][:k]
    return best, values[best]


@dataclass(frozen=True, slots=True)
class Why:
    """The reason an article is shown."""

    terms: frozenset[str] = frozenset()  # analysed terms of the question that stand in the article
    ranks: Mapping[str, int] = field(default_factory=dict)  # system -> rank in its list, ties sharing one
    asked: tuple[str, ...] = ()  # annotated questions that cite the article and share words with this one
    known: bool = False  # the question named this article by number
    moved_from: str | None = None  # the old number, when this article took over its content
    shares: Mapping[str, float] = field(default_factory=dict)  # system -> what its list adds to the score
    bridged: frozenset[str] = frozenset()  # terms of the law of `Result.bridged` that stand in the article


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
class WordShare:
    """What one term of the question adds to an article's BM25 score."""

    term: str
    word: str  # as the question writes it first
    share: float
    fields: Mapping[str, float] = field(default_factory=dict)  # field -> its part of `share`; they add up
    bridged: str = ""  # the word of the law that it was searched by as well, where this is the share of that


@dataclass(frozen=True, slots=True)
class Reason:
    """What one kind of evidence moved an article's learned score by."""

    group: str  # a value of `rag.ltr.features.GROUPS`, or "base": what every candidate begins with
    share: float  # below 0 where it spoke against the article


def no_progress(what: str, done: int, total: int | None) -> None:
    """Show nothing: the `Progress` of who asked for none."""


def named(progress: Progress, what: str) -> Progress:
    """Return the same progress, always under this name."""
    return lambda _, done, total: progress(what, done, total)
