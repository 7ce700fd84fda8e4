"""Which of sixteen languages a question is in, by frequent words, rare letters and legal terms.

The words are data: `rag/screening/data/languages.toml`, and the terms of `rag/screening/data/lay_terms.toml`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache

from rag.screening.lexicon import LONGEST, Lexicon, Match, Word, fold, words
from rag.text.analysers import LANGUAGES, stop_words
from rag.text.patterns import data

QUESTIONS = 64  # that stay at hand: a page asks several times
SHARE = 0.6  # of the frequent words of the likeliest language, in another that is read as well
COGNATE = 4  # letters by which a word begins as the French one does
_LATIN = re.compile("[A-Za-z]")


@cache
def terms() -> Lexicon:
    """Return the French legal terms, with what people write for each in other languages."""
    return Lexicon(data("rag.screening", "lay_terms"), {})


@cache
def _frequent() -> Lexicon:
    return Lexicon({"speech": data("rag.screening", "languages")["speech"]}, {})


def _counts(question: str) -> Counter[str]:
    """Return how many frequent words and rare letters of each language a question has."""
    frequent, letters = _frequent(), data("rag.screening", "languages")["letters"]
    counts = Counter(match.language for match in frequent.matches(words(question), frequent.languages))
    for sign in question[:LONGEST].casefold():
        counts.update(language for language, signs in letters.items() if sign in signs)
    return counts


def question_languages(question: str) -> list[str]:
    """Return all languages that a question may be in, the likeliest first; [] where nothing tells."""
    counts = _counts(question)
    most = max(counts.values(), default=0)
    least = max(1.0, min(SHARE * most, most - 1))  # in a short text one word more tells little
    return [language for language, count in counts.most_common() if count >= least]


@lru_cache(maxsize=QUESTIONS)
def question_language(question: str, likely: str) -> str:
    """Return which language a question is in: the likely one, unless another is told for sure.

    Frequent words tell, letters that few languages have, and, of a question of few words, legal terms.
    """
    text, signs = words(question), _counts(question)
    own = max(signs.pop(likely, 0), sum(word.text in _function_words(likely) for word in text))
    if _LATIN.search(question):
        others, lead = [language for language, count in signs.items() if count >= max(own, 1)], 2
    else:  # one word tells, of whatever kind
        others, lead = [language for language in terms().languages if language != likely], 1
    if not others:
        return likely
    found = Counter(match.language for match in terms().matches(text, others) if not _cognate(match, text))
    told = max(others, key=lambda language: signs[language] + found[language])
    sure = signs[told] > max(own, 1) or signs[told] + found[told] >= own + lead
    return told if sure else likely


def asked_language(question: str, law: str, page: str) -> str:
    """Return which language a question is in: the law's, unless another is told.

    Of one word ("Scheidung") nothing tells; then it is the page's, if that has a legal term there which is no
    word of the law's terms ("hypothèque").
    """
    asked, text = question_language(question, law), words(question)
    if asked != law or page == law or len(text) != 1 or text[0].text in _term_words():
        return asked
    return page if any(not _cognate(match, text) for match in terms().matches(text, [page])) else asked


@cache
def _term_words() -> frozenset[str]:
    """Return the words of the French legal terms."""
    return frozenset(word.text for term in data("rag.screening", "lay_terms") for word in words(term))


@cache
def _function_words(language: str) -> frozenset[str]:
    return frozenset(map(fold, stop_words(language))) if language in LANGUAGES else frozenset()


def _cognate(match: Match, text: Sequence[Word]) -> bool:
    """Tell whether what was found may be the French word itself: "amendă" begins as "amende" does."""
    found = text[match.start].text[:COGNATE]
    return any(word.text[:COGNATE] == found for word in words(match.concept))
