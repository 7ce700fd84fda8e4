"""Pairs of texts that belong together, cut from a corpus without anybody's labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from indexes.build.contrastive import Bags
from rag.types import Bools, Ints

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

    def only(self, kept: Bools) -> Texts:
        """Return the same articles without the other terms, (n_terms,)."""
        if kept.all():
            return self
        text, headings = ([ids[kept[ids]] for ids in each] for each in (self.text, self.headings))
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
    """Count the terms of two lists of texts over the terms that stand in them.

    Returns:
        terms (n,): the distinct term numbers, in order; left and right: (n_texts, n) counts whose
        columns are those terms.
    """
    joined = [np.concatenate([*side]) if side else np.zeros(0, np.int32) for side in (left, right)]
    terms, columns = np.unique(np.concatenate(joined), return_inverse=True)
    cut = len(joined[0])
    made = [_bag(side, c, len(terms)) for side, c in ((left, columns[:cut]), (right, columns[cut:]))]
    return terms.astype(np.int64), made[0], made[1]


def _bag(texts: Sequence[TermIds], columns: npt.NDArray[np.integer], n_terms: int) -> Bags:
    indptr = np.zeros(len(texts) + 1, dtype=np.int64)
    indptr[1:] = np.cumsum([len(t) for t in texts])
    return sp.csr_array((np.ones(len(columns), np.float32), columns, indptr), shape=(len(texts), n_terms))
