"""An index beside the same in a vector store: what is compared, and that a difference is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexes.corpus.corpus import write
from indexes.qdrant.postgres import PostgresStore
from indexes.qdrant.upload import list_collections
from rag.retrieval.vector_store import StoredBM25
from rag.types import Floats, Ints
from tests.fakes.law.corpus import FIT, VILLAGE, install
from tests.fakes.ranking.stores import store
from training.benchmark.__main__ import main
from training.benchmark.qdrant import COLUMNS

pytestmark = pytest.mark.slow  # each way has a process of its own
pytest.importorskip("qdrant_edge", reason="needs the extra [qdrant]")


@pytest.fixture(autouse=True)
def village(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    install(VILLAGE, settings=FIT)


@pytest.mark.parametrize(("more", "way"), [((), "qdrant-edge"), (("--shards", "2"), "2 shards")])
def test_both_ways_are_measured_and_compared(
    more: tuple[str, ...], way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--qdrant", "village", "--output", str(tmp_path / "made.json"), *more]) == 0
    [law] = json.loads((tmp_path / "made.json").read_text(encoding="utf-8"))["laws"]
    assert (law["articles"], law["questions"]) == (len(VILLAGE.articles), len(VILLAGE.questions))
    assert (law["differing_answers"], law["differing_lists"]) == (0, 0)
    assert 0 < law["store_alone_off"] < 1e-6  # sums in single precision
    assert law[way]["p95_ms"] >= law[way]["p50_ms"] > 0
    said = capsys.readouterr().out
    assert said.startswith(f"| {' | '.join(COLUMNS)} |")
    assert "0 of 5 first 10" in said


def test_law_that_is_grown_is_built_uploaded_and_both_are_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(VILLAGE, tmp_path / "law")
    command = ["--qdrant", str(tmp_path / "law"), "--articles", "60"]
    assert main([*command, "--output", str(tmp_path / "made.json")]) == 0
    [law] = json.loads((tmp_path / "made.json").read_text(encoding="utf-8"))["laws"]
    assert law["articles"] == 60
    assert law["build_s"] > 0
    assert law["build_core_s"] > 0
    assert law["build_peak_bytes"] > 10_000_000
    assert law["index_bytes"] > 10_000
    assert law["upload_s"] > 0
    assert law["upload_grown_bytes"] > 0
    assert "s to import and build in this process" in capsys.readouterr().out


def test_what_is_told_of_a_server_is_asked_of_it(tmp_path: Path) -> None:
    there = store("postgres", tmp_path)
    assert isinstance(there, PostgresStore)
    command = ["--qdrant", "village", "--to", there._address, "--output", str(tmp_path / "made.json")]
    assert main(command) == 0
    [law] = json.loads((tmp_path / "made.json").read_text(encoding="utf-8"))["laws"]
    server = law["server"]
    assert server.keys() >= {"server_version", "shared_buffers", "pgvector", "machine"}
    assert server["work_mem"] == "64MB"
    assert server["transactions"] >= 5 * law["questions"]  # two an answer, two lists, and sums
    assert server["tables_bytes"] > 0
    assert server["core_s"] is None or server["core_s"] > 0
    there.switch("village", None)
    for collection, _ in list_collections(there, "village"):
        there.delete(collection)


def test_an_answer_that_differs_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scores_at = StoredBM25.scores_at

    def wrong(self: StoredBM25, question: str, positions: Ints) -> Floats:
        scores: Floats = scores_at(self, question, positions) + positions.astype("float32")
        return scores

    monkeypatch.setattr(StoredBM25, "scores_at", wrong)
    assert main(["--qdrant", "village"]) == 1
    assert "are not those of the index" in capsys.readouterr().err
