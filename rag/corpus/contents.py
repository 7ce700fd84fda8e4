"""A corpus as a reader leafs through it: its headings as a tree, what stands beside what, who cites whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, overload

import numpy as np

from rag.corpus.articles import Articles
from rag.graph.graph import NOWHERE, Graph
from rag.graph.references.reference import ROLES, Role
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


Need = Literal["definition", "exception", "rule", "departure"]
_NEEDS: Mapping[Role, Need] = {"definition": "definition", "exception": "exception", "derogates": "rule"}


@dataclass(frozen=True, slots=True)
class Mention:
    """One article that refers to another, seen from either."""

    article: Article  # the other one
    source: Article  # whose text names the other
    start: int  # characters of the source's text, `NOWHERE` where it is not known
    end: int
    role: Role


class Mentions(Sequence[Mention]):
    """References of or to one article; each is looked up when it is looked at: some have hundreds."""

    def __init__(self, law: Law, here: int, others: Sequence[int], *, outgoing: bool) -> None:
        """Take the positions of the article and of the others."""
        self._law, self._here, self._others, self._outgoing = law, here, others, outgoing

    def __len__(self) -> int:
        """How many there are."""
        return len(self._others)

    @property
    def positions(self) -> Sequence[int]:
        """Where the other articles stand in the corpus."""
        return self._others

    @overload
    def __getitem__(self, at: int) -> Mention: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Mention, ...]: ...
    def __getitem__(self, at: int | slice) -> Mention | tuple[Mention, ...]:
        """Return one, or those of a slice."""
        if isinstance(at, slice):
            return tuple(self[i] for i in range(*at.indices(len(self))))
        other = self._others[at]
        source, target = (self._here, other) if self._outgoing else (other, self._here)
        return self._law._mention(source, target, other=other)

    def nearest(self, most: int) -> tuple[Mention, ...]:
        """Return those of the articles that stand nearest in the corpus, in its order; at most so many."""
        near = sorted(self._others, key=lambda other: abs(other - self._here))[:most]
        return Mentions(self._law, self._here, sorted(near), outgoing=self._outgoing)[:]


class Needs(Sequence[tuple[Need, Mention]]):
    """What one article must be read with, and why; each is looked up when it is looked at."""

    def __init__(self, law: Law, here: int, found: Sequence[tuple[int, Need]]) -> None:
        """Take the positions of the article and of the others."""
        self._law, self._here, self._found = law, here, found

    def __len__(self) -> int:
        """How many there are."""
        return len(self._found)

    @overload
    def __getitem__(self, at: int) -> tuple[Need, Mention]: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[tuple[Need, Mention], ...]: ...
    def __getitem__(self, at: int | slice) -> tuple[Need, Mention] | tuple[tuple[Need, Mention], ...]:
        """Return one, or those of a slice."""
        if isinstance(at, slice):
            return tuple(self[i] for i in range(*at.indices(len(self))))
        other, need = self._found[at]
        source, target = (other, self._here) if need == "departure" else (self._here, other)
        return need, self._law._mention(source, target, other=other)


class Law:
    """The articles of one corpus by code, heading and neighbourhood; made once an index.

    The order is the corpus's. A heading that comes back later in its code is the same place. The tree of a
    code is built when somebody looks at it, of one article under each heading.
    """

    def __init__(
        self,
        articles: Sequence[Article],
        annotated: Mapping[str, Sequence[Question]] | None = None,
        graph: Graph | None = None,
    ) -> None:
        """Take the articles, of article ids the annotated questions that cite them, and the graph of the law.

        Without a graph, articles refer to what their source says, at no place of their texts; so they do
        with one of an earlier release, which misread too many texts to be shown to people.
        """
        self._rows = Articles.of(articles)
        self._graph = graph if graph is not None and graph.has_mentions else None
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

    def refers_to(self, article_id: str) -> Mentions:
        """Return the articles that an article refers to, in the order in which its text names them."""
        if self._graph is None:
            cited = dict.fromkeys(self.articles[article_id].references)
            positions = self._rows.order.positions
            others = [positions[i] for i in cited if i in self.articles and i != article_id]
            return Mentions(self, positions[article_id], others, outgoing=True)
        here = self._rows.order.positions[article_id]
        others = [to for to in self._graph.refers_to(here).tolist() if to < self._graph.articles]
        starts = {to: self._graph.mention(here, to)[0] for to in others}
        others.sort(key=lambda to: (starts[to] == NOWHERE, starts[to], to))
        return Mentions(self, here, others, outgoing=True)

    def referred_by(self, article_id: str) -> Mentions:
        """Return the articles that refer to this one, in the corpus's order."""
        here = self._rows.order.positions.get(article_id, -1)
        if self._graph is None:
            cited, citing = self._rows.referring
            first, last = np.searchsorted(cited, [here, here + 1]).tolist()
            return Mentions(self, here, citing[first:last].tolist(), outgoing=False)
        others = [at for at in self._graph.referred_by(here).tolist() if at < self._graph.articles]
        return Mentions(self, here, others, outgoing=False)

    def read_with(self, article_id: str) -> Needs:
        """Return what an article must be read with, and why; each article once.

        These are the articles that it names as definitions, exceptions or the rule that it departs from, in
        the order in which its text names them, and then those that depart from it.
        """
        if self._graph is None:
            return Needs(self, 0, ())
        graph, here = self._graph, self._rows.order.positions[article_id]
        found: dict[int, Need] = {}
        for to in self.refers_to(article_id).positions:
            if role := ROLES[graph.mention(here, to)[2]]:
                found[to] = _NEEDS[role]
        departing = ROLES.index("derogates")
        for at in graph.referred_by(here).tolist():
            if at < graph.articles and graph.mention(at, here)[2] == departing:
                found.setdefault(at, "departure")
        return Needs(self, here, tuple(found.items()))

    def _mention(self, source: int, target: int, *, other: int) -> Mention:
        start, end, role = (NOWHERE, NOWHERE, 0)
        if self._graph is not None:
            start, end, role = self._graph.mention(source, target)
        return Mention(self._rows[other], self._rows[source], start, end, ROLES[role])

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
