"""The articles of a corpus, and columns of what is looked at over all of them.

A filter, a page's facets, a number that a question names: each asks about every article, and none of them for
its text. So they look at columns, and an article is read when it is shown. Here articles are in memory and a
column is made when it is first asked for; of an index that was built with its columns both lie on disk
(`indexes.store.article_store`), and opening it reads none of its articles.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from types import MappingProxyType
from typing import TypeAlias, overload

import numpy as np
import numpy.typing as npt

from rag.corpus.facts import ArticleFacts
from rag.text.article_numbers import SERIES_LETTERS, number_key
from rag.types import Article, ArticleOrder, Bools, Filter, Ints

Numbers: TypeAlias = npt.NDArray[np.integer]
COLUMNS = (  # of `Articles`
    "order", "by_id", "codes", "law_types", "regions", "valid_from", "valid_to", "sections", "article_nos",
    "number_keys", "bare_keys", "referring", "versions",
)  # fmt: skip
NO_DAY = 0  # in a column of days, which are counted from 1 January of the year 1, the day 1


@dataclass(frozen=True, repr=False)
class Inverted:
    """A column of texts, and its inverse: where each of them stands."""

    keys: Sequence[str]  # each once, sorted
    of: Numbers  # (n,), which key stands at a position
    positions: Numbers  # (n,), in order of their keys, those of one key from the first to the last
    ends: Numbers  # (n_keys + 1,), where those of each key begin

    @classmethod
    def from_values(cls, values: Sequence[str]) -> Inverted:
        """Make it of the text at each position."""
        keys = sorted(set(values))
        number = {key: n for n, key in enumerate(keys)}
        of = np.fromiter((number[value] for value in values), np.int32, len(values))
        ends = np.zeros(len(keys) + 1, np.int64)
        ends[1:] = np.cumsum(np.bincount(of, minlength=len(keys)))
        return cls(keys, of, np.argsort(of, kind="stable").astype(np.int32), ends)

    def number(self, key: str) -> int | None:
        """Return the number of a key; None for one that stands nowhere."""
        found = bisect_left(self.keys, key)
        return found if found < len(self.keys) and self.keys[found] == key else None

    def at(self, key: str) -> Numbers:
        """Return the positions of a key, from the first to the last."""
        found = self.number(key)
        return self.positions[:0] if found is None else self.of_number(found)

    def of_number(self, number: int) -> Numbers:
        """Return the positions of a key by its number."""
        return self.positions[int(self.ends[number]) : int(self.ends[number + 1])]

    def among(self, keys: Collection[str]) -> Bools:
        """Return whether one of these keys stands at a position, (n,)."""
        wanted = np.zeros(len(self.keys), np.bool_)
        wanted[[n for n in map(self.number, keys) if n is not None]] = True
        return np.asarray(wanted[self.of])

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How often each key stands, in the order in which they first do."""
        often, first = np.diff(self.ends), self.positions[self.ends[:-1]]
        return {self.keys[n]: int(often[n]) for n in np.argsort(first).tolist()}


