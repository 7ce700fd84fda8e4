from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from rag.errors import BadInput
from training.everyday import (
    EverydayQuestion,
    Outcome,
    Topic,
    TopicOutcome,
    counts,
    main,
    read,
    read_topics,
    topic_counts,
)


def question(kind: str = "answer", trouble: str = "rent") -> EverydayQuestion:
    return EverydayQuestion("e1", "?", frozenset({("Code A", "1")}), frozenset(), trouble, "dev", kind)


def test_the_questions_are_spread_over_ten_troubles_and_their_halves_share_no_answer() -> None:
    questions = read()
    troubles = Counter(each.trouble for each in questions)
    kinds = Counter((each.split, each.kind) for each in questions)
    cites = {half: {c for q in questions if q.split == half for c in q.cites} for half in ("dev", "test")}

    assert len(questions) == len({each.id for each in questions}) == 300
    assert set(troubles.values()) == {30}
    assert len(troubles) == 10
    assert not cites["dev"] & cites["test"]
    assert min(kinds["dev", "answer"], kinds["test", "answer"]) >= 110
    assert all(bool(each.cites) == (each.kind == "answer") for each in questions)


def test_an_answer_counts_from_its_rank_and_a_notice_for_what_it_is() -> None:
    found = [
        Outcome(question(), 1, 1, told=False),
        Outcome(question(), 4, 2, told=True),
        Outcome(question(), None, None, told=False),
        Outcome(question("nothing"), None, None, told=True),
        Outcome(question("elsewhere"), None, None, told=False),
    ]
    made = counts(found)

    assert [made[f"answer in {k}"] for k in (1, 3, 10)] == [(1, 3), (1, 3), (2, 3)]
    assert [made[f"useful in {k}"] for k in (1, 3, 10)] == [(1, 3), (2, 3), (2, 3)]
    assert (made["wrongly told"], made["told"]) == ((1, 3), (1, 2))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"kind": "maybe"}, "kind maybe"),
        ({"split": "train"}, "split train"),
        ({"code": []}, "0 codes"),
        ({"helps": ["x"]}, "helps is"),
        ({"id": None}, "id"),
    ],
)
def test_a_line_that_cannot_be_used_is_told(tmp_path: Path, line: dict[str, object], said: str) -> None:
    whole = {"id": "e1", "question": "?", "code": ["A"], "article_no": ["1"], "category": "rent"}
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps({**whole, "split": "dev", "kind": "answer", **line}) + "\n", encoding="utf-8")
    with pytest.raises(BadInput, match=said):
        read(path)


def test_topics_are_of_one_to_four_words_and_their_halves_share_none() -> None:
    topics = read_topics()
    kinds = Counter((each.split, each.kind) for each in topics)

    assert len(topics) == len({each.id for each in topics}) == len({each.question for each in topics})
    assert all(1 <= len(each.question.split()) <= 4 for each in topics)
    assert min(kinds["dev", "topic"], kinds["test", "topic"]) >= 65


def test_a_topic_that_is_told_is_denied_and_other_words_that_are_told_are_not() -> None:
    def outcome(kind: str, told: bool, cases: int) -> TopicOutcome:
        return TopicOutcome(Topic("t1", "divorce", kind, "dev"), told, cases)

    found = [
        outcome("topic", False, 8),
        outcome("topic", True, 0),
        outcome("elsewhere", True, 0),
        outcome("nothing", False, 0),
    ]
    assert topic_counts(found) == {"denied": (1, 2), "cases": (1, 2), "told": (1, 2)}


@pytest.mark.parametrize("line", [{"kind": "answer"}, {"split": "train"}])
def test_a_topic_of_another_kind_or_half_is_refused(tmp_path: Path, line: dict[str, str]) -> None:
    path = tmp_path / "topics.jsonl"
    whole = {"id": "t1", "question": "divorce", "kind": "topic", "split": "dev", **line}
    path.write_text(json.dumps(whole) + "\n", encoding="utf-8")
    with pytest.raises(BadInput, match="Write one of topic"):
        read_topics(path)


@pytest.mark.slow
def test_of_the_topics_of_the_law_that_ships_hardly_one_is_denied(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--topics", "--half", "test"]) == 0
    denied, cases, told = capsys.readouterr().out.splitlines()[:3]
    assert int(denied.split()[1]) <= 4  # of 71: 3 when it was measured
    assert int(cases.split()[1]) >= 67  # 68
    assert int(told.split()[1]) >= 16  # of 18: 17


@pytest.mark.slow
def test_the_dev_half_is_asked_and_every_outcome_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "everyday.json"
    assert main(["--half", "dev", "--output", str(output)]) == 0
    record = json.loads(output.read_text(encoding="utf-8"))
    asked = [each for each in read() if each.split == "dev" and each.kind != "disputed"]

    assert "rent" in capsys.readouterr().out
    assert record["questions"].keys() == {each.id for each in asked}
    assert record["counts"]["answer in 10"]["of"] == sum(each.kind == "answer" for each in asked)


def test_an_output_that_cannot_be_written_is_told_before_anything_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--output", str(tmp_path / "none" / "x.json")]) == 2
    assert "its folder is not there" in capsys.readouterr().err
