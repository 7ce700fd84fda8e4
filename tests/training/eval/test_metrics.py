"""Measures worked by hand, their conventions one by one, and a second library on random runs.

What ranx 0.3.21 measures stands in ranx.json.gz, with its cases. To make it anew, with ranx installed:
`NUMBA_DISABLE_JIT=1 python -m tests.training.eval.test_metrics`.
"""

from __future__ import annotations

import gzip
import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag.errors import BadInput
from rag.types import Hit, Ranking
from training.eval.metrics import DEFAULT, parse, per_question

FIXTURE = Path(__file__).with_name("ranx.json.gz")
GOLD = frozenset({"a", "b", "c"})


def ranking(*ids: str) -> Ranking:
    return Ranking.of((article_id, 1.0 / n) for n, article_id in enumerate(ids, start=1))


def value(name: str, gold: frozenset[str], answer: Ranking) -> float:
    [found] = per_question({"q": gold}, {"q": answer}, [name])[name]
    return float(found)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # the ranking is x a y b z (gold a, b, c): hits at ranks 2 and 4, c is not returned
        ("R@1", 0),
        ("R@2", 1 / 3),
        ("R@5", 2 / 3),
        ("R@100", 2 / 3),
        ("P@4", 2 / 4),
        ("MRR@10", 1 / 2),
        ("MRR@1", 0),
        ("MRR", 1 / 2),
        ("nDCG@10", (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3) + 1 / math.log2(4))),
        ("nDCG@2", (1 / math.log2(3)) / (1 + 1 / math.log2(3))),
        ("R-precision", 1 / 3),  # one of the first three
        ("Success@1", 0),
        ("Success@10", 1),
        ("MAP@100", (1 / 2 + 2 / 4) / 3),  # over all three gold articles
        ("MAP@2", (1 / 2) / 3),  # and not over min(k, 3)
        ("MAP", (1 / 2 + 2 / 4) / 3),
    ],
)
def test_worked_by_hand(name: str, expected: float) -> None:
    assert value(name, GOLD, ranking("x", "a", "y", "b", "z")) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", [*DEFAULT, "MAP@100"])
def test_a_perfect_answer_is_one(name: str) -> None:
    perfect = value(name, frozenset({"a"}), ranking("a", "x", "y"))
    assert perfect == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("name", [*DEFAULT, "MAP@100"])
def test_a_question_that_nothing_answers_counts_zero(name: str) -> None:
    qrels = {"q1": frozenset({"a"}), "empty": frozenset({"a"}), "missing": frozenset({"b"})}
    run = {"q1": ranking("a"), "empty": ()}
    assert per_question(qrels, run, [name])[name].tolist() == [1, 0, 0]
    assert per_question(qrels, {}, [name])[name].tolist() == [0, 0, 0]


def test_a_question_without_gold_is_left_out() -> None:
    qrels = {"none": frozenset[str](), "q": frozenset({"a"}), "other": frozenset({"b"})}
    run = {"none": ranking("a"), "other": ranking("x", "b"), "q": ranking("a"), "unasked": ranking("a")}
    assert per_question(qrels, run, ["MRR@10"])["MRR@10"].tolist() == [1, 0.5]  # in the order of qrels
    assert per_question({"none": frozenset()}, run, ["MRR@10"])["MRR@10"].shape == (0,)


def test_gold_is_a_set() -> None:
    """One BSARD question lists an id twice: it is one article."""
    twice = frozenset(("a", "a", "b"))
    assert value("R@5", twice, ranking("a")) == 1 / 2
    assert value("R-precision", twice, ranking("a", "b")) == 1


def test_the_order_is_final_whatever_the_scores() -> None:
    tied = Ranking.of((article_id, 0.5) for article_id in ("x", "y", "a"))
    assert value("MRR@10", frozenset({"a"}), tied) == 1 / 3
    nearly = (Hit("x", 1.0), Hit("a", 1.0 - 1e-12), Hit("y", 0.0))  # equal as float32
    assert value("MRR@10", frozenset({"a"}), nearly) == 1 / 2
    deep = Ranking.of((f"{n:04}", 1e-9) for n in range(1000))
    assert value("R@1000", frozenset({"0999"}), deep) == 1
    assert value("R@100", frozenset({"0100"}), deep) == 0
    assert value("R@100", frozenset({"0099"}), deep) == 1


