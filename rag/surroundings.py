"""Where articles stand in the law, and how often annotated questions cite them and what is around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag.types import Article, Floats, Ints, Question


@dataclass(frozen=True)
class Surroundings:
    """Where each article stands in the law, and how often it is cited; all (n_articles,)."""

    code: Ints  # number of its code
    beside: Ints  # number of the headings that it stands under
    length: Floats  # log(1 + characters)
    cited: Floats  # annotated questions that cite it
    cited_in_code: Floats
    cited_beside: Floats

    @classmethod
    def of(cls, articles: Sequence[Article], questions: Sequence[Question]) -> Surroundings:
        """Look at a corpus and its annotated questions."""
        code = _numbered([(a.code,) for a in articles])
        beside = side_by_side(articles)
        position = {a.id: i for i, a in enumerate(articles)}
        cited = np.zeros(len(articles))
        for question in questions:
            for id_ in dict.fromkeys(question.article_ids):
                if id_ in position:
                    cited[position[id_]] += 1
        length = np.log1p([len(a.text) for a in articles])
        in_code, near = (np.bincount(of, weights=cited)[of] if len(of) else cited for of in (code, beside))
        return cls(code, beside, *(np.asarray(x, np.float32) for x in (length, cited, in_code, near)))


def side_by_side(articles: Sequence[Article]) -> Ints:
    """Return a number for each article, (n_articles,), that those under the very same headings share."""
    return _numbered([(a.code, *a.headings) for a in articles])


def groups(articles: Sequence[Article]) -> Mapping[str, int]:
    """Return article id -> the number that it shares with those under the very same headings."""
    return dict(zip((a.id for a in articles), side_by_side(articles).tolist(), strict=True))


def _numbered(keys: Sequence[tuple[str, ...]]) -> Ints:
    number: dict[tuple[str, ...], int] = {}
    return np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.int64)
