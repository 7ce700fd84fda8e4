"""One step of a training: gradients, chunks, towers, the rate."""

from __future__ import annotations

import weakref
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag.types import Article
from tests.fakes.models.neural import (
    NEEDS_TORCH,
    batch_of,
    cached_exactly,
    gradient,
    here,
    recipe,
    scratch,
    system_of,
    task_of,
)
from tests.fakes.ranking.benchmark import ARTICLES, CORPUS
from training.neural.data.batches import Batches
from training.neural.data.negatives import hard_negative_sampler
from training.neural.data.tokens import article_text
from training.neural.systems.backbone import train_tokenizer
from training.neural.trainer import loop
from training.neural.trainer.logging import TrainingLog

pytestmark = NEEDS_TORCH


@pytest.mark.parametrize("mini", [1, 3, 100])
def test_gradient_caching_gives_the_gradients_of_the_whole_batch(mini: int) -> None:
    of = recipe(model=scratch(dropout=0.0))
    cached_exactly(system_of(of), batch_of(of), mini)


def test_the_second_encoding_has_the_dropout_of_the_first() -> None:
    of = recipe()  # a tenth is dropped
    cached_exactly(system_of(of), batch_of(of), 100)  # one piece a part, as without


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
    from training.neural.systems.registry import load

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
        sizes.append(system.parameters)
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


class Gpu:
    """What is asked of a device: its type."""

    type = "cuda"


@pytest.mark.parametrize("able", [True, False])
def test_bfloat16_is_taken_where_the_gpu_has_it(able: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    def supported(including_emulation: bool = True) -> bool:
        return able or including_emulation  # emulated it would be slower than float32

    monkeypatch.setattr(torch.cuda, "is_bf16_supported", supported)
    auto = recipe().training
    assert auto.precision == "auto"
    cast = loop.caster(auto, Gpu())
    if able:
        assert isinstance(cast, partial)
        assert (cast.args, cast.keywords) == (("cuda",), {"dtype": torch.bfloat16})
    else:
        assert cast is nullcontext
    assert loop.caster(auto, torch.device("cpu")) is nullcontext
    assert loop.caster(replace(auto, precision="float32"), Gpu()) is nullcontext


def test_a_training_has_the_precision_of_its_recipe() -> None:
    import torch

    found = []
    for precision in ("float32", "bfloat16", "auto"):
        of = recipe(model=scratch(dropout=0.0), training={"steps": 2, "precision": precision})
        system, task = system_of(of), task_of(of)
        batches = Batches(task.learn, ARTICLES, of.training, of.negatives, hard_negative_sampler(task), 1)
        loop.train(loop.TrainingRun(system, batches, None, here(), TrainingLog()))
        weights = list(system.module.parameters())
        assert {p.dtype for p in weights} == {torch.float32}
        found.append(np.concatenate([p.detach().numpy().ravel() for p in weights]))
    assert np.array_equal(found[0], found[2])  # a processor without being asked
    assert 0 < np.abs(found[0] - found[1]).mean() < 1e-3  # two steps move a weight by about 1e-2
