"""The static encoder: sums of term vectors, bytes, files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.encoders.static import StaticEncoder
from rag.types import Article
from tests.fakes.law.law import SPLIT, WORDS

VECTORS = np.random.default_rng(1).standard_normal((len(WORDS), 12)).astype(np.float32)
ENCODER = StaticEncoder.of("test", SPLIT, {w: i for i, w in enumerate(WORDS)}, VECTORS)


def test_a_text_is_the_unit_length_sum_of_its_words() -> None:
    [vector] = ENCODER.encode_questions(["mur mur unheard arbre"])
    kept = ENCODER.codes.astype(np.float64) * ENCODER.scales[:, None]
    total = 2 * kept[WORDS.index("mur")] + kept[WORDS.index("arbre")]
    assert vector == pytest.approx(total / np.linalg.norm(total), abs=1e-6)


def test_an_article_is_its_code_headings_and_text() -> None:
    article = Article("1", "bail", "1", "mur voisin", ("dette", "enfant"))
    [vector] = ENCODER.encode_articles([article])
    assert vector == pytest.approx(ENCODER.encode_questions(["bail dette enfant mur voisin"])[0], abs=1e-6)


def test_no_known_word_gives_zeros() -> None:
    vectors = ENCODER.encode_questions(["", "unheard", "mur"])
    assert (vectors[:2] == 0).all()
    assert np.linalg.norm(vectors[2]) == pytest.approx(1, abs=1e-6)
    assert ENCODER.encode_questions([]).shape == (0, 12)
    assert vectors.dtype == np.float32


def test_bytes_err_by_half_a_step() -> None:
    kept = ENCODER.codes * ENCODER.scales[:, None]
    assert (np.abs(kept - VECTORS) <= np.abs(VECTORS).max(axis=1, keepdims=True) / 254 + 1e-6).all()


def test_a_term_of_zeros_stays_zeros() -> None:
    silent = StaticEncoder.of("silent", SPLIT, {"mur": 0}, np.zeros((1, 4), dtype=np.float32))
    assert (silent.encode_questions(["mur"]) == 0).all()


@given(st.lists(st.lists(st.sampled_from([*WORDS, "unheard"]), max_size=30).map(" ".join), max_size=8))
def test_a_vector_does_not_depend_on_its_batch(texts: list[str]) -> None:
    together = ENCODER.encode_questions(texts)
    for text, vector in zip(texts, together, strict=True):
        assert ENCODER.encode_questions([text])[0] == pytest.approx(vector, abs=1e-6)


def test_on_disk_it_is_the_same_and_memory_mapped(tmp_path: Path) -> None:
    ENCODER.save(tmp_path / "encoder")
    opened = StaticEncoder.load(tmp_path / "encoder", SPLIT)
    assert isinstance(opened.codes.base, np.memmap)
    assert (opened.name, opened.dim, opened.vocabulary) == (ENCODER.name, ENCODER.dim, ENCODER.vocabulary)
    questions = ["mur arbre", "dette", ""]
    assert (opened.encode_questions(questions) == ENCODER.encode_questions(questions)).all()
