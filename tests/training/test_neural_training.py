"""The loop on tiny encoders: gradients, chunks, resuming, two processes, results, errors."""

from __future__ import annotations

import json
import os
import shutil
import socket
import tempfile
import weakref
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_benchmark import ARTICLES, CORPUS, QUESTIONS

from indexes.corpus import Corpus, write
from rag.card import CorpusCard
from rag.errors import BadInput, DamagedIndex
from rag.types import Article, Question
from training import train
from training.neural import learnt, loop, result, step
from training.neural.backbone import parameters, train_tokenizer
from training.neural.batches import Batch, Batches
from training.neural.recipe import made, read_recipe
from training.neural.run import Order, draw_of, run
from training.neural.settings import Recipe
from training.neural.task import Data, Task, tasks
from training.neural.tokens import article_text
from training.neural.world import World

pytestmark = pytest.mark.models
TINY: dict[str, Any] = {
    "name": "tiny",
    "system": "biencoder",
    "model": {"pooling": "mean", "scratch": {
        "layers": 1, "width": 32, "heads": 2, "feedforward": 32, "vocabulary": 400, "positions": 40,
        "dropout": 0.1,
    }},
    "text": {"question_tokens": 24, "article_tokens": 32},
    "training": {"batch": 8, "steps": 6, "learning_rate": 0.01, "warmup_steps": 2},
    "negatives": {"per_question": 1, "stages": [{"mix": {"siblings": 0.5, "random": 0.5}}]},
    "evaluation": {"measure": "R@10", "every": 3, "dev": 0.2},
}  # fmt: skip

LONGER: dict[str, Any] = {"training": {"steps": 40}, "evaluation": {"every": 20, "keep": "last"}}
# What people say and what the law says: no piece of a word in common, so it has to be learnt.
SAID = ["papa", "boulot", "facture", "chien", "loyer", "bébé", "voleur", "accident", "médecin", "voisin"]
LAW = ["tutelle", "stipendium", "quittung", "fugit", "kym", "xyst", "wyw", "zzz", "jykk", "vgv"]
LEGAL = tuple(
    Article(f"l{n}", "Code", str(n), f"{LAW[n % 10]} {LAW[n % 10]} alinéa {n // 10}") for n in range(40)
)
ASKED = tuple(
    Question(f"p{n}", f"{SAID[n % 10]} numéro {n}", tuple(f"l{m}" for m in range(n % 10, 40, 10)))
    for n in range(60)
)
LAYLAW = Corpus(CorpusCard("laylaw", "Lay law", "fr", licence="CC0-1.0"), LEGAL, ASKED)


def recipe(**tables: dict[str, Any]) -> Recipe:
    """The tiny recipe, its tables changed."""
    changed = {**TINY}
    for name, table in tables.items():
        changed[name] = {**TINY.get(name, {}), **table}
    return made(changed)


def scratch(**settings: object) -> dict[str, Any]:
    return {"scratch": {**TINY["model"]["scratch"], **settings}}


@pytest.fixture(autouse=True)
def torch_there() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("sentence_transformers")


def here() -> World:
    import torch

    return World(torch.device("cpu"))


def task_of(of: Recipe, *, folds: int = 3, seed: int = 1) -> Task:
    [task] = tasks(of, Data(CORPUS, QUESTIONS), folds=folds, only="0", seeds=(seed,))
    return task


def system_of(of: Recipe, *, seed: int = 1) -> Any:
    from training.neural.run import prepared

    with tempfile.TemporaryDirectory() as folder:
        return prepared(task_of(of, seed=seed), here(), Path(folder) / "scratch")


def longer() -> Task:
    [task] = tasks(recipe(**LONGER), Data(LAYLAW, ASKED), folds=3, only="0")
    return task


def order_of(output: Path, **settings: Any) -> Order:
    return Order("python -m training.train tiny", output, ("R@10", "MRR@10"), **settings)


# --- one step ---


