"""Articles that stand twice in one code: under the same number, or in the same words."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from rag.types import Article


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Articles that stand twice."""

    groups: int  # numbers, or texts, that several articles of a code have
    articles: int  # that have them
    instead: Mapping[str, str]  # id of an article that can go -> id of the one that stays for it


def same_number(articles: Sequence[Article], law_date: date | None) -> Duplicates:
    """Return the articles of one code and region that bear the same number, and which are superseded.

    Several articles may rightly bear one number: those of annexes are counted anew. So one can go only
    if dates show that it is a former or a coming version of another: with a day of the law, if it was
    not in force then and another was; without one, if it had ceased when another began. Of the others
    all stay. What stays for it is the one in force then; of several the one that began last. Articles
    without a number have none in common.
    """
    numbered = _several(
        articles, lambda a: (a.code, a.article_no, a.law_type, a.region) if a.article_no else None
    )
    instead: dict[str, str] = {}
    for group in numbered:  # what any other supersedes, the last of them does too
        last = max((each for each in group if _may_stay(each, law_date)), key=_order, default=None)
        if last is not None:
            instead |= {each.id: last.id for each in group if _supersedes(last, each, law_date)}
    return Duplicates(len(numbered), sum(map(len, numbered)), instead)


def same_text(articles: Sequence[Article]) -> Duplicates:
    """Return the articles of one code whose texts are the same but for blanks; the first of them stays."""
    alike = _several(articles, lambda a: (a.code, _digest(" ".join(a.text.split()))))
    instead = {other.id: first.id for first, *others in alike for other in others}
    return Duplicates(len(alike), sum(map(len, alike)), instead)


def _order(article: Article) -> tuple[date, date, str]:
    return (*_span(article), article.id)


def _may_stay(article: Article, law_date: date | None) -> bool:
    """Tell whether another version may be superseded by this one."""
    if law_date is None:
        return article.valid_from is not None
    dated = article.valid_from is not None or article.valid_to is not None
    return dated and _in_force(article, law_date)


def _supersedes(other: Article, article: Article, law_date: date | None) -> bool:
    """Tell whether dates show one article to be the version of the other that counts."""
    if any(each.valid_from is None and each.valid_to is None for each in (other, article)):
        return False
    if law_date is not None:
        return _in_force(other, law_date) and not _in_force(article, law_date)
    # The second condition keeps two versions with muddled dates from superseding each other.
    ended = (
        article.valid_to is not None and other.valid_from is not None and article.valid_to <= other.valid_from
    )
    return ended and _span(article) < _span(other)


def _span(article: Article) -> tuple[date, date]:
    return article.valid_from or date.min, article.valid_to or date.max


def _in_force(article: Article, day: date) -> bool:
    start, ended = _span(article)
    return start <= day < ended


def _digest(text: str) -> bytes:
    """Return 16 bytes in place of a text: all texts of a large law would be held twice otherwise."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _several(articles: Iterable[Article], key: Callable[[Article], Hashable]) -> list[list[Article]]:
    first: dict[Hashable, Article] = {}  # and no list for each: of a large law almost none has a double
    found: dict[Hashable, list[Article]] = {}
    for article in articles:
        if (shared := key(article)) is not None and (
            other := first.setdefault(shared, article)
        ) is not article:
            found.setdefault(shared, [other]).append(article)
    return list(found.values())
