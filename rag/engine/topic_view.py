"""What a person may mean by one to four words: questions to choose from, one a section of the law."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from rag.types import Article, Question

MAX_WORDS = 4  # more say what happened, and are searched as a question
MAX_CASES = 8
DEPTH = 60  # articles whose sections are looked at
_FIRST = 10  # articles that tell whether the law is about these words
_LONG = 110  # characters: a longer question is a story
_TYPICAL = 60
Annotated = Mapping[str, Sequence[Question]]  # article id -> annotated questions that cite it
Terms = Callable[[str], Collection[str]]  # the terms of a text


@dataclass(frozen=True, slots=True)
class TopicCase:
    """A question to choose, with the section of the law that it is about."""

    question: str
    section: str


def names_topic(
    terms: frozenset[str], articles: Sequence[Article], covering: Collection[str], cited: Annotated, of: Terms
) -> bool:
    """Tell whether a few words name a matter that the first ranked articles are about.

    Two of them have all its terms in their own text, headings or code (`covering`), or one of them has,
    and an annotated question with all its terms cites one of them. One word that none of them has
    ("usucapion") names a matter where two such questions do.
    """
    first = [article.id for article in articles[:_FIRST]]
    own = sum(id_ in covering for id_ in first)
    if own > 1:
        return True
    asked = {q.text for id_ in first for q in cited.get(id_, ()) if terms <= set(of(q.text))}
    return (own == 1 and bool(asked)) or (len(terms) == 1 and len(asked) > 1)


def topic_cases(
    typed: str,
    terms: frozenset[str],
    articles: Sequence[Article],
    covering: Collection[str],
    cited: Annotated,
    of: Terms,
) -> tuple[TopicCase, ...]:
    """Return up to eight questions to choose from, one a section, in the order of the ranked articles.

    A question that has the topic's terms comes before one that has not, which must be about an article that
    has them; a plain question of some sixty characters comes before a story.
    """
    best: dict[tuple[str, ...], tuple[tuple[bool, bool, int], TopicCase]] = {}
    typed = " ".join(typed.casefold().split())
    for article in articles[:DEPTH]:
        section = (article.code, *article.headings)
        for each in cited.get(article.id, ()):
            text = each.text
            apart = not terms <= set(of(text))
            same = " ".join(text.casefold().split()) == typed
            if same or len(text) > _LONG or (apart and article.id not in covering):
                continue
            key = (apart, not text.rstrip().endswith("?"), abs(len(text) - _TYPICAL))
            if section not in best or key < best[section][0]:
                heading = article.headings[-1] if article.headings else article.code
                best[section] = key, TopicCase(text, heading)
    in_order = sorted(best.values(), key=lambda found: found[0][0])  # stable: sections stay ranked
    return tuple({case.question: case for _, case in in_order}.values())[:MAX_CASES]
