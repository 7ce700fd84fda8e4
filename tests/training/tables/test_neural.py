"""Rows of several trainings: means, spreads, intervals by question, and the tables made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from training.neural.summary import BEFORE_TRAINING, difference, question_values, summary_row
from training.tables.__main__ import RESULTS
from training.tables.neural import costs, gains, sweep_table, trained


def result(at: Path, before: list[float], after: list[float], dev: float, seconds: float | None) -> None:
    """Write what the table reads of a result folder: R@100 of questions q0, q1 …"""
    at.mkdir(parents=True)
    ids = [f"q{n}" for n in range(len(after))]
    values = {BEFORE_TRAINING: {"R@100": before}, "tiny": {"R@100": after}}
    (at / "values.json").write_text(json.dumps(question_values(ids, values)), encoding="utf-8")
    mean = {system: {"R@100": {"value": sum(v["R@100"]) / len(ids)}} for system, v in values.items()}
    mean["tiny"]["ms_per_question"] = {"median": 2.0}
    facts = {"dev R@100": dev, "parameters": 1000, "steps": 200, "training seconds": 8.0,
             "processor seconds of training": seconds, "processor seconds of indexing": 0.5,
             "index bytes": 2_000_000, "device": "cpu"}  # fmt: skip
    entry = {"systems": mean, "facts": facts, "commit": "abc", "command": "python -m training.train tiny",
             "corpus": {"name": "law", "articles": 100}}  # fmt: skip
    (at / "metrics.json").write_text(json.dumps(entry), encoding="utf-8")


@pytest.fixture
def rows(tmp_path: Path) -> list[dict[str, Any]]:
    result(tmp_path / "a" / "seed-1", [0.0, 0.5], [0.5, 1.0], dev=0.6, seconds=4.0)
    result(tmp_path / "a" / "seed-2", [0.0, 0.0], [0.5, 0.5], dev=0.7, seconds=6.0)
    result(tmp_path / "b", [0.0, 0.0], [0.0, 0.5], dev=0.1, seconds=None)
    published = {"a": {"R@100": 90.0}, "b": {"R@100": 88.5}}
    made = {"a": ["seed-1", "seed-2"], "b": [""]}
    return [
        summary_row(name, tmp_path / name, made[name], "tiny", "R@100") | {"published": published[name]}
        for name in made
    ]


def test_every_system_that_was_measured_on_stard_has_learnt() -> None:
    entry = json.loads((RESULTS / "neural-stard.json").read_text(encoding="utf-8"))
    assert entry["rows"]
    for one in entry["rows"]:
        assert one["gain"]["R@100"]["value"] >= 0.05, one["name"]
        assert one["gain"]["R@100"]["low"] > 0, one["name"]
        assert one["facts"]["steps"] >= 200, one["name"]
        assert one["trainings"] == 3, one["name"]


def test_a_row_is_the_mean_over_seeds(rows: list[dict[str, Any]]) -> None:
    row = rows[0]
    assert row["after"]["R@100"] == {"mean": 0.625, "sd": pytest.approx(0.125 * 2**0.5)}  # of 0.75 and 0.5
    assert row["interval"]["R@100"] == {"value": 0.625, "low": 0.5, "high": 0.75}  # of q0 0.5 and q1 0.75
    assert row["gain"]["R@100"] == {"value": 0.5, "low": 0.5, "high": 0.5}  # 0.5 of each question
    assert row["best on dev"]["training"] == "seed-2"
    assert (row["questions"], row["facts"]["processor seconds of training"]) == (2, 5.0)


def test_tables_say_what_was_learnt_what_it_cost_and_what_was_published(
    rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    gained = difference(tmp_path, ("a", ["seed-1", "seed-2"], "tiny"), ("b", [""], "tiny"))
    entry = {"rows": rows, "measures": ["R@100", "R@10"],
             "compared": {"first": "a", "second": "b", "difference": gained}}  # fmt: skip
    for row in rows:
        row["after"]["R@10"] = row["after"]["MRR@10"] = {"mean": 0.25, "sd": 0.0}
        row["interval"]["R@10"] = row["interval"]["MRR@10"] = {"value": 0.25, "low": 0.2, "high": 0.3}
    learnt = trained(entry).splitlines()
    assert learnt[2] == (
        "| `a` | 12.5 | 62.5 ± 17.7 (50.0–75.0) | 25.0 (20.0–30.0) | 25.0 (20.0–30.0) | +50.0 [+50.0, +50.0] "
        "| 2; seed-2: 50.0 |"
    )
    assert learnt[3].endswith("| +25.0 [+0.0, +50.0] | 1 |")
    unjudged = {**rows[0], "best on dev": {"training": None, "chosen by": "", "after": {}}}
    assert trained({"rows": [unjudged]}).endswith("| 2; no dev questions |")
    by_fold = {**rows[0], "best on dev": {**rows[0]["best on dev"], "training": "fold-1-seed-2"}}
    assert trained({"rows": [by_fold]}).endswith("| 2, a fold each |")
    spent = costs(entry).splitlines()
    assert spent[0].endswith("| index, MB | indexing, processor ms an article | ms a question |")
    assert spent[2] == "| `a` | 1,000 | 200 | 8 | 5.0 | 2.0 | 5.0 | 2.0 |"  # 0.5 s over 100 articles
    assert spent[3] == "| `b` | 1,000 | 200 | 8 | – | 2.0 | 5.0 | 2.0 |"
    rows[0]["facts"] |= {"active terms": 41.26}  # of a file from before questions' terms were counted
    assert [line.rsplit(" | ", 1)[1] for line in costs(entry).splitlines()[2:]] == ["– / 41.3 |", "– |"]
    rows[0]["facts"] |= {"active terms of a question": 7.0}
    spent = costs(entry).splitlines()
    assert spent[0].endswith("| ms a question | active terms, question / article |")
    assert spent[2].endswith("| 2.0 | 7.0 / 41.3 |")
    uncut = {**rows[0], "facts": rows[0]["facts"] | {"active terms before the cut": 1300.04}}
    assert costs({"rows": [uncut]}).endswith("| 7.0 / 41.3 of 1300.0 |")
    assert len({line.count("|") for line in spent}) == 1
    added = gains({**entry, "measures": ["R@100"]}).splitlines()
    assert added[2:] == [
        "| before training | 12.5 |",
        "| a | +50.0 [+50.0, +50.0] |",
        "| b | +25.0 [+0.0, +50.0] |",
    ]
    beside = sweep_table(entry).splitlines()
    assert beside[0] == "| training | R@100 | R@10 | R@100, *published* |"
    assert beside[2:4] == ["| a | 62.5 ± 17.7 | 25.0 | 90.0 |", "| b | 25.0 | 25.0 | 88.5 |"]
    assert beside[4] == "| a − b | +37.5 [+25.0, +50.0] | – | +1.5 |"  # q0 0.5 − 0, q1 0.75 − 0.5
