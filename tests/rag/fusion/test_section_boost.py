"""Articles under the same headings as one that fits are lifted towards it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag.corpus.structure import Sections
from rag.errors import BadInput
from rag.fusion.section_boost import SECTION_BOOST, boost, explain_boost
from rag.fusion.settings import FusionSettings
from rag.types import ArticleOrder, Hit, Ranking

ORDER = ArticleOrder.of(tuple("abcdefgh"))
GROUP = Sections(ORDER, np.array([0, 0, 1, 0, 2, 3, 4, 5]))
FOUND = Ranking.of([("a", 1.0), ("c", 0.8), ("b", 0.2), ("d", 0.1)])


def test_an_article_has_at_least_a_share_of_the_best_under_its_headings() -> None:
    # b: 0.5 * (0.9 * 1 + 0.1 * 0.2); d the same with 0.1; a and c are the best of theirs
    assert boost(FOUND, GROUP, 0.5) == (
        Hit("a", 1.0),
        Hit("c", 0.8),
        Hit("b", pytest.approx(0.46)),
        Hit("d", pytest.approx(0.455)),
    )


def test_a_larger_share_lets_neighbours_pass_others() -> None:
    assert [hit.article_id for hit in boost(FOUND, GROUP, 0.95)] == ["a", "b", "d", "c"]


def test_an_article_without_headings_is_alone() -> None:
    assert boost(FOUND, Sections(ORDER, np.arange(8)), 0.9) == FOUND


def test_nothing_is_lifted_towards_a_score_of_nothing() -> None:
    below = Ranking.of([("a", -1.0), ("b", -3.0)])
    assert boost(below, GROUP, 0.5) == below


rankings = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 10, allow_nan=False), min_size=1).map(
    lambda d: Ranking.of((k, v) for k, v in sorted(d.items(), key=lambda e: (-e[1], e[0])))
)
groups = st.lists(st.integers(0, 3), min_size=8, max_size=8).map(lambda of: Sections(ORDER, np.array(of)))
ALONE = Sections(ORDER, np.arange(8))


@given(rankings, groups, st.floats(0, 1))
@example(Ranking.of([("a", 6.5)]), ALONE, 1.0)
@example(Ranking.of([("a", 6.5), ("b", 6.5)]), GROUP, 1.0)
def test_the_same_articles_the_best_first_and_none_lower(
    ranking: Ranking, group: Sections, share: float
) -> None:
    after = boost(ranking, group, share)
    before, now = dict(ranking), dict(after)
    assert now.keys() == before.keys()
    assert all(now[i] >= before[i] for i in before)
    assert after[0].score == ranking[0].score
    assert [hit.score for hit in after] == sorted(now.values(), reverse=True)
    number = dict(zip(ORDER.ids, group.numbers, strict=True))
    for i, score in now.items():  # in its group's order, and never past its best
        mates = [j for j in now if number[i] == number[j]]
        assert score <= max((before[j] for j in mates), default=score)


@given(rankings, groups, st.floats(0, 1))
def test_what_is_told_adds_up(ranking: Ranking, group: Sections, share: float) -> None:
    after = boost(ranking, group, share)
    shares = {hit.article_id: {"bm25": hit.score} for hit in ranking}
    places, with_it = explain_boost(after, shares, group)
    for place, hit in enumerate(after, start=1):
        assert math.fsum(with_it[hit.article_id].values()) == pytest.approx(hit.score, abs=1.1e-5)
        assert (hit.article_id in places) == (SECTION_BOOST in with_it[hit.article_id])
        if hit.article_id in places:
            first = after[places[hit.article_id] - 1].article_id
            assert places[hit.article_id] < place
            number = group.numbers[[ORDER.positions[i] for i in (first, hit.article_id)]]
            assert number[0] == number[1]


def test_settings_lift_after_fusing_and_come_back_from_json() -> None:
    settings = FusionSettings("min-max", {"x": 1.0, "y": 1.0}, section_boost=0.95)
    lists = [Ranking.of([("a", 3.0), ("c", 2.6), ("b", 1.0)]), Ranking.of([("a", 9.0), ("c", 7.0)])]
    fuse = settings.fuse(("x", "y"), sections=lambda: GROUP)
    assert [hit.article_id for hit in fuse(lists, 2)] == ["a", "b"]
    assert fuse(lists, 0) == ()
    assert FusionSettings.from_json(settings.to_json()) == settings
    old = {k: v for k, v in settings.to_json().items() if k != "beside"}
    assert FusionSettings.from_json(old).section_boost == 0  # written before there was any lifting


def test_what_cannot_be_lifted_is_refused() -> None:
    with pytest.raises(BadInput, match="which stand together"):
        FusionSettings(section_boost=0.5).fuse(("x", "y"))
    with pytest.raises(BadInput, match="give 0"):
        FusionSettings(section_boost=1.5)
