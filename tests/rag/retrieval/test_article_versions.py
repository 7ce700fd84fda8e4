"""Versions of one article: which held when, and never two of one article in a list."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.corpus.articles import Articles
from rag.corpus.card import CorpusCard
from rag.retrieval.known_item import KnownItems, best_versions, together, versions_in_force
from rag.types import Article, in_force

CODE = "Code civil"
A, B, C = date(2000, 1, 1), date(2010, 1, 1), date(2020, 1, 1)
DAYS = st.dates(date(1999, 12, 30), date(2000, 1, 8))


def article(id_: str, begun: date | None, ended: date | None, number: str = "5", code: str = CODE) -> Article:
    return Article(id_, code, number, "text", valid_from=begun, valid_to=ended)


FIRST, SECOND, THIRD = article("v1", A, B), article("v2", B, C), article("v3", C, None)


@st.composite
def articles(draw: st.DrawFn) -> list[Article]:
    """Articles of few numbers, dated or not, some with times that overlap, some that never held."""
    ends = st.none() | DAYS
    rows = draw(st.lists(st.tuples(st.sampled_from(["", "1", "2"]), ends, ends), min_size=1, max_size=7))
    return [article(str(i), begun, ended, number) for i, (number, begun, ended) in enumerate(rows)]


@pytest.mark.parametrize(
    ("day", "ids"),
    [
        (A - timedelta(days=1), ["v1"]),  # none held: the first one after
        (A, ["v1"]),
        (B - timedelta(days=1), ["v1"]),
        (B, ["v2"]),  # the day on which one ends is the first of the next
        (date(2035, 1, 1), ["v3"]),
        (None, ["v3"]),
    ],
)
def test_the_version_of_a_day(day: date | None, ids: list[str]) -> None:
    assert [a.id for a in versions_in_force([SECOND, THIRD, FIRST], day)] == ids


def test_after_the_last_one_it_is_that_one() -> None:
    assert versions_in_force([FIRST, SECOND], date(2022, 1, 1)) == [SECOND]


def test_two_articles_of_one_number_at_the_same_time_are_two_articles() -> None:
    annexes = [article("a", A, None), article("b", B, None)]
    assert together(*annexes)
    assert versions_in_force(annexes, C) == annexes
    assert versions_in_force([article("x", None, None), article("y", None, None)], None)[1].id == "y"
    assert list(best_versions(annexes)) == annexes
    assert list(best_versions([FIRST, SECOND, article("n", B, C, number="6")])) == [
        FIRST,
        article("n", B, C, number="6"),
    ]
    assert list(best_versions([SECOND], taken=[FIRST])) == []


def test_how_many_there_are() -> None:
    assert Articles.of([FIRST, SECOND, THIRD, article("x", None, None, "6")]).versions == 3
    assert Articles.of([article(str(i), None, None) for i in range(4)]).versions == 1  # no dates: no versions
    assert Articles.of([article(str(i), A, None, "") for i in range(4)]).versions == 1  # no number: nor these
    assert Articles.of([]).versions == 1


@given(found=articles(), day=DAYS)
def test_of_each_article_those_of_the_day_or_just_one(found: list[Article], day: date) -> None:
    kept = versions_in_force(found, day)
    assert kept == [a for a in found if a in kept]
    for number in {a.article_no for a in found}:
        group = [a for a in found if a.article_no == number]
        held = [a for a in group if in_force(a, day)]
        here = [a for a in kept if a.article_no == number]
        assert here == held if held else len(here) == 1


@given(found=articles())
def test_never_two_versions_in_a_list_and_what_is_left_out_has_another_listed(found: list[Article]) -> None:
    listed = list(best_versions(found))
    assert listed == [a for a in found if a in listed]
    for i, one in enumerate(listed):
        for other in listed[:i]:
            assert one.article_no != other.article_no or not one.article_no or together(one, other)
    for left in (a for a in found if a not in listed):
        assert any(a.article_no == left.article_no and not together(a, left) for a in listed)


@given(one=articles(), day=DAYS)
def test_what_holds_on_one_day_holds_together(one: list[Article], day: date) -> None:
    held = [a for a in one if in_force(a, day)]
    assert all(together(a, b) for a in held for b in held)
    assert list(best_versions(held)) == held


def test_a_number_finds_the_version_of_the_day_in_every_code() -> None:
    rural = article("r1", None, B, code="Code rural")
    law = [THIRD, FIRST, SECOND, rural]
    items = KnownItems(law, CorpusCard("fr", "Codes", "fr"))
    assert items.find("article 5", date(2015, 1, 1))[0].found == (
        "v2",
        "r1",
    )  # r1 is over: it is all there is
    assert items.find("article 5 du code civil", date(2005, 1, 1))[0].found == ("v1",)
    assert items.find("article 5 du code civil")[0].found == ("v3",)
    dated = KnownItems(law, CorpusCard("fr", "Codes", "fr", law_date=date(2012, 1, 1)))
    assert dated.find("article 5 du code civil")[0].found == ("v2",)  # as the corpus is dated


def test_a_range_names_each_article_once_whatever_its_versions() -> None:
    law = [a for n in range(600, 619) for a in (
        article(f"{n}-1", A, B, str(n)), article(f"{n}-2", B, None, str(n)))]  # fmt: skip
    items = KnownItems(law, CorpusCard("fr", "Codes", "fr")).find("articles 600 à 618", date(2005, 1, 1))
    assert [item.found for item in items] == [(f"{n}-1",) for n in (600, *range(601, 618), 618)]
