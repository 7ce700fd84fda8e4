"""Support scored by an encoder, and by a small cross-encoder for entailment in its usual format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from rag.answer.types import AcceptedSentence, Fault, Quote, RejectedSentence, Statement
from rag.answer.verification.gate import CitationGate, EncoderSupport, EntailmentSupport
from rag.errors import BadInput
from rag.types import Article, Floats
from tests.fakes.models import tiny_model


class Letters:
    """Counts letters: enough to be near to what is written the same."""

    name, dim = "letters", 26

    def encode_questions(self, questions: Sequence[str]) -> Floats:
        counts = np.array(
            [[q.lower().count(chr(97 + i)) for i in range(26)] for q in questions], dtype=np.float32
        )
        return counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)

    def encode_articles(self, articles: Sequence[Article]) -> Floats:
        return self.encode_questions([article.text for article in articles])


def test_the_cosine_of_claim_and_premise() -> None:
    support = EncoderSupport(Letters(), threshold=0.9)
    assert support.score("ab", "ba") == pytest.approx(1)
    assert support.score("aab", "c") == 0
    assert support.score("", "ab") == 0
    assert support.score("ab", "a") == pytest.approx(2**-0.5)


def test_the_gate_asks_an_encoder() -> None:
    law = Article("a", "Code", "1", "Le locataire doit payer le loyer.")
    true = Statement(law.text, ("a",), (Quote("a", law.text),))
    assert isinstance(CitationGate(EncoderSupport(Letters(), 0.99)).check(true, [law]), AcceptedSentence)
    found = CitationGate(EncoderSupport(Letters(), 1.01)).check(true, [law])
    assert isinstance(found, RejectedSentence)
    assert found.faults == (Fault.UNSUPPORTED,)


def _entailing(folder: Path, labels: Sequence[str]) -> Path:
    """Write a sequence classifier of random weights with these labels, as the hub holds them."""
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    bare = tiny_model.make(folder).parent / "bare"
    config = BertConfig.from_pretrained(bare)
    config.id2label = dict(enumerate(labels))
    config.label2id = {label: at for at, label in enumerate(labels)}
    config.num_labels = len(labels)
    BertForSequenceClassification(config).save_pretrained(folder / "nli")
    AutoTokenizer.from_pretrained(bare).save_pretrained(folder / "nli")
    assert (
        json.loads((folder / "nli" / "config.json").read_text(encoding="utf-8"))["id2label"]["0"] == labels[0]
    )
    return folder / "nli"


@pytest.mark.models
def test_entailment_is_a_probability(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="needs the extra [models]")
    support = EntailmentSupport(
        _entailing(tmp_path, ("contradiction", "entailment", "neutral")), 0.2, device="cpu"
    )
    score = support.score("le locataire paie", "le locataire paie le loyer au bailleur")
    assert 0 < score < 1
    assert score == support.score("le locataire paie", "le locataire paie le loyer au bailleur")
    law = Article("a", "Code", "1", "Le locataire doit payer le loyer.")
    true = Statement(law.text, ("a",), (Quote("a", law.text),))
    high = support.score(law.text, law.text)
    found = CitationGate(support).check(true, [law])
    assert isinstance(found, AcceptedSentence) is (high >= support.threshold)


@pytest.mark.models
def test_a_model_that_does_not_judge_entailment_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="needs the extra [models]")
    with pytest.raises(BadInput, match='one label "entailment"'):
        EntailmentSupport(_entailing(tmp_path, ("good", "bad")), device="cpu")
    with pytest.raises(BadInput, match="cannot be loaded"):
        EntailmentSupport(tmp_path / "nothing", device="cpu")
    with pytest.raises(BadInput, match="probability"):
        EntailmentSupport("any", 1.5)
