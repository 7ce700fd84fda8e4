"""The field's nouns as frozen dataclasses, the interfaces, and the one function that sorts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import NamedTuple, Protocol, TypeAlias, overload

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
    """An article and the score that one retriever gave it."""

    article_id: str
    score: float


@dataclass(frozen=True)
class ArticleOrder:
    """The ids of a corpus in their positions, with the order that breaks ties."""

    ids: Sequence[str]
    by_id: Ints = field(repr=False)  # by_id[i] < by_id[j] just when ids[i] < ids[j]
    # where each id stands, if that need not be found out
    lookup: Mapping[str, int] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """Where each id stands."""
        if self.lookup is not None:
            return self.lookup
        return {id_: position for position, id_ in enumerate(self.ids)}

    @classmethod
    def of(cls, ids: Sequence[str]) -> ArticleOrder:
        """Make the order of these ids; ids compare as strings."""
        by_id = np.empty(len(ids), dtype=np.int64)
        by_id[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
        return cls(tuple(ids), by_id)

    def subset(self, positions: Ints) -> ArticleOrder:
        """Return the order of the articles at (n,) positions, which then are 0 to n - 1."""
        return ArticleOrder(tuple(self.ids[position] for position in positions), self.by_id[positions])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ranking(Sequence[Hit]):
    """Articles of a corpus, best first: a sequence of hits, held as two arrays.

    Retrievers and fusions pass the arrays on; a `Hit` is made when one is looked at.
    """

    order: ArticleOrder  # of the corpus; rankings of one corpus share it
    positions: Ints  # (n,), of articles in the order
    scores: Doubles  # (n,)

    @classmethod
    def of(cls, hits: Iterable[tuple[str, float]]) -> Ranking:
        """Make a ranking of ids and scores that come best first, in an order of their own."""
        pairs = list(hits)
        scores = np.array([score for _, score in pairs], dtype=np.float64)
        return cls(ArticleOrder.of([id_ for id_, _ in pairs]), np.arange(len(pairs)), scores)

    @property
    def ids(self) -> list[str]:
        """The articles' ids."""
        return [self.order.ids[position] for position in self.positions.tolist()]

    def within(self, order: ArticleOrder) -> Ranking:
        """Return the same ranking in another order, which must have all of its articles."""
        if order is self.order:
            return self
        positions = np.array([order.positions[id_] for id_ in self.ids], dtype=np.int64)
        return Ranking(order, positions, self.scores)

    def rows(self, ids: Iterable[str]) -> Ints:
        """Return where articles stand in the ranking, from 0; -1 for one that does not. Few are looked up."""
        wanted = np.array([self.order.positions.get(id_, -1) for id_ in ids], dtype=np.int64)
        if not len(self.positions):
            return np.full(len(wanted), -1)
        same = self.positions == wanted[:, None]
        return np.where(same.any(axis=1), same.argmax(axis=1), -1)

    def __len__(self) -> int:
        """Return how many articles it has."""
        return len(self.positions)

    def __iter__(self) -> Iterator[Hit]:
        """Yield the hits, best first."""
        return map(Hit, self.ids, self.scores.tolist())

    @overload
    def __getitem__(self, at: int) -> Hit: ...
    @overload
    def __getitem__(self, at: slice) -> Ranking: ...
    def __getitem__(self, at: int | slice) -> Hit | Ranking:
        """Return the hit at a place, from 0, or the ranking of some places."""
        if isinstance(at, slice):
            return Ranking(self.order, self.positions[at], self.scores[at])
        return Hit(self.order.ids[self.positions[at]], float(self.scores[at]))

    def __eq__(self, other: object) -> bool:
        """Tell whether it has the same hits as another ranking or a tuple of hits."""
        return tuple(self) == tuple(other) if isinstance(other, Ranking | tuple) else NotImplemented

    def __hash__(self) -> int:
        """Return the hash of the tuple of its hits."""
        return hash(tuple(self))

    def __repr__(self) -> str:
        """Return what makes it."""
        return f"Ranking.of({list(map(tuple, self))})"


EMPTY = Ranking.of(())
Run: TypeAlias = Mapping[str, Ranking]  # question id -> its ranking
Qrels: TypeAlias = Mapping[str, frozenset[str]]  # question id -> its gold article ids


@dataclass(frozen=True, slots=True)
class Filter:
    """Which articles may be returned; an empty set means that the field is not looked at."""

    codes: frozenset[str] = frozenset()
    law_types: frozenset[str] = frozenset()
    regions: frozenset[str] = frozenset()
    in_force_on: date | None = None

    @property
    def selects(self) -> bool:
        """Whether it asks for a part of the law; a day alone asks for the law as it was then."""
        return bool(self.codes or self.law_types or self.regions)

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


def rank(
    scores: Reals,
    order: ArticleOrder,
    k: int,
    keep: Bools | None = None,
    *,
    positions: Ints | None = None,
    decimals: int | None = DECIMALS,
) -> Ranking:
    """Sort articles by score: the one place that does, so that one tie rule holds everywhere.

    Scores, rounded to 5 decimals, the larger first; equal ones by article id as a string
    (`ArticleOrder.by_id`). A result depends neither on insertion order nor on batching. It is at most k
    articles, with their scores as they were rounded.

    Scores are (n_articles,), or (n,) those of the articles at `positions`, each there once; -inf or nan marks
    one that was not scored. Where `keep`, (n_articles,), is given, only these may be returned. `decimals` is
    None for scores that are exact already (sums over whole ranks).
    """
    if k <= 0 or not len(scores):
        return Ranking(order, *_NOTHING)
    admitted = np.isfinite(scores)
    if keep is not None:
        admitted &= keep if positions is None else keep[positions]
    at = np.flatnonzero(admitted)
    values = scores[at]
    if len(at) > k:
        # rounding keeps the order: what it may tie with the last is at most one unit below
        below = 0 if decimals is None else 2 * 10.0**-decimals
        near = np.flatnonzero(values >= np.partition(values, -k)[-k] - below)
        at, values = at[near], values[near]
    exact = values.astype(np.float64)
    if decimals is not None:
        exact = np.round(exact, decimals) + 0.0  # + 0.0 turns -0.0 into 0.0
    if positions is not None:
        at = positions[at]
    best = np.lexsort((order.by_id[at], -exact))[:k]
    return Ranking(order, at[best], exact[best])


_NOTHING: tuple[Ints, Doubles] = (np.zeros(0, dtype=np.int64), np.zeros(0))


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
