"""Batches and negatives: what counts against a question, and that a gold article never does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import BadInput
from rag.types import Article, Filter, Question, Ranking
from tests.fakes.ranking.benchmark import ANSWERED, ARTICLES
from training.neural.data import negatives
from training.neural.data.batches import Batches
from training.neural.data.negatives import MixedNegatives
from training.neural.recipe.settings import Negatives, Stage, Training

LAW = tuple(
    Article(id_, "code", str(n), text, (heading,))
    for n, (id_, text, heading) in enumerate(
        [("a", "one", "X"), ("b", "two", "X"), ("c", "three", "X"), ("d", "four", "Y"), ("e", "one", "Y")]
    )
)
Q1 = Question("q1", "first", ("a", "b"))
Q2 = Question("q2", "second", ("c",))


def batches(
    questions: Sequence[Question] = (Q1, Q2),
    settings: Negatives | None = None,
    drawn: Sequence[str] = (),
    **training: object,
) -> Batches:
    given_ = {"batch": 3, "steps": 5, **training}
    draw = (
        (lambda question, share, rng: [i for i in drawn if i not in question.article_ids]) if drawn else None
    )
    return Batches(questions, LAW, Training(**given_), settings or Negatives(), draw, seed=7)  # type: ignore[arg-type]


def counts(made: Batches) -> dict[tuple[str, str], set[str]]:
    """(question, its positive) -> ids of the articles that count against it."""
    batch = made(0)
    ids = [article.id for article in batch.articles]
    return {
        (question.id, ids[batch.positive[row]]): {
            ids[column] for column in np.flatnonzero(batch.in_loss[row]) if column != batch.positive[row]
        }
        for row, question in enumerate(batch.questions)
    }


def test_the_other_gold_article_of_a_question_is_no_negative() -> None:
    assert counts(batches()) == {("q1", "a"): {"c"}, ("q1", "b"): {"c"}, ("q2", "c"): {"a", "b"}}


def test_a_copy_of_a_gold_article_is_no_negative() -> None:
    found = counts(batches(drawn=["d", "e"]))  # e says what a says
    assert found["q1", "a"] == {"c", "d"}
    assert found["q2", "c"] == {"a", "b", "d", "e"}


def test_drawn_negatives_may_be_kept_to_their_own_question() -> None:
    settings = Negatives(in_batch=False, shared=False, per_question=1)
    assert counts(batches(settings=settings, drawn=["c", "d"])) == {
        ("q1", "a"): {"c", "d"},
        ("q1", "b"): {"c", "d"},
        ("q2", "c"): {"d"},
    }


def test_an_epoch_has_every_pair_once() -> None:
    made = batches(batch=1)
    pairs = [
        (batch.questions[0].id, batch.articles[int(batch.positive[0])].id) for batch in map(made, range(3))
    ]
    assert sorted(pairs) == [("q1", "a"), ("q1", "b"), ("q2", "c")]


def test_or_every_question_once() -> None:
    made = batches(batch=1, examples="questions")
    assert made.per_epoch == 2
    assert {made(0).questions[0].id, made(1).questions[0].id} == {"q1", "q2"}


def test_epochs_and_steps() -> None:
    assert batches(batch=1, steps=0, epochs=2.5).steps == 8  # 2.5 x 3 pairs, a half rounded to even
    assert batches(batch=50).per_epoch == 1


def test_a_batch_follows_from_its_step_alone() -> None:
    made, again = batches(batch=1, drawn=["d"]), batches(batch=1, drawn=["d"])
    for step in (4, 0, 2):
        a, b = made(step), again(step)
        assert (a.questions, a.articles, a.drawn) == (b.questions, b.articles, b.drawn)
        assert np.array_equal(a.in_loss, b.in_loss)


def test_nothing_to_learn_from_is_refused() -> None:
    with pytest.raises(BadInput, match="no question with gold articles"):
        batches([Question("q", "asked")])
    with pytest.raises(BadInput, match="give more"):
        batches([Q2])


# --- negatives ---


class Fixed:
    """Returns the whole law in its order."""

    def __init__(self) -> None:
        self.searches = 0

    def search(self, questions: Sequence[str], k: int, where: Filter | None = None) -> list[Ranking]:
        self.searches += 1
        return [Ranking.of((a.id, 1.0) for a in LAW[:k]) for _ in questions]


def test_negatives_of_a_ranking_leave_gold_out_before_they_are_counted() -> None:
    assert negatives.from_rankings(Fixed(), depth=2)(Q1) == ["c", "d"]
    assert negatives.from_rankings(Fixed(), depth=2, skip=1)(Q1) == ["d"]


def test_siblings_are_under_the_same_headings_the_nearest_first() -> None:
    assert [i for i in negatives.siblings(LAW)(Q2) if i != "c"] == ["b", "a"]


def test_published_negatives_are_those_of_the_file() -> None:
    pool = negatives.published({"q1": {"negatives": ["d", "a"]}, "q2": {}})
    assert pool(Q1) == ["d", "a"]
    assert pool(Q2) == []
    with pytest.raises(BadInput, match="negatives/"):
        negatives.published({})


def test_a_ranking_is_asked_once_a_question() -> None:
    fixed = Fixed()
    settings = Negatives(per_question=1, stages=(Stage(0.0, {"bm25": 1.0}),))
    mixed = MixedNegatives(settings, {"bm25": negatives.from_rankings(fixed, 5)}, LAW)
    for _ in range(5):
        mixed(Q1, 0.0, np.random.default_rng(0))
    assert fixed.searches == 1


def test_the_curriculum_goes_from_stage_to_stage() -> None:
    settings = Negatives(
        per_question=2, stages=(Stage(0.0, {"random": 1.0}), Stage(0.5, {"siblings": 1.0, "random": 0.0}))
    )
    mixed = MixedNegatives(settings, {"siblings": negatives.siblings(LAW)}, LAW)
    assert mixed.stage(0.49).begins == 0
    late = [set(mixed(Q2, 0.5, np.random.default_rng(n))) for n in range(5)]
    assert late == [{"a", "b"}] * 5
    early = {id_ for n in range(20) for id_ in mixed(Q2, 0.0, np.random.default_rng(n))}
    assert early == {"a", "b", "d", "e"}


@given(
    st.lists(st.sampled_from([a.id for a in ARTICLES]), min_size=1, max_size=29, unique=True),
    st.integers(0, 40),
    st.integers(0, 2**32),
    st.sampled_from(["random", "siblings", "published"]),
)
def test_no_gold_article_is_ever_drawn_and_none_twice(
    gold: list[str], wanted: int, seed: int, source: str
) -> None:
    question = Question("q", "asked", tuple(gold))
    pools = {
        "siblings": negatives.siblings(ARTICLES),
        "published": negatives.published({"q": {"negatives": [*gold, "a1", "gone"]}}),
    }
    mixed = MixedNegatives(
        Negatives(per_question=wanted, stages=(Stage(0.0, {source: 1.0}),)), pools, ARTICLES
    )
    drawn = mixed(question, 0.3, np.random.default_rng(seed))
    assert not set(drawn) & set(gold)
    assert len(set(drawn)) == len(drawn) == min(wanted, len(ARTICLES) - len(gold))
    assert set(drawn) <= {a.id for a in ARTICLES}


def test_every_answered_question_of_a_benchmark_can_be_learnt_from() -> None:
    made = Batches(ANSWERED, ARTICLES, Training(batch=6, steps=2), Negatives(), None, seed=1)
    assert len(made.pairs) == 36
    for step in range(2):
        batch = made(step)
        ids = [article.id for article in batch.articles]
        for row, question in enumerate(batch.questions):
            others = {ids[c] for c in np.flatnonzero(batch.in_loss[row])} - {ids[batch.positive[row]]}
            assert not others & set(question.article_ids)
