"""Inner folds: systems are asked what they have not learnt, and what they returned is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from indexes.corpus.corpus import SYNTHETIC
from rag.errors import BadInput
from rag.types import Article, Filter, Floats, Hit, Question, Ranking, Retriever
from training.eval.context import BenchSettings
from training.fusion.inner_folds import FOLDS, InnerRuns, inner_folds

ARTICLES = [
    Article(i, "Code", i, f"text of {i}") for i in ("also", "wrong", "last", *(f"a{n}" for n in range(20)))
]
QUESTIONS = [Question(f"q{n}", f"about a{n}", (f"a{n}",)) for n in range(20)]


class Remembers:
    """Answers what it has seen perfectly, anything else wrongly; it can score all articles."""

    def __init__(self, learn: Sequence[Question]) -> None:
        self.seen = {q.text: q.article_ids[0] for q in learn}
        self.asked: list[str] = []

    def search(self, questions: Sequence[str], k: int, where: Filter | None = None) -> list[Ranking]:
        assert k == 1000
        self.asked += questions
        return [(Hit(self.seen.get(q, "wrong"), 2.0), Hit("also", 0.123456789)) for q in questions]

    def scores(self, question: str) -> Floats:
        return np.array([float(a.id == self.seen.get(question)) for a in ARTICLES], dtype=np.float32)


class Knows:
    """Puts the right article second, whatever it learnt; what it thinks of others it does not tell."""

    def search(self, questions: Sequence[str], k: int, where: Filter | None = None) -> list[Ranking]:
        return [(Hit("also", 2.0), Hit(q.removeprefix("about "), 1.5), Hit("last", 1.0)) for q in questions]


class Maker:
    """Makes the two, and remembers of what."""

    def __init__(self) -> None:
        self.made: list[tuple[tuple[str, ...], tuple[Question, ...]]] = []
        self.systems: list[Remembers] = []

    def __call__(
        self, names: Sequence[str], learn: Sequence[Question], settings: BenchSettings
    ) -> dict[str, Retriever]:
        self.made.append((tuple(names), tuple(learn)))
        self.systems.append(Remembers(learn))
        return {name: {"remembers": self.systems[-1], "knows": Knows()}[name] for name in names}


def test_each_question_is_asked_once_of_systems_that_do_not_know_it() -> None:
    make = Maker()
    found = list(InnerRuns(make, ARTICLES).folds(["remembers", "knows"], QUESTIONS, BenchSettings()))
    assert sorted(q.id for a in found for q in a.questions) == sorted(q.id for q in QUESTIONS)
    for answered, (names, learnt) in zip(found, make.made, strict=True):
        assert names == ("remembers", "knows")
        assert answered.learn == learnt
        assert not set(learnt) & set(answered.questions)
        assert set(learnt) | set(answered.questions) == set(QUESTIONS)
        for question in answered.questions:
            assert answered.runs["remembers"][question.id] == (Hit("wrong", 2.0), Hit("also", 0.123456789))
            assert answered.runs["knows"][question.id][1] == Hit(question.article_ids[0], 1.5)
        assert answered.qrels == {q.id: frozenset(q.article_ids) for q in answered.questions}
        assert set(answered.distributions) == {"remembers"}  # the other cannot tell


def test_what_a_machine_wrote_is_learnt_from_and_never_asked() -> None:
    written = [Question(f"w{n}", f"of a{n}", (f"a{n}",), split=SYNTHETIC) for n in range(7)]
    seen = []
    for asked, learnt in inner_folds([*written, *QUESTIONS]):
        seen += asked
        assert set(written) <= set(learnt)
        assert set(learnt) == {*QUESTIONS, *written} - set(asked)
    assert sorted(q.id for q in seen) == sorted(q.id for q in QUESTIONS)
    with pytest.raises(BadInput, match="3 questions"):
        list(inner_folds([*written, *QUESTIONS[:3]]))


def test_questions_of_one_fold_are_asked_together() -> None:
    fold_of = {q.id: str(n // 2 % 3) for n, q in enumerate(QUESTIONS)}  # twins stand side by side
    written = [replace(q, id=f"w{q.id}", split=SYNTHETIC) for q in QUESTIONS[:3]]
    found = list(inner_folds([*QUESTIONS, *written], fold_of))
    assert len(found) == 3
    for asked, learnt in found:
        assert len({fold_of[q.id] for q in asked}) == 1
        assert set(learnt) == {*QUESTIONS, *written} - set(asked)
    inner = InnerRuns(Maker(), ARTICLES)
    inner.fold_of = fold_of
    answered = list(inner.folds(["knows"], QUESTIONS, BenchSettings()))
    assert [a.questions for a in answered] == [asked for asked, _ in inner_folds(QUESTIONS, fold_of)]
    beside = Question("beside", "asked elsewhere", ("a1",))  # of no fold
    assert all(beside in learnt for _, learnt in inner_folds([*QUESTIONS, beside], fold_of))
    with pytest.raises(BadInput, match="all of one fold"):
        list(inner_folds(QUESTIONS, dict.fromkeys(fold_of, "0")))


def test_where_people_asked_none_what_was_written_is_asked() -> None:
    written = [replace(q, split=SYNTHETIC) for q in QUESTIONS]
    assert {q for asked, _ in inner_folds(written) for q in asked} == set(written)


def test_what_was_asked_is_kept_and_the_rest_is_asked_on() -> None:
    make = Maker()
    inner = InnerRuns(make, ARTICLES)
    first = list(inner.folds(["remembers"], QUESTIONS, BenchSettings(), count=2, most=3))
    assert [len(a.questions) for a in first] == [3, 3]
    assert len(make.made) == 2
    assert list(inner.folds(["remembers"], QUESTIONS, BenchSettings(), count=2, most=3)) == first
    assert len(make.made) == 2  # kept
    every = list(inner.folds(["remembers", "knows"], QUESTIONS, BenchSettings()))
    assert len(every) == FOLDS
    for few, all_ in zip(first, every, strict=False):
        assert all_.questions[:3] == few.questions
        assert {q: all_.runs["remembers"][q] for q in few.runs["remembers"]} == few.runs["remembers"]
    again = [len(set(system.asked)) == len(system.asked) for system in make.systems]
    assert all(again)
    assert sum(len(s.asked) for s in make.systems) == len(QUESTIONS)  # none was asked twice


def test_other_settings_are_other_systems() -> None:
    make = Maker()
    inner = InnerRuns(make, ARTICLES)
    list(inner.folds(["knows"], QUESTIONS, BenchSettings(), count=1))
    list(inner.folds(["knows"], QUESTIONS, BenchSettings(stop_words=False), count=1))
    assert len(make.made) == 2


def test_systems_that_are_there_are_not_made_again() -> None:
    make = Maker()
    inner = InnerRuns(make, ARTICLES)
    learn, dev = QUESTIONS[:10], QUESTIONS[10:]
    there = Remembers(learn)
    answered = inner.answered(["remembers", "knows"], dev, learn, BenchSettings(), made={"remembers": there})
    assert make.made == [(("knows",), tuple(learn))]
    assert there.asked == [q.text for q in dev]
    assert set(answered.runs) == {"remembers", "knows"}


def test_questions_without_gold_take_no_part() -> None:
    mixed = [*QUESTIONS, Question("none", "nothing", ())]
    assert list(inner_folds(mixed)) == list(inner_folds(QUESTIONS))
    with pytest.raises(BadInput, match=r"9 questions .* give at least 10"):
        list(inner_folds(mixed[11:]))


def test_only_the_last_few_are_kept() -> None:
    make = Maker()
    inner = InnerRuns(make, ARTICLES)
    for n in range(1, 11):
        inner.answered(["knows"], QUESTIONS[12:], QUESTIONS[:n], BenchSettings())
    assert len(make.made) == 10
    inner.answered(["knows"], QUESTIONS[12:], QUESTIONS[:10], BenchSettings())
    assert len(make.made) == 10
    inner.answered(["knows"], QUESTIONS[12:], QUESTIONS[:1], BenchSettings())  # long ago
    assert len(make.made) == 11
