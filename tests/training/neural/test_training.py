"""Whole trainings: what they leave, stopping and going on, two processes, errors."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indexes.corpus.corpus import write
from rag.errors import BadInput, DamagedIndex
from tests.fakes.models.neural import (
    ASKED,
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
    written,
)
from tests.fakes.process import free_port
from tests.fakes.ranking.benchmark import ARTICLES
from tests.paths import ROOT
from training import train
from training.neural import result
from training.neural import run as run_
from training.neural.data import seen_questions
from training.neural.data.batches import TrainingBatch
from training.neural.data.negatives import hard_negative_sampler
from training.neural.data.task import MANIFEST, Data, TrainingTask, tasks
from training.neural.recipe.recipe import parse_recipe
from training.neural.recipe.settings import LOSSES, Recipe
from training.neural.run import Order, run
from training.neural.trainer import loop, step
from training.neural.trainer.resources import SINCE_RESET, WHOLE_PROCESS

pytestmark = NEEDS_TORCH
# a fork with threads; torch is loaded once that way
FORKS = pytest.mark.filterwarnings("ignore::DeprecationWarning")


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
    assert entry["facts"]["peak memory bytes"] > 10_000_000  # of any Python
    assert entry["facts"]["peak memory of"] in (SINCE_RESET, WHOLE_PROCESS)
    assert entry["questions"] == 20  # a third of them is held back


def test_what_is_trained_alone_asks_nobody_and_ranks_nothing(trained: Path, tmp_path: Path) -> None:
    run(longer(), replace(order_of(tmp_path / "alone"), ask=False), here())
    alone, asked = (
        json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
        for folder in (tmp_path / "alone", trained)
    )
    assert (alone["systems"], alone["questions"], alone["facts"]["index bytes"]) == ({}, 0, None)
    assert alone["dev"] == asked["dev"]  # it is the same training
    weights = [result.open_result(folder).system("cpu").module for folder in (tmp_path / "alone", trained)]
    for one, other in zip(*(module.parameters() for module in weights), strict=True):
        assert one.equal(other)


def test_the_result_tells_what_it_is(trained: Path) -> None:
    manifest = json.loads((trained / "manifest.json").read_text(encoding="utf-8"))
    assert set(manifest["files"]) == {
        p.relative_to(trained).as_posix() for p in trained.rglob("*") if p.is_file()
    } - {"manifest.json"}
    cost = manifest["cost"]
    assert cost["kgco2eq"] == pytest.approx(cost["hours"] * cost["watts"] / 1000 * 0.432)
    assert "0.432" in cost["factor"]
    assert manifest["data"]["corpus_sha256"] == LAYLAW.sha256
    assert manifest["data"]["sha256"] == longer().data_sha256
    assert manifest["data"]["training_sha256"] == longer().identity
    card = (trained / "modelcard.md").read_text(encoding="utf-8")
    for said in ("CC0-1.0", "kgCO2eq", "python -m training.train tiny", "learning_rate", "## Misuse", "R@10"):
        assert said in card
    log = [json.loads(line) for line in (trained / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {"step", "loss", "rate", "seconds"} <= set(log[2])
    assert not (trained.parent / "tiny.run").exists()


def test_a_result_is_read_again_and_a_damaged_one_refused(trained: Path, tmp_path: Path) -> None:
    found = result.open_result(trained)
    assert found.recipe == recipe(**LONGER)
    assert found.learnt == seen_questions.keys([*longer().learn, *longer().dev])
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
    from training.neural.systems.biencoder import TextVectors

    encoder = TransformerEncoder(trained / "model", chunk=0, device="cpu")
    ours = TextVectors(result.open_result(trained).system("cpu"))  # type: ignore[arg-type]
    asked = ["que dire du bail", "dette"]
    np.testing.assert_allclose(encoder.encode_questions(asked), ours.encode_questions(asked), atol=1e-5)
    np.testing.assert_allclose(
        encoder.encode_articles(ARTICLES[:3]), ours.encode_articles(ARTICLES[:3]), atol=1e-5
    )


def test_a_model_finds_negatives_unless_it_has_learnt_what_is_held_back(
    trained: Path, tmp_path: Path
) -> None:
    mix = {"per_question": 3, "depth": 5, "stages": [{"mix": {"model": 1.0}}]}
    of = recipe(negatives={**mix, "model": str(trained)})
    task, other = (next(tasks(of, Data(LAYLAW, ASKED), folds=3, only=fold)) for fold in ("0", "1"))
    draw = hard_negative_sampler(task)
    assert draw is not None
    found = result.open_result(trained).system("cpu").retriever(LAYLAW)
    for question in task.learn[:5]:
        [ranking] = found.search([question.text], 9)  # four of them may be gold
        wrong = [hit.article_id for hit in ranking if hit.article_id not in question.article_ids]
        drawn = draw(question, 0.5, np.random.default_rng(1))
        assert len(set(drawn)) == 3
        assert set(drawn) <= set(wrong[:5])
    run(task, order_of(tmp_path / "out"), here())
    assert result.open_result(tmp_path / "out").recipe.negatives.model == str(trained)
    with pytest.raises(BadInput, match="learnt from questions that are held back here"):
        hard_negative_sampler(other)
    # of a folder with folds in it the one is taken that may be
    both = replace(of, negatives=replace(of.negatives, model=str(trained.parent)))
    assert hard_negative_sampler(replace(task, recipe=both)) is not None


def killing(at: int, then: Callable[..., Any]) -> Callable[..., Any]:
    def maybe(system: Any, batch: TrainingBatch, *rest: Any) -> Any:
        if batch.step == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return then(system, batch, *rest)

    return maybe


def _on_one_thread(task: TrainingTask, order: Order) -> None:
    import torch

    torch.set_num_threads(1)
    run(task, order, here())


def killed(at: int, task: TrainingTask, order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    """Train in a process of its own that is killed, by the system, before a step."""
    with monkeypatch.context() as patched:
        patched.setattr(loop, "gradients", killing(at, step.gradients))
        process = multiprocessing.get_context("fork").Process(target=_on_one_thread, args=(task, order))
        process.start()
        process.join()
    assert process.exitcode == -signal.SIGKILL


@FORKS
@pytest.mark.parametrize("stop", [4, 7])
def test_a_training_that_was_killed_ends_as_if_it_had_not_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    task = task_of(recipe(training={"steps": 9}))
    run(task, order_of(tmp_path / "whole"), here())
    killed(stop, task, order_of(tmp_path / "stopped", save_every=2), monkeypatch)
    assert not (tmp_path / "stopped").exists()
    with pytest.raises(BadInput, match="add --resume"):
        run(task, order_of(tmp_path / "stopped"), here())
    with pytest.raises(BadInput, match="another recipe, seed or data"):
        run(replace(task, seed=9), order_of(tmp_path / "stopped", resume=True), here())
    run(task, order_of(tmp_path / "stopped", resume=True), here())
    whole, resumed = weights(tmp_path / "whole"), weights(tmp_path / "stopped")
    for name, value in whole.items():
        np.testing.assert_allclose(value, resumed[name], atol=1e-5)  # a step moves a weight by about 1e-2
    kept = [
        json.loads((tmp_path / n / "metrics.json").read_text(encoding="utf-8")) for n in ("whole", "stopped")
    ]
    assert kept[0]["dev"] == kept[1]["dev"]
    assert kept[0]["systems"]["tiny"]["R@10"] == kept[1]["systems"]["tiny"]["R@10"]
    lines = [json.loads(line) for line in (tmp_path / "stopped" / "log.jsonl").read_text().splitlines()]
    # it was saved every two steps
    assert [line["resumed"] for line in lines if "resumed" in line] == [stop - stop % 2]
    told = [line["step"] for line in lines if line.get("step")]
    assert told == sorted(told)  # nothing is told twice


@FORKS
def test_one_that_was_killed_before_it_was_saved_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = task_of(recipe())
    killed(0, task, order_of(tmp_path / "out"), monkeypatch)
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

    from training.neural.trainer.distributed import world

    torch.set_num_threads(1)
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    with world("cpu") as two:
        run(task_of(of), order_of(output), two)


# a language model reads its prompt too, and learns from no article of the batch's other questions
YES_NO = {
    "model": scratch(dropout=0.0, positions=320, vocabulary=600),
    "text": {"question_tokens": 24, "article_tokens": 320},
    "loss": {"r": 4, "dropout": 0.0, "rerank": 3},
    "negatives": {"per_question": 1, "in_batch": False},
}


DSR = {
    "system": "biencoder",
    "model": {**scratch(dropout=0.0), "articles": {"dropout": 0.0}},
    "text": {"question_tokens": 24, "chunk_tokens": 6, "chunk_overlap": 2, "chunks": 6},
}

GIR = {"model": {"backbone": "static", "graph": {"hidden": 8, "dropout": 0.0}}}


@pytest.mark.slow
@FORKS
@pytest.mark.parametrize("system", [*LOSSES, "dsr"])
@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing.*:FutureWarning")  # peft's
def test_two_processes_take_the_steps_of_one(tmp_path: Path, system: str) -> None:
    import torch.multiprocessing

    if system == "yes-no":
        pytest.importorskip("peft", reason="peft is not installed: pip install '.[train]'")
    of = recipe(
        model=scratch(dropout=0.0),
        training={"steps": 3, "batch": 5},  # one has three, the other two
        text={"article_tokens": 40 if system == "cross-encoder" else 32},  # of a question, and what is left
    )
    if system == "graph":
        pytest.importorskip("torch_geometric", reason="not installed: pip install '.[train]'")
    changed = {"yes-no": YES_NO, "dsr": DSR, "graph": GIR}.get(system, {})
    of = parse_recipe({**of.source, "system": system, **changed})
    run(task_of(of), order_of(tmp_path / "one"), here())
    arguments = (free_port(), of, tmp_path / "two")
    torch.multiprocessing.start_processes(_one_of_two, args=arguments, nprocs=2, start_method="fork")
    both = weights(tmp_path / "two")
    for name, value in weights(tmp_path / "one").items():
        np.testing.assert_allclose(value, both[name], atol=1e-4)  # a step moves a weight by about 1e-2
    manifest = json.loads((tmp_path / "two" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["facts"]["processes"] == 2


@pytest.mark.slow
def test_torchrun_takes_the_steps_of_one_process(tmp_path: Path) -> None:
    write(LAYLAW, tmp_path / "law")
    tiny = written(tmp_path / "tiny.toml", scratch={"dropout": 0.0}, training={"batch": 5})
    typed = [str(tiny), "--corpus", str(tmp_path / "law"), "--folds", "3", "--fold", "0", "--steps", "2"]
    typed += ["--device", "cpu", "--output"]
    assert train.main([*typed, str(tmp_path / "one")]) == 0
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*torchrun, "-m", "training.train", *typed, str(tmp_path / "two")],
        cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    one, two = weights(tmp_path / "one"), weights(tmp_path / "two")
    apart = np.concatenate([np.abs(value - two[name]).ravel() for name, value in one.items()])
    # a step moves a weight by 1e-2; where a gradient is near 0, AdamW takes its rounding for its sign
    assert apart.mean() < 1e-4
    told = [
        (tmp_path / name / "log.jsonl").read_text(encoding="utf-8").splitlines() for name in ("one", "two")
    ]
    losses = [[found["loss"] for found in map(json.loads, lines) if "loss" in found] for lines in told]
    assert len(losses[0]) == 2
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)
    manifest = json.loads((tmp_path / "two" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["facts"]["processes"] == 2
    assert done.stdout.count("written:") == 1  # one of them evaluates and writes


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
    monkeypatch.setattr(
        run_, "_untrained_metrics", failing(MemoryError())
    )  # before training the whole corpus is ranked
    with pytest.raises(BadInput, match=r"rank the whole corpus: lower text\.article_tokens"):
        run(task_of(recipe()), order_of(tmp_path / "out"), here())
    shutil.rmtree(tmp_path / "out.run")
    monkeypatch.undo()
    monkeypatch.setattr(loop, "gradients", failing(RuntimeError("shape mismatch")))
    with pytest.raises(RuntimeError, match="shape mismatch"):  # another error stays itself
        run(task_of(recipe()), order_of(tmp_path / "out"), here())


def test_too_little_memory_for_the_optimiser_is_told_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.setattr(torch.optim.AdamW, "step", failing(torch.OutOfMemoryError("CUDA out of memory.")))
    with pytest.raises(BadInput, match="two numbers a parameter: use a smaller encoder"):
        run(task_of(recipe()), order_of(tmp_path / "out"), here())


def test_too_little_memory_for_the_index_after_training_is_told_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spent(under_way: loop.TrainingRun) -> Any:
        state = loop.train(under_way)
        monkeypatch.setattr(under_way.system, "retriever", failing(MemoryError()))
        return state

    monkeypatch.setattr(run_, "train", spent)
    with pytest.raises(BadInput, match="rank the whole corpus"):
        run(task_of(recipe()), order_of(tmp_path / "out"), here())


@pytest.mark.parametrize("part", ["learn", "dev", "held"])
def test_other_labels_are_other_data(part: str) -> None:
    task = task_of(recipe())
    first, *others = getattr(task, part)
    relabelled = replace(task, **{part: (replace(first, article_ids=("another",)), *others)})
    assert relabelled.data_sha256 != task.data_sha256
    assert relabelled.identity != task.identity
    moved = replace(task, **{part: (*others, first)})
    assert moved.data_sha256 == task.data_sha256  # the order is none of the data's


@pytest.mark.parametrize(
    ("named", "manifest"), [("result", "result"), ("result/model", "result"), ("result", "result/fold-0")]
)
@pytest.mark.parametrize("part", ["model", "negatives"])
def test_what_begins_with_a_result_that_was_trained_anew_is_another_training(
    tmp_path: Path, named: str, manifest: str, part: str
) -> None:
    def identity() -> str:
        own, place = recipe(), str(tmp_path / named)
        if part == "model":
            return task_of(replace(own, model=replace(own.model, backbone=place))).identity
        return task_of(replace(own, negatives=replace(own.negatives, model=place))).identity

    nothing = identity()
    written = tmp_path / manifest / MANIFEST
    written.parent.mkdir(parents=True)
    written.write_text("first", encoding="utf-8")
    first = identity()
    written.write_text("again", encoding="utf-8")
    assert len({nothing, first, identity()}) == 3


def test_what_lies_where_a_training_is_typed_is_none_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = recipe()
    own = replace(own, model=replace(own.model, backbone="camembert-base"))
    monkeypatch.chdir(tmp_path)
    nothing = task_of(own).identity
    (tmp_path / MANIFEST).write_text("of an index", encoding="utf-8")
    assert task_of(own).identity == nothing


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
                system_of(parse_recipe({**TINY, "system": system, "model": {"backbone": name}}))
