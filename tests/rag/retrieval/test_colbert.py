"""Late interaction: the sum of the best cosines, over vectors on disk, of candidates that are proposed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.errors import DamagedIndex
from rag.retrieval.base import Mask
from rag.retrieval.colbert import ColBERT
from rag.retrieval.token_index import BLOCK, EncodedText, Neighbourhoods, TokenSearch, TokenVectors, max_sim
from rag.types import ArticleOrder, Filter
from tests.fakes.law.law import law


def unit(angle: float) -> list[float]:
    return [np.cos(np.radians(angle)), np.sin(np.radians(angle))]


def of(*angles: float) -> EncodedText:
    vectors = np.array([unit(a) for a in angles], dtype=np.float32).reshape(len(angles), 2)
    return EncodedText(vectors, np.array([int(a) for a in angles], dtype=np.int64))


class Angles:
    """A question is written as angles in the plane."""

    def encode_questions(self, questions: Sequence[str]) -> list[EncodedText]:
        return [of(*map(float, q.split())) for q in questions]


def colbert(folder: Path, *articles: EncodedText) -> ColBERT:
    order = ArticleOrder.of([f"a{n}" for n in range(len(articles))])
    return ColBERT(Angles(), TokenVectors.write(folder, 2, [articles]), order, Mask(law()[: len(articles)]))


def test_each_token_of_the_question_finds_its_best_one(tmp_path: Path) -> None:
    found = colbert(tmp_path, of(0, 90), of(60), of(180, 240), of())
    [ranking] = found.search(["0 60"], 10)
    assert [hit.article_id for hit in ranking] == ["a0", "a1", "a2"]  # one without tokens is not found
    assert ranking[0].score == pytest.approx(1 + np.cos(np.radians(30)), abs=1e-3)  # 0° by 0°, 60° by 90°
    assert ranking[1].score == pytest.approx(0.5 + 1, abs=1e-3)
    assert ranking[2].score == pytest.approx(-0.5 - 0.5, abs=1e-3)  # 0° by 240°, 60° by 180°
    assert found.search(["", "0"], 0) == [(), ()]
    scores = found.scores("0 60")
    assert scores[:3] == pytest.approx([1 + np.cos(np.radians(30)), 1.5, -1], abs=1e-3)
    assert np.isneginf(scores[3])
    assert np.isneginf(found.scores("")).all()


@settings(max_examples=30, deadline=None)
@given(counts=st.lists(st.integers(0, 6), max_size=12), asked=st.integers(1, 5), seed=st.integers(0, 99))
def test_max_sim_is_that_of_the_formula(
    tmp_path_factory: pytest.TempPathFactory, counts: list[int], asked: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    texts = [EncodedText(rng.normal(size=(n, 4)).astype(np.float32), np.arange(n)) for n in counts]
    made = TokenVectors.write(tmp_path_factory.mktemp("vectors"), 4, [texts])
    assert made.counts.tolist() == counts
    question = rng.normal(size=(asked, 4))
    held = np.flatnonzero(made.counts)
    drawn = rng.permutation(held)[: len(held) // 2 + 1]  # in any order, with gaps
    for positions in (held, drawn):
        halves = [texts[p].vectors.astype(np.float16).astype(np.float64) for p in positions]
        wanted = [(question @ own.T).max(axis=1).sum() for own in halves]
        np.testing.assert_allclose(max_sim(question, made, positions), wanted, rtol=1e-12, atol=1e-12)


def test_a_long_corpus_is_compared_piece_by_piece(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    long = BLOCK + 5  # longer than a piece: by itself
    texts = [
        EncodedText(rng.normal(size=(n, 2)).astype(np.float32), np.zeros(n, np.int64))
        for n in (3, long, 9, BLOCK)
    ]
    made = TokenVectors.write(tmp_path, 2, [texts[:1], texts[1:]])
    pieces = [list(range(s.start, s.stop)) for s in made.blocks(np.arange(4))]
    assert pieces == [[0], [1], [2], [3]]
    assert [list(range(s.start, s.stop)) for s in made.blocks(np.array([0, 2]))] == [[0, 1]]
    asked = np.array([[1.0, 0.0]])
    tops = [float(t.vectors[:, 0].astype(np.float16).max()) for t in texts]
    np.testing.assert_allclose(max_sim(asked, made, np.arange(4)), tops)
    assert made.nbytes == sum((tmp_path / name).stat().st_size for name in ("vectors.f16", "tokens.i32")) + 40


def test_vectors_are_read_as_they_were_written_or_refused(tmp_path: Path) -> None:
    written = TokenVectors.write(tmp_path, 2, [[of(10, 20)], [of(), of(30)]])
    read = TokenVectors.load(tmp_path)
    assert isinstance(read.vectors, np.memmap)
    assert read.vectors.dtype == np.float16
    assert read.tokens.tolist() == written.tokens.tolist() == [10, 20, 30]
    assert read.offsets.tolist() == [0, 2, 2, 3]
    (tmp_path / "tokens.i32").write_bytes(b"1234")
    with pytest.raises(DamagedIndex, match=r"tokens.i32 is not as it was written: encode"):
        TokenVectors.load(tmp_path)
    (tmp_path / "offsets.npy").unlink()
    with pytest.raises(DamagedIndex, match="holds no token vectors"):
        TokenVectors.load(tmp_path)
    assert TokenVectors.write(tmp_path, 2, [[of(), of()]]).counts.tolist() == [0, 0]


def test_neighbourhoods_propose_what_is_near_and_a_filter_comes_first(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    spread = rng.normal(size=(300, 16))  # 300 articles of four tokens about a direction of their own
    texts = []
    for own in spread:
        vectors = own + 0.2 * rng.normal(size=(4, 16))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        texts.append(EncodedText(vectors.astype(np.float32), np.zeros(4, dtype=np.int64)))
    vectors = TokenVectors.write(tmp_path, 16, [texts])
    order = ArticleOrder.of([str(n) for n in range(300)])
    articles = [law()[0 if n % 2 else 6] for n in range(300)]  # civil, rural, civil ...
    near = Neighbourhoods.build(vectors)
    assert len(near.centres) == round(4 * np.sqrt(1200))
    assert Neighbourhoods.build(vectors).listed.tolist() == near.listed.tolist()  # the same every time
    near.save(tmp_path)  # beside the vectors, which it leaves alone
    assert TokenVectors.load(tmp_path).offsets.tolist() == vectors.offsets.tolist()
    search = TokenSearch(Neighbourhoods.load(tmp_path), order, Mask(articles))
    where, hit = Filter(codes=frozenset({"rural"})), 0
    for n in range(0, 300, 10):
        asked = texts[n].vectors
        found = search("", asked, 20, None)
        assert len(found) <= 20
        best = int(max_sim(asked, vectors, np.arange(300)).argmax())
        hit += best in found.tolist()
        some = search("", asked, 20, where).tolist()
        assert n in some
        assert all(position % 2 == 0 for position in some)
    assert hit == 30
    assert search("", texts[0].vectors, 0, None).size == 0
    empty = Neighbourhoods.build(TokenVectors.write(tmp_path, 16, [[of()]]))
    assert TokenSearch(empty, ArticleOrder.of(["a"]), Mask(articles[:1]))("", asked, 5, None).size == 0
