"""BM25 over weighted fields, stored and summed by bm25s."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import bm25s
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rag.errors import BadInput
from rag.retrieval.base import Mask, ScoredRetriever
from rag.retrieval.term_counts import (
    FieldCounts,
    Postings,
    Weights,
    document_frequency,
    position_type,
    term_ids,
)
from rag.storage import mapped
from rag.text import Analyser
from rag.types import ArticleOrder, Doubles, Floats, Ints

BLOCK = 50_000  # articles that are scored at a time
PRECEDING = 0.2  # of what a term adds to the article before: 0.1 to 0.5 were tried (docs/ranking.md)
RECENT = 2  # questions whose scores stay at hand: a learned fusion looks at them again
Variant: TypeAlias = Literal["lucene", "robertson", "atire", "bm25l", "bm25+"]
# An answer is ten times as long as its question: at full weight it would drown the article's own words.
EVEN_WEIGHTS: Weights = dict.fromkeys(("text", "headings", "code", "questions"), 1.0) | {
    "answers": 0.15  # 0.1 to 0.5 served STARD alike (docs/results.md)
}


@dataclass(frozen=True, slots=True)
class BM25Settings:
    """Which BM25, with which parameters.

    `variant` names the idf and saturation of Kamphuis et al. 2020: "lucene" (idf never negative),
    "robertson" (idf log((N - df + 0.5) / (df + 0.5)) as the BSARD and LLeQA papers print it,
    negative for a term in over half of the articles), "atire", "bm25l", "bm25+".
    """

    variant: Variant = "lucene"
    k1: float = 1.2  # Robertson & Zaragoza 2009: 1.2 to 2 serve most collections
    b: float = 0.75
    delta: float = 0.5  # of bm25l and bm25+ alone
    weights: Weights = field(default_factory=lambda: dict(EVEN_WEIGHTS))

    def __post_init__(self) -> None:
        """Refuse what no BM25 can use."""
        if self.variant not in get_args(Variant):
            raise BadInput(f"BM25 variant {self.variant!r}: choose one of {', '.join(get_args(Variant))}")
        if not (0 <= self.k1 < math.inf and 0 <= self.b <= 1 and 0 <= self.delta < math.inf):
            raise BadInput(
                f"BM25 k1 = {self.k1}, b = {self.b}, delta = {self.delta}: k1 and delta must be 0 or more, "
                "b between 0 and 1"
            )
        if not all(0 <= weight < math.inf for weight in self.weights.values()):
            raise BadInput(f"BM25 field weights {dict(self.weights)}: each must be a number of 0 or more")


@dataclass(frozen=True)
class CollectionStatistics:
    """What the weights of a shard's articles need of all the others: a few numbers of each.

    Counts are in their canonical form (`indexes.update.term_counts`), shards in the order of their articles.
    """

    documents: Mapping[str, int] = field(repr=False)  # term -> in how many articles it stands
    lengths: Floats = field(repr=False)  # (n_articles,) float32; a sum alone would be rounded by the split

    @classmethod
    def of(cls, counts: FieldCounts, settings: BM25Settings) -> CollectionStatistics:
        """Return those of a shard."""
        tf = counts.weighted(settings.weights)
        documents = zip(counts.vocabulary, document_frequency(tf).tolist(), strict=True)
        return cls(dict(documents), _lengths(tf))

    @classmethod
    def merge(cls, shards: Sequence[CollectionStatistics]) -> CollectionStatistics:
        """Return those of the whole collection."""
        documents: Counter[str] = Counter()
        for shard in shards:
            documents.update(shard.documents)
        return cls(documents, np.concatenate([shard.lengths for shard in shards]))


def term_scores(
    counts: FieldCounts,
    settings: BM25Settings,
    collection: CollectionStatistics | None = None,
    *,
    mean: float | None = None,
    rarity: bool = True,
) -> sp.csc_array:
    """Return what each term adds to each article's score, (n_articles, n_terms) float32.

    The counts of a shard need the statistics of its `collection`. An article without the term gets nothing:
    for bm25l and bm25+, where absence has a score of its own, that score is taken off everywhere, which
    leaves every ranking as it is. `mean` takes the place of the mean length of the articles; without
    `rarity` the idf is left to whoever asks.
    """
    tf = counts.weighted(settings.weights)
    length = _lengths(tf)
    lengths = collection.lengths if collection is not None else length
    if mean is None:
        mean = float(lengths.mean()) if len(lengths) else 0.0
    of_article = np.asarray(1 - settings.b + settings.b * length / (mean or 1.0), dtype=np.float64)
    df = document_frequency(tf)
    if collection is not None:
        df = np.array([collection.documents[term] for term in counts.vocabulary], dtype=np.int64)
    idf = inverse_document_frequency(df, len(lengths), settings.variant) if rarity else np.ones(len(df))
    for begin in range(0, tf.shape[0], BLOCK):  # in double precision, of which not all is held at once
        ends = tf.indptr[begin : begin + BLOCK + 1]
        span = slice(int(ends[0]), int(ends[-1]))
        norm = np.repeat(of_article[begin : begin + BLOCK], np.diff(ends))  # one for every non-zero
        saturated = _saturate(tf.data[span].astype(np.float64), norm, settings)
        tf.data[span] = idf[tf.indices[span]] * saturated
    return sp.csc_array(tf)


def _lengths(tf: sp.csr_array) -> Floats:
    return np.asarray(tf.sum(axis=1), dtype=np.float32).ravel()


def inverse_document_frequency(df: npt.NDArray[np.int64], n_articles: int, variant: Variant) -> Doubles:
    """Return the idf of terms that stand in `df` articles, (n_terms,); 0 for one that stands nowhere."""
    seen = np.maximum(df, 1)
    if variant in ("lucene", "robertson"):
        odds = (n_articles - seen + 0.5) / (seen + 0.5)
        idf = np.log1p(odds) if variant == "lucene" else np.log(odds)
    elif variant == "atire":
        idf = np.log(n_articles / seen)
    else:
        idf = np.log((n_articles + 1) / (seen + 0.5 if variant == "bm25l" else seen))
    return np.where(df > 0, idf, 0.0)


def _saturate(tf: Doubles, norm: Doubles, settings: BM25Settings) -> Doubles:
    """Term-frequency part by variant, less what an absent term would get."""
    k1, delta = settings.k1, settings.delta
    if settings.variant in ("lucene", "robertson"):
        return tf / (tf + k1 * norm)
    if settings.variant == "bm25l":
        spread = tf / norm + delta
        absent = (k1 + 1) * delta / (k1 + delta) if delta else 0.0  # k1 may be 0 too
        return (k1 + 1) * spread / (k1 + spread) - absent
    return (k1 + 1) * tf / (tf + k1 * norm)  # the delta of bm25+ is the same for every article


class BM25(ScoredRetriever):
    """Robertson's BM25 (Robertson & Zaragoza 2009), every term's part computed when indexed.

    bm25s keeps the matrix on disk and maps it into memory; the weights come from our fields, and
    the sums are ours because they must tell "no term in common" from "a score of 0".
    """

    def __init__(
        self,
        index: bm25s.BM25,
        order: ArticleOrder,
        mask: Mask,
        analyser: Analyser,
        weights: Weights,
        sections: Callable[[], Ints] | None = None,
    ) -> None:
        """Take an index made by `build` or read by `load`; its field weights are for explanation.

        With `sections`, (n_articles,) numbers of the headings that articles stand right under, asked for with
        the first question, an article that shares a term with the question has a part of what the terms that
        it lacks add to the article before it under the same headings: laws are written to be read on, and
        "aggravating circumstances" do not name the offence that they aggravate (a sentence by its context:
        Fernández, Losada & Azzopardi 2011).
        """
        super().__init__(order, mask)
        self.index, self.analyser, self.weights = index, analyser, weights
        self.sections = sections
        # views: a slice of a memory-mapped array takes ten times as long to make as one of a plain array
        self.postings = Postings(*(np.asarray(index.scores[part]) for part in Postings._fields))
        self.recent = lru_cache(maxsize=RECENT)(self._scores)

    @classmethod
    def build(
        cls,
        counts: FieldCounts,
        settings: BM25Settings,
        mask: Mask,
        analyser: Analyser,
        sections: Callable[[], Ints] | None = None,
    ) -> BM25:
        """Score every term of every article; for `sections` see the class."""
        matrix = term_scores(counts, settings)
        index = bm25s.BM25(
            k1=settings.k1, b=settings.b, delta=settings.delta, method="lucene", backend="numpy",
            dtype="float32",
        )  # fmt: skip
        index.vocab_dict = dict(counts.vocabulary)
        index.scores = {
            "data": matrix.data,
            "indices": matrix.indices.astype(position_type(matrix.shape[0])),
            "indptr": matrix.indptr.astype(np.int64),
            "num_docs": matrix.shape[0],
        }
        index.nonoccurrence_array = None
        return cls(index, counts.order, mask, analyser, settings.weights, sections)

    def save(self, folder: Path) -> None:
        """Write the index's arrays and vocabulary under the folder."""
        self.index.save(folder, show_progress=False)

    @classmethod
    def load(
        cls,
        folder: Path,
        order: ArticleOrder,
        mask: Mask,
        analyser: Analyser,
        weights: Weights = EVEN_WEIGHTS,
        sections: Callable[[], Ints] | None = None,
    ) -> BM25:
        """Open an index that `save` wrote; its arrays stay on disk, memory-mapped.

        Its scores hold the field weights already: explanation needs them to split a score by field. For
        `sections` see the class.
        """
        index = bm25s.BM25.load(folder, mmap=mapped(), show_progress=False)
        return cls(index, order, mask, analyser, weights, sections)

    @cached_property
    def following(self) -> Ints:
        """The position of the next article under the same headings, (n_articles,); -1 after the last."""
        sections = self.sections() if self.sections is not None else np.arange(len(self.order.ids))
        row = np.argsort(sections, kind="stable")
        joined = sections[row[1:]] == sections[row[:-1]]
        found = np.full(len(sections), -1, dtype=np.int64)
        found[row[:-1][joined]] = row[1:][joined]
        return found

    def documents(self) -> dict[str, int]:
        """Return in how many articles each term stands."""
        often = np.diff(np.asarray(self.postings.indptr)).tolist()
        return {term: often[number] for term, number in self.index.vocab_dict.items()}

    def scores(self, question: str) -> Floats:
        """Return BM25 scores; -inf for an article that shares no term with the question."""
        return self.recent(question)

    def _scores(self, question: str) -> Floats:
        """Compute `scores`; `recent` keeps those of the last questions. Not to be written to."""
        ids = term_ids(self.analyser.terms(question), self.index.vocab_dict)
        summed = self.postings.scores(ids, len(self.order.ids))
        if self.sections is not None:
            at, adds = self._from_preceding(ids)
            summed += np.bincount(at, weights=adds, minlength=len(summed))
        scores = summed.astype(np.float32)
        scores.flags.writeable = False
        return scores

    def _from_preceding(self, ids: Ints) -> tuple[Ints, Doubles]:
        """Return positions, and what terms that are not there add from the article before."""
        where, data = np.zeros(0, np.int64), np.zeros(0)
        for term, times in zip(*np.unique(ids, return_counts=True), strict=True):
            span = slice(*self.postings.indptr[term : term + 2].tolist())
            holding = self.postings.indices[span]  # in order
            after = self.following[holding]
            held = holding.take(np.searchsorted(holding, after), mode="clip") == after
            lacks = (after >= 0) & ~held
            where = np.concatenate([where, after[lacks]])
            data = np.concatenate(
                [data, PRECEDING * times * self.postings.data[span][lacks].astype(np.float64)]
            )
        return where, data

    def from_preceding(self, terms: Ints, positions: Ints) -> Doubles:
        """Return what each term adds to articles by the one before them, (n_terms, n); nan where it does not.

        A term that an article holds itself adds nothing more.
        """
        added = np.full((len(terms), len(positions)), np.nan)
        if self.sections is None or not len(positions):
            return added
        preceding = np.full(len(self.following), -1)
        has = self.following >= 0
        preceding[self.following[has]] = np.flatnonzero(has)
        before = preceding[positions]
        there = self.postings.of_terms(terms, np.maximum(before, 0))
        lacks = np.isnan(self.postings.of_terms(terms, positions)) & (before >= 0)
        added[lacks] = PRECEDING * there[lacks]
        return added
