"""A corpus as a reader leafs through it: its headings as a tree, what stands beside what, who cites whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag.types import Article, Question

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


class Law:
    """The articles of one corpus by code, heading and neighbourhood; made once an index.

    The order is the corpus's. A heading that comes back later in its code is the same place.
    """

    def __init__(
        self, articles: Mapping[str, Article], annotated: Mapping[str, Sequence[Question]] | None = None
    ) -> None:
        """Build the tree, in n_articles × depth steps; `annotated`: article id -> questions that cite it."""
        self.articles = articles
        self._annotated = annotated or {}
        growing: dict[tuple[str, Steps], _Growing] = {}
        self._home: dict[str, Steps] = {}
        self._in_code: dict[str, list[str]] = {}
        self._position: dict[str, int] = {}
        self._citing: dict[str, list[str]] = {}
        for article in articles.values():
            self._home[article.id] = _grow(growing, article)
            row = self._in_code.setdefault(article.code, [])
            self._position[article.id] = len(row)
            row.append(article.id)
            for cited in dict.fromkeys(article.references):
                if cited in articles and cited != article.id:
                    self._citing.setdefault(cited, []).append(article.id)
        self._places = {
            (code, at): ContentsEntry(code, at, g.title, g.count, tuple(g.articles), len(g.children))
            for (code, at), g in growing.items()
        }

    @property
    def codes(self) -> tuple[ContentsEntry, ...]:
        """The codes, in the corpus's order."""
        return tuple(self._places[code, ()] for code in self._in_code)

    def trail(self, code: str, at: Steps = ()) -> tuple[ContentsEntry, ...]:
        """Return the places from the code down to the steps, as far as they lead; () for an unknown code."""
        found = []
        for length in range(len(at[:DEEPEST]) + 1):
            place = self._places.get((code, at[:length]))
            if place is None:
                break
            found.append(place)
        return tuple(found)

    def below(self, place: ContentsEntry) -> tuple[ContentsEntry, ...]:
        """Return the headings right under a place, in order."""
        return tuple(self._places[place.code, (*place.at, n)] for n in range(1, place.below + 1))

    def home(self, article_id: str) -> tuple[ContentsEntry, ...]:
        """Return the places from the code down to the heading that the article stands under."""
        return self.trail(self.articles[article_id].code, self._home[article_id])

    def previous(self, article_id: str) -> Article | None:
        """Return the article before this one in its code."""
        return self._adjacent(article_id, -1)

    def after(self, article_id: str) -> Article | None:
        """Return the article after this one in its code."""
        return self._adjacent(article_id, 1)

    def _adjacent(self, article_id: str, step: int) -> Article | None:
        row = self._in_code[self.articles[article_id].code]
        target = self._position[article_id] + step
        return self.articles[row[target]] if 0 <= target < len(row) else None

    def siblings(self, article_id: str) -> tuple[Article, ...]:
        """Return the articles under the very same heading, this one among them."""
        return self._of(self.home(article_id)[-1].articles)

    def cites(self, article_id: str) -> tuple[Article, ...]:
        """Return the articles of this corpus that the article refers to, in the order that it names them."""
        cited = dict.fromkeys(self.articles[article_id].references)
        return self._of(i for i in cited if i in self.articles and i != article_id)

    def cited_by(self, article_id: str) -> tuple[Article, ...]:
        """Return the articles that refer to this one."""
        return self._of(self._citing.get(article_id, ()))

    def citing_questions(self, article_id: str) -> tuple[str, ...]:
        """Return the annotated questions that cite the article, each text once."""
        return tuple(dict.fromkeys(q.text for q in self._annotated.get(article_id, ())))

    def _of(self, ids: Iterable[str]) -> tuple[Article, ...]:
        return tuple(self.articles[i] for i in ids)


def _grow(growing: dict[tuple[str, Steps], _Growing], article: Article) -> Steps:
    """Add an article to the tree and return the steps to its heading."""
    here = growing.setdefault((article.code, ()), _Growing(article.code, 0, [], {}))
    here.count += 1
    at: Steps = ()
    for heading in article.headings[:DEEPEST]:
        at = (*at, here.children.setdefault(heading, len(here.children) + 1))
        here = growing.setdefault((article.code, at), _Growing(heading, 0, [], {}))
        here.count += 1
    here.articles.append(article.id)
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
