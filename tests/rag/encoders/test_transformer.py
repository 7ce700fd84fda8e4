"""Pretrained encoders, on a tiny model made here: by path, through a hub's wire, and refused."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from rag.encoders.transformer import TransformerEncoder, load_model
from rag.errors import BadInput, MissingExtra
from rag.retrieval.base import Mask
from rag.retrieval.dense import Dense, build_vectors
from rag.types import Article, ArticleOrder, Floats
from tests.fakes.models import tiny_model
from tests.fakes.models.hub import COMMIT, hub

LONG = Article("long", "code civil", "1", " ".join(tiny_model.SENTENCES * 12), ("du louage", "des baux"))
SHORT = Article("short", "code civil", "2", "les arbres du voisin")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    pytest.importorskip("sentence_transformers")
    return tiny_model.make(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def encoder(folder: Path) -> TransformerEncoder:
    return TransformerEncoder(folder, device="cpu")


def unit(vector: np.ndarray[tuple[int, ...], np.dtype[np.floating]]) -> Floats:
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def tokens(encoder: TransformerEncoder, text: str) -> list[int]:
    return list(encoder.model.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])


def whole(article: Article) -> str:
    return " ".join((article.code, *article.headings, article.text))


@pytest.mark.models
def test_a_model_is_loaded_by_its_folder(encoder: TransformerEncoder, folder: Path) -> None:
    assert (encoder.name, encoder.dim) == ("tiny", 32)
    assert len(encoder.sha256) == 64
    assert encoder.sha256 == TransformerEncoder(folder, device="cpu").sha256
    [vector] = encoder.encode_questions(["le loyer"])
    assert vector == pytest.approx(unit(encoder.model.encode("le loyer")), abs=1e-6)
    assert vector.dtype == np.float32


@pytest.mark.models
def test_chunks_cover_every_token_and_overlap(encoder: TransformerEncoder) -> None:
    text = whole(LONG)
    spans = encoder.model.tokenizer(
        text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
    )
    places = spans["offset_mapping"]
    assert len(places) > 600
    starts = [at for at in range(0, len(places), 180) if at == 0 or at + 20 < len(places)]
    pieces = [places[at : at + 200] for at in starts]
    assert {place for piece in pieces for place in piece} == set(places)  # every token is in a chunk
    assert [len(set(a) & set(b)) for a, b in pairwise(pieces)] == [20] * (len(pieces) - 1)
    assert encoder._chunks(text) == [text[piece[0][0] : piece[-1][1]] for piece in pieces]


@pytest.mark.models
@pytest.mark.parametrize(("n", "chunks"), [(1, 1), (8, 1), (9, 2), (14, 2), (15, 3), (20, 3), (21, 4)])
def test_no_chunk_of_overlap_alone(folder: Path, n: int, chunks: int) -> None:
    encoder = TransformerEncoder(folder, chunk=8, overlap=2, device="cpu")
    text = " ".join(["bail"] * n)
    assert len(tokens(encoder, text)) == n
    found = encoder._chunks(text)
    assert len(found) == chunks
    assert sum(len(c.split()) for c in found) == n + 2 * (chunks - 1)


@pytest.mark.models
def test_an_article_is_the_mean_of_its_chunks(encoder: TransformerEncoder) -> None:
    vectors = encoder.encode_articles([SHORT, LONG, SHORT])
    expected = unit(np.mean([unit(encoder.model.encode(c)) for c in encoder._chunks(whole(LONG))], axis=0))
    assert len(encoder._chunks(whole(LONG))) > 3
    assert vectors[1] == pytest.approx(expected, abs=1e-5)
    assert vectors[0] == pytest.approx(unit(encoder.model.encode(whole(SHORT))), abs=1e-5)
    assert vectors[2] == pytest.approx(vectors[0], abs=1e-6)
    assert encoder.encode_articles([]).shape == (0, 32)


@pytest.mark.models
def test_prompts_are_put_in_front(folder: Path, encoder: TransformerEncoder) -> None:
    asked = TransformerEncoder(folder, question_prompt="query: ", passage_prompt="passage: ", device="cpu")
    [question] = asked.encode_questions(["le loyer"])
    assert question == pytest.approx(encoder.encode_questions(["query: le loyer"])[0], abs=1e-5)
    assert question != pytest.approx(encoder.encode_questions(["le loyer"])[0], abs=1e-3)
    [article] = asked.encode_articles([SHORT])
    assert article == pytest.approx(unit(encoder.model.encode("passage: " + whole(SHORT))), abs=1e-5)
    long = [unit(encoder.model.encode("passage: " + c)) for c in asked._chunks(whole(LONG))]
    assert asked.encode_articles([LONG])[0] == pytest.approx(unit(np.mean(long, axis=0)), abs=1e-5)


@pytest.mark.models
def test_a_prompt_of_the_model_s_own_is_not_added(folder: Path, encoder: TransformerEncoder) -> None:
    prompted = TransformerEncoder(folder, device="cpu")
    prompted.model.prompts, prompted.model.default_prompt_name = {"query": "passage: "}, "query"
    assert (prompted.encode_questions(["le loyer"]) == encoder.encode_questions(["le loyer"])).all()


@pytest.mark.models
def test_a_model_that_reads_less_than_a_chunk_gets_smaller_ones(folder: Path, tmp_path: Path) -> None:
    short = tiny_model.make(tmp_path, max_tokens=64)
    encoder = TransformerEncoder(short, passage_prompt="passage: ", device="cpu")
    prompt = len(tokens(encoder, "passage: "))
    assert encoder.chunk == 64 - 2 - prompt
    words = " ".join(["bail"] * 200)
    chunks = encoder._chunks(words)
    assert all(len(tokens(encoder, "passage: " + c)) <= 62 for c in chunks)
    assert sum(len(c.split()) for c in chunks) - encoder.overlap * (len(chunks) - 1) == 200
    with pytest.raises(BadInput, match="overlap below"):
        TransformerEncoder(short, chunk=300, overlap=100, device="cpu")


@pytest.mark.models
def test_without_chunks_an_article_is_one_piece(folder: Path) -> None:
    encoder = TransformerEncoder(folder, chunk=0, device="cpu")
    assert encoder._chunks(whole(LONG)) == [whole(LONG)]
    assert encoder.encode_articles([SHORT]).shape == (1, 32)


@pytest.mark.models
def test_strange_questions(encoder: TransformerEncoder) -> None:
    vectors = encoder.encode_questions(
        ["", " \n\t", "\u3000", "\ud800 loyer", "🏠", "\x00\x07", "mot " * 10_000]
    )
    assert (vectors[:3] == 0).all()
    assert np.linalg.norm(vectors[3:], axis=1) == pytest.approx(np.ones(4), abs=1e-5)
    assert encoder.encode_questions([]).shape == (0, 32)
    assert np.isfinite(encoder.encode_articles([Article("x", "", "", "\ud800 loyer")])).all()


@pytest.mark.models
def test_it_ranks(encoder: TransformerEncoder) -> None:
    articles = [Article(str(i), "", str(i), text) for i, text in enumerate(tiny_model.SENTENCES)]
    index = build_vectors(encoder.encode_articles(articles))
    dense = Dense(encoder, index, ArticleOrder.of([a.id for a in articles]), Mask(articles))
    questions = [a.text for a in articles]
    together = dense.search(questions, 5)
    assert [ranking[0].article_id for ranking in together] == list("01234")
    alone = [dense.search([q], 5)[0] for q in questions]  # shorter batches are padded less
    assert [[h.article_id for h in r] for r in alone] == [[h.article_id for h in r] for r in together]


@pytest.mark.models
@pytest.mark.parametrize("name", ["no/such/folder", "{tmp}"])
def test_what_is_no_model(name: str, tmp_path: Path, folder: Path) -> None:
    with pytest.raises(BadInput, match="give a folder that holds a model, or a hub id"):
        TransformerEncoder(name.format(tmp=tmp_path), device="cpu")


@pytest.mark.parametrize(("chunk", "overlap"), [(-1, 0), (200, 200), (200, -1), (10, 20)])
def test_chunks_that_make_no_sense(chunk: int, overlap: int) -> None:
    with pytest.raises(BadInput, match="overlap"):
        TransformerEncoder("any", chunk=chunk, overlap=overlap)


def test_without_the_packages_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[models\]'"):
        TransformerEncoder("any/model")


@pytest.mark.slow
@pytest.mark.models
def test_a_model_is_loaded_from_a_hub(encoder: TransformerEncoder, folder: Path, tmp_path: Path) -> None:
    script = """
