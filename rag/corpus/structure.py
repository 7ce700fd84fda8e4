"""Where articles stand in the law, what refers to what; how often questions cite them, and what with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rag.corpus.articles import Articles, Numbers, reference_pairs
from rag.types import Article, ArticleOrder, Floats, Ints, Question


@dataclass(frozen=True)
class Surroundings:
    """Where each article stands in the law, how often it is cited; all (n_articles,) but the last three."""

    code: Numbers  # number of its code
    headings: Ints  # number of the headings that it stands under
    length: Floats  # log(1 + characters)
    cited: Floats  # annotated questions that cite it
    cited_in_code: Floats
    cited_beside: Floats
    offset: Floats  # log(1 + articles before it under the same headings)
    share: Floats  # of those under its headings that stand before it
    together: sp.csr_array  # (n_articles, n_articles), questions that cite both; none with itself
    refers: sp.csr_array  # the same shape, 1 where an article refers to another
    referred: sp.csr_array  # the same turned round: 1 where an article is referred to by another

    @classmethod
    def of(
        cls, articles: Sequence[Article], questions: Sequence[Question], references: Ints | None = None
    ) -> Surroundings:
        """Look at a corpus; `references` (n, 2) of positions, else as the articles tell them."""
        articles = Articles.of(articles)
        code, sections, position = articles.codes.of, articles.sections, articles.order.positions
        citing = _linked(_positions(citations(position, questions)), (len(questions), len(position)))
        cited = np.asarray(citing.sum(axis=0), np.float64).ravel()
        nth, share = _nth(sections)
        length = np.log1p(articles.lengths)
        links = reference_pairs(articles) if references is None else references
        refers = _linked(links, (len(articles), len(articles)))
        in_code, near = (np.bincount(of, weights=cited)[of] if len(of) else cited for of in (code, sections))
        return cls(
            code=code,
            headings=sections,
            length=_floats(length),
            cited=_floats(cited),
            cited_in_code=_floats(in_code),
            cited_beside=_floats(near),
            offset=_floats(nth),
            share=_floats(share),
            together=_together(citing),
            refers=refers,
            referred=sp.csr_array(refers.T),
        )


def _floats(values: npt.ArrayLike) -> Floats:
    return np.asarray(values, np.float32)


def citations(position: Mapping[str, int], questions: Sequence[Question]) -> list[tuple[int, int]]:
    """Return (number of the question, position of an article that it cites), each once, in order.

    Ids without a position are passed over.
    """
    cited = ((n, i) for n, question in enumerate(questions) for i in dict.fromkeys(question.article_ids))
    return [(n, position[i]) for n, i in cited if i in position]


def _positions(pairs: Iterable[tuple[int, int]]) -> Ints:
    return np.array(list(pairs), dtype=np.int64).reshape(-1, 2)


def _linked(pairs: Ints, shape: tuple[int, int]) -> sp.csr_array:
    """Return a matrix of the shape with 1 for each of the (n, 2) pairs."""
    return sp.csr_array((np.ones(len(pairs), np.float32), (pairs[:, 0], pairs[:, 1])), shape=shape)


def _together(citing: sp.csr_array) -> sp.csr_array:
    both = sp.csr_array(citing.T @ citing).tocoo()
    rows, columns = both.coords
    others = rows != columns
    entries = both.data[others], (rows[others], columns[others])
    return sp.csr_array(entries, shape=both.shape, dtype=np.float32)


def _nth(section: Ints) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return log(1 + how many stand before it under the same headings), and that as a share of them."""
    order = np.argsort(section, kind="stable")
    sizes = np.bincount(section) if len(section) else np.zeros(0, np.int64)
    begins = np.cumsum(sizes) - sizes
    nth = np.empty(len(section))
    nth[order] = np.arange(len(section)) - begins[section[order]]
    return np.log1p(nth), nth / sizes[section] if len(section) else nth


def section_numbers(articles: Sequence[Article]) -> Ints:
    """Return a number for each article, (n_articles,), that those under the very same headings share."""
    return Articles.of(articles).sections


@dataclass(frozen=True, eq=False)
class Sections:
    """Which articles of a corpus stand under the very same headings."""

    order: ArticleOrder
    numbers: Ints  # (n_articles,), shared by those under the same headings

    @classmethod
    def of(cls, articles: Sequence[Article], order: ArticleOrder) -> Sections:
        """Look at the articles in their order."""
        return cls(order, section_numbers(articles))
