"""The one function that sorts, held against a slow and obvious one; what a filter admits."""

from __future__ import annotations

import math
from datetime import date
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rag.types import Article, ArticleOrder, Filter, Hit, Ranking, rank
from tests.fakes.law.law import slow_rank

# few values, so that ties happen; near ones, so that rounding decides; and all that is no score
SCORES = st.sampled_from(
    [
        0.0,
        -0.0,
        1.0,
        1.0000049,
        1.000005,
        1.0000051,
        1.00001,
        -1.0,
        2.5,
        1e-6,
        -1e-6,
        math.inf,
        -math.inf,
        math.nan,
    ]
) | st.floats(-1e6, 1e6)
IDS = st.text("0129ab", min_size=1, max_size=3)


@st.composite
def scored(draw: st.DrawFn) -> tuple[list[str], list[float], list[bool], int, int | None]:
    ids = draw(st.lists(IDS, unique=True, max_size=30))
    values = draw(st.lists(SCORES, min_size=len(ids), max_size=len(ids)))
    keep = draw(st.lists(st.booleans(), min_size=len(ids), max_size=len(ids)))
    return ids, values, keep, draw(st.integers(-1, 35)), draw(st.sampled_from([5, None, 0]))


@given(scored())
def test_rank_is_the_obvious_sort(case: tuple[list[str], list[float], list[bool], int, int | None]) -> None:
    ids, values, keep, k, decimals = case
    order, array = ArticleOrder.of(ids), np.array(values, dtype=np.float64)
    mask = np.array(keep, dtype=np.bool_)
    assert rank(array, order, k, decimals=decimals) == slow_rank(
        dict(zip(ids, values, strict=True)), k, decimals
    )
    kept = {i: v for i, v, admitted in zip(ids, values, keep, strict=True) if admitted}
    assert rank(array, order, k, mask, decimals=decimals) == slow_rank(kept, k, decimals)


@given(scored(), st.randoms(use_true_random=False))
def test_the_order_of_articles_changes_nothing(
    case: tuple[list[str], list[float], list[bool], int, int | None], random: Random
) -> None:
    ids, values, keep, k, decimals = case
    shuffled = list(zip(ids, values, keep, strict=True))
    random.shuffle(shuffled)
    ranking = rank(
        np.array([v for _, v, _ in shuffled], dtype=np.float64),
        ArticleOrder.of([i for i, _, _ in shuffled]),
        k,
        np.array([admitted for *_, admitted in shuffled], dtype=np.bool_),
        decimals=decimals,
    )
    expected = rank(
        np.array(values, dtype=np.float64),
        ArticleOrder.of(ids),
        k,
        np.array(keep, dtype=np.bool_),
        decimals=decimals,
    )
    assert ranking == expected


def test_ties_go_by_id_as_a_string() -> None:
    order = ArticleOrder.of(["9", "10", "b", "B", "1"])
    hits = rank(np.array([1.0, 1.0, 1.0, 1.0, 1.0]), order, 4)
    assert [hit.article_id for hit in hits] == ["1", "10", "9", "B"]


def test_scores_are_rounded_before_they_are_compared() -> None:
    order = ArticleOrder.of(["b", "a"])
    assert rank(np.array([0.123451, 0.123449]), order, 2) == (Hit("a", 0.12345), Hit("b", 0.12345))
    exact = rank(np.array([0.123451, 0.123449]), order, 2, decimals=None)
    assert exact == (Hit("b", 0.123451), Hit("a", 0.123449))


def test_minus_zero_is_zero() -> None:
    hits = rank(np.array([0.0, -0.0, -1e-9]), ArticleOrder.of(["c", "b", "a"]), 3)
    assert [hit.article_id for hit in hits] == ["a", "b", "c"]
    assert [math.copysign(1, hit.score) for hit in hits] == [1, 1, 1]


def test_every_tie_at_the_edge_competes() -> None:
    ids = [f"{i:04}" for i in range(1000)]
    scores = np.ones(1000, dtype=np.float32)
    for k in (1, 7, 999):
        assert [h.article_id for h in rank(scores[::-1], ArticleOrder.of(ids[::-1]), k)] == ids[:k]


@given(scored(), st.data())
def test_some_articles_are_ranked_as_they_are_among_all(
    case: tuple[list[str], list[float], list[bool], int, int | None], data: st.DataObject
) -> None:
    ids, values, keep, k, decimals = case
    order, array = ArticleOrder.of(ids), np.array(values, dtype=np.float32)
    some = sorted(data.draw(st.sets(st.integers(0, len(ids) - 1)))) if ids else []
    positions, mask = np.array(some, dtype=np.int64), np.array(keep, dtype=np.bool_)
    wanted = {ids[p]: float(array[p]) for p in some}
    assert rank(array[positions], order, k, positions=positions, decimals=decimals) == slow_rank(
        wanted, k, decimals
    )
    kept = {ids[p]: float(array[p]) for p in some if keep[p]}
    found = rank(array[positions], order, k, mask, positions=positions, decimals=decimals)
    assert found == slow_rank(kept, k, decimals)


@given(st.dictionaries(IDS, st.floats(-9, 9)), st.lists(IDS), st.integers(-9, 9), st.integers(-9, 9))
def test_a_ranking_is_a_sequence_of_hits(
    scores: dict[str, float], wanted: list[str], start: int, stop: int
) -> None:
    hits = tuple(Hit(id_, score) for id_, score in scores.items())
    ranking = Ranking.of(hits)
    assert ranking == hits
    assert hash(ranking) == hash(hits)
    assert (len(ranking), ranking.ids, [*ranking]) == (len(hits), [*scores], [*hits])
    assert [ranking[n] for n in range(-len(hits), len(hits))] == [*hits, *hits]
    assert ranking[start:stop] == hits[start:stop]
    assert ranking[::-1] == hits[::-1]
    assert ranking.rows(wanted).tolist() == [[*scores].index(i) if i in scores else -1 for i in wanted]
    elsewhere = ranking.within(ArticleOrder.of(sorted({*scores, *wanted})))
    assert elsewhere == ranking
    assert eval(repr(ranking)) == ranking  # noqa: S307 - what it prints makes it


def test_no_article_no_hit() -> None:
    assert rank(np.zeros(0), ArticleOrder.of([]), 3) == ()
    assert rank(np.full(2, -np.inf), ArticleOrder.of(["a", "b"]), 3) == ()


days = st.none() | st.dates(date(2000, 1, 1), date(2000, 1, 5))
names = st.sampled_from(["x", "y"])


@given(
    article=st.builds(
        Article, st.just("1"), names, st.just("1"), st.just("t"),
        law_type=st.none() | names, region=st.none() | names, valid_from=days, valid_to=days,
    ),
    where=st.builds(
        Filter, st.frozensets(names), st.frozensets(names), st.frozensets(names), days,
    ),
)  # fmt: skip
def test_a_filter_admits_what_passes_each_of_its_parts(article: Article, where: Filter) -> None:
    day = where.in_force_on
    parts = [
        not where.codes or article.code in where.codes,
        not where.law_types or article.law_type in (None, *where.law_types),
        not where.regions or article.region in (None, *where.regions),
        day is None or article.valid_from is None or article.valid_from <= day,
        day is None
        or article.valid_to is None
        or day < article.valid_to,  # the last day is the first without it
    ]
    assert where.admits(article) == all(parts)
