"""DSR: a second transformer over the vectors of an article's chunks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag.errors import BadInput
from tests.fakes.models.neural import (
    ASKED,
    LAYLAW,
    LONGER,
    NEEDS_TORCH,
    batch_of,
    cached_exactly,
    gradient,
    here,
    order_of,
    recipe,
    scratch,
    system_of,
    task_of,
    weights,
)
from tests.fakes.ranking.benchmark import ARTICLES, CORPUS
from training.neural import result
from training.neural.data.task import Data, tasks
from training.neural.recipe.settings import Recipe
from training.neural.run import run
from training.neural.systems.backbone import sinusoids
from training.neural.systems.biencoder import CHUNKS, TextVectors
from training.neural.trainer.loop import caster

pytestmark = NEEDS_TORCH
LONG = replace(ARTICLES[0], id="long", text=" ".join(a.text for a in ARTICLES[:6]))


def dsr(towers: int = 1, articles: dict[str, Any] | None = None, **tables: dict[str, Any]) -> Recipe:
    """The tiny recipe with a second transformer and no dropout, which would hide what is compared."""
    second = {"dropout": 0.0, **(articles or {})}
    model = {**scratch(dropout=0.0), "towers": towers, "articles": second}
    return recipe(text={"chunk_tokens": 6, "chunk_overlap": 2, "chunks": 6}, model=model, **tables)


def asleep(of: Recipe) -> Any:
    system = system_of(of)
    system.module.eval()
    return system


def second_of(system: Any) -> Any:
    return system.module[0].sub_modules[CHUNKS][0].model


def test_an_article_is_the_maximum_of_what_the_second_transformer_makes_of_its_chunks() -> None:
    import torch

    system = asleep(dsr())
    chunks = system.chunks("articles", LONG)
    assert len(chunks) == 6  # what comes behind is not read
    rest = replace(LONG, id="longer", text=f"{LONG.text} {LONG.text}")
    assert system.chunks("articles", rest) == chunks
    with torch.inference_mode():
        rows = torch.cat([system._forward("articles", [ids]) for ids in chunks])
        given = second_of(system)(inputs_embeds=rows[None], attention_mask=torch.ones(1, 6)).last_hidden_state
        found = system.encode("articles", [LONG])
    np.testing.assert_allclose(found.numpy(), given.amax(dim=1).numpy(), atol=1e-5)


def test_a_question_is_read_by_the_first_transformer_alone() -> None:
    import torch

    system = asleep(dsr())
    with torch.inference_mode():
        before = system.encode("questions", ["que dire du mur"]).numpy()
        for weight in second_of(system).parameters():
            weight += 1
        assert np.array_equal(system.encode("questions", ["que dire du mur"]).numpy(), before)


@pytest.mark.parametrize("pooling", ["max", "mean"])
def test_padding_does_not_change_a_vector(pooling: str) -> None:
    import torch

    system = asleep(dsr(articles={"pooling": pooling}))
    assert len(system.chunks("articles", ARTICLES[1])) < 6
    with torch.inference_mode():
        alone = system.encode("articles", [ARTICLES[1]]).numpy()
        beside = system.encode("articles", [LONG, ARTICLES[1]]).numpy()[1:]
    np.testing.assert_allclose(alone, beside, atol=1e-5)


@pytest.mark.parametrize("pooling", ["max", "mean"])
def test_the_second_transformer_sees_the_order_of_chunks(pooling: str) -> None:
    import torch

    system = asleep(dsr(articles={"pooling": pooling}))
    with torch.inference_mode():
        rows = system._forward("articles", system.chunks("articles", LONG))
        there = system._joined(rows, [6]).numpy()
        back = system._joined(rows.flip(0), [6]).numpy()
        assert np.abs(there - back).max() > 0.01
        second_of(system).embeddings.position_embeddings.weight.zero_()  # then it cannot
        there, back = system._joined(rows, [6]).numpy(), system._joined(rows.flip(0), [6]).numpy()
    np.testing.assert_allclose(there, back, atol=1e-5)


@pytest.mark.parametrize("towers", [1, 2])
def test_the_gradient_reaches_every_weight_that_is_used(towers: int) -> None:
    of = dsr(towers)
    system = system_of(of)
    gradient(system, batch_of(of), 0)
    still = {
        name.rpartition("model.")[2]
        for name, weight in system.module.named_parameters()
        if weight.grad is None or not weight.grad.any()
    }
    # a pooler that BERT has and nothing asks; the one token that the second transformer has no use for
    assert still <= {"pooler.dense.weight", "pooler.dense.bias", "embeddings.word_embeddings.weight"}
    routes = system.module[0].sub_modules
    for route in ("query", "document", CHUNKS):
        layer = routes[route][0].model.encoder.layer[0]
        assert layer.attention.self.value.weight.grad.any(), route
    assert (routes["query"][0] is routes["document"][0]) == (towers == 1)
    assert second_of(system).embeddings.position_embeddings.weight.grad.any()


@pytest.mark.parametrize("mini", [1, 3])
def test_gradient_caching_gives_the_gradients_of_the_whole_batch(mini: int) -> None:
    of = dsr()
    cached_exactly(system_of(of), batch_of(of), mini, atol=1e-5)


def test_a_step_in_bfloat16_is_nearly_that_of_all_bits() -> None:
    import torch

    of = dsr(training={"precision": "bfloat16"})
    system, batch = system_of(of), batch_of(of)
    plain = gradient(system, batch, 3)
    short = gradient(system, batch, 3, caster(of.training, torch.device("cpu")))
    assert short[0]["loss"] == pytest.approx(plain[0]["loss"], rel=0.02)
    a, b = (np.concatenate([part.ravel() for part in found]) for found in (plain[1], short[1]))
    assert not np.array_equal(a, b)
    assert b.dtype == np.float32
    assert float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)) > 0.98


@pytest.mark.parametrize("towers", [1, 2])
def test_a_saved_model_gives_the_same_vectors(towers: int, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    from training.neural.systems.registry import load

    of = dsr(towers)
    system = asleep(of)
    system.save(tmp_path / "model")
    again = load(of, tmp_path / "model")
    asked = ["que dire du mur mitoyen", ""]
    told = [*ARTICLES[:5], LONG]
    before, after = TextVectors(system), TextVectors(again)  # type: ignore[arg-type]
    assert np.array_equal(before.encode_questions(asked), after.encode_questions(asked))
    assert np.array_equal(before.encode_articles(told), after.encode_articles(told))
    assert again.retriever(CORPUS).search(asked, 5) == system.retriever(CORPUS).search(asked, 5)
    assert again.parameters == system.parameters
    # no code of ours is in the folder, so anybody's sentence-transformers reads it
    theirs = SentenceTransformer(str(tmp_path / "model"), device="cpu")
    found = theirs.encode_query(asked[:1], normalize_embeddings=True)
    np.testing.assert_allclose(found, after.encode_questions(asked[:1]), atol=1e-5)


def test_towers_begin_alike_and_the_second_transformer_follows_the_seed() -> None:
    one, two = system_of(dsr(1)), system_of(dsr(2))
    first = sum(p.numel() for p in one.module[0].sub_modules["query"].parameters())
    assert two.parameters == one.parameters + first
    same, again, other = (second_of(system_of(dsr(), seed=seed)).state_dict() for seed in (1, 1, 2))
    learnt = "encoder.layer.1.output.dense.weight"
    assert np.array_equal(same[learnt], again[learnt])
    assert not np.array_equal(same[learnt], other[learnt])
    assert not np.array_equal(same[learnt], same[learnt.replace("1", "0")])  # each layer has its own
    places = sinusoids(6, 32)
    assert np.array_equal(same["embeddings.position_embeddings.weight"], places)
    assert places[0].tolist() == [0.0] * 16 + [1.0] * 16
    assert places[3, 0] == pytest.approx(np.sin(3))
    assert places[3, 31] == pytest.approx(np.cos(3 * 10_000 ** (-15 / 16)))
    assert sinusoids(4, 5).shape == (4, 5)


def test_heads_and_feedforward_are_the_encoder_s_or_the_recipe_s() -> None:
    def shape(**articles: int) -> tuple[int, int, int]:
        config = second_of(system_of(dsr(articles=articles))).config
        return config.num_hidden_layers, config.num_attention_heads, config.intermediate_size

    assert shape() == (2, 2, 32)
    assert shape(layers=1, heads=4, feedforward=20) == (1, 4, 20)
    with pytest.raises(BadInput, match="heads = 5 do not divide the 32 numbers"):
        system_of(dsr(articles={"heads": 5}))


def test_it_learns_and_is_read_again(tmp_path: Path) -> None:
    of = dsr(**LONGER)
    [task] = tasks(of, Data(LAYLAW, ASKED), folds=3, only="0")
    run(task, order_of(tmp_path / "out"), here())
    entry = json.loads((tmp_path / "out" / "metrics.json").read_text(encoding="utf-8"))
    before, after = (entry["systems"][name]["R@10"]["value"] for name in ("before training", "tiny"))
    assert after >= before + 0.3
    read = result.open_result(tmp_path / "out")
    assert read.recipe == of
    texts = [q.text for q in task.held[:5]]
    found = read.system("cpu").retriever(LAYLAW)
    assert found.search(texts, 5) == [found.search([q], 5)[0] for q in texts]


def test_a_training_that_was_stopped_ends_as_if_it_had_not_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from training.neural.trainer import loop, step

    task = task_of(dsr(articles={"dropout": 0.1}, training={"steps": 6}))
    run(task, order_of(tmp_path / "whole"), here())

    def stopping(system: Any, batch: Any, *rest: Any) -> Any:
        if batch.step == 4:
            raise KeyboardInterrupt
        return step.gradients(system, batch, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(loop, "gradients", stopping)
        with pytest.raises(KeyboardInterrupt):
            run(task, order_of(tmp_path / "stopped", save_every=3), here())
    run(task, order_of(tmp_path / "stopped", resume=True), here())
    whole, resumed = weights(tmp_path / "whole"), weights(tmp_path / "stopped")
    assert {name.partition("/")[0] for name in whole} == {"query_0_Transformer", "chunks_0_Transformer"}
    for name, value in whole.items():
        np.testing.assert_allclose(value, resumed[name], atol=1e-5)
