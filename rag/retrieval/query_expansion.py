"""BM25 over a question and over what the law says for its words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rag.errors import BadInput
from rag.retrieval.base import ScoredRetriever
from rag.retrieval.bm25 import BM25, BM25Settings, term_scores
from rag.retrieval.term_counts import LAW_FIELDS, FieldCounts
from rag.retrieval.translation_model import KEEP_ALL, WEIGHT, ExpansionTerm, Removed, TranslationModel
from rag.types import Floats, Ints, WordShare

_ARRAYS = {"indptr": np.int64, "indices": np.int32, "adds": np.float32, "shares": np.float32}
# of Jelinek & Mercer (1980): how much of a term's likelihood in an article is that in all articles
SMOOTHING = 0.5
RECENT = 4  # questions: a search, what is told of it and its explanation ask for the same one's words


@dataclass(frozen=True)
class LawWords:
    """What the terms of the law that a bridge reaches add to each article, held by term.

    They count in the law's own fields alone: annotated questions are in the askers' words already.
    """

    indptr: npt.NDArray[np.int64] = field(
        repr=False
    )  # (n_terms + 1,), terms as in `TranslationModel.law_terms`
    indices: npt.NDArray[np.int32] = field(repr=False)  # positions of articles, ascending in each term
    adds: Floats = field(repr=False)  # what the term adds to their BM25
    shares: Floats = field(repr=False)  # its weighted part of all terms of the article, 0 to 1

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
        taken = [sp.csc_array(matrix[:, columns]) for matrix in (scores, shares)]
        for matrix in taken:
            matrix.sort_indices()
        adds, of = taken
        return cls(
            adds.indptr.astype(np.int64),
            adds.indices.astype(np.int32),
            adds.data.astype(np.float32),
            of.data.astype(np.float32),
        )

    def save(self, folder: Path) -> None:
        """Write the arrays under the folder."""
        for name in _ARRAYS:
            np.save(folder / f"{name}.npy", getattr(self, name), allow_pickle=False)

    @classmethod
    def load(cls, folder: Path) -> LawWords:
        """Open what `save` wrote; the arrays stay on disk, memory-mapped.

        Raises:
            BadInput: an array is of another type or size.
            OSError, ValueError: one cannot be read.
        """
        arrays = {
            name: np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in _ARRAYS
        }
        for name, array in arrays.items():
            held = int(arrays["indptr"][-1]) if name != "indptr" else len(array)
            if array.dtype != _ARRAYS[name] or array.shape != (held,):
                raise BadInput(
                    f"{folder / name}.npy holds {array.dtype} of {array.shape}, not {held} numbers"
                )
        return cls(**{name: np.asarray(array) for name, array in arrays.items()})

    def span(self, number: int) -> slice:
        """Return where the articles of a term stand."""
        return slice(int(self.indptr[number]), int(self.indptr[number + 1]))

    @cached_property
    def sums(self) -> npt.NDArray[np.float64]:
        """The sum of each term's shares of all articles, (n_terms,)."""
        of_term = np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))
        sums = np.bincount(of_term, weights=self.shares, minlength=len(self.indptr) - 1)
        return np.asarray(sums, np.float64)


@dataclass(frozen=True)
class ByArticle:
    """The same held by article: a thousand candidates have few of all numbers."""

    indptr: npt.NDArray[np.int64] = field(repr=False)  # (n_articles + 1,)
    terms: npt.NDArray[np.int32] = field(repr=False)
    adds: Floats = field(repr=False)
    shares: Floats = field(repr=False)

    @classmethod
    def of(cls, words: LawWords, n_articles: int) -> ByArticle:
        """Turn what is held by term."""
        at = np.argsort(words.indices, kind="stable")
        often = np.bincount(words.indices, minlength=n_articles)
        of_term = np.repeat(np.arange(len(words.indptr) - 1, dtype=np.int32), np.diff(words.indptr))
        return cls(np.concatenate([[0], np.cumsum(often)]), of_term[at], words.adds[at], words.shares[at])

    def entries(self, positions: Ints) -> tuple[Ints, Ints]:
        """Return where the numbers of some articles stand, and of which of them each is, from 0."""
        begins, lengths = self.indptr[positions], np.diff(self.indptr)[positions]
        offsets = np.cumsum(lengths) - lengths
        at = np.arange(lengths.sum()) + np.repeat(begins - offsets, lengths)
        return at, np.repeat(np.arange(len(positions)), lengths)


