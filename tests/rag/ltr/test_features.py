"""What is known of candidates: every feature by hand, and numbers whatever is asked."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.corpus.structure import Surroundings
from rag.fusion.rank_fusion import reciprocal_rank
from rag.ltr.features import (
    ADJACENT_SOURCES,
    DAMPING,
    DEPTH,
    GROUPS,
    NAMES,
    PLACES,
    PRIORS,
    REFERENCES,
    SECTION_SOURCES,
    SYSTEMS,
    TOGETHER,
    cocited_votes,
)
from rag.ltr.reranker import KEYWORD, MEANING, first_stage_lists
from rag.retrieval.term_counts import columns
from rag.types import Article, Filter, Hit, Question, Ranking
from tests.fakes.ranking.features import CUT, ENCODER, LAW, QUESTIONS, WAYS, asked, column, evidence_of

EVIDENCE = evidence_of()
IDS = EVIDENCE.keyword.order.ids
HALF = math.sqrt(0.5)
words = st.lists(st.sampled_from([*WAYS, "civil", "louage", "unheard", "🏠"]), max_size=8).map(" ".join)
filters = st.sampled_from(
    [None, Filter(), Filter(codes=frozenset({"rural"})), Filter(codes=frozenset({"civil", "penal"}))]
)


def test_every_feature_has_one_name_one_column_and_one_reason() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert set(GROUPS) == set(NAMES)
    assert {name for name, group in GROUPS.items() if group == "prior"} == set(PRIORS)
    assert set(SECTION_SOURCES) <= set(SYSTEMS)
    for question in ("mur", "loyer caution"):
        found = asked(EVIDENCE, question)
        assert found.features.shape == (len(found.positions), len(NAMES))
        assert found.features.dtype == np.float32


def test_candidates_come_by_reciprocal_rank() -> None:
    [lists] = first_stage_lists(EVIDENCE, ["mur haie"])
    fused = reciprocal_rank(list(lists.values()), DEPTH, c=DAMPING)
    found = asked(EVIDENCE, "mur haie")
    assert [IDS[p] for p in found.positions] == [hit.article_id for hit in fused]
    assert list(column(EVIDENCE, found, "fused").values()) == pytest.approx([hit.score for hit in fused])
    assert list(column(EVIDENCE, found, "fused_rank").values()) == pytest.approx(np.log1p(np.arange(6)))


def test_scores_ranks_and_shares_by_hand() -> None:
    found = asked(EVIDENCE, "mur")
    # a3: text, heading of another word, and a question that says it; b1: one of its two words
    first, second = (EVIDENCE.keyword.scores("mur")[IDS.index(id_)] for id_ in ("a3", "b1"))
    assert first > second > 0
    none = dict.fromkeys(("a1", "a2", "b2", "c1"), 0.0)
    assert column(EVIDENCE, found, "keyword") == {"a3": first, "b1": second, **none}
    assert column(EVIDENCE, found, "keyword_share") == pytest.approx({"a3": 1, "b1": second / first, **none})
    in_order = list(column(EVIDENCE, found, "keyword"))
    assert in_order[:2] == ["a3", "b1"]
    assert column(EVIDENCE, found, "keyword_rank") == pytest.approx(
        {id_: math.log1p(n) for n, id_ in enumerate(in_order)}  # ties stand in the candidates' order
    )
    assert column(EVIDENCE, found, "meaning") == pytest.approx(
        {"a3": 1, "b1": 1, "b2": HALF, "a1": 0, "a2": 0, "c1": 0}, abs=1e-6
    )
    assert column(EVIDENCE, found, "best_meaning") == pytest.approx(dict.fromkeys(in_order, 1))


def test_the_law_and_the_questions_are_told_apart() -> None:
    found = asked(EVIDENCE, "mur")
    law, asked_for = column(EVIDENCE, found, "law"), column(EVIDENCE, found, "asked")
    assert {id_ for id_, score in law.items() if score} == {"a3", "b1"}
    assert {id_ for id_, score in asked_for.items() if score} == {"a3"}  # only a question that cites it
    without = evidence_of(questions=())
    assert column(without, asked(without, "mur"), "law") == pytest.approx(law)
    assert not any(column(without, asked(without, "mur"), "asked").values())


def test_annotated_questions_speak_for_what_they_cite() -> None:
    found = asked(EVIDENCE, "mur")
    # q2 says the same, q3 half of it, q1 nothing
    near = {"a3": 1, "b2": HALF, "a1": 0, "a2": 0, "b1": 0, "c1": 0}
    assert column(EVIDENCE, found, "near_meaning") == pytest.approx(near, abs=1e-6)
    half, none = math.exp((HALF - 1) / 0.07), math.exp(-1 / 0.07)
    votes = {"a3": 1, "b2": half, "a1": none, "a2": none, "b1": 0, "c1": 0}
    assert column(EVIDENCE, found, "votes") == pytest.approx(votes, abs=1e-6)
    words_alike = column(EVIDENCE, found, "near_words")
    assert {id_ for id_, score in words_alike.items() if score} == {"a3"}
    assert column(EVIDENCE, found, "best_near_meaning") == pytest.approx(dict.fromkeys(near, 1))


def test_what_stands_around_an_article() -> None:
    found = asked(EVIDENCE, "caution loup")
    meaning = column(EVIDENCE, found, "meaning")  # the question points both ways, a2 is under a1's heading
    assert meaning == pytest.approx(
        {"a1": HALF, "a2": HALF, "b2": 0.5, "c1": HALF, "a3": 0, "b1": 0}, abs=1e-6
    )
    beside = {"a1": HALF, "a2": HALF, "a3": 0, "b1": 0.5, "b2": 0.5, "c1": HALF}  # rural has no headings
    assert column(EVIDENCE, found, "meaning_best_beside") == pytest.approx(beside, abs=1e-6)
    mean = {"a1": HALF, "a2": HALF, "a3": 0, "b1": 0.25, "b2": 0.25, "c1": HALF}
    assert column(EVIDENCE, found, "meaning_mean_beside") == pytest.approx(mean, abs=1e-6)
    code = {"a1": HALF, "a2": HALF, "a3": HALF, "b1": 0.5, "b2": 0.5, "c1": HALF}
    assert column(EVIDENCE, found, "meaning_best_in_code") == pytest.approx(code, abs=1e-6)
    codes = {"a1": 3, "a2": 3, "a3": 3, "b1": 2, "b2": 2, "c1": 1}
    assert column(EVIDENCE, found, "code_in_50") == codes
    assert column(EVIDENCE, found, "beside_in_50") == {"a1": 2, "a2": 2, "a3": 1, "b1": 2, "b2": 2, "c1": 1}


def test_only_the_first_fifty_are_counted_around() -> None:
    law = [Article(f"{n:03}", f"code {n % 2}", str(n), "mur", (f"{n}",)) for n in range(99)]
    evidence = evidence_of(law, ())
    found = asked(evidence, "mur")
    assert [evidence.keyword.order.ids[p] for p in found.positions] == [a.id for a in law]
    assert set(column(evidence, found, "code_in_50").values()) == {25.0}
    beside = list(column(evidence, found, "beside_in_50").values())
    assert beside == [1.0] * 50 + [0.0] * 49


def test_lengths_and_citations() -> None:
    found = asked(EVIDENCE, "mur mur unheard")
    assert set(column(EVIDENCE, found, "question_length").values()) == {3.0}
    length = {a.id: math.log1p(len(a.text)) for a in LAW}
    assert column(EVIDENCE, found, "article_length") == pytest.approx(length)
    cited = {"a1": 1, "a2": 1, "a3": 1, "b1": 0, "b2": 1, "c1": 0}  # a gold id named twice counts once
    assert column(EVIDENCE, found, "cited") == cited
    in_code = {"a1": 3, "a2": 3, "a3": 3, "b1": 1, "b2": 1, "c1": 0}
    assert column(EVIDENCE, found, "cited_in_code") == in_code
    beside = {"a1": 2, "a2": 2, "a3": 1, "b1": 1, "b2": 1, "c1": 0}
    assert column(EVIDENCE, found, "cited_beside") == beside


def test_headings_of_two_codes_are_two_places() -> None:
    law = [Article("x", "one", "1", "t", ("same",)), Article("y", "two", "1", "t", ("same",))]
    around = Surroundings.of(law, [Question("q", "?", ("x",))])
    assert around.headings[0] != around.headings[1]
    assert around.cited_beside.tolist() == [1.0, 0.0]


def test_nothing_found() -> None:
    for question in ("", "unheard", "\x00 🏠"):
        found = asked(EVIDENCE, question)
        assert found.positions.tolist() == []
        assert found.features.shape == (0, len(NAMES))
    assert not len(asked(EVIDENCE, "mur", Filter(codes=frozenset({"no such code"}))).positions)


def test_one_candidate() -> None:
    found = asked(EVIDENCE, "vol", Filter(codes=frozenset({"penal"})))
    assert [IDS[p] for p in found.positions] == ["c1"]
    assert column(EVIDENCE, found, "keyword_rank") == {"c1": 0.0}
    assert column(EVIDENCE, found, "keyword_share") == {"c1": 1.0}
    assert column(EVIDENCE, found, "votes_share") == {"c1": 0.0}  # nobody votes for it
    assert column(EVIDENCE, found, "meaning_mean_beside") == column(EVIDENCE, found, "meaning")


def test_equal_articles_differ_by_rank_alone() -> None:
    twins = [*LAW, replace(LAW[0], id="a1-twin")]
    evidence = evidence_of(twins, [replace(QUESTIONS[0], article_ids=("a1", "a1-twin"))])
    found = asked(evidence, "loyer")
    of_place = {
        *PLACES,
        *TOGETHER,
        *(f"{system}{kind}" for system in ADJACENT_SOURCES for kind in ("_next", "_close")),
    }
    for name in set(NAMES) - of_place:  # the twin stands elsewhere in the law
        of = column(evidence, found, name)
        assert (of["a1"] == of["a1-twin"]) is not name.endswith("_rank"), name


def test_what_stands_right_beside_an_article_and_close_to_it() -> None:
    found = asked(EVIDENCE, "mur")
    meaning = column(EVIDENCE, found, "meaning")
    assert meaning == pytest.approx({"a3": 1, "b1": 1, "b2": HALF, "a1": 0, "a2": 0, "c1": 0}, abs=1e-6)
    # b1 is of another code, and so no neighbour of a3
    beside = {"a1": 0, "a2": 1, "a3": 0, "b1": HALF, "b2": 1, "c1": 0}
    assert column(EVIDENCE, found, "meaning_next") == pytest.approx(beside, abs=1e-6)
    close = {"a1": 1, "a2": 0, "a3": 0, "b1": 0, "b2": 0, "c1": 0}
    assert column(EVIDENCE, found, "meaning_close") == pytest.approx(close, abs=1e-6)
    fused = column(EVIDENCE, found, "fused")
    assert column(EVIDENCE, found, "fused_next")["a2"] == max(fused["a1"], fused["a3"])
    only = asked(EVIDENCE, "mur", Filter(codes=frozenset({"rural"})))
    assert column(EVIDENCE, only, "law_next")["b1"] == column(EVIDENCE, only, "law")["b2"]


def test_what_is_cited_along_with_the_first_candidates() -> None:
    found = asked(EVIDENCE, "loyer")
    first = [IDS[p] for p in found.positions]
    assert set(first[:2]) == {"a1", "a2"}  # one question cites both, and no other cites either
    said = {first[1]: 1 / 2 / 5, first[0]: 1 / 2 / 6, **dict.fromkeys(first[2:], 0)}
    assert column(EVIDENCE, found, "together_best") == pytest.approx(said)
    assert column(EVIDENCE, found, "together_sum") == pytest.approx(said)
    votes = column(EVIDENCE, found, "votes")
    assert votes["a1"] == votes["a2"] == max(votes.values())
    voted = {"a1": 1 / 2, "a2": 1 / 2, **dict.fromkeys(first[2:], 0)}
    assert column(EVIDENCE, found, "together_votes") == pytest.approx(voted)
    nobody = evidence_of(questions=())
    for name in TOGETHER:
        assert not any(column(nobody, asked(nobody, "loyer"), name).values())


def test_several_companions_are_added_up_and_the_best_is_told() -> None:
    law = [Article(id_, "civil", id_, "mur") for id_ in "abc"]
    both = [Question("1", "?", ("a", "c")), Question("2", "?", ("b", "c")), Question("3", "?", ("b",))]
    around = Surroundings.of(law, both)
    best, total, _ = cocited_votes(np.zeros(3, np.float32), np.arange(3), columns(np.arange(3), 3), around)
    assert best.tolist() == pytest.approx([1 / 3 / 7, 1 / 3 / 7, 1 / 2 / 5])
    assert total.tolist() == pytest.approx([1 / 3 / 7, 1 / 3 / 7, 1 / 2 / 5 + 1 / 3 / 6])
    assert around.together.diagonal().tolist() == [0, 0, 0]


def test_what_articles_refer_to() -> None:
    law = [
        replace(LAW[0], references=("a3", "c1", "a3", "a1", "elsewhere")),
        LAW[1],
        replace(LAW[2], references=("a1",)),
        replace(LAW[3], references=("a1",)),
        *LAW[4:],
    ]
    evidence = evidence_of(law)
    found = asked(evidence, "mur")
    first = [IDS[p] for p in found.positions]
    counts = {id_: 1 / (5 + place) for place, id_ in enumerate(first)}
    none = dict.fromkeys(IDS, 0.0)
    to = {"a1": max(counts["a3"], counts["c1"]), "a3": counts["a1"], "b1": counts["a1"]}
    assert column(evidence, found, "refers_best") == pytest.approx(none | to)
    by = {"a1": max(counts["a3"], counts["b1"]), "a3": counts["a1"], "c1": counts["a1"]}
    assert column(evidence, found, "referred_best") == pytest.approx(none | by)
    of_first = 2 * counts["a3"] + counts["c1"] + counts["b1"]  # a1 and a3 refer to each other
    whole = {"a1": of_first, "a3": 2 * counts["a1"], "b1": counts["a1"], "c1": counts["a1"]}
    assert column(evidence, found, "references_sum") == pytest.approx(none | whole)
    told = {"a1": math.log(3), "a3": math.log(2), "b1": math.log(2)}
    assert column(evidence, found, "refers") == pytest.approx(none | told)
    tell = {"a1": math.log(3), "a3": math.log(2), "c1": math.log(2)}
    assert column(evidence, found, "referred") == pytest.approx(none | tell)
    # what is no candidate says nothing, and is counted all the same
    few = asked(evidence, "mur", Filter(codes=frozenset({"rural", "penal"})))
    assert not any(column(evidence, few, "refers_best").values())
    assert column(evidence, few, "refers")["b1"] == pytest.approx(math.log(2))
    without = asked(EVIDENCE, "mur")
    assert not any(any(column(EVIDENCE, without, name).values()) for name in REFERENCES)


def test_where_an_article_stands_under_its_headings() -> None:
    found = asked(EVIDENCE, "mur")
    before = {"a1": 0, "a2": math.log(2), "a3": 0, "b1": 0, "b2": math.log(2), "c1": 0}
    assert column(EVIDENCE, found, "before") == pytest.approx(before)
    assert column(EVIDENCE, found, "share_before") == {
        "a1": 0,
        "a2": 0.5,
        "a3": 0,
        "b1": 0,
        "b2": 0.5,
        "c1": 0,
    }


@given(question=words | st.text(), where=filters)
def test_all_of_it_is_numbers_and_the_same_whatever_was_asked_before(
    question: str, where: Filter | None
) -> None:
    found = asked(EVIDENCE, question, where)
    assert np.isfinite(found.features).all()
    assert len(set(found.positions.tolist())) == len(found.positions)
    fresh = evidence_of()
    asked(fresh, "loup loyer mur")
    again = asked(fresh, question, where)
    assert again.positions.tolist() == found.positions.tolist()
    assert again.features.tolist() == found.features.tolist()
    for system in SYSTEMS if len(found.positions) else ():
        share = list(column(EVIDENCE, found, f"{system}_share").values())
        assert max(share) == pytest.approx(1) or not any(share)
        ranks = sorted(column(EVIDENCE, found, f"{system}_rank").values())
        assert ranks == pytest.approx(np.log1p(np.arange(len(ranks))))


@given(
    st.lists(
        st.dictionaries(st.sampled_from(IDS), st.sampled_from([0.5, 1.0, 1.5, 2.0])).map(
            lambda of: Ranking.of((i, s) for i, s in sorted(of.items(), key=lambda x: (-x[1], x[0])))
        ),
        min_size=2,
        max_size=2,
    )
)
def test_the_lists_are_fused_as_reciprocal_rank_fuses_them(lists: list[tuple[Hit, ...]]) -> None:
    fused = reciprocal_rank(lists, DEPTH, c=DAMPING)
    found = EVIDENCE.candidates("mur", lists)
    assert [IDS[p] for p in found.positions] == [hit.article_id for hit in fused]
    assert list(column(EVIDENCE, found, "fused").values()) == pytest.approx([hit.score for hit in fused])


def test_the_order_of_articles_and_questions_changes_nothing() -> None:
    backwards = evidence_of(LAW[::-1], QUESTIONS[::-1])
    for question in ("mur", "loyer loup", "haie haie caution"):
        here, there = asked(EVIDENCE, question), asked(backwards, question)
        for name in set(NAMES) - set(PLACES):  # what stands before is what stood after
            assert column(backwards, there, name) == pytest.approx(column(EVIDENCE, here, name)), name


def test_lists_have_the_names_that_pages_know() -> None:
    [lists] = first_stage_lists(EVIDENCE, ["mur"])
    assert list(lists) == [KEYWORD, MEANING]
    assert lists[MEANING] == EVIDENCE.meaning.search(["mur"], DEPTH)[0]
    assert ENCODER.analyser is CUT
