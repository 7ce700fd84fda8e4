"""Word vectors and pretrained encoders as systems of `training.eval`, on files made here."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from indexes.corpus.corpus import write
from rag.encoders import model_recipes
from tests.fakes.models import tiny_model
from tests.fakes.models import vector_files as samples
from tests.fakes.models.hub import COMMIT, hub
from tests.fakes.models.published import PUBLISHED
from tests.fakes.ranking.benchmark import ARTICLES, CORPUS, TOPICS
from tests.paths import ROOT
from training.eval.__main__ import main, parser

DOCUMENT = ROOT / "docs" / "measure.md"


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


@pytest.mark.slow
def test_without_names_it_joins_the_usual_systems(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("training.eval.__main__.runnable", lambda learning, **ready: ["bm25"])
    file = vectors(tmp_path / "topics.bin")
    assert run("--corpus", corpus, "--vectors", file, "--output", tmp_path / "out") == 0
    entry = json.loads((tmp_path / "out" / "metrics.json").read_text(encoding="utf-8"))
    assert list(entry["systems"]) == ["bm25", "vectors:topics"]
    assert run("--vectors", tmp_path / "absent.vec") == 2


@pytest.mark.parametrize(("words", "told"), [
    (["--systems", "vectors:other"], "no system 'vectors:other'"),
    (["--systems", "rrf:bm25,vectors:other"], "vectors:topics"),
    (["--vectors", "{file}", "{file}"], "given twice"),
    (["--encoder", "qwen3-reranker-0.6b"], "--yes-no-model qwen3-reranker-0.6b"),
    (["--rerank", "encoder:mono:bm25"], "such as monobert-legal-french; given are none"),
    (["--rerank-depth", "0"], "--rerank-depth 0: give 1 or more"),
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
    from tests.fakes.models.stanford_model import stanford

    folder = stanford(tmp_path / "colbert-tiny")
    systems = ["bm25", "encoder:colbert-tiny"]
    out = tmp_path / "out"
    measured = ("--corpus", corpus, "--systems", *systems, "--measures", "R@10", "--output", out)
    assert run(*measured, "--encoder", folder) == 0
    entry = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
    assert list(entry["systems"]) == systems
    assert 0 < entry["systems"]["encoder:colbert-tiny"]["R@10"]["value"] <= 1


def scratch(path: Path, task: str) -> Path:
    """A tiny transformer with the head of a task, in the format that the published ones have on the hub."""
    import torch

    from training.neural.recipe.settings import Scratch
    from training.neural.systems.backbone import make_scratch

    torch.manual_seed(1)
    small = Scratch(layers=1, width=16, heads=2, feedforward=16, vocabulary=300, positions=48)
    make_scratch(small, [a.text for a in ARTICLES], path, task=task)  # type: ignore[arg-type]
    return path


def ranked(out: Path, system: str) -> dict[str, list[str]]:
    """Question -> the articles of its ranking, of a run that was written."""
    found: dict[str, list[str]] = {}
    for line in (out / f"{system.replace(':', '-')}.trec").read_text(encoding="utf-8").splitlines():
        question, _, article, *_ = line.split()
        found.setdefault(question, []).append(article)
    return found


@pytest.mark.models
def test_the_published_splade_and_monobert_are_measured_as_they_are(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("sentence_transformers")
    names = {"splade-legal-french": "fill-mask", "monobert-legal-french": "sequence-classification"}
    ours = dict(model_recipes.recipes())
    for name, task in names.items():
        folder = scratch(tmp_path / name, task)
        ours[name] = replace(ours[name], model=str(folder), window=48, question_window=24)
    monkeypatch.setattr(model_recipes, "recipes", lambda: ours)
    systems = ["bm25", "rrf:bm25,tfidf", *(f"encoder:{name}" for name in names)]
    systems.append("encoder:monobert-legal-french:rrf:bm25,tfidf")
    out = tmp_path / "out"
    words = ["--corpus", corpus, "--device", "cpu", "--measures", "R@10", "MRR@10", "--rerank-depth", "10"]
    words += ["--encoder", *names, "--rerank", systems[-1], "--output", out]
    assert run(*words, "--systems", *systems) == 0, capsys.readouterr().err
    entry = json.loads((out / "metrics.json").read_text(encoding="utf-8"))["systems"]
    assert list(entry) == systems
    assert 0 < entry["encoder:splade-legal-french"]["R@10"]["value"] <= 1
    # the first ten of a system in another order are the same ten
    for below, over in (("bm25", systems[3]), ("rrf:bm25,tfidf", systems[4])):
        first, anew = ranked(out, below), ranked(out, over)
        assert {q: set(ids) for q, ids in first.items()} == {q: set(ids) for q, ids in anew.items()}
        assert first != anew
    capsys.readouterr()
    assert run(*words[:-2], "--rerank", "encoder:splade-legal-french:bm25") == 2
    assert "reads question and article together" in capsys.readouterr().err


@pytest.mark.models
def test_a_folder_says_what_kind_of_model_it_holds(corpus: Path, tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    from training.eval.pretrained import published_recipe
    from training.neural.systems.splade import SpladeSystem

    masked = scratch(tmp_path / "masked", "fill-mask")
    assert (
        model_recipes.find_recipe(str(masked)).kind == "dense"
    )  # an encoder as any other, if nothing says more
    sparse = model_recipes.HubRecipe(
        "s", str(masked), "sparse", 48, "typed", chunk=0, overlap=0, similarity="cosine"
    )
    built = SpladeSystem.build(published_recipe(sparse), str(masked))
    built.save(tmp_path / "splade")
    found = model_recipes.find_recipe(str(tmp_path / "splade"))
    assert (found.kind, found.window, found.similarity) == ("sparse", 48, "cosine")
    pair = model_recipes.find_recipe(str(scratch(tmp_path / "mono", "sequence-classification")))
    assert (pair.kind, pair.window, pair.similarity) == ("cross-encoder", 48, None)
    assert published_recipe(pair).text.question_tokens == 12
    measured = ("--corpus", corpus, "--device", "cpu", "--measures", "R@10")
    systems = ("encoder:splade", "encoder:mono")
    folders = (tmp_path / "splade", tmp_path / "mono")
    assert run(*measured, "--encoder", *folders, "--systems", *systems) == 0


@pytest.mark.slow
@pytest.mark.models
def test_models_of_a_hub_are_loaded_by_the_commit_that_is_recorded(corpus: Path, tmp_path: Path) -> None:
    """Before, whatever their branch was at that hour, and the result did not say."""
    pytest.importorskip("sentence_transformers")
    from tests.fakes.models.stanford_model import stanford

    of = "maastrichtlawtech/{}-legal-french"
    masked = scratch(tmp_path / "splade", "fill-mask")
    pairs = scratch(tmp_path / "monobert", "sequence-classification")
    served = {"dpr": tiny_model.make(tmp_path), "colbert": stanford(tmp_path / "colbert")}
    served |= {"splade": masked, "monobert": pairs}
    systems = [f"encoder:{name}-legal-french" for name in served]
    systems[-1] += ":bm25"
    script = f"""
