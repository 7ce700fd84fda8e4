"""The classifier with one label an article: its losses, its ranking, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from indexes.corpus.corpus import Corpus
from rag.errors import BadInput
from tests.fakes.models.neural import NEEDS_TORCH, TINY, batch_of, scratch, system_of
from tests.fakes.ranking.benchmark import ARTICLES, CORPUS
from training.neural.recipe.recipe import parse_recipe
from training.neural.recipe.settings import Recipe

pytestmark = NEEDS_TORCH


def recipe(function: str) -> Recipe:
    model = {**TINY["model"], **scratch(dropout=0.0), "pooling": "cls"}
    training = {**TINY["training"], "examples": "questions"}
    loss = {"function": function}
    return parse_recipe({**TINY, "system": "lsi", "model": model, "training": training, "loss": loss})


@pytest.mark.parametrize("function", ["softmax", "bce"])
def test_the_losses_are_those_of_the_equations(function: str) -> None:
    import torch

    of = recipe(function)
    system, batch = system_of(of), batch_of(of)
    z = np.random.default_rng(1).normal(size=(len(batch.questions), len(ARTICLES)))
    gold = np.array([[id_ in q.article_ids for id_ in system.ids] for q in batch.questions])
    if function == "softmax":
        log_softmax = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
        expected = -np.mean([row[own].mean() for row, own in zip(log_softmax, gold, strict=True)])
    else:
        sigmoid = 1 / (1 + np.exp(-z))
        expected = -np.where(gold, np.log(sigmoid), np.log(1 - sigmoid)).mean()
    losses = system.loss({"questions": torch.tensor(z)}, batch)
    assert float(losses["loss"]) == pytest.approx(expected)


def test_every_article_is_ranked_by_its_own_output() -> None:
    system = system_of(recipe("softmax"))
    found = system.retriever(CORPUS)
    logits = system.encode("questions", ["le loyer"]).detach().numpy()[0]
    [ranking] = found.search(["le loyer"], 50)
    assert ranking[0].article_id == system.ids[int(logits.argmax())]
    assert len(ranking) == len(ARTICLES)
    assert found.search(["  "], 5) == [()]
    assert np.isfinite(found.scores("\ud800 loyer")).all()
    assert found.nbytes == 4 * len(ARTICLES) * (32 + 1)  # a row of weights and a bias an article
    turned = Corpus(CORPUS.card, ARTICLES[::-1], ())
    assert system.retriever(turned).search(["le loyer"], 50) == [ranking]  # by id, not by place


def test_an_article_without_label_is_refused() -> None:
    new = replace(ARTICLES[1], id="new")
    with pytest.raises(BadInput, match="none for 1 of this corpus, such as new: train it on this corpus"):
        system_of(recipe("softmax")).retriever(Corpus(CORPUS.card, (ARTICLES[0], new), ()))


def test_no_article_is_read_so_none_has_to_fit() -> None:
    small = recipe("softmax").source
    text = {"question_tokens": 24, "article_tokens": 5000}
    assert parse_recipe({**small, "text": text}).text.article_tokens == 5000
    with pytest.raises(BadInput, match="set positions to 50"):
        parse_recipe({**small, "text": {"question_tokens": 50}})