def batch_of(of: Recipe) -> Batch:
    task = task_of(of)
    return Batches(task.learn, ARTICLES, of.training, of.negatives, draw_of(task), 1)(0)


def gradient(system: Any, batch: Batch, mini: int) -> tuple[dict[str, float], list[np.ndarray[Any, Any]]]:
    import torch

    system.module.train()
    system.module.zero_grad(set_to_none=True)
    torch.manual_seed(5)
    losses = step.gradients(system, batch, mini, here(), nullcontext)
    return losses, [p.grad.numpy().copy() for p in system.module.parameters() if p.grad is not None]


@pytest.mark.parametrize("mini", [1, 3, 100])
def test_gradient_caching_gives_the_gradients_of_the_whole_batch(mini: int) -> None:
    of = recipe(model=scratch(dropout=0.0))
    system, batch = system_of(of), batch_of(of)
    plain, cached = gradient(system, batch, 0), gradient(system, batch, mini)
    assert plain[0]["loss"] == pytest.approx(cached[0]["loss"], rel=1e-6)
    assert len(plain[1]) == len(cached[1]) > 10
    for a, b in zip(plain[1], cached[1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_the_second_encoding_has_the_dropout_of_the_first() -> None:
    of = recipe()  # a tenth is dropped
    system, batch = system_of(of), batch_of(of)
    plain, cached = gradient(system, batch, 0), gradient(system, batch, 100)  # one piece a part, as without
    for a, b in zip(plain[1], cached[1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


class Alive:
    """Counts the bytes that torch keeps for the way back, as they come and go."""

    def __init__(self) -> None:
        self.now = self.most = 0

    def watch(self) -> Any:
        import torch

        class Kept:
            def __init__(self, tensor: Any) -> None:
                self.tensor = tensor

        def pack(tensor: Any) -> Kept:
            size = tensor.numel() * tensor.element_size()
            self.now += size
            self.most = max(self.most, self.now)
            kept = Kept(tensor)
            weakref.finalize(kept, self._gone, size)
            return kept

        return torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept.tensor)

    def _gone(self, size: int) -> None:
        self.now -= size


def test_gradient_caching_keeps_the_activations_of_one_piece() -> None:
    of = recipe(training={"batch": 12})
    system, batch = system_of(of), batch_of(of)
    most = []
    for mini in (0, 2):
        alive = Alive()
        with alive.watch():
            gradient(system, batch, mini)
        most.append(alive.most)
    assert most[1] < most[0] / 3  # 2 texts of 12 questions and as many articles or more; and the scores


def test_an_article_is_the_mean_of_its_chunks() -> None:
    import torch

    of = recipe(
        text={"chunk_tokens": 6, "chunk_overlap": 2}, model={**scratch(dropout=0.0), "pooling": "cls"}
    )
    system = system_of(of)
    system.module.eval()
    long = replace(ARTICLES[0], id="long", text=" ".join(a.text for a in ARTICLES[:6]))
    chunks = system.tokens.article(long)
    begin, end = system.module.tokenizer.cls_token_id, system.module.tokenizer.sep_token_id
    assert len(chunks) > 4
    assert all(ids[0] == begin and ids[-1] == end and len(ids) <= 8 for ids in chunks)
    assert chunks[0][5:7] == chunks[1][1:3]  # the overlap
    with torch.inference_mode():
        short, found = system.encode("articles", [ARTICLES[1], long])
        alone = [system._forward("articles", [ids]).numpy()[0] for ids in chunks]
        own = system.encode("articles", [ARTICLES[1]])[0]
    np.testing.assert_allclose(found.numpy(), np.mean(alone, axis=0), atol=1e-5)
    np.testing.assert_allclose(short.numpy(), own.numpy(), atol=1e-5)  # the same in any company


def test_what_is_cut_of_an_article() -> None:
    text = recipe().text
    article = Article("x", "Code", "1", "un deux trois", ("Titre",))
    assert article_text(article, text) == "Code Titre un deux trois"
    assert article_text(article, replace(text, article_cut=4)) == "Code Titre un d"
    assert (
        article_text(article, replace(text, article_cut=2, article_cut_unit="words")) == "Code Titre un deux"
    )
    assert article_text(article, replace(text, fields=("text",), article_prompt="p: ")) == "p: un deux trois"


def test_towers_do_not_share_their_weights_and_a_saved_model_ranks_alike(tmp_path: Path) -> None:
    from training.neural.systems import load

    sizes = []
    for towers in (1, 2):
        of = recipe(model={**scratch(), "towers": towers})
        system = system_of(of)
        asked = "que dire du mur mitoyen"
        system.module.eval()
        ranking = system.retriever(CORPUS).search([asked, ""], 5)
        system.save(tmp_path / str(towers))
        again = load(of, tmp_path / str(towers))
        again.module.eval()
        assert again.retriever(CORPUS).search([asked, ""], 5) == ranking
        assert ranking[1] == ()  # a blank question finds nothing
        sizes.append(parameters([system.module]))
    assert sizes[1] == 2 * sizes[0]


def test_the_tokenizer_is_the_same_every_time() -> None:
    first, again = (train_tokenizer([a.text for a in ARTICLES], 200, 32).get_vocab() for _ in range(2))
    assert first == again
    assert train_tokenizer(["法律 条文"], 100, 32).tokenize("法律") == ["法", "律"]


def test_the_rate_rises_and_falls() -> None:
    training = replace(recipe().training, warmup_steps=2, schedule="linear")
    shares = [loop.rate_share(s, 6, training) for s in range(6)]
    assert shares == [0.5, 1.0, 1.0, 0.75, 0.5, 0.25]
    assert loop.rate_share(4, 6, replace(training, schedule="constant")) == 1.0
    assert loop.rate_share(4, 6, replace(training, schedule="cosine")) == pytest.approx(0.5)
    assert loop.rate_share(0, 10, replace(training, warmup_steps=0, warmup_share=0.2)) == 0.5


# --- a whole training ---


class Stopped(Exception):
    pass


def weights(folder: Path) -> dict[str, np.ndarray[Any, Any]]:
    from safetensors.numpy import load_file

    [file] = (folder / "model").rglob("model.safetensors")
    return load_file(file)


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
def test_two_processes_take_the_steps_of_one(tmp_path: Path) -> None:
    import torch.multiprocessing

    of = recipe(model=scratch(dropout=0.0), training={"steps": 3, "batch": 5})  # one has three, the other two
    run(task_of(of), order_of(tmp_path / "one"), here())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = (port, of, tmp_path / "two")
    torch.multiprocessing.start_processes(_one_of_two, args=arguments, nprocs=2, start_method="fork")
    both = weights(tmp_path / "two")
    for name, value in weights(tmp_path / "one").items():
        np.testing.assert_allclose(value, both[name], atol=1e-5)
    manifest = json.loads((tmp_path / "two" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["facts"]["processes"] == 2


# --- the other systems, by the same loop ---

OTHERS: dict[str, dict[str, Any]] = {
    "splade": {"similarity": "cosine", "flops_questions": 1e-3, "flops_articles": 1e-3, "active": 30},
    "cross-encoder": {"rerank": 30},
}


def other(system: str, **training: object) -> Recipe:
    text = {"article_tokens": 40} if system == "cross-encoder" else {}
    tables = {**TINY, "system": system, "loss": OTHERS[system], "text": {**TINY["text"], **text}}
    tables["training"] = {**TINY["training"], **training}
    tables["evaluation"] = LONGER["evaluation"]
    return made({**tables, "model": {**TINY["model"], **scratch(dropout=0.0)}})


@pytest.mark.parametrize("system", OTHERS)
def test_gradient_caching_is_exact_for_every_system(system: str) -> None:
    of = other(system)
    built, batch = system_of(of), batch_of(of)
    plain, cached = gradient(built, batch, 0), gradient(built, batch, 3)
    assert plain[0] == pytest.approx(cached[0], rel=1e-5)
    for a, b in zip(plain[1], cached[1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("system", OTHERS)
def test_every_system_is_trained_written_and_read(system: str, tmp_path: Path) -> None:
    of = other(system, steps=40, mini_batch=16)
    [task] = tasks(of, Data(LAYLAW, ASKED), folds=3, only="0")
    run(task, order_of(tmp_path / "out"), here())
    entry = json.loads((tmp_path / "out" / "metrics.json").read_text(encoding="utf-8"))
    before, after = (entry["systems"][name]["R@10"]["value"] for name in ("before training", "tiny"))
    if system == "splade":
        assert after >= before + 0.1
    trained_ = result.open_result(tmp_path / "out").system("cpu")
    asked = [q.text for q in task.held[:5]]
    found = trained_.retriever(LAYLAW)
    assert found.search(asked, 5) == [found.search([q], 5)[0] for q in asked]
    assert found.search(["", "papa"], 0) == [(), ()]


def test_an_inverted_index_gives_the_products_of_the_vectors() -> None:
    from training.neural.splade import Weights

    system = system_of(other("splade"))
    found = system.retriever(CORPUS)
    [asked] = Weights(system).encode_questions(["mur mitoyen"]).toarray()
    products = found.weights.toarray() @ asked
    scores = found.scores("mur mitoyen")
    np.testing.assert_allclose(scores[np.isfinite(scores)], products[np.isfinite(scores)], rtol=1e-4)
    assert np.all(products[~np.isfinite(scores)] == 0)
    assert 0 < found.active <= 30
    assert found.nbytes > 30 * 8
    best = found.expansion(0, 3)
    assert len(best) == 3
    assert best[0][1] >= best[1][1] > 0
    assert found.search([""], 5) == [()]


def test_flops_are_those_of_the_formula() -> None:
    import torch

    from training.neural.losses import flops

    assert float(flops(torch.tensor([[1.0, 0.0], [3.0, 2.0]]))) == 2.0**2 + 1.0**2


# --- errors that a person can act on ---


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
        with pytest.raises(BadInput, match=r"cannot be loaded.*model\.scratch"):
            system_of(made({**TINY, "model": {"backbone": name}}))


def spoken(capsys: pytest.CaptureFixture[str], *typed: str) -> tuple[int, str, str]:
    code = train.main(typed)
    said = capsys.readouterr()
    return code, said.out, said.err


def test_the_command_trains_folds_and_says_their_spread(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    law = tmp_path / "law"
    write(CORPUS, law)
    lines = ["name = 'tiny'", "system = 'biencoder'"]
    for name in ("text", "training", "evaluation"):
        lines += [f"[{name}]", *(f"{k} = {json.dumps(v)}" for k, v in TINY[name].items())]
    lines += ["[model.scratch]", *(f"{k} = {v}" for k, v in TINY["model"]["scratch"].items())]
    path = tmp_path / "tiny.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    out = tmp_path / "out"
    common = (str(path), "--corpus", str(law), "--folds", "3", "--device", "cpu", "--measures", "R@10")
    code, said, told = spoken(capsys, *common, "--fold", "1", "--steps", "2", "--output", str(out))
    assert code == 0, told
    assert "before training" in said
    assert "to learn from" in told
    assert "left" in told
    code, _, told = spoken(capsys, *common, "--fold", "1", "--output", str(out))
    assert (code, "is there already" in told) == (2, True)
    code, said, told = spoken(capsys, *common, "--steps", "2", "--output", str(tmp_path / "all"))
    assert code == 0, told
    summary = json.loads((tmp_path / "all" / "summary.json").read_text(encoding="utf-8"))
    assert summary["trainings"] == ["fold-0", "fold-1", "fold-2"]
    assert set(summary["mean and sd over them"]["tiny"]["R@10"]) == {"mean", "sd"}
    # and what was trained is measured by name, each fold by the model that has not seen it
    from training.eval import main as evaluate

    measured = (
        "--corpus",
        str(law),
        "--folds",
        "3",
        "--cache",
        str(tmp_path / "cache"),
        "--measures",
        "R@10",
    )
    systems = ("--systems", "bm25", "model:tiny", "rrf:bm25,model:tiny")
    assert (
        evaluate(
            [*measured, "--model", f"tiny={tmp_path / 'all'}", *systems, "--output", str(tmp_path / "m")]
        )
        == 0
    )
    entry = json.loads((tmp_path / "m" / "metrics.json").read_text(encoding="utf-8"))
    value = entry["systems"]["model:tiny"]["R@10"]["value"]
    folds = [json.loads((tmp_path / "all" / f"fold-{i}" / "metrics.json").read_text()) for i in range(3)]
    own = [(f["systems"]["tiny"]["R@10"]["value"], f["questions"]) for f in folds]
    assert value == pytest.approx(np.average([v for v, _ in own], weights=[n for _, n in own]))
    capsys.readouterr()
    assert evaluate([*measured, "--model", f"tiny={out}", *systems]) == 2
    assert "learnt from" in capsys.readouterr().err
    assert evaluate([*measured, "--systems", "model:other"]) == 2
    assert "--model other=FOLDER" in capsys.readouterr().err


def test_a_rehearsal_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(CORPUS, tmp_path / "law")
    before = sorted(tmp_path.rglob("*"))
    for name in ("bsard-siamese", "jurifindit-dar", "stard-dense"):
        code, said, told = spoken(
            capsys, name, "--corpus", str(tmp_path / "law"), "--dry-run", "--device", "cpu"
        )
        assert code == 0, told
        assert "all of it runs" in said
    assert sorted(tmp_path.rglob("*")) == before


def bsard(folder: Path, articles: Sequence[Article], questions: Sequence[Question]) -> Path:
    """Write law and questions of our own as BSARD's files are."""
    (folder / "negatives").mkdir(parents=True)
    rows = ["id,reference,article,description,law_type,code,book,part,act,chapter,section,subsection"]
    rows += [
        f"{n},Art. {n} {a.code},{a.text},{a.headings[0]},national,{a.code},,,,,,"
        for n, a in enumerate(articles, 1)
    ]
    (folder / "articles.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    number = {a.id: str(n) for n, a in enumerate(articles, 1)}
    for split, asked in (("train", questions[:12]), ("test", questions[12:])):
        lines = ["id,category,subcategory,question,extra_description,article_ids"]
        for n, q in enumerate(asked, 1):
            gold = ",".join(number[i] for i in q.article_ids)
            lines.append(f'{n + 100 * (split == "test")},Housing,Rent,{q.text},,"{gold}"')
        (folder / f"questions_{split}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = {str(n): [30, 29] for n in range(1, 13)}
    (folder / "negatives" / "bm25_negatives_train.json").write_text(json.dumps(found), encoding="utf-8")
    return folder


def test_published_files_are_rehearsed_with_their_negatives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = bsard(tmp_path / "bsard", ARTICLES, [q for q in QUESTIONS if q.article_ids])
    mix = ("--set", "negatives.per_question=1", "--set", "negatives.stages=[{mix={published=1.0}}]")
    for name in ("bsard-siamese", "bsard-two-tower"):
        code, said, told = spoken(capsys, name, "--corpus", str(folder), "--dry-run", "--device", "cpu", *mix)
        assert code == 0, told
        assert "12 questions (24 examples) to learn from, 0 dev, 6 held back, 30 articles" in said
    task = next(tasks(read_recipe("bsard-siamese", [mix[1], mix[3]]), _data(folder)))
    draw = draw_of(task)
    assert draw is not None
    assert {i for q in task.learn for i in draw(q, 0.0, np.random.default_rng(0))} <= {"29", "30"}


def _data(folder: Path) -> Data:
    from training.neural.task import read_data

    of = read_recipe(
        "bsard-siamese", ["negatives.per_question=1", "negatives.stages=[{mix={published=1.0}}]"]
    )
    return read_data(of, folder, None, None, ())
