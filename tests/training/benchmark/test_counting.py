"""The benchmark of counting by shards says what it measured, and refuses weights that differ."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from indexes.corpus.corpus import write
from rag.retrieval.bm25 import CollectionStatistics
from tests.fakes.ranking.benchmark import CORPUS
from tests.training.benchmark.test_encoder import figures
from training.benchmark import __main__ as benchmark


def test_law_is_counted_weighed_and_encoded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(CORPUS, tmp_path / "law")
    command = ["--counting", str(tmp_path / "law"), "--sizes", "60", "--output", str(tmp_path / "made.json")]
    assert benchmark.main(command) == 0
    said = figures(capsys.readouterr().out)
    assert said["articles"] == 60
    assert said["terms"] > 10
    assert said["weights an article"] > 1
    assert said["a vector"] > 0
    made = json.loads((tmp_path / "made.json").read_text(encoding="utf-8"))
    assert {what: value for what, value, _ in made["figures"]}["terms"] == said["terms"]

    merge = CollectionStatistics.merge
    wrong = staticmethod(lambda shards: replace(merge(shards), lengths=shards[0].lengths))
    monkeypatch.setattr(CollectionStatistics, "merge", wrong)
    assert benchmark.main(command) == 2
