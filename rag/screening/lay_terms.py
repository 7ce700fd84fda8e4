"""The words that French law has for what a question in another language asks about.

The words are data (`rag/screening/data/lay_terms.toml`), read by `rag.screening.lexicon`: French terms, each
with what people write for it in fifteen languages.
"""

from __future__ import annotations

from collections.abc import Sequence

from rag.screening.language import asked_language, terms
from rag.screening.lexicon import Match, words

FRENCH = "fr"
TERMS = 6  # terms at most: a search for more finds none of them well


def french_terms(question: str, most: int | None = TERMS, page: str = FRENCH) -> Sequence[str]:
    """Return French legal terms for what a question in another language speaks of, in its order, each once.

    None for a question in French; `page` is the language that one word is likely to be in.
    """
    language = asked_language(question, FRENCH, page)
    if language == FRENCH:
        return ()
    matches = sorted(terms().matches(words(question), [language]), key=lambda match: match.start)
    whole = [match for match in matches if not any(_within(match, other) for other in matches)]
    return tuple(dict.fromkeys(match.concept for match in whole))[:most]


def asked_in_terms(question: str, law: str, page: str = FRENCH) -> bool:
    """Tell whether a question in another language can be asked in terms of the law, which is in `law`."""
    return law == FRENCH and bool(french_terms(question, page=page))


def _within(match: Match, other: Match) -> bool:
    longer = other.end - other.start > match.end - match.start
    return longer and other.start <= match.start and match.end <= other.end
