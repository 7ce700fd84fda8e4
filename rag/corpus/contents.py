"""A corpus as a reader leafs through it: its headings as a tree, what stands beside what, who cites whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rag.corpus.articles import Articles
from rag.types import Article, Question

TREES = 256  # codes whose trees stay at hand
DEEPEST = 20  # headings below one another that are told apart; what law has is ten at most
Steps = tuple[int, ...]  # which heading of each level, counted from 1; () is the code itself


@dataclass(frozen=True, slots=True)
class ContentsEntry:
    """A code, or a heading in it."""

    code: str
    at: Steps
    title: str
    count: int  # articles in it, those of the headings below included
    articles: tuple[str, ...]  # ids of those that stand right under it, in the corpus's order
    below: int  # headings right under it: their steps are (*at, 1) to (*at, below)


@dataclass
class _Growing:
    title: str
    count: int
    articles: list[str]
    children: dict[str, int]  # heading -> its step


@dataclass(frozen=True)
class _Tree:
    """One code: its places, and which of them the articles under each section's headings stand at."""

    places: Mapping[Steps, ContentsEntry]
    at: Mapping[int, Steps]  # number of the section -> steps


class Law:
    """The articles of one corpus by code, heading and neighbourhood; made once an index.

    The order is the corpus's. A heading that comes back later in its code is the same place. The tree of a
    code is built when somebody looks at it, of one article under each heading.
    """

    def __init__(
        self, articles: Sequence[Article], annotated: Mapping[str, Sequence[Question]] | None = None
    ) -> None:
        """Take the articles, and of article ids the annotated questions that cite them."""
        self._rows = Articles.of(articles)
        self.articles = self._rows.by_id
        self._annotated = annotated or {}
        self._tree = lru_cache(maxsize=TREES)(self._grown)

    @property
    def codes(self) -> Mapping[str, int]:
        """The codes, in the corpus's order, and how many articles each has."""
        return self._rows.codes.counts

    def _grown(self, code: str) -> _Tree:
        """Build the tree of a code, in n_articles + n_headings × depth steps."""
        positions = self._rows.codes.at(code)
        sections = self._rows.sections[positions]
        found, first, section = np.unique(sections, return_index=True, return_inverse=True)
        growing: dict[Steps, _Growing] = {(): _Growing(code, 0, [], {})}
        at: dict[int, Steps] = {}
        for n in np.argsort(first).tolist():  # as the corpus has them: a step is counted where it first comes
            headings = self._rows[int(positions[first[n]])].headings
            at[n] = _grow(growing, headings)
        ids = self._rows.order.ids
        for n, position in zip(section.tolist(), positions.tolist(), strict=True):
            growing[at[n]].articles.append(ids[position])
        for n, count in enumerate(np.bincount(section).tolist()):
            for length in range(len(at[n]) + 1):
                growing[at[n][:length]].count += count
        places = {
            steps: ContentsEntry(code, steps, g.title, g.count, tuple(g.articles), len(g.children))
            for steps, g in growing.items()
        }
        return _Tree(places, {int(found[n]): steps for n, steps in at.items()})

    def trail(self, code: str, at: Steps = ()) -> tuple[ContentsEntry, ...]:
        """Return the places from the code down to the steps, as far as they lead; () for an unknown code."""
        if self._rows.codes.number(code) is None:
            return ()
        found, places = [], self._tree(code).places
        for length in range(len(at[:DEEPEST]) + 1):
            place = places.get(at[:length])
            if place is None:
                break
            found.append(place)
        return tuple(found)

    def below(self, place: ContentsEntry) -> tuple[ContentsEntry, ...]:
        """Return the headings right under a place, in order."""
        places = self._tree(place.code).places
        return tuple(places[*place.at, n] for n in range(1, place.below + 1))

    def home(self, article_id: str) -> tuple[ContentsEntry, ...]:
        """Return the places from the code down to the heading that the article stands under."""
        position = self._rows.order.positions[article_id]
        code = self._rows.codes.keys[int(self._rows.codes.of[position])]
        return self.trail(code, self._tree(code).at[int(self._rows.sections[position])])

    def previous(self, article_id: str) -> Article | None:
        """Return the article before this one in its code."""
        return self._adjacent(article_id, -1)

    def after(self, article_id: str) -> Article | None:
        """Return the article after this one in its code."""
        return self._adjacent(article_id, 1)

    def _adjacent(self, article_id: str, step: int) -> Article | None:
        position = self._rows.order.positions[article_id]
        row = self._rows.codes.of_number(int(self._rows.codes.of[position]))
        target = int(np.searchsorted(row, position)) + step
        return self._rows[int(row[target])] if 0 <= target < len(row) else None

    def siblings(self, article_id: str) -> tuple[Article, ...]:
        """Return the articles under the very same heading, this one among them."""
        return self._of(self.home(article_id)[-1].articles)

    def cites(self, article_id: str) -> tuple[Article, ...]:
        """Return the articles of this corpus that the article refers to, in the order that it names them."""
        cited = dict.fromkeys(self.articles[article_id].references)
        return self._of(i for i in cited if i in self.articles and i != article_id)

    def cited_by(self, article_id: str) -> tuple[Article, ...]:
        """Return the articles that refer to this one."""
        position = self._rows.order.positions.get(article_id, -1)
        cited, citing = self._rows.referring
        first, last = np.searchsorted(cited, [position, position + 1]).tolist()
        return tuple(self._rows[int(each)] for each in citing[first:last])

    def citing_questions(self, article_id: str) -> tuple[str, ...]:
        """Return the annotated questions that cite the article, each text once."""
        return tuple(dict.fromkeys(q.text for q in self._annotated.get(article_id, ())))

    def _of(self, ids: Iterable[str]) -> tuple[Article, ...]:
        return tuple(self.articles[i] for i in ids)


def _grow(growing: dict[Steps, _Growing], headings: Sequence[str]) -> Steps:
    """Add headings to the tree of a code and return the steps to the last of them."""
    at: Steps = ()
    for heading in headings[:DEEPEST]:
        children = growing[at].children
        at = (*at, children.setdefault(heading, len(children) + 1))
        growing.setdefault(at, _Growing(heading, 0, [], {}))
    return at


def steps(text: str) -> Steps:
    """Read steps as an address writes them, "2.1.3"; what cannot be steps is none."""
    parts = text.split(".")[:DEEPEST] if text else []
    if not all(part.isascii() and part.isdigit() and len(part) <= 6 for part in parts):
        return ()
    return tuple(map(int, parts))


def written(at: Steps) -> str:
    """Write steps for an address."""
    return ".".join(map(str, at))
