"""Nearest vectors: ties, filters, approximate kinds, files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import faiss
import numpy as np
import pytest

from rag.errors import BadInput
from rag.retrieval.base import Mask
from rag.retrieval.dense import Dense, Int8Vectors, Kind, build_vectors
from rag.types import Article, ArticleOrder, Filter, Floats, Ranking
from tests.fakes.law.law import slow_rank

KINDS = get_args(Kind)


class ByName:
    """An encoder whose questions are the numbers of its vectors: "7" has vector 7."""

    name = "by name"

    def __init__(self, vectors: Floats) -> None:
        self.vectors = vectors

    @property
    def dim(self) -> int:
        return int(self.vectors.shape[1])

    def encode_questions(self, questions: Sequence[str]) -> Floats:
        return self.vectors[[int(q) for q in questions]]

    def encode_articles(self, articles: Sequence[Article]) -> Floats:
        return self.vectors[[int(a.id) for a in articles]]


def unit(vectors: np.ndarray[tuple[int, ...], np.dtype[np.floating]]) -> Floats:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def random_vectors(n: int, dim: int, seed: int = 0) -> Floats:
    return unit(np.random.default_rng(seed).standard_normal((n, dim)))


def dense(
    vectors: Floats, questions: Floats, kind: Kind = "flat", codes: Sequence[str] | None = None
) -> Dense:
    n = len(vectors)
    articles = [Article(str(i), codes[i] if codes else "code", str(i), "text") for i in range(n)]
    order = ArticleOrder.of([a.id for a in articles])
    return Dense(ByName(questions), build_vectors(vectors, kind), order, Mask(articles))


def ids(ranking: Ranking) -> list[str]:
    return [hit.article_id for hit in ranking]


def exactly(vectors: Floats, question: Floats, k: int, among: Sequence[int] | None = None) -> Ranking:
    positions = range(len(vectors)) if among is None else among
    scores = {str(p): float(vectors[p].astype(np.float64) @ question.astype(np.float64)) for p in positions}
    return slow_rank(scores, k)


def test_flat_is_exact() -> None:
    vectors, questions = random_vectors(3000, 24), random_vectors(12, 24, seed=1)
    found = dense(vectors, questions).search([str(i) for i in range(12)], 50)
    for ranking, question in zip(found, questions, strict=True):
        expected = exactly(vectors, question, 50)
        assert ids(ranking) == ids(expected)
        assert [h.score for h in ranking] == pytest.approx([h.score for h in expected], abs=2e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_every_article_has_a_score(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.retrieval.dense.BLOCK", 64)  # so that the last block is not full
    vectors = random_vectors(150, 16)
    system = dense(vectors, vectors[:1], kind)
    [ranking] = system.search(["0"], 150)
    scores = system.scores("0")
    assert (scores.shape, scores.dtype) == ((150,), np.float32)
    assert len(ranking) == 150
    assert all(hit.score == pytest.approx(float(scores[int(hit.article_id)]), abs=2e-5) for hit in ranking)


def test_a_question_without_a_known_word_scores_nothing() -> None:
    nothing = np.zeros((1, 16), dtype=np.float32)
    assert np.isneginf(dense(random_vectors(20, 16), nothing).scores("0")).all()


@pytest.mark.parametrize("kind", ["flat", "8bit"])
@pytest.mark.parametrize("k", [1, 10, 65, 300])
def test_ties_past_the_edge_are_complete_and_in_order(kind: Kind, k: int) -> None:
    vectors = random_vectors(1500, 16)
    alike = [i for i in range(1500) if i % 3 == 0]  # 500 articles with one vector
    vectors[alike] = vectors[0]
    [ranking] = dense(vectors, vectors[:1], kind).search(["0"], k)
    assert ids(ranking) == sorted(map(str, alike))[:k]


def test_the_graph_keeps_ties_in_order_though_it_may_miss_some() -> None:
    vectors = random_vectors(1500, 16)
    vectors[::3] = vectors[0]
    [ranking] = dense(vectors, vectors[:1], "hnsw").search(["0"], 300)
    assert ids(ranking) == sorted(ids(ranking))
    assert len(ranking) == 300
    assert all(int(i) % 3 == 0 for i in ids(ranking))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.0005, 0.01, 0.3, 0.95])
def test_filters_find_what_they_admit(kind: Kind, share: float) -> None:
    n, k = 4000, 20
    vectors, questions = random_vectors(n, 16), random_vectors(4, 16, seed=1)
    admitted = [i for i in range(n) if i % 1000 < share * 1000]
    codes = ["in" if i % 1000 < share * 1000 else "out" for i in range(n)]
    found = dense(vectors, questions, kind, codes).search(list("0123"), k, Filter(codes=frozenset({"in"})))
    for ranking, question in zip(found, questions, strict=True):
        expected = exactly(vectors, question, k, admitted)
        assert set(ids(ranking)) <= set(map(str, admitted))
        assert len(ranking) == len(expected)  # also where the graph hardly meets the few admitted
        overlap = len(set(ids(ranking)) & set(ids(expected))) / len(expected)
        assert overlap >= (1.0 if kind == "flat" else 0.85)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "recall"), [("hnsw", 0.95), ("8bit", 0.9)])
def test_approximate_kinds_find_nearly_all(kind: Kind, recall: float) -> None:
    vectors, questions = random_vectors(5000, 32), random_vectors(40, 32, seed=1)
    names = [str(i) for i in range(40)]
    exact = dense(vectors, questions).search(names, 10)
    approximate = dense(vectors, questions, kind).search(names, 10)
    shared = [len(set(ids(a)) & set(ids(b))) / 10 for a, b in zip(exact, approximate, strict=True)]
    assert np.mean(shared) >= recall


@pytest.mark.parametrize("kind", KINDS)
def test_what_one_question_needs_changes_no_other(kind: Kind) -> None:
    vectors = random_vectors(3000, 16)
    vectors[:400] = vectors[0]  # question 0 must look four times as deep
    service = dense(vectors, vectors[[0, 2001, 2002]], kind)
    assert service.search(list("012"), 5) == [r for q in "012" for r in service.search([q], 5)]
    where = Filter(codes=frozenset({"code"}))
    assert service.search(list("012"), 5, where) == service.search(list("012"), 5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_gives_the_same_and_stays_on_disk(kind: Kind, tmp_path: Path) -> None:
    vectors, questions = random_vectors(2000, 16), random_vectors(9, 16, seed=1)
    made = dense(vectors, questions, kind)
    made.save(tmp_path / "vectors.faiss")
    index = Dense.load_index(tmp_path / "vectors.faiss")
    opened = Dense(made.encoder, index, made.order, made.mask)
    names = [str(i) for i in range(9)]
    assert opened.search(names, 25) == made.search(names, 25)
    if sys.platform == "linux":
        assert str(tmp_path / "vectors.faiss") in Path("/proc/self/maps").read_text(encoding="utf-8")


@pytest.mark.parametrize("spread", [1.0, 1e-2, 1e-4, 0.0])
@pytest.mark.parametrize("k", [1, 10, 120])
def test_bytes_before_it_miss_nothing(spread: float, k: int, tmp_path: Path) -> None:
    """Also where vectors lie nearer together than a byte tells apart."""
    near = np.random.default_rng(2).standard_normal(16) + spread * np.random.default_rng(3).standard_normal(
        (4000, 16)
    )
    vectors, questions = unit(near), unit(np.random.default_rng(4).standard_normal((6, 16)))
    flat = dense(vectors, questions)
    Int8Vectors.of(vectors).save(tmp_path)
    int8 = Int8Vectors.load(tmp_path)
    assert int8 is not None
    assert 0 < int8.error < 0.02
    system = Dense(flat.encoder, flat.index, flat.order, flat.mask, int8)
    names = list("012345")
    assert system.search(names, k) == flat.search(names, k)
    assert [system.search([name], k)[0] for name in names] == flat.search(names, k)
    some = Filter(codes=frozenset({"code"}))
    assert system.search(names, k, some) == flat.search(names, k)


def test_no_bytes_are_no_fault(tmp_path: Path) -> None:
    assert Int8Vectors.load(tmp_path) is None
    assert Int8Vectors.of(np.zeros((0, 4), np.float32)).error == 0
    assert Int8Vectors.of(np.zeros((3, 4), np.float32)).error == 0


def test_eight_bits_take_a_quarter(tmp_path: Path) -> None:
    vectors, sizes = random_vectors(2000, 32), {}
    for kind in ("flat", "8bit"):
        faiss.write_index(build_vectors(vectors, kind), str(tmp_path / kind))
        sizes[kind] = (tmp_path / kind).stat().st_size
    assert sizes["8bit"] < 0.27 * sizes["flat"]


def test_no_article_and_no_known_word() -> None:
    nothing = np.zeros((0, 4), dtype=np.float32)
    for kind in KINDS:
        assert dense(nothing, random_vectors(1, 4), kind).search(["0"], 3) == [()]
    zeros = np.zeros((1, 4), dtype=np.float32)
    assert dense(random_vectors(5, 4), zeros).search(["0"], 3) == [()]


def test_a_kind_that_there_is_not() -> None:
    with pytest.raises(BadInput, match="flat, hnsw, 8bit"):
        build_vectors(random_vectors(2, 4), "ivf")  # type: ignore[arg-type]
