"""The benchmark of the learned fusion says what it measured; how long anything took is no test's business."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from indexes.build.build import BuildSettings, build_into
from indexes.build.fit_settings import FitSettings
from indexes.corpus.corpus import write
from indexes.store.open_index import open_index
from rag.errors import BadInput
from rag.ltr.features import NAMES
from rag.ltr.trees import LEAVES
from tests.fakes.ranking.benchmark import ANSWERED, CORPUS
from training.benchmark import __main__ as benchmark
from training.benchmark import fusion
from training.benchmark.fusion import LISTS, random_trees, timed

SMALL = FitSettings(dim=8, passes=1, question_passes=1, random_negatives=4, min_count=1)


def test_it_is_measured_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fusion, "QUICK", SMALL)
    monkeypatch.setattr(fusion, "TREES", 12)
    assert benchmark.main(["--learned", str(write(CORPUS, tmp_path / "law"))]) == 0
    said = capsys.readouterr().out
    assert "articles " in said
    for way in (LISTS, "hybrid", "learned", "hybrid, asked and explained", "learned, asked and explained"):
        assert f"{way}, median of 19 questions" in said  # the first of twenty warms up
    assert "learned / the same of hybrid, medians" in said
    assert "learned, asked and explained: adds to the two lists, median" in said
    with pytest.raises(SystemExit):
        benchmark.main([])
    assert "--learned PATH" in capsys.readouterr().err


def test_made_up_trees_split_rows_that_there_are() -> None:
    rows = np.random.default_rng(0).standard_normal((200, len(NAMES))).astype(np.float32)
    ranker = random_trees(rows, 30, 2)
    trees = ranker.trees
    assert len(trees.trees) == 30
    assert len(ranker.networks) == 2
    assert all(len(tree.paths()) == LEAVES for tree in trees.trees)
    assert len(set(trees.scores(rows).round(6).tolist())) > 150
    assert len(set((ranker.scores(rows) - trees.scores(rows)).round(6).tolist())) > 150
    assert random_trees(rows, 30, 2) == ranker


def test_what_cannot_be_timed_is_refused(tmp_path: Path) -> None:
    asked = [q.text for q in ANSWERED]
    build_into(tmp_path / "v", CORPUS, "small", "v", BuildSettings(encoder="fit", fit=SMALL))
    engine = open_index(tmp_path / "v")
    with pytest.raises(BadInput, match="has no learned fusion: fit one with"):
        timed(engine, asked, print)
    with pytest.raises(BadInput, match="1 questions to ask"):
        timed(engine, asked[:1], print)
