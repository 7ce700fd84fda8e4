"""Word vectors and pretrained encoders as systems of `training.eval`, on files made here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tiny_model
import vector_samples as samples
from small_benchmark import ARTICLES, CORPUS, TOPICS

from indexes.corpus import write
from training.eval import main


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write(CORPUS, tmp_path / "corpus")


def vectors(path: Path) -> Path:
    """Each topic has a direction of its own; the words of one stand for nothing else."""
    words = {w: [float(n == i) for i in range(len(TOPICS))] for n, t in enumerate(TOPICS) for w in t.split()}
    return samples.binary(path, words)


def run(*arguments: object) -> int:
    return main([str(a) for a in arguments])


def test_word_vectors_are_measured_beside_the_others(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = samples.packed(vectors(tmp_path / "topics.bin"))
    systems = ["bm25", "vectors:topics", "rrf:bm25,vectors:topics"]
    assert (
        run("--corpus", corpus, "--vectors", file, "--systems", *systems, "--output", tmp_path / "out") == 0
    )
    entry = json.loads((tmp_path / "out" / "metrics.json").read_text(encoding="utf-8"))
    assert list(entry["systems"]) == systems
    assert entry["systems"]["vectors:topics"]["R@10"]["value"] == 1.0  # its topic's three articles come first
    said = capsys.readouterr()
    assert "vectors:topics" in said.out
    # of an article's ten words (code, heading, text) two are its topic's; of the questions' 118 words 37
    assert "20.0 % of the words of the law and 31.4 % of those of the questions" in said.err
    assert (tmp_path / "out" / "vectors-topics.trec").is_file()


def test_without_names_it_joins_the_usual_systems(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("training.eval.runnable", lambda learning, **ready: ["bm25"])
    file = vectors(tmp_path / "topics.bin")
    assert run("--corpus", corpus, "--vectors", file, "--output", tmp_path / "out") == 0
    entry = json.loads((tmp_path / "out" / "metrics.json").read_text(encoding="utf-8"))
    assert list(entry["systems"]) == ["bm25", "vectors:topics"]
    assert run("--vectors", tmp_path / "absent.vec") == 2


@pytest.mark.parametrize(("words", "told"), [
    (["--systems", "vectors:other"], "no system 'vectors:other'"),
    (["--systems", "rrf:bm25,vectors:other"], "vectors:topics"),
    (["--vectors", "{file}", "{file}"], "given twice"),
    (["--encoder", "splade-legal-french"], "of the kind 'sparse'"),
    (["--encoder", "jina-embeddings-v3"], "--remote-code"),
])  # fmt: skip
def test_what_cannot_be_measured_is_told_at_once(
    words: list[str], told: str, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(vectors(tmp_path / "topics.bin"))
    assert run("--corpus", corpus, "--vectors", file, *(w.format(file=file) for w in words)) == 2
    assert told in capsys.readouterr().err


@pytest.mark.models
def test_an_encoder_is_measured_and_its_vectors_are_kept(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("sentence_transformers")
    folder = tiny_model.make(tmp_path / "model")
    words = ["--corpus", corpus, "--encoder", folder, "--pooling", "cls", "--device", "cpu"]
    for _ in range(2):
        assert run(*words, "--systems", "encoder:tiny", "rrf:bm25,encoder:tiny") == 0
    assert "encoder:tiny" in capsys.readouterr().out
    kept = list((tmp_path / "home" / "cache" / "eval").glob("*/vectors-*/vectors.npy"))
    assert len(kept) == 1  # the second run read it
    import numpy as np

    assert np.load(kept[0]).shape == (len(ARTICLES), 32)


@pytest.mark.models
def test_a_folder_of_late_interaction_is_compared_token_by_token(corpus: Path, tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    from stanford_model import stanford

    folder = stanford(tmp_path / "colbert-tiny")
    systems = ["bm25", "encoder:colbert-tiny"]
    out = tmp_path / "out"
    measured = ("--corpus", corpus, "--systems", *systems, "--measures", "R@10", "--output", out)
    assert run(*measured, "--encoder", folder) == 0
    entry = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
    assert list(entry["systems"]) == systems
    assert 0 < entry["systems"]["encoder:colbert-tiny"]["R@10"]["value"] <= 1
