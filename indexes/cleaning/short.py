"""Articles that say too little to be found by: under five words, as the language's analyser cuts them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rag.text.analysers import analyser
from rag.types import Article

FEWEST = 5  # words that an article must have
_GLANCE = 64  # characters that are cut first: nearly every article has five words among them


def short(articles: Iterable[Article], language: str) -> Iterator[str]:
    """Yield the ids of articles of fewer than five words.

    Words are those of the analyser of the language, stop words among them, elided ones ("l'", "dell'")
    not; a number is one. In Chinese they are jieba's words.

    Args:
        articles: whose texts are counted.
        language: two letters.

    Raises:
        BadInput: the language has no analyser.
    """
    cut = analyser(language, stop_words=False, stem=False, chinese="words")
    for article in articles:
        text = article.text
        if len(text) > _GLANCE and len(cut.terms(text[:_GLANCE])) > FEWEST:  # the last may be cut in two
            continue
        if len(cut.terms(text)) < FEWEST:
            yield article.id
