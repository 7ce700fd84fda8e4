"""Yes-or-no models tuned by LoRA, by the loop of all systems, on tiny Qwen3 models with random weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indexes.corpus.corpus import write
from rag.encoders import model_recipes
from rag.errors import BadInput
from rag.types import Article, Question, Ranking
from tests.fakes.models.neural import (
    NEEDS_TORCH,
    TINY,
    batch_of,
    cached_exactly,
    here,
    order_of,
    system_of,
    task_of,
)
from tests.fakes.ranking.benchmark import ARTICLES, CORPUS
from training import train
from training.eval.__main__ import main as evaluate
from training.neural import result
from training.neural.data import seen_questions
from training.neural.data.batches import Batches
from training.neural.recipe.recipe import parse_recipe, read_recipe
from training.neural.recipe.settings import Recipe
from training.neural.run import run
from training.neural.trainer import loop, step
from training.neural.trainer.logging import TrainingLog
from training.neural.trainer.loop import TrainingRun
from training.synthetic import prompts

pytestmark = [*NEEDS_TORCH, pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing.*:FutureWarning")]
GOLD = Article("g", "Code", "1", "oui")
OTHERS = tuple(Article(f"o{n}", "Code", str(n), "rien") for n in range(3))
SCRATCH = {"layers": 1, "width": 32, "heads": 2, "feedforward": 32, "vocabulary": 600, "positions": 320,
           "dropout": 0.0}  # fmt: skip
LORA: dict[str, Any] = {
    **TINY,
    "system": "yes-no",
    "model": {"scratch": SCRATCH},
    "text": {"question_tokens": 24, "article_tokens": 320},
    "loss": {"r": 4, "dropout": 0.0, "rerank": 3},
    "negatives": {"per_question": 1, "in_batch": False},
    "training": {"batch": 3, "steps": 6, "learning_rate": 0.01},
}


@pytest.fixture(autouse=True)
def _peft() -> None:
    pytest.importorskip("peft", reason="peft is not installed: pip install '.[train]'")


def lora(**tables: dict[str, Any]) -> Recipe:
    return parse_recipe({**LORA, **{name: {**LORA.get(name, {}), **table} for name, table in tables.items()}})


def make(folder: Path) -> Path:
    """Write a Qwen3 model of two layers and its tokenizer, with a chat template."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1200, special_tokens=["<pad>", "<end>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    texts = [*(a.text for a in ARTICLES), *prompts.rerank().texts.values(), "yes no oui rien Question"]
    tokenizer.train_from_iterator(texts * 2, trainer)  # so that a prompt has few tokens
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<end>")  # noqa: S106
    fast.chat_template = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant: "
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = Qwen3Config(
            vocab_size=len(fast), hidden_size=32, intermediate_size=64, num_hidden_layers=2, head_dim=16,
            num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=1024, pad_token_id=0,
            initializer_range=0.3,  # usual weights would bound the logits of so small a model
        )  # fmt: skip
        Qwen3ForCausalLM(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for package in ("torch", "transformers", "peft"):
        pytest.importorskip(package, reason=f"{package} is not installed: pip install '.[train]'")
    return make(tmp_path_factory.mktemp("qwen3") / "tiny")


def on(base: Path, **tables: dict[str, Any]) -> Recipe:
    """The tiny recipe over a model that lies somewhere, as those of the hub do."""
    text = {"article_tokens": 224, "question_tokens": 40}
    whole = {**LORA, "text": text, "model": {"backbone": str(base)}}
    return parse_recipe({**whole, **{name: {**whole[name], **table} for name, table in tables.items()}})


def test_it_learns_with_low_rank_matrices_alone(base: Path) -> None:
    import torch

    from training.neural.systems.yes_no import YesNo

    of = on(base, training={"steps": 25, "learning_rate": 0.02}, negatives={"per_question": 3})
    torch.manual_seed(1)
    system = YesNo.build(of, str(base))
    pairs = [("Une autre question ?", a) for a in (*OTHERS, GOLD)]
    frozen = {n: p.detach().clone() for n, p in system.module.named_parameters() if not p.requires_grad}
    with torch.inference_mode():
        before = system.encode("pairs", pairs)
        plain = YesNo.untuned(str(base), "cpu")
        np.testing.assert_allclose(before, plain_scores(plain, system, pairs), atol=1e-4)  # B is 0 at first
    asked = [Question(f"q{n}", f"Question {n} ?", ("g",)) for n in range(8)]
    batches = Batches(asked, (GOLD, *OTHERS), of.training, of.negatives, lambda *a: [a.id for a in OTHERS], 1)
    loop.train(TrainingRun(system, batches, None, here(), TrainingLog()))
    system.module.eval()
    with torch.inference_mode():
        assert int(system.encode("pairs", pairs).argmax()) == 3
    learning = {n for n, p in system.module.named_parameters() if p.requires_grad}
    assert learning
    assert all("lora_" in name for name in learning)
    now = dict(system.module.named_parameters())
    assert all(bool((now[name] == value).all()) for name, value in frozen.items())


def plain_scores(plain: Any, like: Any, pairs: list[tuple[str, Article]]) -> Any:
    """Scores of a model without an adapter, asked by the lengths of another."""
    plain.recipe = like.recipe
    return plain.encode("pairs", pairs)


def test_gradient_caching_is_exact_and_a_score_does_not_depend_on_its_batch() -> None:
    of = lora()
    system = system_of(of)
    cached_exactly(system, batch_of(of), 4)
    import torch

    system.module.eval()
    pairs = [("Qui paie ?", GOLD), ("Qui ?", ARTICLES[0]), ("Et ça, est-ce long ?", ARTICLES[1])]
    with torch.inference_mode():
        alone = [float(system.encode("pairs", [pair])[0]) for pair in pairs]
        np.testing.assert_allclose(system.encode("pairs", pairs), alone, atol=1e-4)


def test_the_end_of_a_long_article_is_cut_and_never_the_prompt(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub.constants

    from training.neural.systems.cross_encoder import PairReader
    from training.neural.systems.yes_no import YesNo

    system = YesNo.build(on(base), str(base))
    long = Article("l", "Code", "1", "loyer bail " * 500)
    for asked in ("Qui ?", "Qui paie le loyer ? " * 200):
        prompt = system.prompt(asked, long)
        assert 220 <= len(prompt) <= 224
        said = system.tokenizer.decode(prompt)
        assert said.count("loyer bail") > 1  # some of the article is always there
        assert said.endswith("assistant: ")
    with pytest.raises(BadInput, match="article_tokens = 60: the prompt takes"):
        YesNo.build(on(base, text={"article_tokens": 60, "question_tokens": 40}), str(base))
    with pytest.raises(BadInput, match="reads 1024 tokens"):
        YesNo.build(on(base, text={"article_tokens": 2000}), str(base))
    with pytest.raises(BadInput, match="has no layers w_proj"):
        YesNo.build(on(base, loss={"targets": ["w_proj"]}), str(base))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(BadInput, match="causal model nowhere/none cannot be loaded"):
        YesNo.untuned("nowhere/none")
    # nearly sure and surer are told apart: probabilities of both would be rounded to 1
    sure = {"g": 20.0, "o0": 30.0, "o1": -3.0}
    system.encode = lambda part, items: _tensor([sure[article.id] for _, article in items])  # type: ignore[method-assign]
    ranking = Ranking.of((id_, 1.0) for id_ in sure)
    [found] = PairReader(system, (GOLD, *OTHERS)).rerank(["Qui ?"], [ranking], 2)
    assert [hit.article_id for hit in found] == ["o0", "g"]


def test_an_untuned_model_reads_as_much_as_its_window_says(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from training.neural.systems.yes_no import YesNo

    known = model_recipes.HubRecipe("tiny", str(base), "yes-no", 600, "made by this test", chunk=0, overlap=0)
    monkeypatch.setattr(
        model_recipes, "recipes", dict
    )  # nobody knows it: as long as the recipe that tunes one says
    long = Article("l", "Code", "1", "loyer bail " * 900)
    assert len(YesNo.untuned(str(base), "cpu").prompt("Qui paie ?", long)) == 1024
    monkeypatch.setattr(model_recipes, "recipes", lambda: {"tiny": known})
    for name in ("tiny", str(base)):  # by name, and by what it is on the hub
        system = YesNo.untuned(name, "cpu")
        assert len(system.prompt("Qui paie ?", long)) == 600
        said = system.tokenizer.decode(system.prompt("Qui ?", GOLD))
        assert prompts.rerank().texts["yes_no_system"] in said


def _tensor(values: list[float]) -> Any:
    import torch

    return torch.tensor(values)


class Stopped(Exception):
    pass


def test_one_from_scratch_is_stopped_gone_on_with_and_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safetensors.numpy import load_file

    task = task_of(lora())
    run(task, order_of(tmp_path / "whole"), here())
    then = step.gradients

    def stopping(system: Any, batch: Any, *rest: Any) -> Any:
        if batch.step == 4:
            raise Stopped
        return then(system, batch, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(loop, "gradients", stopping)
        with pytest.raises(Stopped):
            run(task, order_of(tmp_path / "stopped", save_every=2), here())
    kept = load_file(tmp_path / "stopped.run" / "checkpoint" / "weights.safetensors")
    assert kept
    assert all("lora_" in name for name in kept)  # of billions, what learns
    run(task, order_of(tmp_path / "stopped", resume=True), here())
    names = ("adapter_model.safetensors", "base/model.safetensors")
    for name in names:
        one, other = (load_file(tmp_path / of / "model" / name) for of in ("whole", "stopped"))
        assert one.keys() == other.keys()
        for key, value in one.items():
            np.testing.assert_allclose(value, other[key], atol=1e-6)
    entry = json.loads((tmp_path / "whole" / "metrics.json").read_text(encoding="utf-8"))
    assert [row["step"] for row in entry["dev"]] == [0, 3, 6]
    found = result.open_result(tmp_path / "whole").system("cpu").retriever(CORPUS)
    run_ = json.loads((tmp_path / "whole" / "values.json").read_text(encoding="utf-8"))
    assert run_["questions"] == [q.id for q in task.held if q.article_ids]
    asked = [q for q in task.held if q.article_ids]
    rankings = found.search([q.text for q in asked], 10)
    recall = [len({h.article_id for h in r} & set(q.article_ids)) / len(q.article_ids)
              for r, q in zip(rankings, asked, strict=True)]  # fmt: skip
    assert recall == pytest.approx(run_["values"]["tiny"]["R@10"])


def test_from_the_recipe_that_ships_into_an_evaluation_that_never_asks_what_it_learnt(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    law = str(write(CORPUS, tmp_path / "law"))
    out = tmp_path / "adapter"
    small = ["training.batch=2", "text.article_tokens=224", "text.question_tokens=40", "loss.rerank=3",
             f"model.backbone={base}", "evaluation.every=2"]  # fmt: skip
    words = ["stard-reranker-lora", "--corpus", law, "--folds", "3", "--fold", "0", "--device", "cpu"]
    words += [part for change in small for part in ("--set", change)]
    assert train.main([*words, "--steps", "2", "--output", str(out)]) == 0
    assert "before training" in capsys.readouterr().out
    files = {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()}
    assert {"model/adapter_model.safetensors", "model/adapter_config.json", "learnt.json", "modelcard.md",
            "recipe.json", "metrics.json", "values.json", "log.jsonl", "manifest.json"} == files  # fmt: skip
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["system"] == "yes-no"
    assert manifest["command"].startswith("python -m training.train stard-reranker-lora")
    assert manifest["cost"]["kwh"] > 0
    assert "peft" in manifest["libraries"]
    known = task_of(lora())
    assert seen_questions.read(out) == seen_questions.keys([*known.learn, *known.dev])

    asked = ["--corpus", law, "--folds", "3", "--measures", "R@10", "--device", "cpu"]
    fold = [*asked, "--only-fold", "0"]
    ways = {
        "model:lora:rrf:bm25,tfidf": ["--trained", f"lora={out}"],
        "yes-no:bm25": ["--yes-no-model", str(out), "--rerank-depth", "4"],
    }
    for name, more in ways.items():
        given = ["--rerank", name, *more, "--systems", "bm25", name]
        assert evaluate([*fold, *given]) == 0
        assert name in capsys.readouterr().out
        assert evaluate([*asked, *given]) == 2  # of the other folds it has learnt
        assert "learnt from" in capsys.readouterr().err
    assert evaluate([*fold, "--rerank", "yes-no:bm25", "--yes-no-model", str(base)]) == 0  # untuned
    assert evaluate([*fold, "--rerank", "yes-no:bm25"]) == 2
    assert "needs --yes-no-model" in capsys.readouterr().err
    assert evaluate([*fold, "--rerank", "model:lora:bm25"]) == 2
    assert "needs --trained lora=FOLDER" in capsys.readouterr().err
    assert train.main(["stard-reranker-lora", "--corpus", law, "--dry-run", "--device", "cpu"]) == 0
    assert "all of it runs" in capsys.readouterr().out


def test_the_recipe_says_what_is_known_and_what_is_ours() -> None:
    recipe = read_recipe("stard-reranker-lora")
    assert (recipe.system, recipe.model.backbone) == ("yes-no", "Qwen/Qwen3-Reranker-4B")
    with pytest.raises(BadInput, match="per_question to 1 or more"):
        read_recipe("stard-reranker-lora", ["negatives.per_question=0"])
    with pytest.raises(BadInput, match="targets is empty"):
        read_recipe("stard-reranker-lora", ["loss.targets=[]"])
    with pytest.raises(BadInput, match="even share of width"):
        lora(model={"scratch": {**SCRATCH, "width": 18}})
