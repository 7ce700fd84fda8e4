"""`python -m training.eval answers`, from the files to the files; models are scripted servers."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from indexes.corpus.corpus import write
from rag.errors import MissingExtra
from tests.fakes.answers.answer_writers import Scripted, lying
from tests.fakes.answers.openai_server import serving
from tests.fakes.ranking.benchmark import CORPUS, QUESTIONS, questions_as_records, write_lines
from training.answers import __main__ as command
from training.answers import writers
from training.answers.run import Candidate
from training.answers.writers import ModelSpec
from training.eval.__main__ import main
from training.tables.__main__ import answers as answers_table

OPTIONS = dict(zip("ABCD", ("赔偿", "不赔", "上诉", "都错"), strict=True))


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write(CORPUS, tmp_path / "corpus")


def run(*arguments: object) -> int:
    return main(["answers", *map(str, arguments)])


def said(folder: Path) -> dict[str, Any]:
    entry: dict[str, Any] = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    return entry


def test_without_a_model(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    names = ("none", "bm25", "gold", "part-gold")
    assert run("--corpus", corpus, "--contexts", *names, "--fill", "bm25", "--output", out) == 0
    printed = capsys.readouterr().out
    entry = said(out)
    assert (entry["kind"], entry["task"]) == ("answers", "answers")
    assert entry["command"].startswith("python -m training.eval answers --corpus ")
    assert (entry["questions"], entry["unanswerable"], entry["k"], entry["seed"]) == (18, 2, 10, 42)
    assert entry["corpus"]["sha256"] == CORPUS.sha256
    assert list(entry["systems"]) == [
        *(f"extractive, {name}" for name in names),
        "extractive, gold and part-gold",
    ]
    bm25 = entry["systems"]["extractive, bm25"]
    assert set(bm25["citation F1"]) == {"value", "low", "high"}
    assert bm25["citation R"]["value"] > 0.5
    assert bm25["invented after"] == {"value": 0, "low": 0, "high": 0}
    assert bm25["faithful after"]["value"] == 1
    assert bm25["endings"]["written"] == 19 / 20  # to one question nothing is found
    assert bm25["refusal P"]["value"] == 1
    assert bm25["tokens"] == {"replies": 0, "input": 0, "output": 0}
    assert entry["systems"]["extractive, none"]["endings"]["refused"] == 1
    nothing = entry["systems"]["extractive, none"]["invented after"]
    assert nothing == {"value": None, "low": None, "high": None}  # no citation: JSON knows no nan
    assert entry["systems"]["extractive, none"]["refusal P"]["value"] == 1
    part = entry["systems"]["extractive, part-gold"]
    assert part["citation R"]["value"] < entry["systems"]["extractive, gold"]["citation R"]["value"]
    assert entry["systems"]["extractive, gold and part-gold"]["questions"] == 40
    assert "citation F1" in printed
    assert "Petit code: 30 articles" in printed
    lines = [json.loads(line) for line in (out / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 4 * 20
    assert set(lines[0]) == {"system", "id", "ending", "shown", "cited", "faults", "values"}
    assert not any("Que dire" in str(line) for line in lines)
    with (out / "metrics.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = {(r["system"], r["measure"]): r["value"] for r in rows}
    assert float(found["extractive, bm25", "citation F1"]) == bm25["citation F1"]["value"]
    assert answers_table(entry).startswith("| model, context | citation P |")


def test_overlap_with_reference_answers(corpus: Path, tmp_path: Path) -> None:
    pytest.importorskip("rouge_score", reason="rouge-score is not installed: pip install '.[llm]'")
    asked = [{**r, "answer": "La règle commune."} for r in questions_as_records(QUESTIONS[:6])]
    path = write_lines(tmp_path / "asked.jsonl", [*asked, *questions_as_records(QUESTIONS[6:8])])
    shared = ("--corpus", corpus, "--questions", path, "--contexts", "bm25", "--output")
    assert run(*shared, tmp_path / "o") == 0
    system = said(tmp_path / "o")["systems"]["extractive, bm25"]
    assert {"METEOR", "ROUGE-1", "ROUGE-2", "ROUGE-L"} <= set(system)
    assert 0 < system["ROUGE-1"]["value"] < 1
    lines = (tmp_path / "o" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    assert sum("METEOR" in json.loads(line)["values"] for line in lines) == 6  # those that have an answer
    assert run(*shared, tmp_path / "without", "--no-overlap") == 0
    assert "METEOR" not in said(tmp_path / "without")["systems"]["extractive, bm25"]


def test_folds_samples_and_the_same_numbers_again(corpus: Path, tmp_path: Path) -> None:
    shared = ("--corpus", corpus, "--folds", 5, "--limit", 7, "--contexts", "bm25+questions", "--output")
    for name in ("one", "two"):
        assert run(*shared, tmp_path / name) == 0
    one, two = said(tmp_path / "one"), said(tmp_path / "two")
    assert one["questions"] + one["unanswerable"] == 7
    assert one["learnt_from"] == "the other folds"
    assert one["systems"].keys() == two["systems"].keys()
    first, again = (e["systems"]["extractive, bm25+questions"] for e in (one, two))
    assert {m: v for m, v in first.items() if m != "ms_per_question"} == {
        m: v for m, v in again.items() if m != "ms_per_question"
    }
    assert first["ms_per_question"] == again["ms_per_question"]  # the second run asked nobody


def test_a_liar_s_inventions_stop_at_the_checks(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        command, "candidate", lambda spec, language, k: Candidate(spec.model, Scripted(lying))
    )
    assert run("--corpus", corpus, "--model", "liar", "--contexts", "bm25", "--output", tmp_path / "o") == 0
    liar = said(tmp_path / "o")["systems"]["liar, bm25"]
    assert liar["invented before"]["value"] > 0.3
    assert liar["invented after"]["value"] == 0
    assert liar["tokens"] == {"replies": 20, "input": 2000, "output": 400}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--contexts", "golden"), "no context 'golden'"),
        (("--k", "0"), "--k 0: a context holds one article or more"),
        (("--limit", "0", "--contexts", "none"), "no question to ask"),
        (("--multiple-choice", "x.jsonl"), "--model extractive quotes articles and chooses nothing"),
        (("--charges", "absent.jsonl", "--model", "openai:x"), "absent.jsonl"),
        (("--charges", "c.jsonl", "--model", "openai:x", "--folds", "5"), "--folds has no meaning with"),
        (("--fill", "none-such"), "no context 'none-such'"),
    ],
)
def test_what_cannot_be_measured_is_told(
    corpus: Path, arguments: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--corpus", corpus, *arguments) == 2
    assert told in capsys.readouterr().err


def test_an_output_that_is_there(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--corpus", corpus, "--output", tmp_path) == 2
    assert "is there already" in capsys.readouterr().err


def test_help_documents_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "python -m training.eval answers --help" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        run("--help")
    printed = capsys.readouterr().out
    for word in ("--multiple-choice", "--charges", "part-gold", "--judge", "--price-in", "ANTHROPIC_API_KEY"):
        assert word in printed


# --- models over the wire ---


def examination(path: Path) -> Path:
    item = {"statement": "甲撞坏乙的车？", "option_list": OPTIONS, "answer": ["A", "C"], "type": "0"}
    return write_lines(
        path,
        [
            item,
            {**item, "type": "1", "answer": ["B"]},
            {**item, "statement": "乙呢？", "option_list": dict.fromkeys("ABCD", "无")},
        ],
    )


@pytest.fixture
def chinese(tmp_path: Path) -> Path:
    record = {
        "id": "z1",
        "code": "民法典",
        "article_no": "第一条",
        "headings": [],
        "text": "撞坏他人的车应当赔偿。",
    }
    more = [
        {**record, "id": f"z{n}", "article_no": f"第{n}条", "text": f"其他规定{n}。"} for n in range(2, 6)
    ]
    return write_lines(tmp_path / "zh.jsonl", [record, *more])


@pytest.mark.slow
def test_an_examination_over_the_wire(
    chinese: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
    shared = ("--corpus", chinese, "--language", "zh", "--multiple-choice", examination(tmp_path / "q.jsonl"))
    with serving(lambda prompt: "答案：A、C" if "撞坏他人" in prompt else "不知道") as (url, asked):
        model = ("--model", "openai:scripted", "--base-url", url, "--price-in", 2, "--price-out", 10)
        some = ("--contexts", "none", "bm25", "--k", 2)
        assert run(*shared, *model, *some, "--output", tmp_path / "o") == 0
        # Two of the three prompts are the same, and to the third no article is found.
        assert len(asked) == 2 + 1
        assert run(*shared, *model, *some, "--output", tmp_path / "again") == 0
        assert len(asked) == 3  # nothing twice
    entry = said(tmp_path / "o")
    assert (entry["task"], entry["questions"], entry["unanswerable"]) == ("multiple choice", 3, 0)
    model = entry["models"]["openai:scripted"]
    assert (model["prompt"], model["temperature"]) == ("multiple choice 1", 0)
    bare, told = (entry["systems"][f"openai:scripted, {c}"] for c in ("none", "bm25"))
    assert (bare["accuracy"]["value"], bare["unreadable"]["value"]) == (0, 1)
    assert told["accuracy knowledge"]["value"] == 0.5
    assert told["accuracy case analysis"]["value"] == 0
    assert told["tokens"] == {"replies": 3, "input": 150, "output": 15}
    assert told["cost"] == pytest.approx((150 * 2 + 15 * 10) / 1e6)
    printed = capsys.readouterr().out
    assert "| JEC-QA knowledge | Baichuan2-13B-Base | 26.6 | 28.8 | 29.1 | – | published |" in printed
    assert "| JEC-QA knowledge | `openai:scripted` | 0.0 | 50.0 | – | – | ours |" in printed


def test_charges_over_the_wire(chinese: Path, tmp_path: Path) -> None:
    pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
    case = {"fact": "张三拿走电视机。", "meta": {"accusation": ["盗窃"]}}
    path = write_lines(
        tmp_path / "c.jsonl", [case, {"fact": "又打人。", "meta": {"accusation": ["故意伤害"]}}]
    )
    with serving(lambda prompt: "罪名：盗窃罪") as (url, _):
        assert run(
            "--corpus", chinese, "--language", "zh", "--charges", path, "--model", "openai:scripted",
            "--base-url", url, "--contexts", "none", "bm25", "--output", tmp_path / "o",
        ) == 0  # fmt: skip
    systems = said(tmp_path / "o")["systems"]
    assert systems["openai:scripted, bm25"]["accuracy charges"]["value"] == 0.5


def test_a_server_that_breaks_ends_the_run_and_is_gone_on_with(
    chinese: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
    statuses: list[int] = []

    def script(prompt: str) -> str | int:
        if "乙呢" in prompt and not statuses:
            return 401  # which the client does not try again
        return "答案：B"

    shared = (
        "--corpus", chinese, "--language", "zh", "--multiple-choice", examination(tmp_path / "q.jsonl"),
        "--model", "openai:scripted", "--contexts", "none", "--give-up-after", 1,
    )  # fmt: skip
    with serving(script) as (url, asked):
        assert run(*shared, "--base-url", url) == 2
        told = capsys.readouterr().err
        assert "1 replies in a row failed" in told
        assert "401" in told
        assert "撞坏" not in told  # nothing that was sent
        before = len(asked)
        statuses.append(401)
        assert run(*shared, "--base-url", url) == 0
        assert len(asked) == before + 1


def test_a_judge_over_the_wire(corpus: Path, tmp_path: Path) -> None:
    pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
    with serving(lambda prompt: "yes") as (url, asked):
        assert run(
            "--corpus", corpus, "--contexts", "bm25", "--limit", 3, "--judge", "openai:judge",
            "--judge-base-url", url, "--output", tmp_path / "o",
        ) == 0  # fmt: skip
    entry = said(tmp_path / "o")
    assert entry["judge"] == {"model": "openai:judge", "prompt": "judge 1"}
    assert entry["systems"]["extractive, bm25"]["faithful by judge"]["value"] == 1
    assert asked


def test_a_provider_that_is_none(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("langchain", reason="langchain is not installed: pip install '.[llm]'")
    assert run("--corpus", corpus, "--judge", "nonsense:x", "--contexts", "none") == 2
    assert "nonsense:x: " in capsys.readouterr().err


def test_without_langchain_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "langchain.chat_models", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[llm\]'"):
        writers.chat(ModelSpec("openai:x"))


LAW = "Le locataire doit payer le loyer le premier jour de chaque mois."


@pytest.fixture
def tenancy(tmp_path: Path) -> tuple[object, ...]:
    pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
    law = {"id": "l1", "code": "Code", "article_no": "1", "headings": [], "text": LAW}
    corpus = write_lines(
        tmp_path / "law.jsonl", [law, {**law, "id": "l2", "article_no": "2", "text": "Le bail."}]
    )
    question = {"id": "q", "question": "Quand payer le loyer ?", "article_ids": ["l1"]}
    asked = write_lines(tmp_path / "asked.jsonl", [question])
    return "--corpus", corpus, "--language", "fr", "--questions", asked, "--contexts", "bm25", "none"


def lines(*records: object) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def label_of_law(prompt: str) -> str | None:
    found = re.search(r"\bA\d+\b(?=(?:(?!\bA\d+\b).)*Le locataire)", prompt, re.DOTALL)
    return found[0] if found else None


def test_strict_quoting_over_the_wire(tenancy: tuple[object, ...], tmp_path: Path) -> None:
    def model(prompt: str) -> str:
        label = label_of_law(prompt)
        if label is None:
            return lines({"refusal": True})
        own = "La loi dit que vous ne devez rien."
        return lines(
            {"say": "rule"}, {"quote": f"{label}.1"}, {"quote": "A77.1"}, {"say": own}, {"text": own}
        )

    with serving(model) as (url, _):
        server = ("--model", "openai:scripted", "--base-url", url)
        assert run(*tenancy, *server, "--output", tmp_path / "o") == 0
        assert run(*tenancy, *server, "--baseline", "--output", tmp_path / "b") == 0
    entry = said(tmp_path / "o")
    told = entry["systems"]["openai:scripted, bm25"]
    assert told["citation F1"]["value"] == 1
    assert (told["invented before"]["value"], told["invented after"]["value"]) == (0, 0)
    assert told["faithful after"]["value"] == told["words quoted"]["value"] == 1
    assert told["unreadable"] > 0
    assert told["tokens"] == {"replies": 1, "input": 50, "output": 5}
    assert entry["systems"]["openai:scripted, none"]["endings"]["refused"] == 1
    assert entry["models"]["openai:scripted"]["judge"] == ""
    assert list(said(tmp_path / "b")["systems"])[0] == "openai:scripted (STARD's prompt), bm25"  # noqa: RUF015


def test_a_judged_answer_over_the_wire(
    tenancy: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def model(prompt: str) -> str:
        if '"claim"' in prompt:
            return lines({"verdict": "supported", "words": "payer le loyer le premier jour"})
        label = label_of_law(prompt)
        if label is None:
            return lines({"refusal": True})
        true = {"text": "Vous payez le loyer le premier du mois.", "articles": [label], "quotes": []}
        more = {"text": "Cela vaut pour chaque loyer.", "articles": [label], "quotes": []}
        return lines(true, more, {"text": "La loi dit tout.", "articles": ["A77"], "quotes": []})

    with serving(model) as (url, _):
        monkeypatch.setenv("PANDECT_JUDGE", "openai:judge")
        monkeypatch.setenv("PANDECT_JUDGE_URL", url)
        server = ("--model", "openai:scripted", "--base-url", url)
        assert run(*tenancy, *server, "--output", tmp_path / "o") == 0
    entry = said(tmp_path / "o")
    told = entry["systems"]["openai:scripted, bm25"]
    assert told["citation F1"]["value"] == 1
    assert (told["invented before"]["value"], told["invented after"]["value"]) == (pytest.approx(1 / 3), 0)
    assert told["faithful after"]["value"] == 1
    assert told["endings"]["written"] == 1
    assert entry["models"]["openai:scripted"]["judge"] == "judge"
