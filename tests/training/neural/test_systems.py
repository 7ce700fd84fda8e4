"""SPLADE, ColBERT, the cross-encoder and the classifier, by the loop of all systems."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indexes.corpus.corpus import write
from rag.types import Article, Question
from tests.fakes.models.neural import (
    ASKED,
    LAYLAW,
    LEGAL,
    LONGER,
    NEEDS_TORCH,
    TINY,
    batch_of,
    cached_exactly,
    gradient,
    here,
    order_of,
    scratch,
    system_of,
)
from tests.fakes.ranking.benchmark import ARTICLES, CORPUS, QUESTIONS
from training.eval.__main__ import main as evaluate
from training.neural import result
from training.neural.data.task import Data, tasks
from training.neural.data.tokens import article_text
from training.neural.recipe.recipe import parse_recipe
from training.neural.recipe.settings import Recipe
from training.neural.run import run
from training.neural.systems import splade
from training.neural.trainer.loop import caster

pytestmark = NEEDS_TORCH


OTHERS: dict[str, dict[str, Any]] = {
    "splade": {"similarity": "cosine", "flops_questions": 1e-3, "flops_articles": 1e-3, "active": 30},
    "colbert": {"dim": 16},
    "cross-encoder": {"rerank": 40},
    "lsi": {"function": "softmax"},
}


# A law for what orders BM25's list anew: every article has a word of every question, so BM25 finds all of
# them; and two subjects of ten alone are ever asked about, which so small an encoder learns in 40 steps.
ASKED_OF_TWO = replace(
    LAYLAW,
    articles=tuple(replace(article, text=f"{article.text} numéro") for article in LEGAL),
    questions=tuple(q for n, q in enumerate(ASKED) if n % 10 < 2),
)


def other(system: str, **training: object) -> Recipe:
    text = {"cross-encoder": {"article_tokens": 40}, "colbert": {"question_tokens": 12}}.get(system, {})
    tables = {**TINY, "system": system, "loss": OTHERS.get(system, {}), "text": {**TINY["text"], **text}}
    tables["training"] = {**TINY["training"], **training}
    tables["evaluation"] = LONGER["evaluation"]
    return parse_recipe({**tables, "model": {**TINY["model"], **scratch(dropout=0.0)}})


@pytest.mark.slow
@pytest.mark.parametrize("system", OTHERS)
def test_gradient_caching_is_exact_for_every_system(system: str) -> None:
    of = other(system)
    cached_exactly(system_of(of), batch_of(of), 3)


@pytest.mark.slow
@pytest.mark.parametrize("mini", [0, 3])
@pytest.mark.parametrize("system", ["biencoder", *OTHERS])
def test_every_system_takes_a_step_in_bfloat16(system: str, mini: int) -> None:
    import torch

    of = other(system, precision="bfloat16")
    # as many drawn pairs as gold ones would cancel out while weights know nothing yet: all would be noise
    of = replace(of, negatives=replace(of.negatives, per_question=3))
    built, batch = system_of(of), batch_of(of)
    plain = gradient(built, batch, mini)
    short = gradient(built, batch, mini, caster(of.training, torch.device("cpu")))
    assert short[0]["loss"] != plain[0]["loss"]  # it was made in fewer bits
    assert short[0]["loss"] == pytest.approx(plain[0]["loss"], rel=0.02)
    a, b = (np.concatenate([part.ravel() for part in found]) for found in (plain[1], short[1]))
    assert b.dtype == np.float32  # weights and gradients have all of theirs
    # of ColBERT less: which token matches best is decided by the last bits, while none is better yet
    assert float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)) > (0.85 if system == "colbert" else 0.98)


@pytest.mark.slow
@pytest.mark.parametrize("system", OTHERS)
def test_every_system_is_trained_written_and_read(system: str, tmp_path: Path) -> None:
    of = other(system, steps=40, mini_batch=16)
    law, asked = (ASKED_OF_TWO, ASKED_OF_TWO.questions) if system == "cross-encoder" else (LAYLAW, ASKED)
    [task] = tasks(of, Data(law, asked), folds=3, only="0")
    run(task, order_of(tmp_path / "out"), here())
    entry = json.loads((tmp_path / "out" / "metrics.json").read_text(encoding="utf-8"))
    before, after = (entry["systems"][name]["R@10"]["value"] for name in ("before training", "tiny"))
    assert after >= before + 0.1
    assert ("expansion" in entry) == (system == "splade")
    assert (entry["facts"]["active terms of a question"] is not None) == (system == "splade")
    if system == "splade":
        assert entry["facts"]["active terms before the cut"] >= entry["facts"]["active terms"] > 0
    trained_ = result.open_result(tmp_path / "out").system("cpu")
    texts = [q.text for q in task.held[:5]]
    found = trained_.retriever(law)
    assert found.search(texts, 5) == [found.search([q], 5)[0] for q in texts]
    assert found.search(["", "papa"], 0) == [(), ()]


def test_a_trained_cross_encoder_re_ranks_a_fusion_and_never_what_it_learnt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    law = write(CORPUS, tmp_path / "law")
    of = other("cross-encoder", steps=2)
    for fold in ("0", "1"):
        [task] = tasks(of, Data(CORPUS, QUESTIONS), folds=3, only=fold)
        run(task, order_of(tmp_path / "mono" / f"fold-{fold}"), here())
    name, below = "model:mono:rrf:bm25,tfidf", "rrf:bm25,tfidf"
    words = [
        "--corpus",
        str(law),
        "--folds",
        "3",
        "--trained",
        f"mono={tmp_path / 'mono'}",
        "--device",
        "cpu",
    ]
    words += ["--rerank", name, "--systems", below, name, "--measures", "R@10", "MRR@10"]
    out = tmp_path / "out"
    assert evaluate([*words, "--only-fold", "1", "--output", str(out)]) == 0, capsys.readouterr().err
    runs = [
        [line.split()[::2][:2] for line in (out / f"{of_.replace(':', '-')}.trec").read_text().splitlines()]
        for of_ in (below, name)
    ]
    assert runs[0] != runs[1]  # in another order
    assert sorted(runs[0]) == sorted(runs[1])  # the same articles of each question
    capsys.readouterr()
    assert evaluate([*words, "--only-fold", "2"]) == 2  # both have learnt its questions
    assert "model mono learnt from" in capsys.readouterr().err
    [task] = tasks(parse_recipe(TINY), Data(CORPUS, QUESTIONS), folds=3, only="0")
    run(task, order_of(tmp_path / "siamese"), here())
    words[4:6] = ["--trained", f"mono={tmp_path / 'siamese'}"]
    assert evaluate(words) == 2
    assert "of the system cross-encoder or yes-no" in capsys.readouterr().err


def test_the_weights_are_those_of_the_library() -> None:
    import torch

    system = system_of(other("splade"))
    questions = ["mur mitoyen", "Qui paie le mur, et quand faut-il le dire au voisin ?", "?"]  # padded
    ids = [system.ids("questions", question) for question in questions]
    with torch.no_grad():
        theirs = system.module(system.tokens.padded(ids, "cpu"))["sentence_embedding"]
        assert torch.equal(system.encode("questions", questions), theirs)
    assert (theirs > 0).any()


def test_an_inverted_index_gives_the_products_of_the_vectors() -> None:
    from training.neural.systems.splade import Weights

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


def test_the_terms_of_an_article_are_told_apart_from_those_that_the_model_adds() -> None:
    system = system_of(other("splade"))
    found = system.retriever(CORPUS)
    asked = [Question("q", "?", ("a7", "gone")), Question("r", "?", ("a7", "a3"))]
    terms = splade.expansions(system, found, CORPUS, asked)
    assert [one["article"] for one in terms] == ["a7", "a3", ARTICLES[0].id]
    has = set(system.tokens.tokenizer.tokenize(article_text(by_id("a7"), system.tokens.text)))
    first = terms[0]
    assert first["own"]
    assert first["added"]
    assert {term for term, _ in first["own"]} <= {*has, "[CLS]", "[SEP]"}
    assert not {term for term, _ in first["added"]} & has
    for kind in ("own", "added"):
        weights = [weight for _, weight in first[kind]]
        assert weights == sorted(weights, reverse=True)
        assert len(weights) <= splade.TERMS
    said = splade.expansion_lines([{"article": "x", "own": [["mur", 1.234]], "added": []}]).splitlines()
    assert said[1:] == ["  x, its own: mur 1.23", "      added: none"]
    assert splade.expansions(system_of(other("lsi")), found, CORPUS, asked) == []


def by_id(id_: str) -> Article:
    return next(article for article in ARTICLES if article.id == id_)


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

    from training.neural.systems.losses import flops

    assert float(flops(torch.tensor([[1.0, 0.0], [3.0, 2.0]]))) == 2.0**2 + 1.0**2
