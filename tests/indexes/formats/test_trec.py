"""Qrels and runs: read, written, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.formats.trec import (
    Judgement,
    judgements,
    read_qrels,
    read_run,
    write_beir_qrels,
    write_qrels,
    write_run,
)
from indexes.formats.validation import Inspection
from rag.errors import BadInput
from rag.types import Hit

IDS = st.text(st.characters(blacklist_categories=("Z", "C")), min_size=1, max_size=5)


def put(at: Path, text: str) -> Path:
    path = at / "file.txt"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        "q1 0 a 1\nq1 0 b 0\n\nq2 0 c 2\n",
        "q1\t0\ta\t1\nq1\tQ0\tb\t0\nq2\t0\tc\t2",
        "query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\tb\t0\nq2\tc\t2\n",
    ],
)
def test_qrels(tmp_path: Path, text: str) -> None:
    path = put(tmp_path, text)
    found = [judged for _, judged in judgements(path, Inspection())]
    assert found == [Judgement("q1", "a", 1), Judgement("q1", "b", 0), Judgement("q2", "c", 2)]
    assert read_qrels(path) == {"q1": frozenset("a"), "q2": frozenset("c")}
    assert read_qrels(path, least=2) == {"q1": frozenset(), "q2": frozenset("c")}


def test_a_run_is_ranked_by_its_scores(tmp_path: Path) -> None:
    # a and c have the same score, so the id decides; the column rank does not; b counts at its best
    path = put(tmp_path, "q Q0 c 1 0.5 x\nq Q0 b 2 0.1 x\nq Q0 a 3 0.5 x\nq Q0 b 4 0.7 x\n")
    assert read_run(path) == {"q": (Hit("b", 0.7), Hit("a", 0.5), Hit("c", 0.5))}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("q 0 a\tb 1\n", "2 values came"),
        ("q 0 a one\n", "the grade is 'one'"),
        ("q 0 a " + "1" * 5000 + "\n", "the grade is"),
    ],
)
def test_bad_qrels(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(BadInput, match=rf"file\.txt:1: {told}"):
        read_qrels(put(tmp_path, text))
    inspection = Inspection(lenient=True)
    assert read_qrels(put(tmp_path, text), inspection=inspection) == {}
    assert inspection.report(0, 0).skipped[0].count == 1


@pytest.mark.parametrize("text", ["q Q0 a 1 nan x\n", "q Q0 a 1 inf x\n", "q Q0 a 1 x\n", "q Q0 a 1 one x\n"])
def test_bad_runs(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInput, match=r"file\.txt:1: "):
        read_run(put(tmp_path, text))


@given(st.dictionaries(IDS, st.lists(IDS, min_size=1, max_size=4, unique=True), max_size=4))
def test_round_trips(tmp_path_factory: pytest.TempPathFactory, gold: dict[str, list[str]]) -> None:
    path = tmp_path_factory.mktemp("trec") / "file"
    as_sets = {question: frozenset(articles) for question, articles in gold.items()}
    write_qrels(path, gold)
    assert read_qrels(path) == as_sets
    write_beir_qrels(path, gold)
    assert read_qrels(path) == as_sets
    run = {q: tuple(Hit(id_, 1.0) for id_ in ids) for q, ids in gold.items()}  # all tied: only ranks tell
    write_run(path, run)
    found = {question: [hit.article_id for hit in hits] for question, hits in read_run(path).items()}
    assert found == gold


def test_an_id_with_a_blank_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="the id 'a b' cannot be written"):
        write_qrels(tmp_path / "q", {"q": ["a b"]})
    write_beir_qrels(tmp_path / "q", {"q": ["a b"]})  # tabs separate there
    with pytest.raises(BadInput, match="cannot be written"):
        write_beir_qrels(tmp_path / "r", {"q": ["a\tb"]})
