"""LoRA on a tiny Qwen3 model with random weights: it learns, saves, loads, and re-ranks in an evaluation."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_benchmark import ANSWERED, ARTICLES, CORPUS

from indexes.corpus import write
from rag.errors import BadInput
from rag.types import Article, Hit
from training import prompts
from training.eval import main as evaluate
from training.rerank_lora import Example, LoRASettings, YesNo, examples, fit, load, main

SETTINGS = LoRASettings(r=8, alpha=32, dropout=0.0, negatives=3, window=224, steps=40, batch=4, rate=1e-2)
GOLD = Article("g", "Code", "1", "oui")
OTHERS = tuple(Article(f"o{n}", "Code", str(n), "rien") for n in range(3))


def make(folder: Path) -> Path:
    """Write a Qwen3 model of two layers and its tokenizer."""
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
            num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=512, pad_token_id=0,
            initializer_range=0.3,  # usual weights would bound the logits of so small a model
        )  # fmt: skip
        Qwen3ForCausalLM(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for package in ("torch", "transformers", "peft"):
        pytest.importorskip(package, reason=f"{package} is not installed: pip install 'pandect[train]'")
    return make(tmp_path_factory.mktemp("qwen3") / "tiny")


@pytest.fixture(scope="module")
def tuned(base: Path) -> tuple[YesNo, list[float]]:
    found = [Example(f"Question {n} ?", GOLD, OTHERS) for n in range(8)]
    return fit(found, replace(SETTINGS, model=str(base)), device="cpu")


@pytest.mark.models
def test_it_learns_with_low_rank_matrices_alone(tuned: tuple[YesNo, list[float]], base: Path) -> None:
    model, losses = tuned
    assert np.mean(losses[-5:]) < 0.5 * np.mean(losses[:5])
    before = load(base, device="cpu")
    pairs = [("Une autre question ?", a) for a in (*OTHERS, GOLD)]
    assert int(np.argmax(model.scores(pairs))) == 3
    learning = {n for n, p in model.model.named_parameters() if p.requires_grad}
    assert learning
    assert all("lora_" in name for name in learning)
    frozen = dict(before.model.named_parameters())["model.layers.0.mlp.up_proj.weight"]
    same = dict(model.model.named_parameters())["base_model.model.model.layers.0.mlp.up_proj.weight"]
    assert bool((frozen == same).all())


@pytest.mark.models
def test_an_adapter_is_saved_and_loaded(tuned: tuple[YesNo, list[float]], base: Path, tmp_path: Path) -> None:
    from training.rerank_lora import save

    model, _ = tuned
    save(model, tmp_path / "adapter", {"note": "made here"})
    names = {p.name for p in (tmp_path / "adapter").iterdir()}
    assert {"adapter_model.safetensors", "adapter_config.json", "yes_no.json"} <= names
    assert "model.safetensors" not in names  # the model beneath stays where it is
    loaded = load(tmp_path / "adapter", device="cpu")
    pairs = [("Une question ?", a) for a in (GOLD, *OTHERS)]
    assert loaded.settings == model.settings
    assert loaded.scores(pairs) == pytest.approx(model.scores(pairs), abs=1e-4)
    assert loaded.scores(pairs) != pytest.approx(load(base, device="cpu").scores(pairs), abs=1e-2)


@pytest.mark.models
def test_a_score_does_not_depend_on_its_batch_and_long_articles_are_cut(
    tuned: tuple[YesNo, list[float]],
) -> None:
    model, _ = tuned
    long = Article("l", "Code", "1", "loyer bail " * 500)
    pairs = [("Qui paie ?", GOLD), ("Qui ?", long), ("Et ça, est-ce long ?", OTHERS[0])]
    alone = [model.scores([pair])[0] for pair in pairs]
    assert model.scores(pairs) == pytest.approx(alone, abs=1e-3)
    for asked in ("Qui ?", "Qui paie le loyer ? " * 200):
        prompt = model._prompt(asked, long)
        assert SETTINGS.window - 2 <= len(prompt) <= SETTINGS.window
        assert model.tokenizer.decode(prompt).count("loyer bail") > 1  # some of the article is always there
    assert model.tokenizer.decode(prompt).endswith(
        "assistant: "
    )  # the article's end is cut, not the prompt's
    with pytest.raises(BadInput, match="a window of 40 tokens"):
        YesNo(model.model, model.tokenizer, replace(SETTINGS, window=40))
    ranking = model.over({a.id: a for a in (GOLD, *OTHERS)}).rerank(
        ["Une ?"], [(Hit("o1", 3.0), Hit("g", 1.0))], 5
    )
    assert [h.article_id for h in ranking[0]] == ["g", "o1"]


def test_negatives_are_never_gold() -> None:
    questions = ANSWERED[:4]
    rankings = [tuple(Hit(a.id, 1.0) for a in ARTICLES[:6]) for _ in questions]
    found = examples(ARTICLES, questions, rankings, LoRASettings(negatives=8, depth=6))
    assert len(found) == sum(len(q.article_ids) for q in questions)
    by_text = {q.text: set(q.article_ids) for q in questions}
    for example in found:
        gold = by_text[example.question]
        assert example.gold.id in gold
        assert len({a.id for a in example.others}) == 8
        assert not gold & {a.id for a in example.others}
    assert found == examples(ARTICLES, questions, rankings, LoRASettings(negatives=8, depth=6))


@pytest.mark.parametrize("wrong", [{"r": 0}, {"steps": 0}, {"window": 8}])
def test_settings_that_make_no_sense(wrong: dict[str, int]) -> None:
    with pytest.raises(BadInput, match="or more"):
        LoRASettings(**wrong)  # type: ignore[arg-type]


@pytest.mark.models
def test_from_the_command_line_into_an_evaluation(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PANDECT_HOME", str(tmp_path / "home"))
    corpus = str(write(CORPUS, tmp_path / "corpus"))
    out = str(tmp_path / "adapter")
    words = ["--corpus", corpus, "--model", str(base), "--steps", "3", "--window", "224", "--device", "cpu"]
    assert main([*words, "--output", out]) == 0
    assert "36 examples of 18 questions; loss" in capsys.readouterr().out
    entry = json.loads((tmp_path / "adapter" / "yes_no.json").read_text(encoding="utf-8"))
    assert (entry["questions"], entry["settings"]["steps"]) == (18, 3)
    rerank = ["--rerank", "yes-no:bm25", "--yes-no-model", out, "--rerank-depth", "3", "--device", "cpu"]
    assert evaluate(["--corpus", corpus, "--systems", "bm25", "yes-no:bm25", *rerank]) == 0
    assert "yes-no:bm25" in capsys.readouterr().out
    assert main([*words, "--output", out]) == 2
    assert "there already" in capsys.readouterr().err
    assert evaluate(["--corpus", corpus, "--rerank", "yes-no:bm25"]) == 2
    assert "needs --yes-no-model" in capsys.readouterr().err
    absent = ["--yes-no-model", str(tmp_path / "absent")]
    assert evaluate(["--corpus", corpus, "--rerank", "yes-no:bm25", *absent]) == 2
    assert "cannot be loaded" in capsys.readouterr().err
