"""Pairs of texts that belong together: cut from the law, and annotated questions with what they cite.

A question, and its answer where it has one, is paired with each article that it cites. Three things
keep a thousand questions from being learnt by heart: terms are left out at random on both sides
(dropout, Srivastava et al. 2014), the answer says the same in the law's own words, and every second
pass the articles that are wrongly near are looked up and put among the negatives (Xiong et al. 2021).
Where articles have several questions, some steps pair those of the same article with each other, so that
what says the same is near whatever the law calls it. What each of them gives is in docs/results.md.
The first stage is fitted to pairs that are cut from a corpus without anybody's labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from indexes.build.contrastive import Bags, embed
from indexes.build.fit_settings import FitSettings
from rag.types import Bools, Floats, Ints, Question

TermIds: TypeAlias = npt.NDArray[np.int32]  # the term numbers of one text, in order, repeats kept
Task: TypeAlias = Literal["run", "quarter", "sibling"]
TASKS: tuple[Task, ...] = ("run", "quarter", "sibling")


@dataclass(frozen=True)
class Texts:
    """What an encoder is fitted to: term numbers of every article, text and headings apart."""

    text: Sequence[TermIds]
    headings: Sequence[TermIds]  # code and headings
    siblings: Sequence[Ints]  # positions of the articles under the same headings, itself included

    def whole(self, position: int) -> TermIds:
        """Return code, headings and text of one article."""
        return np.concatenate([self.headings[position], self.text[position]])

    def only(self, mask: Bools) -> Texts:
        """Return the same articles without the other terms, (n_terms,)."""
        if mask.all():
            return self
        text, headings = ([ids[mask[ids]] for ids in each] for each in (self.text, self.headings))
        return Texts(text, headings, self.siblings)


def pair(texts: Texts, position: int, task: Task, rng: np.random.Generator) -> tuple[TermIds, TermIds]:
    """Cut one (question-like, article-like) pair.

    "run": a run of words against the rest of the article (inverse cloze, Lee et al. 2019).
    "quarter": a quarter of the words against headings and 70 % of the words.
    "sibling": another article under the same headings against the whole article.
    """
    text, headings = texts.text[position], texts.headings[position]
    n = len(text)
    if task == "sibling":
        others = texts.siblings[position]
        other = int(others[rng.integers(len(others))])
        if other == position and len(others) > 1:
            other = int(others[rng.integers(len(others))])
        left = texts.text[other]
        return (left if len(left) else headings), texts.whole(position)
    if n < 4:  # too short to cut: its words against its headings
        return (text, headings) if n and len(headings) else (texts.whole(position), texts.whole(position))
    if task == "run":
        length = min(int(rng.integers(max(1, n // 8), max(2, n // 2) + 1)), n - 1)
        start = int(rng.integers(0, n - length + 1))
        return text[start : start + length], np.concatenate([text[:start], text[start + length :]])
    left = text[rng.random(n) < 0.25]
    right = np.concatenate([headings, text[rng.random(n) < 0.7]])
    return (left if len(left) else text), (right if len(right) else text)


def bags(left: Sequence[TermIds], right: Sequence[TermIds]) -> tuple[Ints, Bags, Bags]:
    """Count the terms of two lists of texts over the distinct terms, (n,) in order, that stand in them.

    The columns of left and right, (n_texts, n) each, are those terms.
    """
    terms, columns = np.unique(np.concatenate([*left, *right, np.zeros(0, np.int32)]), return_inverse=True)
    middle, n = sum(map(len, left)), len(terms)
    return terms.astype(np.int64), _bag(left, columns[:middle], n), _bag(right, columns[middle:], n)


def _bag(texts: Sequence[TermIds], columns: npt.NDArray[np.integer], n_terms: int) -> Bags:
    indptr = np.zeros(len(texts) + 1, dtype=np.int64)
    indptr[1:] = np.cumsum([len(t) for t in texts])
    return sp.csr_array((np.ones(len(columns), np.float32), columns, indptr), shape=(len(texts), n_terms))


def bag(texts: Sequence[TermIds], n_terms: int) -> Bags:
    """Count the terms of texts, (n_texts, n_terms)."""
    counts = _bag(texts, np.concatenate([*texts, np.zeros(0, np.int32)]), n_terms)
    counts.sum_duplicates()
    return counts


MINED = 50  # the nearest wrong articles of a text, among which hard negatives are drawn
_AT_ONCE = 256  # texts that are held against all articles at a time
Terms: TypeAlias = Callable[[str], TermIds]  # text -> numbers of its terms


@dataclass(frozen=True)
class Batch:
    """Left text i belongs to right text i; right texts past the last left one are negatives."""

    terms: Ints  # (n,), the distinct terms of the batch, in order
    left: Bags  # (n_left, n)
    right: Bags  # (n_right, n)
    masked: Bools | None = None  # (n_left, n_right): right, though not the partner


Make: TypeAlias = Callable[[Floats, Floats], Batch]  # the vectors and log-weights of now -> a batch


@dataclass(frozen=True)
class AnnotatedTexts:
    """Questions and answers to learn from, and the articles that they cite."""

    texts: Bags = field(repr=False)  # (n_texts, n_terms)
    gold: sp.csr_array = field(repr=False)  # (n_texts, n_articles), 1 where the text cites the article
    pairs: Ints = field(repr=False)  # (n_pairs, 2): a text, an article that it cites
    articles: Bags = field(repr=False)  # (n_articles, n_terms)

    @classmethod
    def of(
        cls,
        questions: Sequence[Question],
        position: Mapping[str, int],
        terms: Terms,
        articles: Sequence[TermIds],
        n_terms: int,
    ) -> AnnotatedTexts:
        """Lay out annotated questions by the term numbers of their texts and of articles in rows.

        A gold id that is no article's is passed over, and so is a text without a known term.
        """
        texts: list[TermIds] = []
        cited: list[tuple[int, int]] = []
        for question in questions:
            rows = sorted({position[id_] for id_ in question.article_ids if id_ in position})
            for text in (question.text, question.answer or ""):
                if rows and len(ids := terms(text)):
                    cited += [(len(texts), row) for row in rows]
                    texts.append(ids)
        pairs = np.array(cited, dtype=np.int64).reshape(-1, 2)
        shape = (len(texts), len(articles))
        gold = sp.csr_array((np.ones(len(pairs), np.float32), (pairs[:, 0], pairs[:, 1])), shape=shape)
        return cls(bag(texts, n_terms), gold, pairs, bag(articles, n_terms))

    def batches(self, settings: FitSettings) -> Iterator[Make]:
        """Yield what makes each batch, pass by pass; empty where fewer than two pairs are there."""
        if len(self.pairs) < 2:
            return
        rng = np.random.default_rng(settings.seed + 2)
        parts = max(1, -(-len(self.pairs) // settings.question_batch))
        near: list[Ints] = []  # of the last look-up; a list, so that all batches see the newest
        cited = self.gold.tocsc()  # of each citation, article by article: which text makes it,
        often = np.diff(cited.indptr)
        starts, often = np.repeat(cited.indptr[:-1], often), np.repeat(often, often)  # beside which others
        shared = np.flatnonzero(often > 1)
        every = settings.alike_every if len(shared) else 0
        others = np.random.default_rng(settings.seed + 5)

        def make(vectors: Floats, log_weights: Floats, *, part: Ints, look: bool) -> Batch:
            if look:
                near[:] = [self._mine_negatives(vectors, log_weights)]
            texts, articles = self.pairs[part].T
            columns = [articles, rng.integers(0, self.articles.shape[0], settings.random_negatives)]
            if near and near[0].shape[1]:
                drawn = rng.integers(0, near[0].shape[1], (len(part), settings.hard_negatives))
                columns.append(np.take_along_axis(near[0][texts], drawn, axis=1).ravel())
            right = np.concatenate(columns)
            return _restricted(
                dropped(self.texts[texts], settings.drop_question, rng),
                dropped(self.articles[right], settings.drop_article, rng),
                # another article that answers the same question is no wrong answer to it
                np.asarray(self.gold[texts][:, right].toarray() > 0),
            )

        def alike(_vectors: Floats, _log_weights: Floats) -> Batch:
            """Return a batch of texts and others that cite the same article."""
            at = others.choice(shared, settings.question_batch)
            other = starts[at] + others.integers(0, often[at] - 1)
            other += other >= at  # itself is stepped over
            left, right = cited.indices[at], cited.indices[other]
            return _restricted(
                dropped(self.texts[left], settings.drop_question, others),
                dropped(self.texts[right], settings.drop_question, others),
                np.asarray((self.gold[left] @ self.gold[right].T).toarray() > 0),
            )

        for number in range(settings.question_passes):
            for n, part in enumerate(np.array_split(rng.permutation(len(self.pairs)), parts)):
                # the first pass has no look-up: what is near before it is near by its words alone
                look = bool(settings.hard_negatives) and n == 0 and number % 2 == 1
                yield partial(make, part=part, look=look)
                if every and (number * parts + n) % every == 0:
                    yield alike

    def _mine_negatives(self, vectors: Floats, log_weights: Floats) -> Ints:
        """Return (n_texts, MINED at most) positions of the nearest articles that a text does not cite."""
        weighted = vectors * np.exp(log_weights)[:, None]
        articles, _ = embed(self.articles, weighted)
        most = int(np.diff(self.gold.indptr).max(initial=0))  # a text that cites all but few finds few
        depth = min(MINED, len(articles) - most)
        found = [np.zeros((0, depth), dtype=np.int64)]
        for begin in range(0, self.texts.shape[0], _AT_ONCE):
            texts, _ = embed(self.texts[begin : begin + _AT_ONCE], weighted)
            scores = texts @ articles.T
            own = self.gold[begin : begin + _AT_ONCE].tocoo()
            scores[own.coords] = -np.inf
            nearest = np.argpartition(-scores, max(depth - 1, 0), axis=1)[:, :depth]
            found.append(nearest.astype(np.int64))
        return np.concatenate(found)


def dropped(texts: Bags, share: float, rng: np.random.Generator) -> Bags:
    """Return the texts with this share of their terms left out at random."""
    if share <= 0:
        return texts
    mask = rng.random(texts.nnz) >= share
    indptr = np.concatenate([[0], np.cumsum(mask)])[texts.indptr]
    return sp.csr_array((texts.data[mask], texts.indices[mask], indptr), shape=texts.shape)


def _restricted(left: Bags, right: Bags, masked: Bools) -> Batch:
    """Take away the columns of terms that the batch does not have."""
    seen = np.zeros(left.shape[1], dtype=np.bool_)
    seen[left.indices] = True
    seen[right.indices] = True
    column = np.cumsum(seen) - 1

    def narrow(side: Bags) -> Bags:
        shape = (side.shape[0], int(seen.sum()))
        return sp.csr_array((side.data, column[side.indices], side.indptr), shape=shape)

    return Batch(np.flatnonzero(seen).astype(np.int64), narrow(left), narrow(right), masked)
