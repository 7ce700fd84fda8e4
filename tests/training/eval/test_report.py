"""From rankings to numbers, and from numbers to table, CSV, TREC run and metrics.json."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from indexes.describing.significance import interval
from rag.errors import BadInput
from rag.types import Filter, Hit, Question, Ranking
from tests.fakes.ranking.benchmark import CORPUS
from training.eval import report
from training.eval.run import Measured, SystemRun, answer, measure

QUESTIONS = [
    Question("1", "un", ("a",), category="x"),
    Question("2", "deux", ("a", "b"), category="y"),
    Question("3", "trois", (), category="y"),
    Question("4", "quatre", ("c",), category="x"),
    Question("5", "cinq", ("d", "d"), category=None),
]
MEASURES = ("R@1", "R@10", "MRR@10")


class Told:
    """A retriever that answers what it was told to."""

    def __init__(self, answers: dict[str, str]) -> None:
        self.answers = answers
        self.batches: list[int] = []

    def search(self, questions: Sequence[str], k: int, where: Filter | None = None) -> list[Ranking]:
        self.batches.append(len(questions))
        return [Ranking.of((i, 1.0 / n) for n, i in enumerate(self.answers[q], start=1)) for q in questions]


GOOD = {"un": "a", "deux": "ba", "trois": "z", "quatre": "zc", "cinq": ""}
POOR = {"un": "za", "deux": "zb", "trois": "", "quatre": "z", "cinq": "z"}


@pytest.fixture
def results() -> dict[str, Measured]:
    collected: dict[str, SystemRun] = {}
    steps: list[tuple[str, int, int | None]] = []
    systems = {"poor": Told(POOR), "good + better": Told(GOOD)}
    answer(systems, QUESTIONS[:3], collected, lambda *step: steps.append(step))
    answer(systems, QUESTIONS[3:], collected)
    assert steps == [("asking", n, 6) for n in range(1, 7)]
    assert systems["poor"].batches == [1] * 5  # one at a time, as a page asks
    return measure(collected, QUESTIONS, 42, MEASURES)


def test_questions_without_gold_are_asked_and_not_measured(results: dict[str, Measured]) -> None:
    good = results["good + better"]
    assert len(good.run) == 5
    assert good.values["R@1"].tolist() == [1, 1 / 2, 0, 0]
    assert good.values["R@10"].tolist() == [1, 1, 1, 0]
    assert good.values["MRR@10"].tolist() == [1, 1, 1 / 2, 0]
    assert results["poor"].values["MRR@10"].tolist() == [1 / 2, 1 / 2, 0, 0]


def test_means_folds_and_categories(results: dict[str, Measured]) -> None:
    good = results["good + better"]
    assert good.measures["R@10"] == interval(np.array([1.0, 1.0, 1.0, 0.0]), 42)
    assert good.measures["R@10"].value == 3 / 4
    mean, deviation = good.fold_means["R@10"]  # fold 1: 1 and 1 (and one without gold); fold 2: 1 and 0
    assert (mean, deviation) == (pytest.approx(3 / 4), pytest.approx(math.sqrt(2 * 0.25**2)))
    assert good.by_category == {
        "x": {"questions": 2, "R@1": 1 / 2, "R@10": 1, "MRR@10": 3 / 4},
        "y": {"questions": 1, "R@1": 1 / 2, "R@10": 1, "MRR@10": 1},
    }


def test_differences_are_from_the_first_system_and_paired(results: dict[str, Measured]) -> None:
    assert results["poor"].versus == {}
    expected = interval(np.array([0.5, 0.5, 0.5, 0.0]), 42)
    assert results["good + better"].versus["MRR@10"] == expected
    assert expected.value == 0.375


def test_one_fold_has_no_spread() -> None:
    collected: dict[str, SystemRun] = {}
    answer({"good": Told(GOOD)}, QUESTIONS, collected)
    assert measure(collected, QUESTIONS, 1, MEASURES)["good"].fold_means == {}


def test_the_table_is_in_percent(results: dict[str, Measured]) -> None:
    lines = report.table(results, MEASURES).splitlines()
    assert lines[0].split() == ["system", *MEASURES, "ms/question"]
    good = next(line for line in lines if line.startswith("good"))
    assert good.removeprefix("good + better").split()[:3] == ["37.5", "75.0", "62.5"]
    assert sum("95 % CI" in line for line in lines) == 2
    assert "75.0±35.4" in lines[-1]
    assert len({len(line.split("   ms")[0]) for line in lines[:1]}) == 1
    low, high = (100 * getattr(results["good + better"].measures["R@10"], end) for end in ("low", "high"))
    assert f"{low:.1f}–{high:.1f}" in lines[-2]


def record(results: dict[str, Measured]) -> dict[str, object]:
    return report.record(
        results, CORPUS, command=["python", "-m", "training.eval"], questions=4, unanswerable=1,
        seed=42, tuned_on=None, learnt_from=None,
    )  # fmt: skip


def test_metrics_json_has_the_agreed_keys(results: dict[str, Measured], tmp_path: Path) -> None:
    report.write(tmp_path / "out", results, record(results))
    text = (tmp_path / "out" / "metrics.json").read_text(encoding="utf-8")
    entry = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert set(entry) >= {
        "command",
        "commit",
        "corpus",
        "questions",
        "seed",
        "versions",
        "tuned_on",
        "systems",
    }
    assert entry["command"] == "python -m training.eval"
    assert set(entry["corpus"]) >= {"name", "sha256", "articles"}
    assert entry["corpus"]["name"] == "small"
    assert entry["corpus"]["sha256"] == CORPUS.sha256
    assert (entry["corpus"]["articles"], entry["questions"], entry["seed"]) == (30, 4, 42)
    assert {"python", "numpy"} <= set(entry["versions"])
    good = entry["systems"]["good + better"]
    assert set(good) == {*MEASURES, "by_category", "ms_per_question"}
    assert set(good["R@10"]) >= {"value", "low", "high"}
    assert good["R@10"]["value"] == 0.75  # fractions
    assert 0 <= good["R@10"]["low"] <= 0.75 <= good["R@10"]["high"] <= 1
    assert good["R@10"]["difference"]["value"] == 0.375  # the poor one has 1, 1/2, 0 and 0
    assert "difference" not in entry["systems"]["poor"]["R@10"]
    assert set(good["ms_per_question"]) == {"median", "p95"}
    assert good["by_category"]["x"]["MRR@10"] == 0.75


def test_csv_holds_every_number_of_the_json(results: dict[str, Measured], tmp_path: Path) -> None:
    entry = record(results)
    report.write(tmp_path / "out", results, entry)
    with (tmp_path / "out" / "metrics.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["system", "measure", "value", "low", "high"]
    assert len(rows) == 2 * len(MEASURES)
    for row in rows:
        expected = entry["systems"][row["system"]][row["measure"]]  # type: ignore[index]
        assert [float(row[key]) for key in ("value", "low", "high")] == [
            expected["value"], expected["low"], expected["high"],
        ]  # fmt: skip


def test_trec_runs_have_six_columns(results: dict[str, Measured], tmp_path: Path) -> None:
    report.write(tmp_path / "out", results, record(results))
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "good + better.trec", "metrics.csv", "metrics.json", "poor.trec",
    ]  # fmt: skip
    lines = (tmp_path / "out" / "good + better.trec").read_text(encoding="utf-8").splitlines()
    assert lines[:3] == [
        "1\tQ0\ta\t1\t-1\tgood_+_better",  # minus the rank: our order is final
        "2\tQ0\tb\t1\t-1\tgood_+_better",
        "2\tQ0\ta\t2\t-2\tgood_+_better",
    ]
    assert all(len(line.split()) == 6 for line in lines)


def test_ids_with_blanks_keep_the_columns() -> None:
    run = {"q 1": (Hit("art.\u00a01 bis", 0.5),)}
    assert report.spaceless(run) == {"q_1": (Hit("art._1_bis", 0.5),)}


def test_nothing_is_overwritten(results: dict[str, Measured], tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("kept", encoding="utf-8")
    with pytest.raises(BadInput, match="there already"):
        report.write(tmp_path / "out", results, record(results))
    assert (tmp_path / "out" / "mine").read_text(encoding="utf-8") == "kept"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
