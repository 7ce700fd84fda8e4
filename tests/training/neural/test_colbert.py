"""ColBERT: its loss by hand, what counts of a text, and the published format beside our own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag.encoders.late_interaction import LateInteractionEncoder, late_kind, load_late
from rag.errors import BadInput
from rag.retrieval.token_index import EncodedText
from rag.types import Article
from tests.fakes.models.neural import NEEDS_TORCH, TINY, batch_of, here, scratch, system_of, task_of
from tests.fakes.models.stanford_model import stanford
from tests.fakes.ranking.benchmark import ARTICLES, CORPUS
from training.neural.data.batches import TrainingBatch
from training.neural.recipe.recipe import parse_recipe
from training.neural.recipe.settings import Recipe
from training.neural.systems.colbert import ColBERTSystem, pairs, punctuation

pytestmark = NEEDS_TORCH

TEXT = {"question_tokens": 12, "article_tokens": 20}


def of_colbert(**loss: object) -> Recipe:
    model = {**TINY["model"], **scratch(dropout=0.0)}
    return parse_recipe(
        {**TINY, "system": "colbert", "text": TEXT, "model": model, "loss": {"dim": 8, **loss}}
    )


def read(encoder: LateInteractionEncoder, encoded: EncodedText) -> list[str]:
    """The tokens of a text as a person reads them: without the marks of word pieces."""
    return [
        token.removeprefix("##") for token in encoder.model.tokenizer.convert_ids_to_tokens(encoded.tokens)
    ]


def test_the_loss_is_that_of_the_formula() -> None:
    import torch

    questions, articles = CORPUS.questions[:2], ARTICLES[:3]
    counted = np.array([[True, True, True], [True, True, False]])  # the third is gold for the second
    batch = TrainingBatch(0, 0.0, questions, articles, np.array([0, 1]), counted, ((2,), (2, 0)))
    pair, others = pairs(batch)
    assert pair.tolist() == [[True, False, True], [True, True, False]]
    assert others.tolist() == [[True, True, False], [False, True, False]]

    def of(*vectors: tuple[float, float]) -> list[tuple[float, float]]:
        return [*vectors, *[(0.0, 0.0)] * (3 - len(vectors))]  # zeros: no token

    asked = torch.tensor([of((1, 0), (0, 1)), of((0, 1))])
    told = torch.tensor([of((1, 0)), of((0, 1), (-1, 0)), of((-1, 0))])
    # MaxSim: 1 + 0, 0 + 1, -1 + 0 of the first question; 0, 1, 0 of the second, which has one token
    system = system_of(of_colbert(temperature=0.5))
    losses = {
        name: float(value)
        for name, value in system.loss({"questions": asked, "articles": told}, batch).items()
    }
    drawn = [np.log(1 + np.exp((-1 - 1) / 0.5)), np.log(1 + np.exp((0 - 1) / 0.5))]
    assert losses["pairs"] == pytest.approx(np.mean(drawn), rel=1e-5)
    assert losses["in batch"] == pytest.approx(np.mean([np.log(1 + np.exp(0)), 0.0]), rel=1e-5)
    assert losses["loss"] == pytest.approx(losses["pairs"] + losses["in batch"], rel=1e-6)


def test_without_drawn_negatives_those_of_the_batch_are_left() -> None:
    of = replace(of_colbert(), negatives=replace(of_colbert().negatives, per_question=0))
    batch = batch_of(of)
    system = system_of(of)
    encoded = {part: system.encode(part, items) for part, items in system.parts(batch).items()}
    losses = system.loss(encoded, batch)
    assert float(losses["pairs"].detach()) == 0
    assert float(losses["loss"].detach()) == float(losses["in batch"].detach()) > 0


def test_questions_are_filled_up_and_punctuation_of_articles_does_not_count() -> None:
    system = system_of(of_colbert())
    encoder = LateInteractionEncoder(system.module)
    article = Article("x", "", "1", "Le mur, « mitoyen ».")
    [told], [asked] = encoder.encode_articles([article]), encoder.encode_questions(["Le mur ?"])
    assert read(encoder, told)[:2] == ["[CLS]", "[D]"]
    assert not set(",.«»") & set(read(encoder, told))
    said = read(encoder, asked)
    assert len(said) == 12
    assert said[:2] == ["[CLS]", "[Q]"]
    assert "?" in said
    assert said[-4:] == ["[MASK]"] * 4
    np.testing.assert_allclose(np.linalg.norm(told.vectors, axis=1), 1, rtol=1e-5)
    blank, cut = encoder.encode_questions([" ", "mur " * 99])
    assert (len(blank.tokens), len(cut.tokens)) == (0, 12)
    assert read(encoder, cut)[-1] == "[SEP]"
    marks = punctuation(
        {"a": 0, ".": 1, "▁«": 2, "##-": 3, "▁": 4, "[D]": 5, "。": 6, "Ġ...": 7, "l'": 8, "": 9}
    )
    assert marks == ["##-", ".", "Ġ...", "▁«", "。"]


def test_training_sees_the_vectors_that_are_searched(tmp_path: Path) -> None:
    """And those that the library itself finds with what was saved."""
    import torch
    from sentence_transformers import MultiVectorEncoder

    from training.neural.systems.registry import load

    of = of_colbert(attend=True)
    system = system_of(of)
    system.save(tmp_path / "model")
    read = load(of, tmp_path / "model")
    library = MultiVectorEncoder(str(tmp_path / "model"), device="cpu")
    found = system.retriever(CORPUS)
    question, article = "à qui est le mur ?", ARTICLES[1]
    system.module.eval()
    with torch.inference_mode():
        own = system.encode("questions", [question, "mur"])[0].numpy()
        told = system.encode("articles", [article, ARTICLES[0]])[0].numpy()
    assert (own.shape, told.shape) == ((12, 8), (20, 8))
    told = told[told.any(axis=1)]
    for model in (read.module, library):
        np.testing.assert_allclose(own, model.encode_query(question, convert_to_numpy=True), atol=1e-5)
    np.testing.assert_allclose(own, found.encoded(question).vectors, atol=1e-5)
    begin, end = found.articles.offsets[1:3]
    np.testing.assert_allclose(told, found.articles.vectors[begin:end], atol=1e-3)  # of half precision
    asked = [question, "mur", ""]
    assert read.retriever(CORPUS).search(asked, 5) == found.search(asked, 5)
    system.module.train()
    found.search(["autre question"], 1)
    assert system.module.training  # dropout is not lost by a look


def test_processes_begin_with_the_same_weights(tmp_path: Path) -> None:
    from training.neural.run import prepared

    task = task_of(of_colbert())
    first, other = (
        prepared(task, here(), tmp_path / "scratch") for _ in range(2)
    )  # one made it, one found it
    for a, b in zip(first.module.parameters(), other.module.parameters(), strict=True):
        np.testing.assert_array_equal(a.detach().numpy(), b.detach().numpy())
    said: Any = first.module[0].model.embeddings
    parts = (said.word_embeddings, said.position_embeddings)
    words, places = (float(part.weight.detach().std()) for part in parts)
    assert places == pytest.approx(words / 10, rel=0.2)  # else the best match is the one at the same place


def test_tokens_propose_candidates_where_the_recipe_says_so() -> None:
    exact, proposing = (system_of(of_colbert(candidates=n)).retriever(CORPUS) for n in (0, 20))
    assert proposing.nbytes > exact.nbytes == exact.articles.nbytes
    [wanted], [found] = exact.search(["le mur mitoyen"], 3), proposing.search(["le mur mitoyen"], 3)
    assert found[0] == wanted[0]


def test_a_published_model_is_read(tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file

    folder = stanford(tmp_path / "published")
    assert late_kind(folder) == "stanford"
    model = load_late(folder, device="cpu")
    encoder = LateInteractionEncoder(model)
    [asked] = encoder.encode_questions(["le mur"])
    said = model.tokenizer.convert_ids_to_tokens(asked.tokens.tolist())
    # the vocabulary has no [unused0], and Stanford's code takes the number that it then gets
    assert said[:2] == ["[CLS]", "[UNK]"]
    assert said[-2:] == ["[MASK]"] * 2
    assert len(said) == 10
    # by hand: the transformer sees the [MASK]s nowhere, the linear layer maps all, each to length 1
    plain: Any = model[0].model
    ids = torch.from_numpy(asked.tokens)[None]
    seen = (ids != model.tokenizer.mask_token_id).long()
    with torch.inference_mode():
        hidden = plain(input_ids=ids, attention_mask=seen).last_hidden_state[0]
        wanted = hidden @ load_file(folder / "model.safetensors")["linear.weight"].T
    unit = (wanted / wanted.norm(dim=1, keepdim=True)).numpy()
    np.testing.assert_allclose(asked.vectors, unit, atol=1e-5)
    [told] = encoder.encode_articles([Article("x", "", "1", "Le mur, mitoyen.")])
    pieces = model.tokenizer.convert_ids_to_tokens(told.tokens.tolist())
    assert "." in model.tokenizer.get_vocab()
    assert "." not in pieces
    assert "mur" in "".join(pieces)
    short = LateInteractionEncoder(load_late(folder, device="cpu", question_window=6, window=8))
    assert len(short.encode_questions(["le mur mitoyen du voisin"])[0].tokens) == 6
    assert len(short.encode_articles([ARTICLES[0]])[0].tokens) <= 8
    for elsewhere in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(BadInput, match="is no late-interaction encoder"):
            load_late(elsewhere)


def test_training_goes_on_from_a_published_model(tmp_path: Path) -> None:
    from safetensors.torch import load_file

    folder = stanford(tmp_path / "published")
    of = of_colbert()
    system = ColBERTSystem.build(of, str(folder))
    linear = system.module[1].linear.weight.detach().numpy()
    np.testing.assert_array_equal(linear, load_file(folder / "model.safetensors")["linear.weight"].numpy())
    assert [len(system.encode(part, items)[0]) for part, items in system.parts(batch_of(of)).items()] == [
        12,
        20,
    ]
    with pytest.raises(BadInput, match=r"vectors of 8 numbers a token, \[loss\] dim is 16: --set loss.dim=8"):
        ColBERTSystem.build(of_colbert(dim=16), str(folder))
