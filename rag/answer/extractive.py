"""The sentence of each article that best meets a question, as a writer: an answer without any model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag.answer.extract import Extractor
from rag.answer.types import Answer, Ending, Event, Passage, Passed
from rag.types import Article

FROM = 3  # articles, as on the page


class ExtractiveWriter:
    """Quotes one sentence, or the clauses of a long one, of each of the first articles."""

    name = "extractive"

    def __init__(self, extractor: Extractor) -> None:
        """Take what chooses the sentences."""
        self._extractor = extractor

    def write(self, question: str, articles: Sequence[Article], language: str) -> Iterator[Event]:
        """Yield a sentence an article that has a text, and the answer of them; see `Writer`."""
        texts = {article.id: article.text for article in articles[:FROM]}
        passed = []
        for each in self._extractor.extract(question, articles[:FROM]):
            quoted = texts[each.article_id][each.start : each.end]
            passage = Passage(each.article_id, each.start, each.end)
            passed.append(Passed(quoted, (each.article_id,), (passage,)))
            yield passed[-1]
        yield Answer(Ending.WRITTEN if passed else Ending.REFUSED, tuple(passed), model=self.name)
