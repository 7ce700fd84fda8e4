"""Which articles of a law refer to each other: as its source says, or else as their own texts do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from rag.corpus.articles import reference_pairs
from rag.corpus.card import CorpusCard
from rag.retrieval.known_item import KnownItems
from rag.text.references import LONGEST
from rag.types import Article, Ints

_SENTENCE = re.compile(r"[^\n。;；]*[\n。;；]?")  # a full stop may end none: "art. 5", "al. 2"


def references(articles: Sequence[Article], card: CorpusCard) -> Ints:
    """Return (n, 2) positions: an article, and one that it refers to, in order, each pair once.

    Where no article of the corpus comes with references they are read from the texts. A number alone is an
    article of the same code; a law that the corpus does not hold is passed over. Some are misread (a law
    that is named in a way that no list has, an article of it taken for one's own): this is evidence for a
    fusion that is fitted, and nothing to show people as what the law says.
    """
    if any(article.references for article in articles):
        return reference_pairs(articles)
    items = KnownItems(articles, card)
    position = {article.id: i for i, article in enumerate(articles)}
    pairs = [
        (i, position[id_])
        for i, article in enumerate(articles)
        for id_ in dict.fromkeys(_named(article, items))
        if position[id_] != i
    ]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _named(article: Article, items: KnownItems) -> Iterator[str]:
    """Yield the ids of the articles that a text names; a former number is none of them."""
    for part in _parts(article.text):
        for item in items.find(part, article.valid_from, article.code):
            if not item.former:
                yield from item.found


def _parts(text: str) -> Iterator[str]:
    """Yield a text in parts of whole sentences that are read whole; a sentence that is too long is cut."""
    part = ""
    for sentence in _SENTENCE.findall(text):
        if len(part) + len(sentence) > LONGEST:
            yield part
            part = ""
        part += sentence
        while len(part) > LONGEST:  # not within a number: article 23 would be read as article 2
            end = max(part.rfind(sign, 0, LONGEST) for sign in " ，、,") + 1 or LONGEST
            yield part[:end]
            part = part[end:]
    yield part