import sys
from dataclasses import replace
from rag.encoders import model_recipes
from training.eval.__main__ import main
from training.neural.command import main as train
ours = {{name: replace(r, window=48, question_window=24, chunk=0, overlap=0)
        for name, r in model_recipes.recipes().items()}}
model_recipes.recipes = lambda: ours
told = ["--corpus", {str(corpus)!r}, "--device", "cpu", "--measures", "R@10", "--output", "out"]
names = {[f"{name}-legal-french" for name in served]!r}
status = main([*told, "--encoder", *names, "--rerank", {systems[-1]!r}, "--systems", *{systems!r}])
sets = ["model.backbone={of.format("splade")}", "training.batch=4", "evaluation.dev=0"]
sets += ["text.question_tokens=16", "text.article_tokens=32"]
words = ["lleqa-splade", *told[:6], "--folds", "3", "--fold", "0", "--steps", "1", "--output", "trained"]
sys.exit(status or train([*words, *(word for change in sets for word in ("--set", change))]))
"""
    with hub({of.format(name): folder for name, folder in served.items()}) as running:
        done = running.run(script, tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    entry = json.loads((tmp_path / "out" / "metrics.json").read_text(encoding="utf-8"))
    assert entry["models"] == {
        system: f"{of.format(name)}@{COMMIT}" for system, name in zip(systems, served, strict=True)
    }
    recipe = json.loads((tmp_path / "trained" / "recipe.json").read_text(encoding="utf-8"))
    assert recipe["model"]["revision"] == COMMIT
    asked = [path for path in running.asked if path.endswith(".safetensors")]
    assert len(asked) >= len(served)
    assert all(f"/resolve/{COMMIT}/" in path for path in asked), asked


def _rows() -> list[tuple[str, list[str]]]:
    """Each row of the document's table of published rows: what they are called, the words of its command."""
    table = DOCUMENT.read_text(encoding="utf-8").partition("| published | row |")[2].partition("\n\n")[0]
    cells = [line.split(" | ") for line in table.splitlines()[2:] if line.startswith("|")]
    return [(row[-2], shlex.split(re.findall("`([^`]+)`", row[-1])[-1])) for row in cells]


def test_the_commands_of_published_rows_can_be_typed() -> None:
    rows = _rows()
    assert len(rows) > 10
    for name, words in rows:
        typed = parser().parse_args(["--corpus", *words])
        for encoder in typed.encoder or ():
            assert encoder == "FOLDER" or encoder in model_recipes.recipes(), name


@pytest.mark.data
@pytest.mark.parametrize("file", ["bsard", "stard", "jurifindit", "know_when_to_fuse"])
def test_every_published_row_without_training_has_its_command(file: str) -> None:
    said = ", ".join(name for name, _ in _rows())
    tables = json.loads((PUBLISHED / f"{file}.json").read_text(encoding="utf-8"))
    about = ("retrieval and latency of", "retrieval of", "zero-shot retrieval,")
    [table] = [t for t in tables if t["about"].startswith(about)]
    untrained = [row for row in table["rows"] if row["trained"] is False]
    assert untrained
    for row in untrained:
        if row["system"].startswith(("Dense-", "NSF ")):  # learnt from other questions, or fused of these
            continue
        name = row["encoder"] if row["system"] == "Siamese bi-encoder" else row["system"]
        assert name.removesuffix(" FR-BASE") in said, name
