"""Qrels and runs: read, written, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.formats.trec import Judgement, judgements, write_qrels, write_run
from indexes.formats.validation import Inspection
from rag.errors import BadInput
from rag.types import Ranking

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
        list(judgements(put(tmp_path, text), Inspection()))
    inspection = Inspection(lenient=True)
    assert not list(judgements(put(tmp_path, text), inspection))
    assert inspection.report(0, 0).skipped[0].count == 1


@given(st.dictionaries(IDS, st.lists(IDS, min_size=1, max_size=4, unique=True), max_size=4))
def test_round_trips(tmp_path_factory: pytest.TempPathFactory, gold: dict[str, list[str]]) -> None:
    path = tmp_path_factory.mktemp("trec") / "file"
    judged = [Judgement(question, article, 1) for question, articles in gold.items() for article in articles]
    for beir in (False, True):
        write_qrels(path, gold, beir=beir)
        assert [found for _, found in judgements(path, Inspection())] == judged
    run = {q: Ranking.of((id_, 1.0) for id_ in ids) for q, ids in gold.items()}  # all tied: only ranks tell
    write_run(path, run)
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    scores = [float(row[4]) for row in rows]
    assert [(row[0], row[2]) for row in rows] == [(q, id_) for q, ids in gold.items() for id_ in ids]
    assert scores == [-rank for ids in gold.values() for rank in range(1, len(ids) + 1)]


def test_an_id_with_a_blank_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="the id 'a b' cannot be written"):
        write_qrels(tmp_path / "q", {"q": ["a b"]})
    write_qrels(tmp_path / "q", {"q": ["a b"]}, beir=True)  # tabs separate there
    with pytest.raises(BadInput, match="cannot be written"):
        write_qrels(tmp_path / "r", {"q": ["a\tb"]}, beir=True)
