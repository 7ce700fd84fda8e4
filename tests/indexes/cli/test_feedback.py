from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from indexes.__main__ import main
from indexes.cli.feedback import annotated
from indexes.corpus.questions import read_questions
from rag.feedback import Feedback, FeedbackEntry, FeedbackReason
from rag.types import Article

DAY = date(2026, 11, 22)
ASKED = "Mon voisin a planté un arbre"
RIGHT = FeedbackEntry(DAY, "code-civil", "3", ("CC-671", "CC-672"), FeedbackReason.ANSWERS, "CC-671", ASKED)
WRONG = replace(RIGHT, reason=FeedbackReason.WRONG_ARTICLE, article_id="CC-672")
THERE = {"CC-671", "CC-672"}


def test_what_was_said_to_answer_is_gold_and_what_was_called_wrong_is_negative() -> None:
    made = annotated([RIGHT, WRONG, replace(RIGHT, question=f"  {ASKED.upper()} ")], THERE)

    [(question, negatives)] = made.questions
    assert (question.text, question.article_ids, question.category) == (ASKED, ("CC-671",), "feedback")
    assert negatives == ("CC-672",)
    assert question.split is None


def test_people_who_disagree_leave_no_label() -> None:
    against = replace(RIGHT, reason=FeedbackReason.NOT_THE_LAW)

    assert not annotated([RIGHT, against], THERE).questions
    [(question, negatives)] = annotated([RIGHT, RIGHT, against, WRONG], THERE).questions
    assert (question.article_ids, negatives) == (("CC-671",), ("CC-672",))


@pytest.mark.parametrize(
    ("word", "why"),
    [
        (replace(WRONG, reason=FeedbackReason.DISLIKE), "words of dislike for the law, which are no label"),
        (replace(WRONG, reason=FeedbackReason.FALSE_ANSWER), "words on a written answer"),
        (replace(WRONG, article_id=None), "words on a whole list"),
        (replace(WRONG, article_id="CC-0"), "words on articles that the corpus no longer has"),
        (replace(RIGHT, question=None), "words whose question was not to be kept"),
    ],
)
def test_what_is_no_label_is_counted_and_left_out(word: FeedbackEntry, why: str) -> None:
    made = annotated([RIGHT, word], THERE)

    assert [(q.article_ids, negatives) for q, negatives in made.questions] == [(("CC-671",), ())]
    assert made.left == {why: 1}


def test_a_question_of_wrong_articles_only_does_not_become_one_without_answer() -> None:
    made = annotated([WRONG], THERE)

    assert not made.questions
    assert made.left == {"questions for which no article was said to answer": 1}


@pytest.mark.slow
def test_the_export_is_read_back_as_annotated_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "feedback.sqlite", tmp_path / "questions.jsonl"
    monkeypatch.setenv("PANDECT_FEEDBACK", str(file))
    feedback = Feedback(file)
    for word in (
        RIGHT,
        WRONG,
        replace(RIGHT, reason=FeedbackReason.DISLIKE),
        replace(RIGHT, index="travail"),
    ):
        feedback.keep(word)

    assert main(["feedback", "counts"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "4 words, 4 with their question",
        "code-civil: 1 answers, 1 wrong article, 1 I dislike the law",
        "travail: 1 answers",
    ]
    assert main(["feedback", "export", "builtin", str(out)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{out}: 1 annotated questions, 1 negatives; read them before an index learns from them",
        "  left out: 1 words of dislike for the law, which are no label",
    ]
    [line] = out.read_text(encoding="utf-8").splitlines()
    assert json.loads(line) == {
        "id": "feedback-1", "question": ASKED, "article_ids": ["CC-671"], "category": "feedback",
        "negatives": ["CC-672"],
    }  # fmt: skip
    articles = [Article(i, "Code civil", i, "Un arbre.") for i in sorted(THERE)]
    [question] = read_questions(out, articles)
    assert question.article_ids == ("CC-671",)

    assert main(["feedback", "export", "builtin", str(out)]) == 2
    assert "is there already" in capsys.readouterr().err


def test_older_words_are_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "feedback.sqlite"
    Feedback(file, days=3650).keep(replace(RIGHT, day=date(2020, 1, 1)))
    Feedback(file, days=3650).keep(replace(RIGHT, day=date.today()))

    assert main(["feedback", "prune", "--older-than", "365", "--file", str(file)]) == 0
    assert "1 words of before" in capsys.readouterr().out
    assert [word.day for word in Feedback(file).words()] == [date.today()]
    monkeypatch.delenv("PANDECT_FEEDBACK", raising=False)
    assert main(["feedback", "prune"]) == 2
    assert "set PANDECT_FEEDBACK=FILE" in capsys.readouterr().err
