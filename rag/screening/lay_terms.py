"""The words that French law has for what a question in another language asks about.

The words are data (`rag/screening/data/lay_terms.toml`), read by `rag.screening.lexicon`: French terms, each
with what people write for it in fifteen languages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache

from rag.screening.danger import QUESTIONS, language_counts
from rag.screening.lexicon import Lexicon, Match, Word, fold, words
from rag.text.analysers import LANGUAGES, stop_words
from rag.text.patterns import data

FRENCH = "fr"
TERMS = 6  # that are offered, at most: a search for more finds none of them well
COGNATE = 4  # letters by which a word begins as the French one does
_LATIN = re.compile("[A-Za-z]")


@cache
def _lexicon() -> Lexicon:
    return Lexicon(data("rag.screening", "lay_terms"), {})


@lru_cache(maxsize=QUESTIONS)
def question_language(question: str, likely: str) -> str:
    """Return which of sixteen languages a question is in: the likely one, unless another is told for sure.

    Frequent words tell, letters that few languages have, and, of a question of few words, legal terms.
    """
    text, signs = words(question), language_counts(question)
    own = max(signs.pop(likely, 0), sum(word.text in _function_words(likely) for word in text))
    if _LATIN.search(question):
        others, lead = [language for language, count in signs.items() if count >= max(own, 1)], 2
    else:  # one word tells, of whatever kind
        others, lead = [language for language in _lexicon().languages if language != likely], 1
    if not others:
        return likely
    matches = _lexicon().matches(text, others)
    terms = Counter(match.language for match in matches if not _cognate(match, text))
    told = max(others, key=lambda language: signs[language] + terms[language])
    sure = signs[told] > max(own, 1) or signs[told] + terms[told] >= own + lead
    return told if sure else likely


def french_terms(question: str) -> Sequence[str]:
    """Return French legal terms for what a question in another language speaks of, in its order, each once.

    None for a question in French.
    """
    language = question_language(question, FRENCH)
    if language == FRENCH:
        return ()
    matches = sorted(_lexicon().matches(words(question), [language]), key=lambda match: match.start)
    whole = [match for match in matches if not any(_within(match, other) for other in matches)]
    return tuple(dict.fromkeys(match.concept for match in whole))[:TERMS]


@cache
def _function_words(language: str) -> frozenset[str]:
    return frozenset(map(fold, stop_words(language))) if language in LANGUAGES else frozenset()


def _cognate(match: Match, text: Sequence[Word]) -> bool:
    """Tell whether what was found may be the French word itself: "amendă" begins as "amende" does."""
    found = text[match.start].text[:COGNATE]
    return any(word.text[:COGNATE] == found for word in words(match.concept))


def _within(match: Match, other: Match) -> bool:
    longer = other.end - other.start > match.end - match.start
    return longer and other.start <= match.start and match.end <= other.end