class Articles(Sequence[Article]):
    """The articles of a corpus in its order, and columns over all of them, (n_articles,) each."""

    facts: Mapping[str, ArticleFacts] = MappingProxyType({})  # article id -> what stands beside it

    def __init__(self, articles: Sequence[Article]) -> None:
        self._articles = articles

    @classmethod
    def of(cls, articles: Sequence[Article]) -> Articles:
        """Return the articles with their columns; they may have them already."""
        return articles if isinstance(articles, Articles) else Articles(tuple(articles))

    def __len__(self) -> int:
        """Count the articles."""
        return len(self._articles)

    @overload
    def __getitem__(self, at: int) -> Article: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Article]: ...
    def __getitem__(self, at: int | slice) -> Article | Sequence[Article]:
        """Return an article, or some."""
        return self._articles[at]

    def __iter__(self) -> Iterator[Article]:
        """Go through all articles in order."""
        return iter(self._articles)

    @cached_property
    def order(self) -> ArticleOrder:
        """Their ids, and the order that breaks ties."""
        return ArticleOrder.of([article.id for article in self])

    @cached_property
    def by_id(self) -> Mapping[str, Article]:
        """The articles by their ids, in order."""
        return {article.id: article for article in self}

    @cached_property
    def codes(self) -> Inverted:
        """The code that each stands in."""
        return Inverted.from_values([article.code for article in self])

    @cached_property
    def law_types(self) -> Inverted:
        """National or regional law; "" where that is not told."""
        return Inverted.from_values([article.law_type or "" for article in self])

    @cached_property
    def regions(self) -> Inverted:
        """The region whose law each is; "" where that is not told."""
        return Inverted.from_values([article.region or "" for article in self])

    @cached_property
    def valid_from(self) -> Numbers:
        """The first day on which each is in force, or NO_DAY."""
        return _days(article.valid_from for article in self)

    @cached_property
    def valid_to(self) -> Numbers:
        """The first day on which each no longer is, or NO_DAY."""
        return _days(article.valid_to for article in self)

    @cached_property
    def sections(self) -> Ints:
        """A number that those under the very same headings of one code share."""
        number: dict[tuple[str, ...], int] = {}
        keys = ((article.code, *article.headings) for article in self)
        return np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.int64)

    @cached_property
    def lengths(self) -> Numbers:
        """Characters of each text."""
        return np.array([len(article.text) for article in self], dtype=np.int64)

    @cached_property
    def article_nos(self) -> Inverted:
        """The number of each as it is written."""
        return Inverted.from_values([article.article_no for article in self])

    @cached_property
    def number_keys(self) -> Inverted:
        """What spellings of a number have in common, (n_numbers,): of each key of `article_nos`."""
        return Inverted.from_values(list(map(number_key, self.article_nos.keys)))

    @cached_property
    def bare_keys(self) -> Inverted:
        """The same without L, R or D before it, (n_numbers,); "" where there is none of them."""
        bare = ((SERIES_LETTERS.sub("", key), key) for key in map(number_key, self.article_nos.keys))
        return Inverted.from_values(["" if short == key else short for short, key in bare])

    @cached_property
    def referring(self) -> Numbers:
        """(2, n_references): which position is referred to, in order, and by which."""
        pairs = reference_pairs(self)
        return np.ascontiguousarray(pairs[np.lexsort(pairs.T)][:, ::-1].T)

    @cached_property
    def versions(self) -> int:
        """How many articles with a date bear one number of one code, at most; 1 where none does."""
        dated = (a for a in self if a.article_no.strip() and (a.valid_from or a.valid_to))
        return max(Counter((a.code, a.article_no) for a in dated).values(), default=1)

    @property
    def dated(self) -> bool:
        """Whether any tells from when to when it is in force."""
        return bool(self.valid_from.any() or self.valid_to.any())

    def warm(self) -> None:
        """Make now the columns that a first question would wait for."""
        for column in COLUMNS:
            getattr(self, column)

    @cached_property
    def mentions(self) -> Mapping[tuple[str, ...], int]:
        """Lists of words -> how many articles name one of them, as far as that was counted before."""
        return {}

    def admitted(self, where: Filter) -> Bools:
        """Return which articles pass a filter, as `Filter.admits` tells of each."""
        keep = np.ones(len(self), dtype=np.bool_)
        if where.codes:
            keep &= self.codes.among(where.codes)
        if where.law_types:
            keep &= self.law_types.among({*where.law_types, ""})
        if where.regions:
            keep &= self.regions.among({*where.regions, ""})
        if where.in_force_on is not None:
            day = where.in_force_on.toordinal()
            keep &= (self.valid_from <= day) & ((self.valid_to == NO_DAY) | (day < self.valid_to))
        return keep


def reference_pairs(articles: Sequence[Article]) -> Ints:
    """Return (n, 2) positions: an article, and one that it refers to, in order, each pair once."""
    position: Mapping[str, int] = {}
    pairs = []
    for i, article in enumerate(articles):
        if article.references:
            position = position or {each.id: n for n, each in enumerate(articles)}
            cited = (position[id_] for id_ in dict.fromkeys(article.references) if id_ in position)
            pairs += [(i, to) for to in cited if to != i]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _days(days: Iterable[date | None]) -> Numbers:
    return np.array([NO_DAY if day is None else day.toordinal() for day in days], dtype=np.int32)
