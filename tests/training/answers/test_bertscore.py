"""BERTScore against its definition: with vectors by hand, and with a tiny model."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from rag.errors import BadInput
from tests.fakes.models import tiny_llama
from training.answers.bertscore import BERTScore, f1, idf


def test_greedy_matching_by_hand() -> None:
    answer = np.array([[1, 0], [0, 1]], dtype=np.float32)
    reference = np.array([[0.6, 0.8]], dtype=np.float32)
    half, one = np.full(2, 0.5, dtype=np.float32), np.ones(1, dtype=np.float32)
    # precision: mean of .6 and .8; recall: the best of both, .8
    assert f1(answer, reference, half, one) == pytest.approx(2 * 0.7 * 0.8 / 1.5)
    weighed = np.array([0.25, 0.75], dtype=np.float32)  # precision .75
    assert f1(answer, reference, weighed, one) == pytest.approx(2 * 0.75 * 0.8 / 1.55)
    assert f1(answer, reference[:0], half, one[:0]) == 0
    assert f1(answer, -answer, half, half) == pytest.approx(0)


def test_idf_is_smoothed_by_one() -> None:
    found = idf([[1, 1, 2], [1, 3]])
    assert found[1] == pytest.approx(math.log(3 / 3))
    assert found[2] == pytest.approx(math.log(3 / 2))
    assert found[9] == pytest.approx(math.log(3 / 1))  # in no reference


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("transformers", reason="the extra [models] is not installed")
    return str(tiny_llama.make(tmp_path_factory.mktemp("bertscore") / "tiny"))


@pytest.mark.models
def test_a_model_s_score_is_that_of_the_definition(model: str) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    texts = ("le bailleur donne la chose", "le locataire paie le loyer")
    tokenizer, net = AutoTokenizer.from_pretrained(model), AutoModel.from_pretrained(model).eval()
    vectors = []
    for text in texts:
        with torch.no_grad():
            states = net(**tokenizer(text, return_tensors="pt"), output_hidden_states=True)
        own = states.hidden_states[1][0][1:].numpy()  # without <s>
        vectors.append(own / np.linalg.norm(own, axis=1, keepdims=True))
    alike = vectors[0] @ vectors[1].T
    p, r = alike.max(1).mean(), alike.max(0).mean()
    score = BERTScore(model, layer=1)
    assert score([texts[0]], [texts[1]])[0] == pytest.approx(2 * p * r / (p + r), abs=1e-5)
    assert score.name == "tiny, layer 1"


@pytest.mark.models
def test_what_holds_of_every_model(model: str) -> None:
    score = BERTScore(model, idf=True)
    texts = ["le bail", "le loyer", ""]
    found = score(texts, ["le bail", "une chose donnée", "le bail"])
    assert found[0] == pytest.approx(1, abs=1e-5)
    assert 0 < found[1] < 1
    assert found[2] == 0
    long = "le loyer " * 2000  # more than the model reads
    assert 0 < score([long], ["le loyer"])[0] <= 1
    assert score.name == "tiny, layer -1, idf"


@pytest.mark.models
def test_a_model_that_is_none(model: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"layer 7: .* has layers 0 to 2"):
        BERTScore(model, layer=7)
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="cannot be loaded"):
        BERTScore(str(tmp_path / "empty"))