def test_ids_may_be_any_text() -> None:
    gold = frozenset({"art. 1 du code", "第一条", "-1", "1e3"})
    assert value("R@10", gold, ranking("第一条", "x", "1e3", "1000")) == 1 / 2


def test_two_names_of_one_measure() -> None:
    found = per_question({"q": frozenset({"a"})}, {"q": ranking("x", "a")}, ["MRR@10", "RR@10", "MRR@10"])
    assert {name: v.tolist() for name, v in found.items()} == {"MRR@10": [0.5], "RR@10": [0.5]}


@pytest.mark.parametrize(
    "name",
    [
        "",
        "@10",
        "R",
        "P",
        "R@",
        "R@0",
        "R@-1",
        "R@ten",
        "R@1.5",
        "r@10",
        "Success",
        "R-precision@10",
        "ERR@10",
        "nDCG@",
        "R@１０",
    ],
)
def test_names_of_no_measure(name: str) -> None:
    with pytest.raises(BadInput, match="use names such as R@5"):
        parse(name)


RANX = {
    "R@1": "recall@1",
    "R@5": "recall@5",
    "R@10": "recall@10",
    "R@100": "recall@100",
    "P@5": "precision@5",
    "MRR@10": "mrr@10",
    "MRR@3": "mrr@3",
    "MRR": "mrr",
    "nDCG@10": "ndcg@10",
    "nDCG@5": "ndcg@5",
    "R-precision": "r-precision",
    "MAP@100": "map@100",
    "Success@1": "hit_rate@1",
    "Success@10": "hit_rate@10",
}


def test_a_second_library_agrees() -> None:
    cases = json.loads(gzip.decompress(FIXTURE.read_bytes()))
    assert len(cases) == 200
    assert sum(len(case["run"]) < len(case["qrels"]) for case in cases) > 5  # some questions have no answer
    for case in cases:
        qrels = {q: frozenset(gold) for q, gold in case["qrels"].items()}
        run = {q: ranking(*ids) for q, ids in case["run"].items()}
        ours = per_question(qrels, run, list(RANX))
        rows = np.argsort(list(qrels))  # ranx sorts the questions
        for name in RANX:
            assert ours[name][rows] == pytest.approx(case["ranx"][name], abs=1e-9), (name, case)


def _random_case(rng: random.Random) -> dict[str, Any]:
    """Make a few questions over thirty articles: short rankings, and questions that got no answer."""
    articles = [str(i) for i in range(30)]
    case: dict[str, Any] = {"qrels": {}, "run": {}}
    for n in range(rng.randint(1, 6)):
        case["qrels"][f"q{n}"] = sorted(rng.sample(articles, rng.randint(1, 12)))
        if rng.random() > 0.15:
            case["run"][f"q{n}"] = rng.sample(articles, rng.randint(0, 30))
    return case


def _by_ranx(case: dict[str, Any]) -> dict[str, list[float]]:
    """Return the values of ranx: it breaks ties by insertion order, hence numbers that fall."""
    from ranx import Qrels, Run, evaluate  # type: ignore[import-not-found, unused-ignore]  # for the fixture only

    qrels = Qrels({q: dict.fromkeys(gold, 1) for q, gold in case["qrels"].items()})
    run = {q: {i: 30 - n for n, i in enumerate(case["run"].get(q, ()))} for q in case["qrels"]}
    # an answer of one article that is no gold stands for no answer: ranx knows no empty one
    answered = Run({q: hits or {"none": 1} for q, hits in run.items()})
    scores = evaluate(qrels, answered, list(RANX.values()), return_mean=False, make_comparable=True)
    return {name: [round(float(x), 12) for x in scores[theirs]] for name, theirs in RANX.items()}


if __name__ == "__main__":
    drawn = random.Random(11)
    cases = [_random_case(drawn) for _ in range(200)]
    lines = [json.dumps(case | {"ranx": _by_ranx(case)}) for case in cases]
    FIXTURE.write_bytes(gzip.compress(("[\n" + ",\n".join(lines) + "\n]\n").encode(), mtime=0))
