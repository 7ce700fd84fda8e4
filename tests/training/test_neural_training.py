"""Whole trainings: what they leave, stopping and going on, two processes, errors."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_benchmark import ARTICLES
from small_neural import (
    LAYLAW,
    LONGER,
    NEEDS_TORCH,
    TINY,
    here,
    longer,
    order_of,
    recipe,
    scratch,
    system_of,
    task_of,
    weights,
)

from rag.errors import BadInput, DamagedIndex
from training.neural import learnt, loop, result
from training.neural import run as run_
from training.neural.batches import Batch
from training.neural.recipe import made
from training.neural.run import run
from training.neural.settings import Recipe

pytestmark = NEEDS_TORCH


class Stopped(Exception):
    pass


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("trained") / "tiny"
    run(longer(), order_of(folder), here())
    return folder


def test_it_learns_and_says_so(trained: Path) -> None:
    entry = json.loads((trained / "metrics.json").read_text(encoding="utf-8"))
    before, after = entry["systems"]["before training"], entry["systems"]["tiny"]
    better = after["R@10"]["value"] - before["R@10"]["value"]
    assert better >= 0.3
    assert after["R@10"]["difference"]["value"] == pytest.approx(better)
    assert [row["step"] for row in entry["dev"]] == [0, 20, 40]
    assert entry["facts"]["steps"] == 40
    assert entry["facts"]["index bytes"] == 40 * 32 * 4
    assert entry["questions"] == 20  # a third of them is held back


def test_the_result_tells_what_it_is(trained: Path) -> None:
    manifest = json.loads((trained / "manifest.json").read_text(encoding="utf-8"))
    assert set(manifest["files"]) == {
        p.relative_to(trained).as_posix() for p in trained.rglob("*") if p.is_file()
    } - {"manifest.json"}
    cost = manifest["cost"]
    assert cost["kgco2eq"] == pytest.approx(cost["hours"] * cost["watts"] / 1000 * 0.432)
    assert "0.432" in cost["factor"]
    assert manifest["data"]["corpus_sha256"] == LAYLAW.sha256
    card = (trained / "modelcard.md").read_text(encoding="utf-8")
    for said in ("CC0-1.0", "kgCO2eq", "python -m training.train tiny", "learning_rate", "## Misuse", "R@10"):
        assert said in card
    log = [json.loads(line) for line in (trained / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {"step", "loss", "rate", "seconds"} <= set(log[2])
    assert not (trained.parent / "tiny.run").exists()


def test_a_result_is_read_again_and_a_damaged_one_refused(trained: Path, tmp_path: Path) -> None:
    found = result.open_result(trained)
    assert found.recipe == recipe(**LONGER)
    assert found.learnt == learnt.keys([*longer().learn, *longer().dev])
    [ranking] = found.system("cpu").retriever(LAYLAW).search(["papa"], 3)
    assert len(ranking) == 3
    copy = tmp_path / "copy"
    shutil.copytree(trained, copy)
    (copy / "recipe.json").write_text("{}", encoding="utf-8")
    with pytest.raises(DamagedIndex, match=r"recipe\.json is not as it was written"):
        result.open_result(copy)
    with pytest.raises(BadInput, match="holds no trained model"):
        result.open_result(tmp_path)


def test_its_model_is_an_encoder_for_an_index(trained: Path) -> None:
    from rag.encoders.transformer import TransformerEncoder
    from training.neural.biencoder import Vectors

    encoder = TransformerEncoder(trained / "model", chunk=0, device="cpu")
    ours = Vectors(result.open_result(trained).system("cpu"))  # type: ignore[arg-type]
    asked = ["que dire du bail", "dette"]
    np.testing.assert_allclose(encoder.encode_questions(asked), ours.encode_questions(asked), atol=1e-5)
    np.testing.assert_allclose(
        encoder.encode_articles(ARTICLES[:3]), ours.encode_articles(ARTICLES[:3]), atol=1e-5
    )


def stopping(at: int, then: Callable[..., Any]) -> Callable[..., Any]:
    def maybe(system: Any, batch: Batch, *rest: Any) -> Any:
        if batch.step == at:
            raise Stopped
        return then(system, batch, *rest)

    return maybe


@pytest.mark.parametrize("stop", [4, 7])
def test_a_training_that_was_stopped_ends_as_if_it_had_not_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    task = task_of(recipe(training={"steps": 9}))
    run(task, order_of(tmp_path / "whole"), here())
    with monkeypatch.context() as patched:
        patched.setattr(loop, "gradients", stopping(stop, loop.gradients))
        with pytest.raises(Stopped):
            run(task, order_of(tmp_path / "stopped", save_every=2), here())
    assert not (tmp_path / "stopped").exists()
    with pytest.raises(BadInput, match="add --resume"):
        run(task, order_of(tmp_path / "stopped"), here())
    with pytest.raises(BadInput, match="another recipe, seed or data"):
        run(replace(task, seed=9), order_of(tmp_path / "stopped", resume=True), here())
    run(task, order_of(tmp_path / "stopped", resume=True), here())
    whole, resumed = weights(tmp_path / "whole"), weights(tmp_path / "stopped")
    for name, value in whole.items():
        np.testing.assert_allclose(value, resumed[name], atol=1e-6)
    kept = [
        json.loads((tmp_path / n / "metrics.json").read_text(encoding="utf-8")) for n in ("whole", "stopped")
    ]
    assert kept[0]["dev"] == kept[1]["dev"]
    assert kept[0]["systems"]["tiny"]["R@10"] == kept[1]["systems"]["tiny"]["R@10"]
    steps = [
        json.loads(line).get("step") for line in (tmp_path / "stopped" / "log.jsonl").read_text().splitlines()
    ]
    told = [s for s in steps if s]
    assert told == sorted(told)  # nothing is told twice


def test_one_that_was_stopped_before_it_was_saved_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = task_of(recipe())
    with monkeypatch.context() as patched:
        patched.setattr(loop, "gradients", stopping(0, loop.gradients))
        with pytest.raises(Stopped):
            run(task, order_of(tmp_path / "out"), here())
    run(task, order_of(tmp_path / "out", resume=True), here())
    assert result.open_result(tmp_path / "out").manifest["facts"]["steps"] == 6


def test_it_stops_when_it_gets_no_better(tmp_path: Path) -> None:
    of = recipe(training={"steps": 30, "learning_rate": 0.0}, evaluation={"every": 2, "patience": 2})
    run(task_of(of), order_of(tmp_path / "out"), here())
    entry = json.loads((tmp_path / "out" / "metrics.json").read_text(encoding="utf-8"))
    assert [row["step"] for row in entry["dev"]] == [0, 2, 4]
    assert (entry["facts"]["steps"], entry["facts"]["best step"]) == (4, 0)


def _one_of_two(rank: int, port: int, of: Recipe, output: Path) -> None:
    """What torchrun starts: the same program twice, told apart by the environment."""
    import torch

    from training.neural.world import world

    torch.set_num_threads(1)
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    with world("cpu") as two:
        run(task_of(of), order_of(output), two)


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # a fork with threads; torch is loaded once that way
@pytest.mark.parametrize("system", ["biencoder", "colbert"])
def test_two_processes_take_the_steps_of_one(tmp_path: Path, system: str) -> None:
    import torch.multiprocessing

    of = recipe(model=scratch(dropout=0.0), training={"steps": 3, "batch": 5})  # one has three, the other two
    of = made({**of.source, "system": system})
    run(task_of(of), order_of(tmp_path / "one"), here())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = (port, of, tmp_path / "two")
    torch.multiprocessing.start_processes(_one_of_two, args=arguments, nprocs=2, start_method="fork")
    both = weights(tmp_path / "two")
    for name, value in weights(tmp_path / "one").items():
        np.testing.assert_allclose(value, both[name], atol=1e-4)  # a step moves a weight by about 1e-2
    manifest = json.loads((tmp_path / "two" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["facts"]["processes"] == 2


def failing(error: Exception) -> Callable[..., Any]:
    def gradients(*arguments: object) -> dict[str, float]:
        raise error

    return gradients


def test_too_little_memory_names_gradient_caching(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    for error in (
        torch.OutOfMemoryError("CUDA out of memory."),
        RuntimeError("DefaultCPUAllocator: can't allocate memory"),
    ):
        monkeypatch.setattr(loop, "gradients", failing(error))
        with pytest.raises(BadInput, match=r"training\.mini_batch=16"):
            run(task_of(recipe()), order_of(tmp_path / "out"), here())
        shutil.rmtree(tmp_path / "out.run")
    monkeypatch.setattr(run_, "_before", failing(MemoryError()))  # before training the whole corpus is ranked
    with pytest.raises(BadInput, match=r"rank the whole corpus: lower text\.article_tokens"):
        run(task_of(recipe()), order_of(tmp_path / "out"), here())
    shutil.rmtree(tmp_path / "out.run")
    monkeypatch.undo()
    monkeypatch.setattr(loop, "gradients", failing(RuntimeError("shape mismatch")))
    with pytest.raises(RuntimeError, match="shape mismatch"):  # another error stays itself
        run(task_of(recipe()), order_of(tmp_path / "out"), here())


def test_a_loss_that_is_no_number_ends_the_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "gradients", lambda *arguments: {"loss": float("nan")})
    with pytest.raises(BadInput, match=r"loss is nan at step 1: lower training\.learning_rate"):
        run(task_of(recipe()), order_of(tmp_path / "out"), here())


def test_a_model_that_cannot_be_had_names_the_cures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    for name in ("nobody/no-such-model", str(tmp_path)):
        for system in ("biencoder", "colbert"):
            with pytest.raises(BadInput, match=r"cannot be loaded.*model\.scratch"):
                system_of(made({**TINY, "system": system, "model": {"backbone": name}}))
