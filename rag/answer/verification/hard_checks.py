"""What code decides of a sentence of an answer, for certain and in any language; its meaning is a judge's.

The ids are among the articles shown, quotes stand in their articles, numbers, dates and amounts occur in a
cited article, article numbers are those of cited articles or named by them, no word makes a rule more
absolute than the law does, no authority is named that the law does not name, and all is plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain

from rag.answer.screening.patterns import any_of, data, plain
from rag.answer.types import Fault, Passage, Statement
from rag.answer.verification.normalise import flat
from rag.answer.verification.quantities import cited_articles, quantities, telling
from rag.answer.verification.quotes import Places, is_long_enough
from rag.answer.verification.sanitise import marked
from rag.text.article_numbers import number_key
from rag.text.highlight import sentences
from rag.text.language import language_of
from rag.text.references import Reference
from rag.types import Article

LONGEST = 2_000  # characters of a sentence; a longer one is none
MOST_QUOTES = 20  # of a sentence; more are no sentence's support
NARROWED = "narrowed"  # of absolutes.toml: what allows "only" besides
RECENT = 512  # articles whose numbers and words stay at hand


def faults(statement: Statement, shown: Mapping[str, Article], question: str = "") -> tuple[Fault, ...]:
    """Return all that is wrong with a sentence, by code alone; `shown` are the articles by id.

    A number that stands in the question is the person's own, and may be said again.
    """
    found = set(_citation_faults(statement, shown))
    cited = [shown[id_] for id_ in dict.fromkeys(statement.article_ids) if id_ in shown]
    for quote in statement.quotes[:MOST_QUOTES]:
        if quote.article_id in shown and not Places(shown[quote.article_id].text).find(quote.text):
            found.add(Fault.ALTERED)
    text = " ".join(statement.text.split())
    if not text or len(text) > LONGEST or marked(text, "\n".join(article.text for article in cited)):
        found.add(Fault.MARKUP)
    if cited and len(text) <= LONGEST:
        found.update(_claim_faults(text, cited, question))
    return tuple(fault for fault in Fault if fault in found)


def passages(statement: Statement, shown: Mapping[str, Article]) -> tuple[Passage, ...]:
    """Return where the quotes of a sentence stand, each once, but for those too short to mean one place."""
    found = []
    for quote in statement.quotes[:MOST_QUOTES]:
        if quote.article_id in shown and is_long_enough(quote.text):
            places = Places(shown[quote.article_id].text).find(quote.text)
            found += [Passage(quote.article_id, *place) for place in places[:1]]
    return tuple(dict.fromkeys(found))


def _citation_faults(statement: Statement, shown: Mapping[str, Article]) -> Iterator[Fault]:
    if not statement.article_ids:
        yield Fault.UNCITED
    named = {*statement.article_ids, *(quote.article_id for quote in statement.quotes)}
    if any(id_ not in shown for id_ in named) or len(statement.quotes) > MOST_QUOTES:
        yield Fault.NOT_SHOWN


def _claim_faults(text: str, cited: Sequence[Article], question: str) -> Iterator[Fault]:
    codes = tuple(dict.fromkeys(article.code for article in cited))
    language = language_of(text)
    if _names_other_articles(text, cited, codes, language) or not _numbers(text, language, codes) <= set(
        chain.from_iterable(_law_numbers(article, codes) for article in cited)
    ):
        yield Fault.NUMBER
    law = frozenset(chain.from_iterable(_kinds("absolutes", _whole(article)) for article in cited))
    ours = _kinds("absolutes", text) - {NARROWED}
    if NARROWED in law:
        ours -= {"only"}
    if ours - law:
        yield Fault.ABSOLUTE
    named = frozenset(chain.from_iterable(_kinds("authorities", _whole(article)) for article in cited))
    if _kinds("authorities", text) - named:
        yield Fault.AUTHORITY


def _whole(article: Article) -> str:
    return "\n".join((*article.headings, article.text))


@lru_cache(maxsize=2 * RECENT)
def _kinds(name: str, text: str) -> frozenset[str]:
    """Return the kinds of a table of words that a text has, in its own language."""
    bare, language = plain(text), language_of(text)
    return frozenset(kind for kind, pattern in _patterns(name, language).items() if pattern.search(bare))


@cache
def _patterns(name: str, language: str) -> Mapping[str, re.Pattern[str]]:
    return {kind: any_of([by_language[language]]) for kind, by_language in data(name).items()}


def _numbers(text: str, language: str, codes: tuple[str, ...]) -> set[object]:
    """Return what can be counted in a text, but for the numbers of articles."""
    references = cited_articles(text, codes, language)
    rest = text
    for each in reversed(references):
        rest = rest[: each.start] + " " + rest[each.end :]
    counted = flat(rest)
    return {quantity.key for quantity in quantities(counted, language)} | set(telling(counted))


@lru_cache(maxsize=RECENT)
def _law_numbers(article: Article, codes: tuple[str, ...]) -> frozenset[object]:
    language = language_of(article.text, article.language)
    found = chain.from_iterable(
        _numbers(article.text[start:end], language, codes) for start, end in sentences(article.text)
    )
    return frozenset(found) | _numbers(" ".join(article.headings), language, codes)


def _names_other_articles(text: str, cited: Sequence[Article], codes: tuple[str, ...], language: str) -> bool:
    """Tell whether an article is named that is none of the cited, nor named by one of them."""
    own = {(number_key(article.article_no), article.code) for article in cited}
    in_law = {each.number for article in cited for each in _references(article, codes)}

    def known(each: Reference) -> bool:
        held = each.code is not None or each.code_named is None
        mine = held and any(n == each.number and each.code in (None, code) for n, code in own)
        return mine or each.number in in_law

    return not all(map(known, cited_articles(text, codes, language)))


@lru_cache(maxsize=RECENT)
def _references(article: Article, codes: tuple[str, ...]) -> tuple[Reference, ...]:
    """Return the articles that an article's text names; read in windows, for only a start is looked at."""
    language = language_of(article.text, article.language)
    return tuple(
        each
        for start, end in sentences(article.text)
        for each in cited_articles(" ".join(article.text[start:end].split()), codes, language)
    )
