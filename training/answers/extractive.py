"""An answer without a model: the first sentence of the first articles, quoted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rag.answer.types import Answer, Ending, Event, Passage, Passed
from rag.types import Article

FROM = 3  # articles
# Ends a sentence: a Chinese stop, or a European one with a blank, or the end, after it.
_SENTENCE = re.compile(r"\S.*?(?:[。！？；]|[.!?;](?=\s|$)|$)", re.DOTALL)


class Extractive:
    """Quotes what stands at the head of each of the first articles."""

    name = "extractive"

    def write(self, question: str, articles: Sequence[Article], language: str) -> Iterator[Event]:
        """Yield a sentence an article; nothing is looked at but the order of the articles."""
        sentences = []
        for article in articles[:FROM]:
            found = _SENTENCE.search(article.text)
            if found is not None:
                passage = Passage(article.id, *found.span())
                sentences.append(Passed(found[0], (article.id,), (passage,)))
                yield sentences[-1]
        ending = Ending.WRITTEN if sentences else Ending.REFUSED
        yield Answer(ending, tuple(sentences), model=self.name)
