"""What may go wrong with a law before anybody asks it: texts that cannot be searched, and how much is found.

No question is needed. How many questions will find an article among the first ten is foretold from one
figure, how often an article is found by the last of its own headings: fitted by `training.audit` to parts of
three collections, and tested on the one left out.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from rag.engine.engine import Engine
from rag.text.language import language_of
from rag.types import Article, Question

SAMPLE = 200  # articles that are asked for by a heading, and as many texts whose language is told
BIAS, WEIGHT = -1.0227, 3.0162  # of a logistic curve over `found_by_heading`
ERROR = 0.133  # of nine in ten parts of collections that were left out
SHORT, LONG = 3, 20  # terms; times the median
FOREIGN = 0.9  # share of texts in the card's language below which it is told
UNREAD = 0.7  # share of letters in words without a term above which the analyser hardly fits
LISTED = 5
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Expected:
    """The share of questions that find an answering article among the first ten, as foretold."""

    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found of an index; lists hold article ids, shares lie in 0..1."""

    articles: int
    unread: float  # letters in words that became no term: those left out on purpose (de, la, und) too
    termless: tuple[str, ...]
    without_heading: tuple[str, ...]
    short: tuple[str, ...]  # under 3 terms, though there is a text
    long: tuple[str, ...]  # over 20 times the median
    textless: tuple[str, ...]
    twins: tuple[tuple[str, ...], ...]  # articles of one text
    languages: Mapping[str, int]  # of a sample
    language: str  # what the card says
    questions: int
    strangers: tuple[str, ...]  # questions that share no term with any article that answers them
    found_by_heading: float | None  # None: no article has a heading and a text
    doubt: bool  # "probably none answers" was fitted to this very index

    @property
    def expected(self) -> Expected | None:
        """What is foretold; None where nothing was to be measured."""
        return None if self.found_by_heading is None else expected(self.found_by_heading)


def expected(found_by_heading: float) -> Expected:
    """Return the foretold share and the interval that held for nine in ten parts of collections left out."""
    share = 1 / (1 + math.exp(-(BIAS + WEIGHT * found_by_heading)))
    return Expected(share, max(0.0, share - ERROR), min(1.0, share + ERROR))


def audit(engine: Engine, questions: Sequence[Question] = (), seed: int = 42) -> Audit:
    """Look through an opened index; `questions` are annotated ones of its corpus."""
    articles = list(engine.articles.values())
    of_word: dict[str, int] = {}
    terms: dict[str, int] = {}
    letters = Counter[bool]()
    for article in articles:
        terms[article.id] = len(engine.analyser.terms(article.text))
        for word in _WORD.findall(article.text):
            if word not in of_word:
                of_word[word] = len(engine.analyser.terms(word))
            letters[of_word[word] > 0] += len(word)
    texts = [article for article in articles if article.text.strip()]
    by_text: dict[str, list[str]] = {}
    for article in texts:
        by_text.setdefault(" ".join(article.text.split()), []).append(article.id)
    lengths = sorted(terms[article.id] for article in texts)
    median = lengths[len(lengths) // 2] if lengths else 0
    chance = random.Random(seed)  # noqa: S311 - a sample, no secret
    sample = chance.sample(texts, min(SAMPLE, len(texts)))
    return Audit(
        articles=len(articles),
        unread=letters[False] / (letters.total() or 1),
        termless=tuple(article.id for article in texts if not terms[article.id]),
        without_heading=tuple(article.id for article in articles if not article.headings),
        short=tuple(article.id for article in texts if 0 < terms[article.id] < SHORT),
        long=tuple(article.id for article in texts if terms[article.id] > LONG * max(median, 1)),
        textless=tuple(article.id for article in articles if not article.text.strip()),
        twins=tuple(tuple(ids) for ids in by_text.values() if len(ids) > 1),
        languages=Counter(language_of(article.text, likely=engine.card.language) for article in sample),
        language=engine.card.language,
        questions=len(questions),
        strangers=tuple(q.text for q in questions if _stranger(q, engine)),
        found_by_heading=found_by_heading(engine, chance),
        doubt=engine.notices.confidence is not None,
    )


def _stranger(question: Question, engine: Engine) -> bool:
    gold = [engine.articles[id_] for id_ in question.article_ids if id_ in engine.articles]
    asked = set(engine.analyser.terms(question.text))
    law = chain.from_iterable((article.text, *article.headings) for article in gold)
    return bool(gold) and asked.isdisjoint(chain.from_iterable(map(engine.analyser.terms, law)))


def found_by_heading(engine: Engine, chance: random.Random) -> float | None:
    """Return the share of sampled articles that are among the first ten for the last of their headings."""
    headed = [article for article in engine.articles.values() if article.headings and article.text.strip()]
    sample = chance.sample(headed, min(SAMPLE, len(headed)))
    if not sample:
        return None
    return sum(_found(article, engine) for article in sample) / len(sample)


def _found(article: Article, engine: Engine) -> bool:
    return article.id in {shown.article.id for shown in engine.ask(article.headings[-1], k=10).shown}


def lines(found: Audit) -> Iterator[str]:
    """Yield what a terminal is told, warnings marked."""
    count, twins = found.articles, tuple(ids[0] for ids in found.twins)
    yield f"{count:,} articles"
    for what, ids, grave in (
        ("have no text: they are found by headings and questions alone", found.textless, 1.0),
        ("have a text of which nothing can be searched", found.termless, 0.0),
        ("have no heading", found.without_heading, 0.5),
        (f"have fewer than {SHORT} terms", found.short, 0.1),
        (f"are longer than {LONG} times the median: were they cut in the right place?", found.long, 0.1),
        ("have a text that others have too", twins, 0.1),
    ):
        if ids:
            some = ", ".join(ids[:LISTED]) + (", …" if len(ids) > LISTED else "")
            yield f"{_mark(len(ids) > grave * count)}{len(ids):,} ({len(ids) / count:.1%}) {what}: {some}"
    why = "left out on purpose, as de, la, und, or not read"
    unread = f"{found.unread:.0%} of the letters stand in words not searched"
    yield f"{_mark(found.unread > UNREAD)}{unread} ({why})"
    known = found.languages.get(found.language, 0)
    languages = sorted(found.languages.items(), key=lambda item: -item[1])
    told = ", ".join(f"{code} {n}" for code, n in languages)
    foreign = known < FOREIGN * sum(found.languages.values())
    yield f"{_mark(foreign)}languages of a sample of texts: {told} (the card says {found.language})"
    if found.questions:
        share = len(found.strangers) / found.questions
        yield f"{found.questions:,} annotated questions, {share:.0%} without one word of what answers them"
    else:
        yield "no annotated question: nothing can be measured on this law, and it learns from nobody"
    doubt = "was fitted to this index" if found.doubt else "is never said: it was not fitted to this law"
    yield f'"probably no article answers" {doubt}'
    if (foretold := found.expected) is None:
        yield "how much will be found cannot be foretold: no article has a heading and a text"
    else:
        between = f"{foretold.low:.0%} to {foretold.high:.0%}"
        yield f"foretold: {foretold.share:.0%} of questions ({between}) find an answer among the first ten;"
        yield f"  {found.found_by_heading:.0%} of articles are found by their last heading"


def _mark(grave: bool) -> str:
    return "WARNING " if grave else ""
