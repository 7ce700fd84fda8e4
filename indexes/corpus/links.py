"""Which articles of a law refer to each other: as its source says, and as their own texts do."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal

import numpy as np
import numpy.typing as npt

from rag.corpus.articles import reference_pairs
from rag.corpus.card import CorpusCard
from rag.graph.references.reader import ReferenceReader
from rag.graph.references.reference import ROLES
from rag.types import Article, Ints, Progress, no_progress

READING = 4  # raised with each change to a grammar or the reader: texts are read anew
# sources that mark some of the references of a text and leave the others plain
_MARK_SOME = frozenset({"akoma-ntoso"})
_STEP = 1000  # articles between two calls of a progress
_NOWHERE = (-1, -1)


@dataclass(frozen=True, slots=True, eq=False)
class ReadReferences:
    """References between the articles of a corpus, and where their texts make them."""

    pairs: Ints  # (n, 2), positions: an article, and one that it refers to, in order, each pair once
    # (n, 2), characters of the first mention, end exclusive; -1: not in the text
    spans: npt.NDArray[np.int32]
    roles: npt.NDArray[np.int8]  # (n,), what the first mention is for: a place in ROLES

    @classmethod
    def empty(cls) -> ReadReferences:
        """Return no references."""
        return cls(np.zeros((0, 2), np.int64), np.zeros((0, 2), np.int32), np.zeros(0, np.int8))

    def extend(self, others: ReadReferences) -> ReadReferences:
        """Return these and others."""
        parts = ((getattr(one, name) for one in (self, others)) for name in ("pairs", "spans", "roles"))
        return ReadReferences(*(np.concatenate(list(part)) for part in parts))


def read_references(
    articles: Sequence[Article],
    card: CorpusCard,
    of: Sequence[int] | None = None,
    progress: Progress = no_progress,
) -> ReadReferences:
    """Return each pair of an article and one that it refers to, with place and role of its first mention.

    `of` are the positions of the articles whose references are wanted, all if left out. They are those that
    articles come with, or are read from the texts as `rag.graph.references` reads them, or both: see
    `reference_source`. A law that the corpus does not hold is passed over. Texts are read even where the
    source says what its articles refer to: a pair that no text makes has no place there.
    """
    reader = ReferenceReader(articles, card)
    found: list[tuple[int, int, int, int, int]] = []
    of = range(len(articles)) if of is None else of
    for n, i in enumerate(of, start=1):
        article = articles[i]
        first: dict[int, tuple[int, int, int]] = {}
        for reference in reader.read(article):
            place = reference.start, reference.end, ROLES.index(reference.role)
            for to in reader.resolve(article, reference):
                if to != i:
                    first.setdefault(to, place)
        found += [(i, to, *place) for to, place in first.items()]
        if not n % _STEP or n == len(of):
            progress("reading references", n, len(of))
    if (made := reference_source(articles, card)) != "texts":
        places = {(i, to): place for i, to, *place in found}
        known = reference_pairs(articles)
        pairs = dict.fromkeys(map(tuple, known[np.isin(known[:, 0], of)].tolist()))
        if made == "both":
            pairs |= dict.fromkeys(places)
        found = [(i, to, *places.get((i, to), (*_NOWHERE, 0))) for i, to in sorted(pairs, key=itemgetter(0))]
    table = np.array(found, dtype=np.int64).reshape(-1, 5)
    return ReadReferences(table[:, :2], table[:, 2:4].astype(np.int32), table[:, 4].astype(np.int8))


def reference_source(articles: Iterable[Article], card: CorpusCard) -> Literal["source", "texts", "both"]:
    """Tell what makes the references of a law.

    The source, where any article comes with references; but an act in Akoma Ntoso marks some and leaves
    others plain text, so its texts are read too. Else the texts alone.
    """
    if not any(article.references for article in articles):
        return "texts"
    return "both" if card.origin in _MARK_SOME else "source"


def readings_sha256(articles: Sequence[Article], card: CorpusCard) -> str:
    """Return an identity, hexadecimal, of all that a text's references depend on beside the text itself.

    Where two laws share it, an article of the same words, code and position refers to the same positions.
    """
    dated = any(article.valid_from or article.valid_to for article in articles)
    parts = [READING, card.language, card.aliases, card.law_date if dated else None]
    parts += [(a.id, a.code, a.article_no, a.language, a.valid_from, a.valid_to) for a in articles]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(json.dumps(part, ensure_ascii=False, sort_keys=True, default=str).encode() + b"\n")
    return digest.hexdigest()
