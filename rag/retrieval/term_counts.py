"""How often each term stands in each field of each article: what every lexical retriever is made of."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rag.text import Analyser
from rag.types import Article, ArticleOrder, Doubles, Ints, Progress, Question, Reals, no_progress

LAW_FIELDS = ("text", "headings", "code")
QUESTIONS_FIELD = "questions"  # annotated-question expansion
ANSWERS_FIELD = "answers"  # what was answered to those questions, where it is known
PRECEDING_FIELD = "preceding"  # terms of the article before, in explanations: see `rag.retrieval.bm25`
ANNOTATED_FIELDS = (QUESTIONS_FIELD, ANSWERS_FIELD)
Weights: TypeAlias = Mapping[str, float]  # field -> weight of 0 or more
TermCounts: TypeAlias = Mapping[str, Mapping[str, int]]  # field -> term -> how often, where it stands


@dataclass(frozen=True, slots=True)
class FieldCounts:
    """Term counts by field, (n_articles, n_terms) each, over one vocabulary."""

    order: ArticleOrder
    vocabulary: Mapping[str, int]
    fields: Mapping[str, sp.csr_array] = field(repr=False)

    def weighted(self, weights: Weights) -> sp.csr_array:
        """Return the weighted sum of the fields' counts, (n_articles, n_terms) float32.

        This is the simple extension of BM25 to fields (Robertson, Zaragoza & Taylor 2004): a field
        of weight 2 counts as if it were written twice, before the term frequency saturates. With
        weights of 1 it equals the concatenation of the fields. A field not named weighs 0.
        """
        shape = (len(self.order.ids), len(self.vocabulary))
        total: Any = sp.csr_array(shape, dtype=np.float32)  # the stubs lose the shape of a sum
        for name, counts in self.fields.items():
            if (weight := weights.get(name, 0.0)) > 0:
                total = total + counts * np.float32(weight)
        made = sp.csr_array(total, shape=shape)
        made.sort_indices()
        return made

    def with_questions(
        self, questions: Iterable[Question], analyse: Callable[[str], list[str]]
    ) -> FieldCounts:
        """Return the counts with two more fields: the questions that cite each article, and their answers.

        A gold id that is not in the corpus is passed over.
        """
        position = self.order.positions
        question_rows: list[list[str]] = [[] for _ in self.order.ids]
        answered: list[list[str]] = [[] for _ in self.order.ids]
        for question in questions:
            cited = [position[id_] for id_ in dict.fromkeys(question.article_ids) if id_ in position]
            for rows, text in ((question_rows, question.text), (answered, question.answer)):
                terms = analyse(text) if text and cited else []
                for row in cited:  # a gold id listed twice counts once
                    rows[row].extend(terms)
        return _field_counts(self.order, zip(ANNOTATED_FIELDS, (question_rows, answered), strict=True), self)


def count(articles: Sequence[Article], analyser: Analyser, progress: Progress = no_progress) -> FieldCounts:
    """Analyse the text, headings and code of every article."""
    repeated = lru_cache(maxsize=None)(analyser.terms)  # headings and codes stand above many articles

    def texts() -> Iterator[list[str]]:
        for done, article in enumerate(articles, start=1):
            yield analyser.terms(article.text)
            if done % 500 == 0 or done == len(articles):
                progress("analysing articles", done, len(articles))

    headings = (list(chain.from_iterable(repeated(h) for h in a.headings)) for a in articles)
    codes = (repeated(a.code) for a in articles)
    fields = zip(LAW_FIELDS, (texts(), headings, codes), strict=True)  # counted as they come
    return _field_counts(ArticleOrder.of([a.id for a in articles]), fields)


def count_texts(rows: Sequence[Sequence[str]]) -> FieldCounts:
    """Count texts that are cut already, each a document with nothing but a text; their ids are numbers."""
    return _field_counts(ArticleOrder.of([str(i) for i in range(len(rows))]), [("text", rows)])


def _field_counts(
    order: ArticleOrder, rows: Iterable[tuple[str, Iterable[Sequence[str]]]], known: FieldCounts | None = None
) -> FieldCounts:
    """Count the terms of fields, of each the rows of all articles, beside the counts that are there."""
    vocabulary = dict(known.vocabulary) if known else {}
    made = dict(known.fields) if known else {}
    made |= {name: _count(texts, vocabulary) for name, texts in rows}
    shape = (len(order.ids), len(vocabulary))  # with the columns of terms that other fields brought in
    widened = {name: sp.csr_array((c.data, c.indices, c.indptr), shape) for name, c in made.items()}
    return FieldCounts(order, vocabulary, widened)


def term_ids(terms: Iterable[str], vocabulary: Mapping[str, int]) -> Ints:
    """Return the numbers of the terms that the vocabulary knows, in order, repeats kept."""
    return np.array([vocabulary[t] for t in terms if t in vocabulary], dtype=np.int64)


def document_frequency(counts: sp.csr_array) -> npt.NDArray[np.int64]:
    """Return in how many articles each term stands, (n_terms,)."""
    return np.bincount(counts.indices, minlength=counts.shape[1]).astype(np.int64)


def _count(rows: Iterable[Sequence[str]], vocabulary: dict[str, int]) -> sp.csr_array:
    """Count the terms of each row; new terms join the vocabulary."""
    ends, indices, data = (
        array("q", [0]),
        array("i"),
        array("i"),
    )  # a list of numbers takes eight times as much
    for terms in rows:
        for term, n in Counter(terms).items():
            indices.append(vocabulary.setdefault(term, len(vocabulary)))
            data.append(n)
        ends.append(len(indices))
    parts = (
        np.array(data, dtype=np.float32),
        np.array(indices, dtype=np.int32),
        np.array(ends, dtype=np.int64),
    )
    return sp.csr_array(parts, shape=(len(ends) - 1, len(vocabulary)))


def position_type(n_articles: int) -> type[np.uint16 | np.int32]:
    """Return the narrower type of integers that holds the position of every article."""
    return np.uint16 if n_articles <= np.iinfo(np.uint16).max + 1 else np.int32


class Postings(NamedTuple):
    """What each term adds to the articles that hold it, by term: compressed sparse columns."""

    indptr: npt.NDArray[np.integer]  # (n_terms + 1,), where each term's postings begin
    indices: npt.NDArray[np.integer]  # positions of articles
    data: Reals

    @classmethod
    def of(cls, matrix: sp.csc_array) -> Postings:
        """Take those of a matrix, (n_articles, n_terms)."""
        return cls(matrix.indptr, matrix.indices, matrix.data)

    def gather(self, ids: Ints) -> tuple[npt.NDArray[np.integer], Reals]:
        """Return the positions that terms add to, and what; a term that is there twice counts twice."""
        begins, where, adds = self
        terms, times = np.unique(ids, return_counts=True)
        if not len(terms):
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        spans = [slice(int(begins[term]), int(begins[term + 1])) for term in terms]
        # a product would be rounded where it is not widened first; most terms stand once, and need neither
        added = [
            adds[s] if t == 1 else t * adds[s].astype(np.float64) for s, t in zip(spans, times, strict=True)
        ]
        return np.concatenate([where[span] for span in spans]), np.concatenate(added)

    def of_each(self, terms: Ints) -> tuple[Ints, Ints]:
        """Return where the postings of terms stand, term after term, and whose each is, from 0."""
        begins = self.indptr[terms].astype(np.int64)
        sizes = self.indptr[terms + 1] - begins
        rows = np.repeat(np.arange(len(terms)), sizes)
        return np.arange(len(rows)) + (begins - np.cumsum(sizes) + sizes)[rows], rows

    def of_terms(self, terms: Ints, positions: Ints) -> Doubles:
        """Return what each term adds to the articles at some positions, (n_terms, n); nan where it is not.

        Each term's postings come in the order of articles, and are searched by halves.
        """
        found = np.full((len(terms), len(positions)), np.nan)
        wanted = positions.astype(self.indices.dtype)  # else numpy would copy the postings to widen them
        for row, begin, end in zip(found, self.indptr[terms], self.indptr[terms + 1], strict=True):
            own = self.indices[begin:end]
            if len(own):
                at = own.searchsorted(wanted).clip(max=len(own) - 1)
                held = own[at] == wanted
                row[held] = self.data[begin:end][at[held]]
        return found

    def sums(self, ids: Ints, n_articles: int) -> Doubles:
        """Return what the terms add to each article, (n_articles,)."""
        at, added = self.gather(ids)
        return np.asarray(np.bincount(at, weights=added, minlength=n_articles), dtype=np.float64)

    def scores(self, ids: Ints, n_articles: int) -> Doubles:
        """Return the sums, (n_articles,); -inf for an article that holds none of the terms."""
        at, added = self.gather(ids)
        scores = np.full(n_articles, -np.inf)
        sums = np.bincount(at, weights=added, minlength=n_articles)
        scores[at] = sums[at]
        return scores


def columns(positions: Ints, n_articles: int) -> npt.NDArray[np.int32]:
    """Return where each article stands among those asked for, (n_articles,); -1 where it is none of them."""
    column = np.full(n_articles, -1, dtype=np.int32)
    column[positions] = np.arange(len(positions), dtype=np.int32)
    return column