class ExpandedBM25(ScoredRetriever):
    """BM25 of a question expanded with law terms, each weighted by its translation probability."""

    def __init__(
        self,
        keyword: BM25,
        model: TranslationModel,
        words: LawWords,
        weight: float = WEIGHT,
        without: Removed = KEEP_ALL,
        by_article: Callable[[], ByArticle] | None = None,
    ) -> None:
        """Expand what `keyword` is asked.

        Args:
            keyword: scores what was typed.
            model: of the same corpus.
            words: of the bridge's law terms.
            weight: what an expanded term counts beside a typed one, times its probability.
            without: pairs that are not to be used.
            by_article: gives the words held by article; left out, they are turned when first asked for.

        Raises:
            BadInput: the words are of another bridge.
        """
        super().__init__(keyword.order, keyword.mask)
        if len(words.indptr) != len(model.law_terms) + 1:
            raise BadInput(f"a bridge to {len(model.law_terms)} terms over {len(words.indptr) - 1} of them")
        self.keyword, self.bridge, self.words = keyword, model, words
        self.weight, self.without = weight, without
        self._number = {term: number for number, term in enumerate(model.law_terms)}
        self.used = lru_cache(maxsize=RECENT)(self._used)
        self._by_article = by_article or cache(partial(ByArticle.of, words, len(self.order.ids)))

    def leaving_out(self, without: Removed) -> ExpandedBM25:
        """Return the same without these pairs."""
        if without == self.without:
            return self
        return ExpandedBM25(self.keyword, self.bridge, self.words, self.weight, without, self._by_article)

    def _used(self, question: str) -> tuple[ExpansionTerm, ...]:
        """Return what a question is expanded by, each lay term as it is typed there."""
        analyser = self.keyword.analyser
        typed: dict[str, str] = {}
        for token in analyser.tokens(question):
            typed.setdefault(token.term, question[token.start : token.end])
        expanded = self.bridge.expand(analyser.terms(question), self.without)
        return tuple(replace(pair, typed=typed.get(pair.lay, pair.lay)) for pair in expanded)

    def scores(self, question: str) -> Floats:
        """Return the sums; -inf for an article that has neither a typed nor an expanded term."""
        typed = self.keyword.scores(question)
        added = self.weight * self.expanded(self.keyword.analyser.terms(question))
        scores = np.where(np.isfinite(typed), typed, 0.0) + added
        return np.where(np.isfinite(typed) | (added != 0), scores, -np.inf).astype(np.float32)

    @cached_property
    def _rarity(self) -> npt.NDArray[np.float64]:
        """How many times its share of all articles 1 is, of each law term; 0 where no article has it."""
        everywhere = self.words.sums / max(len(self.order.ids), 1)
        return np.divide(1, everywhere, out=np.zeros_like(everywhere), where=everywhere > 0)

    def _reached(self, term: str) -> tuple[Ints, npt.NDArray[np.float64]]:
        """Return the numbers of the law terms that a term stands for, and their probabilities."""
        pairs = [pair for pair in self.bridge.pairs.get(term, ()) if (term, pair.law) not in self.without]
        numbers = np.array([self._number[pair.law] for pair in pairs], dtype=np.int64)
        return numbers, np.array([pair.probability for pair in pairs])

    def expanded(self, terms: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return what the expanded terms alone add, (n_articles,), before the weight."""
        added = np.zeros(len(self.order.ids))
        for pair in self.bridge.expand(terms, self.without):
            span = self.words.span(self._number[pair.law])
            added[self.words.indices[span]] += pair.weight * self.words.adds[span].astype(np.float64)
        return added

    def of_articles(
        self, terms: Sequence[str], positions: Ints
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return what a bridge says of some articles, (n,) each.

        Args:
            terms: of the question.
            positions: (n,) of the articles.

        Returns:
            What the expanded terms alone add, before the weight; and how much likelier the question is of the
            article than of any, in nats. The second is the translation model of Berger & Lafferty (1999),
            smoothed by Jelinek & Mercer's mixture: a term of the question is likely where those of the law
            that it stands for, itself among them, are a larger part of the article than of all articles. A
            term without pairs tells nothing.
        """
        often = Counter(terms)
        lay = [term for term in often if term in self.bridge.pairs]
        times = np.array([often[term] for term in lay], np.float64)
        weights, ratios = np.zeros(len(self._number)), np.zeros((len(self._number), len(lay)))
        for column, term in enumerate(lay):
            numbers, probabilities = self._reached(term)
            weights[numbers] += times[column] * probabilities
            ratios[numbers, column] = probabilities * self._rarity[numbers]
        weights[[self._number[term] for term in often if term in self._number]] = 0  # searched by already
        held = self._by_article()
        at, row = held.entries(positions)
        number = held.terms[at]
        there = (ratios.sum(axis=1) > 0)[number]
        at, row, number = at[there], row[there], number[there]
        n = len(positions)
        added = np.bincount(row, weights=weights[number] * held.adds[at], minlength=n)
        starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))])
        shares = sp.csr_array((held.shares[at].astype(np.float64), number, starts), (n, len(weights)))
        likelier = np.log1p((1 - SMOOTHING) / SMOOTHING * (shares @ ratios))
        return np.asarray(added, np.float64), (likelier * times).sum(axis=1)

    def shares(
        self,
        question: str,
        positions: Mapping[str, int],
        fields: Mapping[str, Mapping[str, Mapping[str, int]]],
    ) -> dict[str, tuple[WordShare, ...]]:
        """Return what each expanded term adds to the score of articles, the largest share first.

        Args:
            question: what was searched for.
            positions: article id -> where it stands in the corpus.
            fields: article id -> field -> law term -> how often it stands there.
        """
        found: dict[str, list[WordShare]] = {}
        rows = np.array(list(positions.values()), dtype=self.words.indices.dtype)
        for pair in self.used(question):
            span = self.words.span(self._number[pair.law])
            where = self.words.indices[span]
            places = np.searchsorted(where, rows).tolist()
            for id_, position, at in zip(positions, rows.tolist(), places, strict=True):
                if at == len(where) or where[at] != position:
                    continue
                share = self.weight * pair.weight * float(self.words.adds[span][at])
                held = {
                    name: self.keyword.weights.get(name, 0.0) * of[pair.law]
                    for name, of in fields[id_].items()
                    if name in LAW_FIELDS and of.get(pair.law)
                }
                whole = sum(held.values()) or 1.0
                parts = {name: share * part / whole for name, part in held.items() if part > 0}
                found.setdefault(id_, []).append(WordShare(pair.law, pair.typed, share, parts, pair.form))
        return {id_: tuple(sorted(own, key=lambda s: (-s.share, s.term))) for id_, own in found.items()}


class Expanded(ScoredRetriever):
    """What expanded terms alone find: how much a bridge knows by itself."""

    def __init__(self, words: ExpandedBM25) -> None:
        """Search over this bridge."""
        super().__init__(words.order, words.mask)
        self.words = words

    def scores(self, question: str) -> Floats:
        """Return what expanded terms add; -inf where none stands."""
        added = self.words.expanded(self.words.keyword.analyser.terms(question))
        return np.where(added > 0, added, -np.inf).astype(np.float32)
