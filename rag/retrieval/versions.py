"""Versions of one article: which of them held on a day, and never two of one article in a list.

A corpus may hold an article as it was and as it is. They bear the same number of the same code, and no
day is in the time of both. Two articles of one number whose times do overlap, such as the first
articles of two annexes, are different articles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from rag.types import Article, in_force


def together(one: Article, other: Article) -> bool:
    """Tell whether there is a day on which both are in force; what has no date always is."""
    return _begins_before(one, other.valid_to) and _begins_before(other, one.valid_to)


def most_versions(articles: Iterable[Article]) -> int:
    """Return how many articles with a date bear one number of one code, at most; 1 where none does."""
    dated = (a for a in articles if a.article_no.strip() and (a.valid_from or a.valid_to))
    return max(Counter((a.code, a.article_no) for a in dated).values(), default=1)


def of_day(articles: Sequence[Article], day: date | None) -> list[Article]:
    """Return of the versions of each article those in force on a day, in their order.

    Where none is, the one nearest to the day is returned: the last one before it, else the first one
    after it.

    Args:
        articles: of one number or of several.
        day: None takes the newest version.
    """
    groups: dict[tuple[str, str], list[Article]] = {}
    for article in articles:
        groups.setdefault((article.code, article.article_no), []).append(article)
    kept = {article.id for group in groups.values() for article in _of_day(group, day)}
    return [article for article in articles if article.id in kept]


def once(ranked: Iterable[Article], taken: Iterable[Article] = ()) -> Iterator[Article]:
    """Yield ranked articles, of the versions of one article only the best.

    Args:
        ranked: best first.
        taken: articles that are listed already.
    """
    listed: dict[tuple[str, str], list[Article]] = {}
    for article in taken:
        listed.setdefault((article.code, article.article_no), []).append(article)
    for article in ranked:
        there = listed.setdefault((article.code, article.article_no), [])
        if article.article_no.strip() and not all(together(article, other) for other in there):
            continue
        there.append(article)
        yield article


def _of_day(group: Sequence[Article], day: date | None) -> list[Article]:
    if len(group) == 1:
        return list(group)
    if day is None:
        newest = max(group, key=lambda a: (a.valid_from or date.min, a.id))
        return [article for article in group if article is newest or together(article, newest)]
    if held := [article for article in group if in_force(article, day)]:
        return held
    if before := [article for article in group if article.valid_to is not None and article.valid_to <= day]:
        return [max(before, key=lambda a: (a.valid_to or date.min, a.id))]
    return [min(group, key=lambda a: (a.valid_from or date.min, a.id))]


def _begins_before(article: Article, end: date | None) -> bool:
    return article.valid_from is None or end is None or article.valid_from < end
