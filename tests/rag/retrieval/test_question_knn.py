"""Articles by the annotated questions nearest to the one asked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.encoders.static import StaticEncoder
from rag.retrieval.base import Mask
from rag.retrieval.question_knn import FADING, SECTION_SHARES, SHARPNESS, QuestionIndex, QuestionKNN
from rag.retrieval.question_knn import WORDS as BESIDE_MEANING
from rag.types import ArticleOrder, Encoder, Filter, Hit, Question
from tests.fakes.law.law import SPLIT, WORDS, SplitAnalyser, law, random_encoder

LAW = law()
IDS = [a.id for a in LAW]
ORDER = ArticleOrder.of(IDS)
RANDOM = random_encoder(SPLIT, LAW)
AXES = StaticEncoder.of("axes", SPLIT, {"bail": 0, "mur": 1}, np.eye(2, dtype=np.float32))
BY_HAND = (
    Question("q1", "bail", ("9",)),
    Question("q2", "mur", ("a",)),
    Question("q3", "bail mur", ("9", "10", "10", "elsewhere")),
)
asked = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
annotated = st.lists(
    st.tuples(asked, st.lists(st.sampled_from([*IDS, "elsewhere"]), max_size=3)), max_size=8
).map(lambda rows: [Question(f"q{n}", text, tuple(gold)) for n, (text, gold) in enumerate(rows)])
encoders = st.sampled_from([None, RANDOM])


def nearest(questions: Sequence[Question], encoder: Encoder | None = RANDOM) -> QuestionKNN:
    return QuestionKNN(questions, ORDER, Mask(LAW), SPLIT, encoder)


def near(retriever: QuestionKNN, question: str, what: str) -> dict[str, float]:
    vector = None if retriever.encoder is None else retriever.encoder.encode_questions([question])[0]
    found = retriever.index.nearness(SPLIT.terms(question), vector)
    return dict(zip([IDS[p] for p in retriever.index.cited], getattr(found, what).tolist(), strict=True))


def test_votes_by_hand() -> None:
    made = nearest(BY_HAND, AXES)
    # q1 points the same way (cosine 1), q3 halfway (√½), q2 elsewhere (0)
    q3, q2 = (math.exp((cosine - 1) / SHARPNESS) for cosine in (math.sqrt(0.5), 0.0))
    assert near(made, "bail", "votes") == pytest.approx({"9": 1 + q3, "10": q3, "a": q2}, rel=1e-5)
    assert near(made, "bail", "cosine") == pytest.approx({"9": 1, "10": math.sqrt(0.5), "a": 0}, abs=1e-6)
    # in the list words count too: q1 has the same alone, q3 among two, q2 has none, and is not near at all
    q3 = math.exp((math.sqrt(0.5) + BESIDE_MEANING * (two_to_one() - 1) - 1) / FADING)
    assert made.search(["bail"], 9) == [(Hit("9", round(1 + q3, 5)), Hit("10", round(q3, 5)))]


def test_nearness_is_the_mean_of_the_nearest() -> None:
    made = nearest(BY_HAND, AXES)
    assert made.nearest("bail", 9) == pytest.approx((1 + math.sqrt(0.5)) / 3)  # there are only three
    assert made.nearest("bail", 2) == pytest.approx((1 + math.sqrt(0.5)) / 2)
    assert made.nearest("mur", 1) == pytest.approx(1)  # not what the one before was compared with
    assert made.nearest("xylophone", 5) == 0
    assert nearest([], AXES).nearest("bail", 5) == 0


def bm25(length: int) -> float:
    """BM25 of three questions of 1, 1 and 2 words: idf ln(1 + 1.5 / 2.5), k1 1.2, b 0.75, mean length 4/3."""
    return math.log(1.6) / (1 + 1.2 * (0.25 + 0.75 * length / (4 / 3)))


def two_to_one() -> float:
    return bm25(2) / bm25(1)


def test_words_by_hand() -> None:
    made = nearest(BY_HAND, None)
    one, two = bm25(1), bm25(2)
    assert near(made, "bail", "words") == pytest.approx({"9": one, "10": two, "a": 0})
    assert near(made, "bail", "cosine") == near(made, "bail", "votes") == {"9": 0, "10": 0, "a": 0}
    q3 = math.exp((two_to_one() - 1) / FADING)
    assert made.search(["bail"], 9) == [(Hit("9", round(1 + q3, 5)), Hit("10", round(q3, 5)))]


def test_articles_beside_a_cited_one_have_a_share_of_its_votes() -> None:
    beside = (np.arange(len(IDS)) + 1) // 2
    made = QuestionKNN(BY_HAND, ORDER, Mask(LAW), SPLIT, AXES, sections=beside)
    alone = {hit.article_id: hit.score for hit in nearest(BY_HAND, AXES).search(["bail"], 9)[0]}
    found = {hit.article_id: hit.score for hit in made.search(["bail"], 9)[0]}
    assert set(found) > set(alone)
    for i, id_ in enumerate(IDS):
        best = max(alone.get(other, 0.0) for other in np.array(IDS)[beside == beside[i]])
        assert found.get(id_, 0) == pytest.approx(max(alone.get(id_, 0.0), SECTION_SHARES * best), abs=1e-5)


def test_many_that_are_near_outvote_one_that_is_nearest() -> None:
    questions = [Question("one", "bail", ("9",)), *(Question(f"q{n}", "bail mur", ("a",)) for n in range(99))]
    [ranking] = nearest(questions, AXES).search(["bail"], 2)
    assert [hit.article_id for hit in ranking] == ["a", "9"]  # 99 voices, each a fifteenth as loud


def test_questions_that_point_elsewhere_have_no_vote() -> None:
    made = nearest([Question("q", "mur", ("9",)), Question("r", "loyer mur", ("a",))], AXES)
    assert near(made, "bail", "votes") == {"9": 0, "a": 0}
    assert made.search(["bail"], 9) == [()]
    [ranking] = made.search(["loyer"], 9)  # a word that no vector has: the words alone are compared
    assert [hit.article_id for hit in ranking] == ["a"]


@given(annotated, encoders)
def test_nothing_asked_finds_nothing(questions: list[Question], encoder: Encoder | None) -> None:
    made = nearest(questions, encoder)
    assert made.search(["", " ", "unheard words"], 9) == [(), (), ()]


@given(encoders, st.sampled_from([(), (Question("q", "bail", ("elsewhere",)),), (Question("q", "bail"),)]))
def test_without_annotated_questions_nothing_is_found(
    encoder: Encoder | None, questions: tuple[Question, ...]
) -> None:
    made = nearest(questions, encoder)
    assert made.search(["bail", ""], 9) == [(), ()]
    assert made.index.cited.tolist() == []
    assert near(made, "bail", "votes") == {}


@given(annotated, asked, encoders)
def test_every_article_found_is_cited(
    questions: list[Question], question: str, encoder: Encoder | None
) -> None:
    [ranking] = nearest(questions, encoder).search([question], 99)
    cited = {id_ for q in questions for id_ in q.article_ids}
    assert {hit.article_id for hit in ranking} <= cited
    assert all(0 <= hit.score < math.inf for hit in ranking)


@given(asked, st.lists(asked, max_size=5), st.lists(st.sampled_from(IDS), min_size=12, unique=True))
def test_only_what_says_a_word_as_often_goes_before_the_same_question(
    question: str, others: list[str], ids: list[str]
) -> None:
    """Where no article is cited twice: else several that are near may outvote it."""
    gold = tuple(ids[:2])
    rest = [Question(f"o{n}", text, (ids[2 + n],)) for n, text in enumerate(others)]
    [ranking] = nearest([*rest, Question("same", question, gold)]).search([question], 99)
    score = {hit.article_id: hit.score for hit in ranking}
    assert score[gold[0]] == score[gold[1]] >= math.exp(-BESIDE_MEANING / FADING) - 1e-5
    said = Counter(question.split())
    for hit in ranking[: [hit.article_id in gold for hit in ranking].index(True)]:
        [text] = [q.text for q in rest if hit.article_id in q.article_ids]
        assert any(Counter(text.split())[word] >= said[word] for word in said)


@given(annotated, asked)
def test_gold_of_the_same_question_is_nearest(questions: list[Question], question: str) -> None:
    made = nearest([*questions, Question("same", question, ("9", "a"))])
    cosine, votes = near(made, question, "cosine"), near(made, question, "votes")
    assert cosine["9"] == cosine["a"] == max(cosine.values()) == pytest.approx(1)
    assert min(votes["9"], votes["a"]) >= 1 - 1e-6


@given(st.randoms(use_true_random=False), annotated, asked, encoders)
def test_the_order_of_questions_changes_nothing(
    chance: object, questions: list[Question], question: str, encoder: Encoder | None
) -> None:
    shuffled = list(questions)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = (nearest(of, encoder).search([question], 99)[0] for of in (questions, shuffled))
    assert {h.article_id: h.score for h in one} == pytest.approx({h.article_id: h.score for h in other})


@given(annotated, asked, encoders)
def test_a_filter_takes_away_and_changes_nothing_else(
    questions: list[Question], question: str, encoder: Encoder | None
) -> None:
    made = nearest(questions, encoder)
    where = Filter(codes=frozenset({"civil", "penal"}))
    admitted = {a.id for a in LAW if a.code in where.codes}
    [everything], [some] = made.search([question], 99), made.search([question], 99, where)
    assert some == tuple(hit for hit in everything if hit.article_id in admitted)


def test_questions_are_analysed_when_they_are_first_needed() -> None:
    made = nearest(BY_HAND)
    assert "index" not in vars(made)
    first = made.index
    made.search(["bail", "mur"], 3)
    assert made.index is first
    assert isinstance(first, QuestionIndex)
    assert [q.id for q in first.questions] == ["q1", "q2", "q3"]


@given(questions=annotated, encoder=encoders, question=asked)
def test_terms_that_are_known_need_no_analyser(
    questions: list[Question], encoder: Encoder | None, question: str
) -> None:
    class Never(SplitAnalyser):
        def terms(self, text: str) -> list[str]:
            raise AssertionError(text)

    cut = [SPLIT.terms(q.text) for q in questions]
    given_terms = QuestionIndex.of(questions, ORDER, Never(), encoder, cut)
    analysed = QuestionIndex.of(questions, ORDER, SPLIT, encoder)
    vector = None if encoder is None else encoder.encode_questions([question])[0]
    for asked_of in (given_terms, analysed):
        assert asked_of.questions == analysed.questions
    a, b = (of.nearness(SPLIT.terms(question), vector) for of in (given_terms, analysed))
    assert np.array_equal(a.words, b.words)
    assert np.array_equal(a.votes, b.votes)
