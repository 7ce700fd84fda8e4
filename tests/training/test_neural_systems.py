"""SPLADE, ColBERT, the cross-encoder and the classifier, by the loop of all systems."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_benchmark import ARTICLES, CORPUS
from small_neural import (
    ASKED,
    LAYLAW,
    LONGER,
    NEEDS_TORCH,
    TINY,
    batch_of,
    gradient,
    here,
    order_of,
    scratch,
    system_of,
)

from training.neural import result
from training.neural.recipe import made
from training.neural.run import run
from training.neural.settings import Recipe
from training.neural.task import Data, tasks
from training.neural.tokens import article_text

pytestmark = NEEDS_TORCH


OTHERS: dict[str, dict[str, Any]] = {
    "splade": {"similarity": "cosine", "flops_questions": 1e-3, "flops_articles": 1e-3, "active": 30},
    "colbert": {"dim": 16},
    "cross-encoder": {"rerank": 30},
    "lsi": {"function": "softmax"},
}


def other(system: str, **training: object) -> Recipe:
    text = {"cross-encoder": {"article_tokens": 40}, "colbert": {"question_tokens": 12}}.get(system, {})
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
    if system != "cross-encoder":
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


def test_a_pair_is_read_as_one_with_the_question_first() -> None:
    tokens = system_of(other("cross-encoder")).tokens
    asked, told = "que dire du mur", ARTICLES[1]
    ids, kinds = tokens.pair(asked, told)
    whole = tokens.tokenizer(asked, article_text(told, tokens.text))
    assert ids == whole["input_ids"]
    assert kinds == whole["token_type_ids"]
    cut, which = tokens.pair(asked * 50, replace(told, text=told.text * 50))
    assert (len(cut), sum(which)) == (40, 14)  # [CLS], 24 of the question, [SEP]; the article's 13, [SEP]


def test_flops_are_those_of_the_formula() -> None:
    import torch

    from training.neural.losses import flops

    assert float(flops(torch.tensor([[1.0, 0.0], [3.0, 2.0]]))) == 2.0**2 + 1.0**2
