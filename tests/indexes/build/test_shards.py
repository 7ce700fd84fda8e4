"""A collection that is counted in shards: to the byte what one pass counts and weighs."""

from __future__ import annotations

from concurrent.futures.process import BrokenProcessPool
from itertools import pairwise
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.build import shards
from indexes.build.shards import count_articles, count_shard, encode_articles, merge
from indexes.corpus.corpus import read, to_learn_from
from indexes.store.paths import builtin
from rag.encoders.static import StaticEncoder
from rag.retrieval.bm25 import BM25Settings, CollectionStatistics, Variant, term_scores
from rag.retrieval.term_counts import FieldCounts
from rag.text.analysers import analyser
from rag.types import Article, Question

FR = analyser("fr")
WORDS = ("bail", "loyer", "voisin", "arbre", "clôture", "tribunal", "le")
TEXT = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
ARTICLE = st.tuples(TEXT, TEXT, st.sampled_from(WORDS))


def same(one: FieldCounts, other: FieldCounts) -> None:
    assert list(one.order.ids) == list(other.order.ids)
    assert list(one.vocabulary.items()) == list(other.vocabulary.items())
    assert list(one.fields) == list(other.fields)
    for name, counts in one.fields.items():
        for part in ("data", "indices", "indptr"):
            here, there = getattr(counts, part), getattr(other.fields[name], part)
            assert here.astype(np.float64).tobytes() == there.astype(np.float64).tobytes()


@given(
    st.lists(ARTICLE, min_size=1, max_size=12),
    st.lists(st.tuples(TEXT, TEXT, st.sets(st.integers(0, 14), max_size=3)), max_size=5),
    st.sets(st.integers(1, 11)),
    st.sampled_from(get_args(Variant)),
)
def test_any_split_gives_the_counts_and_weights_of_one_pass(
    law: list[tuple[str, str, str]], asked: list[tuple[str, str, set[int]]], cuts: set[int], variant: Variant
) -> None:
    articles = [
        Article(str(i), code, str(i), text, (headings,)) for i, (text, headings, code) in enumerate(law)
    ]
    learnt = [
        Question(str(i), text, tuple(map(str, gold)), answer=said)
        for i, (text, said, gold) in enumerate(asked)
    ]
    bounds = [0, *sorted(c for c in cuts if c < len(articles)), len(articles)]
    parts = [count_shard(articles[a:b], learnt, FR) for a, b in pairwise(bounds)]
    whole, settings = count_shard(articles, learnt, FR), BM25Settings(variant)

    same(merge(parts), whole)
    collection = CollectionStatistics.merge([CollectionStatistics.of(part, settings) for part in parts])
    expected = term_scores(whole, settings).toarray()
    for begin, part in zip(bounds, parts, strict=False):
        columns = [whole.vocabulary[term] for term in part.vocabulary]
        found = term_scores(part, settings, collection).toarray()
        assert found.tobytes() == expected[begin : begin + len(found), columns].tobytes()


@pytest.mark.slow
def test_shards_of_real_law_weigh_as_one_and_so_do_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "may_fork", lambda: True)
    corpus = read(builtin() / "corpus")
    learnt, articles, settings = to_learn_from(corpus.questions)[:300], corpus.articles[:600], BM25Settings()
    whole = count_shard(articles, learnt, FR)
    told: list[tuple[int, int]] = []
    same(count_articles(articles, learnt, FR, lambda _, done, of: told.append((done, of)), 2), whole)
    assert told[-1] == (600, 600)
    assert len(told) == 2 * shards.PIECES
    encoder = StaticEncoder.load(builtin() / "encoder", FR)
    told.clear()
    vectors = encode_articles(encoder, articles, lambda _, done, of: told.append((done, of)), 2)
    assert vectors.tobytes() == encoder.encode_articles(articles).tobytes()
    assert told == [(75 * n, 600) for n in range(1, 9)] + [(600, 600)]

    parts = [count_shard(articles[a:b], learnt, FR) for a, b in ((0, 1), (1, 77), (77, 600))]
    collection = CollectionStatistics.merge([CollectionStatistics.of(part, settings) for part in parts])
    expected = term_scores(whole, settings)
    weighed = [term_scores(part, settings, collection) for part in parts]
    assert b"".join(w.tocsr().data.tobytes() for w in weighed) == expected.tocsr().data.tobytes()


def test_where_a_process_is_ended_it_is_counted_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(*_: object) -> None:
        raise BrokenProcessPool("ended")

    monkeypatch.setattr(shards, "may_fork", lambda: True)
    monkeypatch.setattr(shards, "map_pieces", ended)
    articles = [Article(str(i), "code", "1", "un bail") for i in range(3)]
    same(count_articles(articles, [], FR, processes=2), count_shard(articles, [], FR))
    encoder = StaticEncoder.of("one", FR, {"bail": 0}, np.eye(1, 2, dtype=np.float32))
    assert encode_articles(encoder, articles, processes=2).tolist() == [[1, 0]] * 3
