"""The benchmark beside other libraries: it fails where a ranking differs; no time is any test's business."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packaging.requirements import Requirement

from indexes.corpus.corpus import write
from rag.fusion.rank_fusion import reciprocal_rank
from rag.retrieval.bm25 import BM25Settings
from rag.types import Ranking
from tests.fakes.ranking.benchmark import CORPUS
from tests.paths import ROOT
from training.benchmark import __main__ as benchmark
from training.benchmark import libraries
from training.benchmark.libraries import OURS, PLAIN, WORDS, Found, Material, Search, System
from training.benchmark.peers import DISTRIBUTIONS, K, difference, reciprocal_ranks
from training.tables.peers import peers

MODULES = {system.module for system in libraries.SYSTEMS if system.module}
ABSENT = System("one that nobody has", WORDS, libraries._fts5, libraries._pairs, "no_such_library")


def ranking(*hits: tuple[int, float]) -> Found:
    return np.array([position for position, _ in hits]), np.array([score for _, score in hits])


RIGHT = ranking((7, 9.0), (3, 8.0), (5, 8.0), (1, 2.5))


@pytest.mark.parametrize(
    "same",
    [
        RIGHT,
        ranking((7, 9.0), (5, 8.0), (3, 8.0), (1, 2.5)),  # a tie in the other order
        ranking((7, 9.00008), (5, 8.00004), (3, 7.99996), (1, 2.5)),  # so near that it is rounding
        ranking((7, 9.0), (3, 8.0), (5, 8.0), (4, 2.5)),  # another of those that tie at the end
    ],
)
def test_rankings_are_the_same_up_to_ties(same: Found) -> None:
    assert difference(same, RIGHT) is None
    assert difference(RIGHT, same) is None


@pytest.mark.parametrize(
    ("false", "article"),
    [
        (ranking((3, 8.0), (7, 9.0), (5, 8.0), (1, 2.5)), 7),  # not in the order of its own scores
        (ranking((3, 9.0), (7, 8.0), (5, 8.0), (1, 2.5)), 3),  # two exchanged
        (ranking((7, 9.0), (3, 8.0), (6, 8.0), (1, 2.5)), 6),  # one put in the place of another
        (ranking((7, 9.0), (3, 8.0), (5, 8.0), (1, 2.6)), 1),  # another score
        (ranking((7, 9.0), (3, 8.0), (5, 8.0)), 1),  # one left out
        (ranking((7, 9.0), (3, 8.0), (5, 8.0), (1, 2.5), (2, 2.5)), 2),  # one too many
    ],
)
def test_a_falsified_ranking_is_found(false: Found, article: int) -> None:
    differs = difference(false, RIGHT)
    assert differs is not None
    assert differs[0] == article
    assert difference(RIGHT, false) is not None


def test_plain_reciprocal_ranks_are_those_of_the_paper() -> None:
    one, other = ranking((4, 3.0), (2, 1.0), (9, 1.0)), ranking((2, 0.5))
    positions, scores = reciprocal_ranks([one, other], k=3, c=20)
    assert positions.tolist() == [2, 4, 9]
    assert scores.tolist() == pytest.approx([1 / 22 + 1 / 21, 1 / 21, 1 / 22])  # 2 and 9 share a rank
    hits = [
        Ranking.of((str(p), s) for p, s in zip(*(e.tolist() for e in of), strict=True)) for of in (one, other)
    ]
    assert [(int(hit.article_id), hit.score) for hit in reciprocal_rank(hits, 3, c=20)] == list(
        zip(positions.tolist(), scores.tolist(), strict=True)
    )


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[System]:
    """The systems that need none of the extra, and one that is nowhere."""
    systems = [system for system in libraries.SYSTEMS if not system.module]
    monkeypatch.setattr(libraries, "SYSTEMS", (*systems, ABSENT))
    return systems


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a fork with threads
def test_the_law_that_ships_is_ranked_alike(
    installed: list[System], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "peers.json"
    assert benchmark.main(["--peers", "builtin", "--output", str(file)]) == 0
    said = capsys.readouterr().out
    assert "one that nobody has: not installed, pip install '.[peers]'" in said
    figures = json.loads(file.read_text(encoding="utf-8"))
    assert figures["command"] == f"python -m training.benchmark --peers builtin --output {file}"
    assert figures["versions"].keys() >= {"Python", "SQLite", "bm25s", "faiss-cpu"}
    [corpus] = figures["corpora"]
    assert corpus["differences"] == []
    assert [each["system"] for each in corpus["systems"]] == [system.name for system in installed]
    by_name: dict[str, Any] = {each["system"]: each for each in corpus["systems"]}
    assert all(line in said for line in peers(figures).splitlines()[3:])  # what stands in the docs was said
    for each in by_name.values():
        assert each["questions"] == 200
        assert 0 < each[f"R@{K}"] <= 1
        assert f"| {each['system']} | " in said
        assert (each["ours_over_it"] is None) == (each["system"] in OURS.values())
    assert by_name["FAISS, flat"]["of_ours"] == pytest.approx(1, abs=0.002)  # ties at the end
    assert by_name["FAISS, HNSW"]["of_ours"] > 0.8
    assert corpus["hybrid"]["libraries"] == [PLAIN, "FAISS, flat"]


def _other_k1(given: Material) -> Search:
    libraries.SETTINGS = BM25Settings(k1=2.0)  # in a process of its own
    return libraries._bm25s("numpy", given)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_library_that_ranks_otherwise_fails_the_run(
    installed: list[System],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "peers.json"
    typed = ["--peers", str(write(CORPUS, tmp_path / "law")), "--output", str(file)]
    assert benchmark.main(typed) == 0
    assert (
        "our hybrid / (bm25s, numpy + FAISS, flat), of 1,000 each; to be 1.5 at most"
        in capsys.readouterr().out
    )
    false = [replace(each, make=_other_k1) if each.name == PLAIN else each for each in installed]
    monkeypatch.setattr(libraries, "SYSTEMS", tuple(false))
    assert benchmark.main(typed) == 1
    [error] = capsys.readouterr().err.splitlines()
    assert error.startswith(f"error: small: {OURS[WORDS]} and {PLAIN} differ: question q0, article a")
    [corpus] = json.loads(file.read_text(encoding="utf-8"))["corpora"]
    assert [f"error: {each}" for each in corpus["differences"]] == [error]


def test_what_cannot_be_measured_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    without = write(replace(CORPUS, questions=()), tmp_path / "law")
    assert benchmark.main(["--peers", str(without)]) == 2
    assert "error: small: no question has an answer: give law with" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        benchmark.main(["--encoding", "--output", str(tmp_path / "peers.json")])
    assert "--output is of --peers" in capsys.readouterr().err


def test_every_library_is_in_the_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = {Requirement(line).name for line in project["optional-dependencies"]["peers"]}
    assert extra <= set(DISTRIBUTIONS)
    assert len(extra) == len(MODULES)


@pytest.mark.slow
@pytest.mark.skipif(not all(map(find_spec, MODULES)), reason="needs the extra: pip install '.[peers]'")
@pytest.mark.filterwarnings("ignore")  # theirs
def test_the_libraries_of_the_extra_find_the_same(tmp_path: Path) -> None:
    file = tmp_path / "peers.json"
    law = write(CORPUS, tmp_path / "law")
    assert benchmark.main(["--peers", str(law), "--output", str(file)]) == 0
    [corpus] = json.loads(file.read_text(encoding="utf-8"))["corpora"]
    assert [each["system"] for each in corpus["systems"]] == [system.name for system in libraries.SYSTEMS]
    assert corpus["differences"] == []
    for each in corpus["systems"]:
        if each["kind"] == WORDS:  # of so few articles all that match are found
            assert each["of_ours"] == pytest.approx(1), each["system"]
