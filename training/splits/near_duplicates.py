"""Questions that say nearly the same, so that none is asked of a system that learnt from its twin."""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from rag.errors import BadInput
from rag.types import Question

THRESHOLD = 0.6  # Jaccard index of terms; 15 pairs of STARD's 1,235 questions reach it, one word apart

Pair = tuple[int, int]  # positions of two questions, the smaller first


def similar(bags: Sequence[AbstractSet[str]], threshold: float = THRESHOLD) -> list[Pair]:
    """Return all pairs of sets whose Jaccard index reaches the threshold, sorted.

    Exact, and far below n * n where most terms are rare. The terms of a set are sorted, the rarest
    first. A pair that reaches the threshold shares one of the first terms of each, so only those are
    looked up (prefix filtering, Bayardo et al. 2007); and where that one stands says how many more they
    can share at most (positional filtering, Xiao et al. 2008). Two empty sets are not compared: they
    have nothing in common.

    Args:
        bags: the terms of each text.
        threshold: above 0, at most 1.

    Raises:
        BadInput: the threshold is not in that range.
    """
    if not 0 < threshold <= 1:
        raise BadInput(f"a threshold of {threshold}: give one above 0 and at most 1, such as {THRESHOLD}")
    least = Fraction(str(threshold))  # as typed: 0.7 of ten terms is 7, not a little more
    often = Counter(term for bag in bags for term in bag)
    sizes = [len(bag) for bag in bags]
    # by the sizes of two sets, how many terms they must share to reach the threshold
    shared = {
        one: {other: math.ceil(least * (one + other) / (1 + least)) for other in set(sizes) if other <= one}
        for one in set(sizes)
    }
    having: dict[str, tuple[list[int], list[tuple[int, int]]]] = {}  # term -> sizes; texts, places in them
    found: list[Pair] = []
    for here in sorted((i for i, size in enumerate(sizes) if size), key=lambda i: (sizes[i], i)):
        size, needed, near = sizes[here], shared[sizes[here]], set()
        ordered = sorted(bags[here], key=lambda term: (often[term], term))
        for at, term in enumerate(ordered[: size - math.ceil(least * size) + 1]):
            smaller, postings = having.setdefault(term, ([], []))
            for other, place in postings[bisect_left(smaller, math.ceil(least * size)) :]:
                if min(size - at, sizes[other] - place) >= needed[sizes[other]]:
                    near.add(other)
            smaller.append(size)
            postings.append((here, at))
        for other in near:
            if len(bags[here] & bags[other]) >= needed[sizes[other]]:
                found.append((min(here, other), max(here, other)))
    return sorted(found)


def near_duplicates(
    texts: Sequence[str], terms: Callable[[str], Iterable[str]], threshold: float = THRESHOLD
) -> list[Pair]:
    """Return the pairs of texts that are the same, case and blanks aside, or share most of their terms.

    `terms` cuts a text into content terms: an analyser's, which leaves stop words out. The threshold is as
    for `similar`, an unfit one `BadInput`.
    """
    pairs = set(similar([frozenset(terms(text)) for text in texts], threshold))
    return sorted(pairs | set(equal_pairs([" ".join(text.casefold().split()) for text in texts])))


def equal_pairs(values: Sequence[object]) -> list[Pair]:
    """Return pairs that join all positions of equal values, each with the first; None joins none."""
    return sharing([() if value is None else (value,) for value in values])


def sharing(values: Sequence[Iterable[object]]) -> list[Pair]:
    """Return pairs that join the positions which have one value in common."""
    first: dict[object, int] = {}
    return [
        (first[value], position)
        for position, several in enumerate(values)
        for value in dict.fromkeys(several)
        if first.setdefault(value, position) != position
    ]


def agreeing(
    questions: Sequence[Question], field: str, extras: Mapping[str, Mapping[str, object]]
) -> list[Pair]:
    """Return pairs that join questions which agree in a field; one without a value is joined to nothing.

    "articles" joins those with a gold article in common, "category" and "split" those of one value; any
    other field is a column of the extras, question id -> column -> value.

    Raises:
        BadInput: no question has anything in that field.
    """
    if field == "articles":
        return sharing([question.article_ids for question in questions])
    if field in ("category", "split"):
        values = [getattr(question, field) for question in questions]
    else:
        values = [extras.get(question.id, {}).get(field) for question in questions]
    if all(value is None for value in values):
        columns = sorted({column for columns in extras.values() for column in columns})
        raise BadInput(
            f"--group-by {field}: no question has it. Use articles, category"
            + (f", or one of the extra columns {', '.join(columns)}" if columns else "")
        )
    return equal_pairs(
        [None if v is None else json.dumps(v, sort_keys=True, ensure_ascii=False) for v in values]
    )


def groups(n: int, pairs: Iterable[Pair]) -> tuple[int, ...]:
    """Return the group of each of n positions: the smallest position that pairs join it to."""
    one, other = np.array([*pairs], dtype=np.int64).reshape(-1, 2).T
    graph = sp.coo_array((np.ones(len(one)), (one, other)), shape=(n, n))
    _, label = connected_components(graph, directed=False)
    _, first = np.unique(label, return_index=True)
    return tuple(first[label].tolist())
