from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from indexes.__main__ import main
from indexes.cli import results as measured
from indexes.store.manifest import read
from indexes.store.paths import builtin
from rag.corpus.quality import QualityResults, Topic, TopicRate
from rag.errors import BadInput, StaleIndex
from tests.paths import ROOT

SHA = read(builtin(), "").corpus["sha256"]


def record(sha256: str = SHA) -> dict[str, Any]:
    system = {
        "R@10": {"value": 0.5, "low": 0.4, "high": 0.6, "difference": {"value": 0.1, "low": 0, "high": 0.2}},
        "by_category": {"housing": {"questions": 12, "R@10": 0.5, "Success@10": 0.75}},
        "ms_per_question": {"median": 3.0, "p95": 9.0},
    }
    return {"command": "c", "corpus": {"sha256": sha256}, "questions": 12, "systems": {"hybrid": system}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "metrics.json"
    path.write_text(json.dumps(record()), encoding="utf-8")
    return path


def test_a_measurement_becomes_a_result_file(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "results.json"
    assert main(["results", "builtin", str(file), "--output", str(out)]) == 0

    made = QualityResults.from_json(out.read_text(encoding="utf-8"))
    assert made.page.measures == {"R@10": TopicRate(0.5, 0.4, 0.6)}
    assert made.topics == {"housing": Topic(12, 9)}
    assert (made.page.median_ms, made.page.p95_ms) == (3.0, 9.0)
    assert [p.name for p in tmp_path.iterdir() if p.suffix != ".json"] == []  # nothing half written is left


def test_it_lies_beside_the_versions_of_its_index(file: Path, tmp_path: Path) -> None:
    version = tmp_path / "law" / "v1"
    version.mkdir(parents=True)
    (tmp_path / "law" / "CURRENT").write_text("v1", encoding="utf-8")
    (version / "manifest.json").write_bytes((builtin() / "manifest.json").read_bytes())

    assert measured.read_results(tmp_path / "law") is None
    assert measured.install(str(tmp_path / "law"), file) == tmp_path / "law" / "results.json"
    assert measured.read_results(tmp_path / "law") == measured.compact(record(), "hybrid")


def test_what_was_measured_on_another_corpus_is_refused(file: Path, tmp_path: Path) -> None:
    file.write_text(json.dumps(record("0" * 64)), encoding="utf-8")

    with pytest.raises(StaleIndex, match=r"was measured on corpus 00000000….*measure it again"):
        measured.install("builtin", file, output=tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


def test_the_index_that_ships_is_only_read(file: Path) -> None:
    with pytest.raises(BadInput, match="give --output"):
        measured.install("builtin", file)


@pytest.mark.parametrize(
    "change",
    [
        {"systems": {}},
        {"systems": {"bm25": record()["systems"]["hybrid"]}},
        {"systems": 1},
        {"systems": {"hybrid": {}}},
    ],
)
def test_what_no_evaluation_wrote_is_refused(change: dict[str, Any], file: Path, tmp_path: Path) -> None:
    file.write_text(json.dumps(record() | change), encoding="utf-8")

    with pytest.raises(BadInput):
        measured.install("builtin", file, output=tmp_path / "out.json")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"corpus": {}}', '{"corpus": {"sha256": 1}}'])
def test_what_is_no_json_of_ours_is_refused(
    text: str, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(text, encoding="utf-8")

    assert main(["results", "builtin", str(file), "--output", str(tmp_path / "o")]) == 2
    assert "training.eval" in capsys.readouterr().err


def test_a_result_file_that_is_broken_is_told(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    (tmp_path / "results.json").write_bytes(b"\xff")
    with pytest.raises(BadInput, match="cannot be read"):
        measured.read_results(tmp_path / "index")


def test_the_file_that_ships_is_made_from_the_results_in_docs() -> None:
    results = json.loads((ROOT / "docs/results/builtin.json").read_text(encoding="utf-8"))
    confidence = json.loads((ROOT / "docs/results/confidence.json").read_text(encoding="utf-8"))
    found = measured.read_results("builtin")

    assert found == measured.compact(results, "hybrid", confidence)
    assert found.corpus_sha256 == SHA
    assert sum(topic.questions for topic in found.topics.values()) == found.questions
