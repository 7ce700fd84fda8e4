"""Which articles of a law refer to each other: as its source says, or else as their own texts do."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from rag.corpus.articles import reference_pairs
from rag.corpus.card import CorpusCard
from rag.retrieval.known_item import KnownItems
from rag.text.references import LONGEST
from rag.types import Article, Ints, Progress, no_progress

READING = 1  # raised when a text that is read anew may give other references than before
_STEP = 1000  # articles between two calls of a progress
_SENTENCE = re.compile(r"[^\n。;；]*[\n。;；]?")  # a full stop may end none: "art. 5", "al. 2"


def references(
    articles: Sequence[Article],
    card: CorpusCard,
    of: Sequence[int] | None = None,
    progress: Progress = no_progress,
) -> Ints:
    """Return (n, 2) positions: an article, and one that it refers to, in order, each pair once.

    `of` are the positions of the articles whose references are wanted, all if left out.

    Where no article of the corpus comes with references they are read from the texts. A number alone is an
    article of the same code; a law that the corpus does not hold is passed over. Some are misread (a law
    that is named in a way that no list has, an article of it taken for one's own): this is evidence for a
    fusion that is fitted, and nothing to show people as what the law says.
    """
    if come_with_references(articles):
        pairs = reference_pairs(articles)
        return pairs if of is None else pairs[np.isin(pairs[:, 0], of)]
    items = KnownItems(articles, card)
    position = {article.id: i for i, article in enumerate(articles)}
    found: list[tuple[int, int]] = []
    of = range(len(articles)) if of is None else of
    for n, i in enumerate(of, start=1):
        named = dict.fromkeys(_named(articles[i], items))
        found += [(i, position[id_]) for id_ in named if position[id_] != i]
        if not n % _STEP or n == len(of):
            progress("reading references", n, len(of))
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def come_with_references(articles: Iterable[Article]) -> bool:
    """Tell whether a source says what its articles refer to, so that no text is read for it."""
    return any(article.references for article in articles)


def readings_sha256(articles: Sequence[Article], card: CorpusCard) -> str:
    """Return an identity, hexadecimal, of all that a text's references depend on beside the text itself.

    Where two laws share it, an article of the same words, code and position refers to the same positions.
    """
    dated = any(article.valid_from or article.valid_to for article in articles)
    parts = [READING, card.language, card.aliases, card.law_date if dated else None]
    parts += [(a.id, a.code, a.article_no, a.valid_from, a.valid_to) for a in articles]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(json.dumps(part, ensure_ascii=False, sort_keys=True, default=str).encode() + b"\n")
    return digest.hexdigest()


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
