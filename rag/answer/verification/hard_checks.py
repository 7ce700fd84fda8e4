"""What code decides of a sentence of an answer, for certain and in any language; its meaning is a judge's.

The ids are among the articles shown, quotes stand in their articles, numbers, dates and amounts occur in a
cited article, article numbers are those of cited articles or named by them, no word makes a rule more
absolute than the law does, no authority is named that the law does not name, and all is plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import chain

from rag.answer.types import Fault, Passage, Statement
from rag.answer.verification.quotes import is_long_enough, places
from rag.answer.verification.sanitise import marked
from rag.text.article_numbers import number_key
from rag.text.highlight import sentences
from rag.text.language import language_of
from rag.text.patterns import any_of, data, plain
from rag.text.quantities import PART, TIMES, cited_articles, flat, quantities, telling
from rag.text.references import Reference
from rag.types import Article

LONGEST = 2_000  # characters of a sentence; a longer one is none
MOST_QUOTES = 20  # of a sentence; more are no sentence's support
NARROWED, DENIED = "narrowed", "denied"  # of absolutes.toml: what allows "only" and "never" besides
TAKING_BACK = "taking_back"  # what takes an absolute back
SMALL = 2  # a number without a unit up to which it only tells one from several
RECENT = 512  # articles whose numbers and words stay at hand


def faults(
    statement: Statement, shown: Mapping[str, Article], question: str = "", language: str | None = None
) -> tuple[Fault, ...]:
    """Return all that is wrong with a sentence, by code alone.

    Args:
        statement: the sentence.
        shown: the articles by id.
        question: a number that stands in it is the person's own, and may be said again.
        language: of the question, and so most likely of the sentence.
    """
    found = set(_citation_faults(statement, shown))
    cited = [shown[id_] for id_ in dict.fromkeys(statement.article_ids) if id_ in shown]
    for quote in statement.quotes[:MOST_QUOTES]:
        if quote.article_id in shown and not places(shown[quote.article_id].text).find(quote.text):
            found.add(Fault.ALTERED)
    text = " ".join(statement.text.split())
    if not text or len(text) > LONGEST or marked(text, "\n".join(article.text for article in cited)):
        found.add(Fault.MARKUP)
    if cited and len(text) <= LONGEST:
        found.update(_claim_faults(text, cited, question, language))
    return tuple(fault for fault in Fault if fault in found)


def passages(statement: Statement, shown: Mapping[str, Article]) -> tuple[Passage, ...]:
    """Return where the quotes of a sentence stand, each once, but for those too short to mean one place."""
    found = []
    for quote in statement.quotes[:MOST_QUOTES]:
        if quote.article_id in shown and is_long_enough(quote.text):
            spans = places(shown[quote.article_id].text).find(quote.text)
            found += [Passage(quote.article_id, *span) for span in spans[:1]]
    return tuple(dict.fromkeys(found))


def _citation_faults(statement: Statement, shown: Mapping[str, Article]) -> Iterator[Fault]:
    if not statement.article_ids:
        yield Fault.UNCITED
    named = {*statement.article_ids, *(quote.article_id for quote in statement.quotes)}
    if any(id_ not in shown for id_ in named) or len(statement.quotes) > MOST_QUOTES:
        yield Fault.NOT_SHOWN


def _claim_faults(text: str, cited: Sequence[Article], question: str, likely: str | None) -> Iterator[Fault]:
    codes = tuple(dict.fromkeys(article.code for article in cited))
    language = language_of(text, likely=likely)
    law = _Counted.of(_law_numbers(article, codes) for article in cited)
    asked = _numbers(question, language_of(question, likely=likely), codes)
    # what the question says may be said again, but not as a time that the law sets otherwise
    timed = any(isinstance(number, tuple) and number[1] in TIMES for number in law.whole)
    if _names_other_articles(text, cited, codes, language) or not all(
        number in law
        or (number in asked and not (timed and isinstance(number, tuple) and number[1] in TIMES))
        for number in _numbers(text, language, codes).whole
    ):
        yield Fault.NUMBER
    said = _kinds("absolutes", text, language, taken_back=True) - {NARROWED, DENIED, TAKING_BACK}
    allowed = set(chain.from_iterable(_law_kinds("absolutes", article) for article in cited))
    allowed |= {"only"} if NARROWED in allowed else set()
    allowed |= {"never"} if DENIED in allowed else set()
    if said - allowed:
        yield Fault.ABSOLUTE
    named = frozenset(chain.from_iterable(_law_kinds("authorities", article) for article in cited))
    if _kinds("authorities", text, language) - named:
        yield Fault.AUTHORITY


@lru_cache(maxsize=2 * RECENT)
def _law_kinds(name: str, article: Article) -> frozenset[str]:
    whole = "\n".join((*article.headings, article.text))
    return _kinds(name, whole, language_of(article.text, article.language))


def _kinds(name: str, text: str, language: str, *, taken_back: bool = False) -> frozenset[str]:
    """Return the kinds of a table of words that a text has.

    With `taken_back`, but for those that it denies: "not always".
    """
    bare, patterns = plain(text), _patterns(name, language)

    def denied(found: re.Match[str]) -> bool:
        before = patterns[TAKING_BACK].finditer(bare, max(0, found.start() - 12), found.start())
        return any(not bare[each.end() : found.start()].strip() for each in before)

    return frozenset(
        kind
        for kind, pattern in patterns.items()
        if any(not (taken_back and denied(found)) for found in pattern.finditer(bare))
    )


@cache
def _patterns(name: str, language: str) -> Mapping[str, re.Pattern[str]]:
    return {kind: any_of([by_language[language]]) for kind, by_language in data("rag.answer", name).items()}


@dataclass(frozen=True, slots=True)
class _Counted:
    """What is counted in a text."""

    whole: frozenset[object]  # with units; words that tell a date or a rhythm
    bare: frozenset[Fraction] = frozenset()  # the numbers alone

    @classmethod
    def of(cls, parts: Iterable[_Counted]) -> _Counted:
        known = list(parts)
        return cls(
            frozenset(chain.from_iterable(each.whole for each in known)),
            frozenset(chain.from_iterable(each.bare for each in known)),
        )

    def __contains__(self, number: object) -> bool:
        """Tell whether a number stands here: with its unit, or as it stands there without one.

        Two without a unit is "both", and a fourth is a quarter in some languages.
        """
        if number in self.whole:
            return True
        match number:
            case (Fraction() as value, ""):
                return value in self.bare or value <= SMALL
            case (Fraction() as value, "ordinal"):
                return value > 0 and (1 / value, PART) in self.whole
        return False


def _numbers(text: str, language: str, codes: tuple[str, ...]) -> _Counted:
    """Return what can be counted in a text, but for the numbers of articles."""
    references = cited_articles(text, codes, language)
    rest = text
    for each in reversed(references):
        rest = rest[: each.start] + " " + rest[each.end :]
    counted = flat(rest)
    found = quantities(counted, language)
    bare = frozenset(each.value if each.typed is None else each.typed for each in found)
    return _Counted(frozenset({each.key for each in found} | set(telling(counted, language))), bare)


@lru_cache(maxsize=RECENT)
def _law_numbers(article: Article, codes: tuple[str, ...]) -> _Counted:
    language = language_of(article.text, article.language)
    texts = [*(article.text[start:end] for start, end in sentences(article.text)), " ".join(article.headings)]
    return _Counted.of(_numbers(text, language, codes) for text in texts)


def _names_other_articles(text: str, cited: Sequence[Article], codes: tuple[str, ...], language: str) -> bool:
    """Tell whether an article is named that is none of the cited, nor named by one of them."""
    own = {(number_key(article.article_no), article.code) for article in cited}
    in_law = [each for article in cited for each in _references(article, codes)]

    def known(each: Reference) -> bool:
        held = each.code is not None or each.code_named is None
        mine = held and any(n == each.number and each.code in (None, code) for n, code in own)
        return mine or any(
            each.number == other.number
            and (not each.code_named or (each.code, each.code_named) == (other.code, other.code_named))
            for other in in_law
        )

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
