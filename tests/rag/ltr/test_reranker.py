"""A learned fusion: ranked as its trees and networks say, and taken apart into reasons that add up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.errors import BadInput, missing, watching
from rag.ltr import reranker as module
from rag.ltr.features import DEPTH, GROUPS, NAMES, Evidence
from rag.ltr.ranker import Ranker
from rag.ltr.reranker import KEYWORD, MEANING, RECENT, LearnedReranker, first_stage_lists
from rag.ltr.trees import Tree, Trees
from rag.retrieval.dense import Dense
from rag.types import EMPTY, Article, Filter, Hit, Question, Ranking, Reason
from tests.fakes.ranking.features import LAW, WAYS, asked, evidence_of, stump
from tests.fakes.ranking.networks import network

EVIDENCE = evidence_of()
IDS = [a.id for a in LAW]
RURAL = Filter(codes=frozenset({"rural"}))
words = st.lists(st.sampled_from([*WAYS, "civil", "louage", "unheard"]), max_size=6).map(" ".join)
thresholds = st.sampled_from([-1.0, 0.0, 0.1, 0.3, 0.5, 0.7, 1.0, 2.0])
values = st.integers(-8, 8).map(lambda n: n / 4)
stumps = st.builds(stump, st.integers(0, len(NAMES) - 1), thresholds, values, values)
rankers = st.builds(
    lambda trees, seeds: Ranker(
        Trees(NAMES, tuple(trees)), tuple(network(len(NAMES), seed) for seed in seeds)
    ),
    st.lists(stumps, max_size=12),
    st.lists(st.integers(0, 9), max_size=2),
)


def of(*trees: Tree, names: tuple[str, ...] = ("votes",), evidence: Evidence = EVIDENCE) -> LearnedReranker:
    return LearnedReranker(evidence, Ranker(Trees(names, trees)))


def test_the_trees_decide_the_order() -> None:
    by_votes = of(stump(0, 0.5, -1.0, 2.0), stump(0, 0.01, 0.0, 0.5))
    # a question about walls: a3 is cited for one, b2 for one that is half about them, the rest come by id
    assert by_votes.search(["mur"], 9) == [
        (Hit("a3", 2.5), Hit("b2", -0.5), *(Hit(id_, -1.0) for id_ in ("a1", "a2", "b1", "c1")))
    ]
    against = of(stump(0, 0.5, 1.0, -1.0))
    assert against.search(["mur"], 9)[0][-1] == Hit("a3", -1.0)


def test_what_was_found_without_a_part_is_not_found_again() -> None:
    parts = {"shard 1 of 2"}

    class Partial(Dense):
        def search(self, questions: Sequence[str], k: int, where: Filter | None = None) -> list[Ranking]:
            missing(*parts)
            return [EMPTY for _ in questions] if parts else super().search(questions, k, where)

    meaning = EVIDENCE.meaning
    there = Partial(meaning.encoder, meaning.index, meaning.order, meaning.mask)
    learned = of(stump(0, 0.5, -1.0, 2.0), evidence=replace(EVIDENCE, meaning=there))
    for _ in range(2):  # the second time it is at hand
        with watching() as told:
            learned.search(["mur"], 9)
        assert told == {"shard 1 of 2"}
    parts.clear()
    with watching() as told:
        assert learned.search(["mur"], 9) == of(stump(0, 0.5, -1.0, 2.0)).search(["mur"], 9)
    assert told == set()


@given(rankers, words)
def test_scores_are_those_of_the_features(ranker: Ranker, question: str) -> None:
    [ranking] = LearnedReranker(EVIDENCE, ranker).search([question], 99)
    found = asked(EVIDENCE, question)
    scores = ranker.scores(found.features).tolist()
    wanted = {IDS[p]: round(s, 5) for p, s in zip(found.positions, scores, strict=True)}
    assert {hit.article_id: hit.score for hit in ranking} == pytest.approx(wanted, abs=1e-5)
    assert ranking == tuple(sorted(ranking, key=lambda hit: (-hit.score, hit.article_id)))


def test_a_page_and_a_benchmark_see_the_same_first_articles(monkeypatch: pytest.MonkeyPatch) -> None:
    by_votes = of(*(stump(0, 0.5, -1.0, 2.0 + n) for n in range(20)))
    monkeypatch.setattr(module, "CHOSEN", 2)  # of the six candidates
    page, benchmark = (by_votes.search(["mur"], k)[0] for k in (1, module.FEW + 1))
    assert len(benchmark) == 6
    assert page == benchmark[:1]
    assert len(by_votes.search(["mur"], module.FEW)[0]) == 2  # no others were scored


def test_trees_may_use_some_of_the_features_in_any_order() -> None:
    forest = Trees(("cited", "meaning"), (stump(1, 0.9, 0.0, 1.0), stump(0, 0.5, 0.0, 4.0)))
    [ranking] = LearnedReranker(EVIDENCE, Ranker(forest)).search(["mur"], 9)
    assert ranking == (
        Hit("a3", 5.0), Hit("a1", 4.0), Hit("a2", 4.0), Hit("b2", 4.0), Hit("b1", 1.0), Hit("c1", 0.0),
    )  # fmt: skip


@given(rankers, words, st.sampled_from([None, RURAL]))
def test_reasons_add_up_to_the_score(ranker: Ranker, question: str, where: Filter | None) -> None:
    learned = LearnedReranker(EVIDENCE, ranker)
    [ranking] = learned.search([question], 99, where)
    told = learned.reasons(question, [hit.article_id for hit in ranking], where)
    assert list(told) == [hit.article_id for hit in ranking]
    for hit in ranking:
        reasons = told[hit.article_id]
        assert math.fsum(reason.share for reason in reasons) == pytest.approx(hit.score, abs=6e-6)
        assert list(reasons) == sorted(reasons, key=lambda reason: (-reason.share, reason.group))
        groups = [reason.group for reason in reasons]
        assert sorted(groups) == sorted({"base", *GROUPS.values()})  # each is told once


def test_reasons_by_hand() -> None:
    learned = of(stump(0, 0.5, -1.0, 2.0), stump(1, 0.5, 0.0, 1.0), names=("votes", "cited"))
    told = learned.reasons("mur", ["a3", "b1"])
    # both trees begin at their middles, 0.5 each; votes move by 1.5 either way, citations by 0.5
    assert told["a3"] == (Reason("questions", 1.5), Reason("base", 1.0), Reason("prior", 0.5))
    assert told["b1"] == (Reason("base", 1.0), Reason("prior", -0.5), Reason("questions", -1.5))


def test_reasons_are_those_of_the_articles_asked_for() -> None:
    learned = of(stump(0, 0.5, -1.0, 2.0))
    assert list(learned.reasons("mur", ["b2", "a3"])) == ["b2", "a3"]
    assert learned.reasons("mur", []) == {}
    assert list(learned.reasons("mur", ["no such article", "a1"])) == ["a1"]
    assert list(learned.reasons("mur", ["a1", "b1"], RURAL)) == [
        "b1"
    ]  # the filter leaves no other a candidate
    assert learned.reasons("unheard", ["a1"]) == learned.reasons("", ["a1"]) == {}


@settings(max_examples=30)
@given(words, st.integers(0, 9))
def test_what_was_asked_before_changes_nothing(question: str, k: int) -> None:
    trees = (stump(0, 0.5, -1.0, 2.0), stump(0, 0.01, 0.0, 0.5))
    before, fresh = of(*trees), of(*trees)
    for n in range(RECENT + 1):
        before.search([f"mur {'loup ' * n}"], 3)
    assert before.search([question], k) == fresh.search([question], k)
    assert before.reasons(question, IDS) == fresh.reasons(question, IDS)
    assert before.reasons(question, IDS, RURAL) == fresh.reasons(question, IDS, RURAL)


class Counting(Evidence):
    """Evidence that tells how often it was gathered."""

    times = 0

    def candidates(self, question: str, lists: object) -> object:  # type: ignore[override]
        Counting.times += 1
        return super().candidates(question, lists)  # type: ignore[arg-type]


def test_who_explains_what_was_just_asked_gathers_nothing_again() -> None:
    e = EVIDENCE
    counting = Counting(e.keyword, e.law, e.questions, e.meaning, e.nearest, e.around)
    learned = of(stump(0, 0.5, -1.0, 2.0), evidence=counting)
    Counting.times = 0
    learned.search(["mur"], 3)
    learned.reasons("mur", ["a3"])
    assert Counting.times == 1
    learned.reasons("mur", ["a3"], RURAL)
    assert Counting.times == 2


def test_the_lists_come_with_the_ranking() -> None:
    learned = of(stump(0, 0.5, -1.0, 2.0))
    for questions in (["mur"], ["mur", "", "loyer"]):  # one alone, and several at once
        found = learned.search_parts(questions, 2)
        assert [lists for _, lists in found] == first_stage_lists(EVIDENCE, questions)
        assert [ranking for ranking, _ in found] == learned.search(questions, 2)
        assert [len(ranking) for ranking, _ in found] == [0 if q == "" else 2 for q in questions]
    assert learned.search_parts(["mur"], 0) == [((), {KEYWORD: (), MEANING: ()})]
    assert learned.search([], 5) == []


def test_a_filter_holds_for_the_lists_too() -> None:
    learned = of(stump(0, 0.5, -1.0, 2.0))
    [(ranking, lists)] = learned.search_parts(["mur"], 9, RURAL)
    seen: list[Ranking] = [ranking, *lists.values()]
    assert [{hit.article_id for hit in hits} for hits in seen] == [{"b1", "b2"}, {"b1"}, {"b1", "b2"}]


def test_no_more_candidates_than_a_thousand() -> None:
    law = [Article(f"{n:04}", "code", str(n), "mur loyer" if n % 2 else "mur") for n in range(DEPTH + 30)]
    learned = of(stump(0, 0.5, 0.0, 1.0), evidence=evidence_of(law, (Question("q", "mur", ("0007",)),)))
    [ranking] = learned.search(["mur"], 5000)
    assert len(ranking) == DEPTH
    assert ranking[0] == Hit("0007", 1.0)


def test_features_of_another_version_are_refused() -> None:
    with pytest.raises(BadInput, match=r"asks for moon, tides, .* python -m training\.train fusion"):
        of(names=("tides", "votes", "moon"))


def test_without_trees_all_candidates_are_equal() -> None:
    learned = LearnedReranker(EVIDENCE, Ranker(Trees((), ())))
    assert [hit.article_id for hit in learned.search(["mur"], 9)[0]] == IDS
    assert learned.reasons("mur", ["a3"]) == {"a3": (Reason("base", 0.0),)}
