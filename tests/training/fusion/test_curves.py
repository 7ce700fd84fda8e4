"""Curves over the weight of a pair: which pairs, what is written, what is drawn."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from rag.types import EMPTY, Ranking
from training.eval.metrics import per_question
from training.fusion import curves

QRELS = {"q1": frozenset({"g"}), "q2": frozenset({"g", "h"}), "none": frozenset[str]()}


def ranking(*ids: str) -> Ranking:
    return Ranking.of((i, 9.0 - n) for n, i in enumerate(ids))


RUNS = {
    "bm25": {"q1": ranking("x", "y"), "q2": ranking("g", "x")},
    "dense": {"q1": ranking("g", "x"), "q2": ranking("h", "g")},
    "ql": {"q1": ranking("y"), "q2": EMPTY},
}
ASKED = {q: gold for q, gold in QRELS.items() if gold}


def test_every_pair_of_single_systems() -> None:
    found = curves.measured({**RUNS, "hybrid": RUNS["dense"], "learned": RUNS["ql"]}, ASKED)
    assert set(found) == set(curves.SCALES)
    assert list(found["min-max"]) == [("bm25", "dense"), ("bm25", "ql"), ("dense", "ql")]
    for of in found.values():
        for (a, b), points in of.items():
            assert [p.alpha for p in points] == [pytest.approx(n / 20) for n in range(21)]
            for point, name in ((points[-1], a), (points[0], b)):  # at the ends one system is alone
                for measure, value in point.values.items():
                    assert value == pytest.approx(per_question(ASKED, RUNS[name], [measure])[measure].mean())


def test_the_pairs_that_fusions_name() -> None:
    names = ("rrf:ql,dense", "tuned:ql,dense", "borda:bm25,ql,dense", "rrf:bm25,tfidf")
    named = dict.fromkeys(names, RUNS["dense"])
    found = curves.measured({**RUNS, **named}, ASKED)
    assert list(found["z-score"]) == [("ql", "dense")]


def test_what_is_written(tmp_path: Path) -> None:
    curves.write(tmp_path, curves.measured(RUNS, ASKED), "small & <fine>")
    entry = json.loads((tmp_path / curves.JSON).read_text(encoding="utf-8"))
    assert "not to choose by" in entry["note"]
    first = entry["curves"]["min-max"][0]
    assert (first["a"], first["b"], len(first["points"])) == ("bm25", "dense", 21)
    assert set(first["points"][0]) == {"alpha", *curves.MEASURES}


def test_what_is_drawn() -> None:
    found = curves.measured(RUNS, ASKED)
    root = ET.fromstring(curves.draw_curves(found, "small & <fine>"))  # noqa: S314 - our own
    texts = [e.text for e in root.iter() if e.text and e.text.strip()]
    assert "small & <fine>" in texts
    assert {"bm25 alone", "dense alone", "ql alone", *curves.SCALES} <= set(texts)
    lines = [e for e in root.iter() if e.tag.endswith("path") and e.get("stroke-width") == "2"]
    assert len(lines) == 2 + 2 * 3  # the legend, and two a pair
    wide, high = (float(x) for x in root.attrib["viewBox"].split()[2:])
    for line in lines:
        at = [tuple(map(float, p.split())) for p in line.attrib["d"].removeprefix("M").split("L")]
        assert all(0 <= x <= wide and 0 <= y <= high for x, y in at)


def test_a_level_curve_and_no_curve_can_be_drawn() -> None:
    perfect = {"a": {"q1": ranking("g")}, "b": {"q1": ranking("g")}}
    ET.fromstring(curves.draw_curves(curves.measured(perfect, {"q1": frozenset({"g"})}), "level"))  # noqa: S314
    ET.fromstring(curves.draw_curves(curves.measured({"a": perfect["a"]}, {"q1": frozenset({"g"})}), "one"))  # noqa: S314