import json, sys
from indexes.build.encoder_choice import pretrained
from rag.encoders import model_recipes
from rag.encoders.transformer import TransformerEncoder
from rag.errors import BadInput
made = TransformerEncoder("test/tiny", device="cpu")
try:
    TransformerEncoder("test/absent", device="cpu")
    refused = ""
except BadInput as error:
    refused = str(error)
vectors = made.encode_questions(["le loyer"]).tolist()
first = model_recipes.load(model_recipes.find_recipe("test/tiny", pooling="cls"), device="cpu")
told = {"name": made.name, "sha256": made.sha256, "vectors": vectors, "refused": refused}
told["revision"] = made.revision
given = pretrained("test/tiny", {"device": "cpu"}).entry["options"]
told |= {"recorded": given, "again": TransformerEncoder(**given).revision}
told |= {"first": first.encode_questions(["le loyer"]).tolist(), "named": first.name}
json.dump(told, sys.stdout)
"""
    with hub({"test/tiny": folder}) as running:
        done = running.run(script, tmp_path)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["name"], said["sha256"]) == ("test/tiny", encoder.sha256)
    assert said["vectors"][0] == pytest.approx(encoder.encode_questions(["le loyer"])[0].tolist(), abs=1e-5)
    pooled = TransformerEncoder(load_model(folder, pooling="cls", device="cpu"))
    assert said["first"][0] == pytest.approx(pooled.encode_questions(["le loyer"])[0].tolist(), abs=1e-5)
    assert said["named"] == "tiny"
    assert said["revision"] == said["again"] == COMMIT
    assert said["recorded"] == {"model": "test/tiny", "device": "cpu", "revision": COMMIT}
    assert encoder.revision is None  # of a folder
    assert "test/absent" in said["refused"]
    assert "a connection to the hub" in said["refused"]
