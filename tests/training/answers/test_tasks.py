"""Examinations and charges: formats checked on load, replies read, accuracy by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rag.errors import BadInput
from rag.types import Article
from tests.paths import ROOT
from training.answers import charges, multiple_choice
from training.answers.charges import alternatives, normalised, predicted
from training.answers.multiple_choice import chosen
from training.answers.report import PUBLISHED, TASKS, side_by_side

OPTIONS = {"A": "应当赔偿", "B": "不必赔偿", "C": "可以上诉", "D": "以上都不对"}
ITEM: dict[str, Any] = {
    "id": "1_1", "statement": "甲撞坏乙的车，下列哪些说法正确？", "option_list": OPTIONS,
    "answer": ["A", "C"], "type": "1",
}  # fmt: skip
CASE: dict[str, Any] = {
    "fact": "张三夜里拿走李四的电视机。",
    "meta": {"accusation": ["盗窃"], "relevant_articles": [264]},
}


def lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), encoding="utf-8")
    return path


def test_an_examination_is_read(tmp_path: Path) -> None:
    [item, knowledge] = multiple_choice.load(
        lines(tmp_path / "q.jsonl", ITEM, {**ITEM, "type": 0, "answer": ["B"]} | {"id": 7})
    )
    assert (item.id, item.answer, item.kind) == ("1_1", {"A", "C"}, "case analysis")
    assert (knowledge.id, knowledge.kind) == ("7", "knowledge")
    assert "应当赔偿" in item.searched


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"statement": ""}, "\"statement\" is '', not text"),
        ({"option_list": {"A": "x"}}, '"option_list" is .* not an object of A, B, C, D'),
        ({"option_list": [*OPTIONS]}, '"option_list" is'),
        ({"option_list": {**OPTIONS, "E": "x"}}, '"option_list" is'),
        ({"option_list": {**OPTIONS, "D": 3}}, '"D" is 3, not text'),
        ({"answer": []}, r'"answer" is \[\], not a list of texts'),
        ({"answer": "AC"}, "\"answer\" is 'AC', not a list of texts"),
        ({"answer": ["E"]}, r'"answer" is \[\'E\'\], not a list of letters A to D'),
        ({"answer": ["A", "A"]}, "one of them comes twice"),
        ({"answer": None}, '"answer" is missing'),
        ({"type": 2}, '"type" is 2, neither 0 nor 1'),
        ({"type": True}, '"type" is True'),
        ({"id": []}, r'"id" is \[\]'),
    ],
)
def test_another_format_is_named_by_line(tmp_path: Path, changed: dict[str, Any], problem: str) -> None:
    path = lines(tmp_path / "q.jsonl", ITEM, {**ITEM, **changed})
    with pytest.raises(BadInput, match=rf"q\.jsonl:2: .*{problem}.*Expected on each line: {{\"statement\""):
        multiple_choice.load(path)


def test_files_without_a_record(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n\n", encoding="utf-8")
    for load in (multiple_choice.load, charges.load):
        with pytest.raises(BadInput, match=r"empty\.jsonl: no record in it"):
            load(tmp_path / "empty.jsonl")
        with pytest.raises(BadInput, match=r"none\.jsonl"):
            load(tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    ("reply", "letters"),
    [
        ("AC", "AC"),
        ("A、C", "AC"),
        ("Ａ，Ｃ。", "AC"),  # full width
        ("答案：AC", "AC"),
        ("答案: A、C。", "AC"),
        ("**答案：** A C", "AC"),
        ("分析：A项应当赔偿，B项错误。\n综上，\n答案：AC", "AC"),
        ("先说答案：B。再想想……\n答案：A", "A"),  # the last one counts
        ("故选AD。", "AD"),
        ("正确选项为“B”和“D”", "BD"),
        ("The answer is A and C.", "AC"),
        ("Answer: (D)", "D"),
        ("La réponse est : B et D", "BD"),
        ('{"answer": ["A", "C"]}', "AC"),
        ('```json\n{"answer": "A,C", "why": "x"}\n```', "AC"),
        ('["A", "D"]', "AD"),
        ("赔偿的规定见第一条。\nA、B", "AB"),
        ("A项错误，B项正确，C项待定。", None),  # running text is not guessed from
        ("我不知道", None),
        ("", None),
        ("Answer: All of them", None),
        ("Answer: a cat", None),
        ("The answer is not B.", None),
        ("答案不是B", None),
        ("La réponse correcte : B", "B"),
        ("ANSWER: D", "D"),
        ('{"answer": []}', None),
        ("答案：Because", None),
        ("E", None),
    ],
)
def test_letters_are_read_from_replies(reply: str, letters: str | None) -> None:
    assert chosen(reply) == (None if letters is None else frozenset(letters))


def test_accuracy_is_exact_and_by_kind(tmp_path: Path) -> None:
    items = multiple_choice.load(
        lines(tmp_path / "q.jsonl", ITEM, ITEM, {**ITEM, "type": 0, "answer": ["B"]})
    )
    ratios, unreadable = multiple_choice.accuracy(items, ["答案：CA", "答案：A", "不知道"])
    assert {name: (a.sum(), b.sum()) for name, (a, b) in ratios.items()} == {
        "accuracy knowledge": (0, 1),
        "accuracy case analysis": (1, 2),  # A alone is not A and C
        "accuracy": (1, 3),
    }
    assert unreadable.tolist() == [0, 0, 1]


def test_prompts_hold_articles_and_options(tmp_path: Path) -> None:
    [item] = multiple_choice.load(lines(tmp_path / "q.jsonl", ITEM))
    bare = multiple_choice.prompt(item, [])
    assert bare.startswith("请回答")
    assert "B. 不必赔偿" in bare
    law = [Article("x", "民法典", "第一条", "应当\n赔偿。"), Article("y", "刑法", "第二条", "长" * 9000)]
    told = multiple_choice.prompt(item, law)
    assert "1. 《民法典》第一条：应当 赔偿。\n2. 《刑法》第二条：长长" in told
    assert len(told) < 2500
    assert told.endswith(bare)


def test_braces_in_a_statement_are_no_fields(tmp_path: Path) -> None:
    [item] = multiple_choice.load(lines(tmp_path / "q.jsonl", {**ITEM, "statement": "甲{A}与{x}"}))
    assert "题目：甲{A}与{x}" in multiple_choice.prompt(item, [])


def test_cases_are_read(tmp_path: Path) -> None:
    [case] = charges.load(lines(tmp_path / "c.jsonl", CASE))
    assert (case.fact, case.charges) == (CASE["fact"], {"盗窃"})
    assert "案件事实：张三" in charges.prompt(case, [])


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"fact": 3}, '"fact" is 3, not text'),
        ({"meta": None}, '"meta" is missing, not an object'),
        ({"meta": {}}, '"accusation" is missing'),
        ({"meta": {"accusation": "盗窃"}}, "\"accusation\" is '盗窃', not a list"),
        ({"meta": {"accusation": ["罪"]}}, "names no charge"),
    ],
)
def test_another_format_of_cases_is_named_by_line(
    tmp_path: Path, changed: dict[str, Any], problem: str
) -> None:
    path = lines(tmp_path / "c.jsonl", CASE, {**CASE, **changed})
    with pytest.raises(BadInput, match=rf"c\.jsonl:2: .*{problem}.*Expected on each line: {{\"fact\""):
        charges.load(path)


def test_charges_are_normalised() -> None:
    assert normalised(" 盗窃罪。") == normalised("[盗窃]") == "盗窃"
    assert normalised("[走私、贩卖]毒品") == "走私贩卖毒品"
    assert alternatives("[走私、贩卖]毒品") == {"走私毒品", "贩卖毒品", "走私贩卖毒品"}
    assert alternatives("盗窃") == {"盗窃"}
    assert alternatives("非法[持有、私藏][枪支、弹药]") >= {"非法持有枪支", "非法持有私藏枪支弹药"}
    assert len(alternatives("[" + "、".join("一二三四五六七八九十百千") + "]罪")) == 1  # too many to list


KNOWN = {"盗窃": "盗窃", "诈骗": "诈骗", "合同诈骗": "合同诈骗", "故意伤害": "故意伤害",
         "贩卖毒品": "走私贩卖毒品", "走私贩卖毒品": "走私贩卖毒品"}  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("罪名：盗窃罪", {"盗窃"}),
        ("罪名:盗窃", {"盗窃"}),
        ("分析：不是诈骗。\n罪名：合同诈骗罪。", {"合同诈骗"}),  # and not 诈骗 too
        ("罪名：盗窃罪；故意伤害罪", {"盗窃", "故意伤害"}),
        ("罪名：盗窃罪和故意伤害罪", {"盗窃", "故意伤害"}),
        ("罪名：合同诈骗罪、诈骗罪", {"合同诈骗", "诈骗"}),
        ("罪名：贩卖毒品罪", {"走私贩卖毒品"}),
        ("罪名：[走私、贩卖]毒品", {"走私贩卖毒品"}),
        ('{"罪名": ["盗窃罪", "故意伤害罪"]}', {"盗窃", "故意伤害"}),
        ('["盗窃"]', {"盗窃"}),
        ("盗窃罪", {"盗窃"}),
        ("罪名：抢夺罪", {"抢夺"}),  # no charge of the file: one of its own, and wrong
        ("罪名：盗窃罪；抢夺罪", {"盗窃", "抢夺"}),
        ("被告人构成盗窃罪。\n但也可能是诈骗罪。", None),
        ("长" * 200, None),
        ("", None),
        ("。", None),
    ],
)
def test_charges_are_read_from_replies(reply: str, said: set[str] | None) -> None:
    assert predicted(reply, KNOWN) == said


def test_charges_must_be_exactly_those(tmp_path: Path) -> None:
    two = {"fact": "又打伤了人。", "meta": {"accusation": ["盗窃", "故意伤害"]}}
    cases = charges.load(lines(tmp_path / "c.jsonl", CASE, two, CASE))
    ratios, unreadable = charges.accuracy(cases, ["罪名：盗窃罪", "罪名：盗窃罪", "长" * 200])
    assert [part.tolist() for part in ratios["accuracy charges"]] == [[1, 0, 0], [1, 1, 1]]
    assert unreadable.tolist() == [0, 0, 1]


def test_published_figures_stand_beside_ours() -> None:
    rows = side_by_side({"openai:x, none": {"accuracy knowledge": {"value": 0.5}}}).splitlines()
    assert "| JEC-QA knowledge | GPT-3.5-turbo | 20.6 | 29.3 | 25.2 | – | published |" in rows
    assert "| JEC-QA knowledge | `openai:x` | 50.0 | – | – | – | ours |" in rows
    assert sum("ours" in row for row in rows) == 1


def test_the_document_shows_the_published_table() -> None:
    document = ROOT / "docs" / "results" / "answers.md"
    assert f"\n{side_by_side()}\n" in document.read_text(encoding="utf-8")


@pytest.mark.data
def test_published_figures_are_those_of_the_paper(data: Path) -> None:
    path = data.parent / "published" / "stard.json"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    tables = [t for t in json.loads(path.read_text(encoding="utf-8")) if t["table"] == "4"]
    named = {
        "JEC-QA, case analysis": TASKS[0],
        "JEC-QA, knowledge": TASKS[1],
        "CAIL2018, charge prediction": TASKS[2],
    }
    assert len(tables) == len(TASKS)
    for found in tables:
        n = TASKS.index(named[found["dataset"]])
        values = [row["values"]["accuracy"] for row in found["rows"]]
        assert [v for model in PUBLISHED.values() for v in model[n]] == values
