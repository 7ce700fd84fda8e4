"""BM25 over a question and over what the law says for its words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rag.errors import BadInput
from rag.retrieval.base import ScoredRetriever
from rag.retrieval.bm25 import BM25, BM25Settings, term_scores
from rag.retrieval.term_counts import LAW_FIELDS, FieldCounts, Postings, TermCounts, position_type
from rag.retrieval.translation_model import KEEP_ALL, WEIGHT, ExpansionTerm, Removed, TranslationModel
from rag.storage import load_array
from rag.text import surface_forms
from rag.types import Doubles, Floats, Ints, WordShare

_ARRAYS = {
    "indptr": (np.int64,),
    "indices": (np.int32, np.uint16),  # the narrow one where every position fits
    "adds": (np.float32,),
    "shares": (np.float32,),
}
# of Jelinek & Mercer (1980): how much of a term's likelihood in an article is that in all articles
SMOOTHING = 0.5
RECENT = 4  # questions: a search, what is told of it and its explanation ask for the same one's words


@dataclass(frozen=True, repr=False)
class LawWords:
    """What the terms of the law that a bridge reaches add to each article, held by term.

    They count in the law's own fields alone: annotated questions are in the askers' words already.
    """

    indptr: npt.NDArray[np.int64]  # (n_terms + 1,), terms as in `TranslationModel.law_terms`
    indices: npt.NDArray[np.int32 | np.uint16]  # positions of articles, ascending in each term
    adds: Floats  # what the term adds to their BM25
    shares: Floats  # its weighted part of all terms of the article, 0 to 1

    @classmethod
    def of(cls, counts: FieldCounts, settings: BM25Settings, terms: Sequence[str]) -> LawWords:
        """Score these terms of every article."""
        weights = {name: settings.weights.get(name, 0.0) for name in LAW_FIELDS}
        scores = term_scores(counts, replace(settings, weights=weights))
        often = counts.weighted(weights)
        length = np.asarray(often.sum(axis=1)).ravel()
        part = np.repeat(np.where(length > 0, length, 1), np.diff(often.indptr))
        shares = sp.csc_array(sp.csr_array((often.data / part, often.indices, often.indptr), often.shape))
        columns = [counts.vocabulary[term] for term in terms]
        adds, parts = (sp.csc_array(matrix[:, columns]) for matrix in (scores, shares))
        adds.sort_indices()
        parts.sort_indices()
        return cls(
            adds.indptr.astype(np.int64),
            adds.indices.astype(position_type(adds.shape[0])),
            adds.data.astype(np.float32),
            parts.data.astype(np.float32),
        )

    def save(self, folder: Path) -> None:
        """Write the arrays under the folder."""
        for name in _ARRAYS:
            np.save(folder / f"{name}.npy", getattr(self, name), allow_pickle=False)

    @classmethod
    def load(cls, folder: Path) -> LawWords:
        """Open what `save` wrote; the arrays stay on disk, memory-mapped.

        One of another type or size is `BadInput`; one that cannot be read `OSError` or `ValueError`.
        """
        paths = {name: folder / f"{name}.npy" for name in _ARRAYS}
        arrays = {name: load_array(path) for name, path in paths.items()}
        for name, array in arrays.items():
            held = int(arrays["indptr"][-1]) if name != "indptr" else len(array)
            if array.dtype not in _ARRAYS[name] or array.shape != (held,):
                raise BadInput(f"{paths[name]} holds {array.dtype} of {array.shape}, not {held} numbers")
        return cls(**arrays)

    @property
    def postings(self) -> Postings:
        """What each term adds, by term."""
        return Postings(self.indptr, self.indices, self.adds)

    def by_article(self, n_articles: int) -> tuple[sp.csr_array, sp.csr_array]:
        """Return `adds` and `shares`, (n_articles, n_terms), for a few candidates among all articles."""
        shape = (n_articles, len(self.indptr) - 1)
        adds, shares = (
            sp.csr_array(sp.csc_array((data, self.indices, self.indptr), shape))
            for data in (self.adds, self.shares)
        )
        return adds, shares


class ExpandedBM25(ScoredRetriever):
    """BM25 of a question expanded with law terms, each weighted by its translation probability."""

    def __init__(
        self,
        keyword: BM25,
        model: TranslationModel,
        words: LawWords,
        weight: float = WEIGHT,
        without: Removed = KEEP_ALL,
        by_article: Callable[[], tuple[sp.csr_array, sp.csr_array]] | None = None,
    ) -> None:
        """Expand what `keyword` is asked, less the pairs in `without`.

        An expanded term counts `weight` times its probability beside a typed one. `by_article` gives the
        words held by article; left out, they are turned when first asked for. Words of another bridge are
        `BadInput`.
        """
        super().__init__(keyword.order, keyword.mask)
        if len(words.indptr) != len(model.law_terms) + 1:
            raise BadInput(f"a bridge to {len(model.law_terms)} terms over {len(words.indptr) - 1} of them")
        self.keyword, self.model, self.words = keyword, model, words
        self.weight, self.without = weight, without
        self._number = {term: number for number, term in enumerate(model.law_terms)}
        self.used = lru_cache(maxsize=RECENT)(self._used)
        self._by_article = by_article or cache(partial(words.by_article, len(self.order.ids)))

    def leaving_out(self, without: Removed) -> ExpandedBM25:
        """Return the same without these pairs."""
        if without == self.without:
            return self
        return type(self)(self.keyword, self.model, self.words, self.weight, without, self._by_article)

    def _used(self, question: str) -> tuple[ExpansionTerm, ...]:
        """Return what a question is expanded by, each lay term as it is typed there."""
        analyser = self.keyword.analyser
        typed = surface_forms(question, analyser)
        return self.model.expand(analyser.terms(question), self.without, typed)

    def scores(self, question: str) -> Floats:
        """Return the sums; -inf for an article that has neither a typed nor an expanded term."""
        typed = self.keyword.scores(question)
        added = self.weight * self.expanded(self.keyword.analyser.terms(question))
        scores = np.where(np.isfinite(typed), typed, 0.0) + added
        return np.where(np.isfinite(typed) | (added != 0), scores, -np.inf).astype(np.float32)

    @cached_property
    def _rarity(self) -> Doubles:
        """How many times its share of all articles 1 is, of each law term; 0 where no article has it."""
        of_term = np.repeat(np.arange(len(self._number)), np.diff(self.words.indptr))
        sums = np.bincount(of_term, weights=self.words.shares, minlength=len(self._number))
        everywhere = sums / max(len(self.order.ids), 1)
        return np.divide(1, everywhere, out=np.zeros_like(everywhere, dtype=np.float64), where=everywhere > 0)

    def expanded(self, terms: Sequence[str]) -> Doubles:
        """Return what the expanded terms alone add, (n_articles,), before the weight."""
        pairs = self.model.expand(terms, self.without)
        at, rows = self.words.postings.of_each(np.array([self._number[p.law] for p in pairs], dtype=np.int64))
        weights = np.array([pair.weight for pair in pairs], dtype=np.float64)[rows]
        adds = weights * self.words.adds[at]
        sums = np.bincount(self.words.indices[at], weights=adds, minlength=len(self.order.ids))
        return np.asarray(sums, np.float64)

    def of_articles(self, terms: Sequence[str], positions: Ints) -> tuple[Doubles, Doubles]:
        """Return what a bridge says of the articles at some positions, (n,) each.

        Returns:
            What the expanded terms alone add, before the weight; and how much likelier the question is of the
            article than of any, in nats. The second is the translation model of Berger & Lafferty (1999),
            smoothed by Jelinek & Mercer's mixture: a term of the question is likely where those of the law
            that it stands for, itself among them, are a larger part of the article than of all articles. A
            term without pairs tells nothing.
        """
        often = Counter(terms)
        lay = [term for term in often if term in self.model.pairs]
        times = np.array([often[term] for term in lay], np.float64)
        weights, ratios = np.zeros(len(self._number)), np.zeros((len(self._number), len(lay)))
        for column, term in enumerate(lay):
            for pair in self.model.pairs[term]:
                if (term, pair.law) not in self.without:
                    number = self._number[pair.law]
                    weights[number] += times[column] * pair.probability
                    ratios[number, column] = pair.probability * self._rarity[number]
        weights[[self._number[term] for term in often if term in self._number]] = 0  # searched by already
        adds, shares = self._by_article()
        at, row = Postings(adds.indptr, adds.indices, adds.data).of_each(positions)
        telling = ((weights != 0) | ratios.any(axis=1))[adds.indices[at]]  # few of an article's terms do
        at, row = at[telling], row[telling]
        term, n = adds.indices[at], len(positions)
        added = np.bincount(row, weights=weights[term] * adds.data[at], minlength=n)
        parts = shares.data[at].astype(np.float64)[:, None] * ratios[term]
        sums = np.zeros((n, len(lay)))
        for column in range(len(lay)):
            sums[:, column] = np.bincount(row, weights=parts[:, column], minlength=n)
        likelier = np.log1p((1 - SMOOTHING) / SMOOTHING * sums)
        return np.asarray(added, np.float64), (likelier * times).sum(axis=1)

    def shares(
        self, question: str, places: Mapping[str, int], fields: Mapping[str, TermCounts]
    ) -> dict[str, tuple[WordShare, ...]]:
        """Return what each expanded term adds to the score of articles, the largest share first.

        `places` are where the articles stand, by id; `fields` is article id -> field -> law term -> how often
        it stands there.
        """
        found: dict[str, list[WordShare]] = {}
        rows = np.array(list(places.values()), dtype=np.int64)
        ids, used = list(places), self.used(question)
        adds = self.words.postings.of_terms(
            np.array([self._number[pair.law] for pair in used], np.int64), rows
        )
        for row, column in np.argwhere(~np.isnan(adds)).tolist():
            id_, pair = ids[column], used[row]
            share = self.weight * pair.weight * float(adds[row, column])
            held = {
                name: self.keyword.weights.get(name, 0.0) * fields[id_][name][pair.law]
                for name in LAW_FIELDS
                if pair.law in fields[id_][name]
            }
            whole = sum(held.values()) or 1.0
            parts = {name: share * part / whole for name, part in held.items() if part > 0}
            found.setdefault(id_, []).append(WordShare(pair.law, pair.typed, share, parts, pair.form))
        return {id_: tuple(sorted(own, key=lambda s: (-s.share, s.term))) for id_, own in found.items()}


class Expanded(ScoredRetriever):
    """What expanded terms alone find: how much a bridge knows by itself."""

    def __init__(self, words: ExpandedBM25) -> None:
        super().__init__(words.order, words.mask)
        self.words = words

    def scores(self, question: str) -> Floats:
        """Return what expanded terms add; -inf where none stands."""
        added = self.words.expanded(self.words.keyword.analyser.terms(question))
        return np.where(added > 0, added, -np.inf).astype(np.float32)
