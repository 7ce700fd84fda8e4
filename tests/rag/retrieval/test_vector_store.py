"""What a store proposes is ranked as it is without one, to the last digit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.dense import Dense, Kind, build_vectors
from rag.retrieval.query_expansion import ExpandedBM25, LawWords
from rag.retrieval.term_counts import count
from rag.retrieval.translation_model import Pair, TranslationModel
from rag.retrieval.vector_store import StoredBM25, StoredDense, StoredExpandedBM25, dimension
from rag.types import Doubles, Filter, Floats, Ints, Question
from tests.fakes.law.law import SPLIT, law, random_encoder
from tests.fakes.ranking.features import CUT, LAW, asked, evidence_of
from tests.fakes.ranking.features import QUESTIONS as ANNOTATED
from tests.fakes.ranking.stores import fill, store

QUESTIONS = ["bail loyer", "mur mur arbre voisin", "dette enfant clause3", "bail", "mariage", "nothing known"]


@pytest.mark.parametrize("stale", [0.7, 1.0, 1.4])
@pytest.mark.parametrize("sections", [False, True])
def test_words_are_ranked_as_without_a_store(tmp_path: Path, stale: float, sections: bool) -> None:
    counts, mask = count(law(), SPLIT), Mask(law())
    counts = counts.with_questions([Question("q", "propriétaire loyer", ("9", "e"))], SPLIT.terms)
    numbers = np.array([len(a.headings) for a in law()], dtype=np.int64)
    keyword = BM25.build(counts, BM25Settings(), mask, SPLIT, (lambda: numbers) if sections else None)
    pairs = {"mur": (Pair("mur", "arbre", 0.5),), "bail": (Pair("bail", "dette", 0.4),)}
    model = TranslationModel(pairs)
    words = LawWords.of(counts, BM25Settings(), model.law_terms)
    candidates = fill(store("edge", tmp_path), keyword, counts, model.law_terms, stale=stale)
    stored = StoredBM25(keyword, candidates, "lucene")
    for k in (1, 4, 100):
        assert stored.search(QUESTIONS, k) == keyword.search(QUESTIONS, k)
        expanded = StoredExpandedBM25(stored, model, words), ExpandedBM25(keyword, model, words)
        one, other = (of.search(QUESTIONS, k) for of in expanded)
        assert one == other
        one, other = (of.leaving_out(frozenset({("mur", "arbre")})).search(QUESTIONS, k) for of in expanded)
        assert one == other


@pytest.mark.parametrize("kind", ["flat", "hnsw", "8bit"])
def test_vectors_are_ranked_as_without_a_store(tmp_path: Path, kind: Kind) -> None:
    counts, encoder = count(law(), SPLIT), random_encoder(SPLIT, law())
    keyword = BM25.build(counts, BM25Settings(), Mask(law()), SPLIT)
    dense = Dense(encoder, build_vectors(encoder.encode_articles(law()), kind), counts.order, keyword.mask)
    stored = StoredDense(dense, fill(store("edge", tmp_path), keyword, counts, dense=dense))
    for k in (1, 4, 100):
        assert stored.search(QUESTIONS, k) == dense.search(QUESTIONS, k)


@dataclass
class Poor:
    """Proposes by sums that are off by as much as it says, the worst articles first among those alike."""

    sums: Doubles
    drift: float
    asked: list[int] = field(default_factory=list)

    def by_terms(self, weights: Mapping[int, float], n: int, where: Filter | None) -> tuple[Ints, Doubles]:
        self.asked.append(n)
        order = np.argsort(-self.sums, kind="stable")[:n]
        return order, self.sums[order]

    def by_vector(self, vector: Floats, n: int, where: Filter | None, *, exact: bool) -> tuple[Ints, Doubles]:
        raise NotImplementedError


def test_more_is_proposed_until_nothing_better_can_be_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.retrieval.vector_store.SPARE", 2)
    counts = count(law(), SPLIT)
    keyword = BM25.build(counts, BM25Settings(), Mask(law()), SPLIT)
    scores = np.maximum(keyword.scores("mur"), 0).astype(np.float64)
    best = keyword.search(["mur"], 1)[0].positions[0]
    worse = scores.copy()
    worse[best] *= math.exp(-2)  # as if a store undervalued the best one
    poor = Poor(worse, 2.0)
    assert StoredBM25(keyword, poor, "lucene").search(["mur"], 1) == keyword.search(["mur"], 1)
    assert poor.asked == [3, 12, 48]
    careless = Poor(worse, 0.0)
    assert StoredBM25(keyword, careless, "lucene").search(["mur"], 1) != keyword.search(["mur"], 1)


def test_a_term_of_the_law_has_a_dimension_of_its_own() -> None:
    assert dimension("mur") == dimension("mur") != dimension("mur", of_law=True)
    assert 0 <= dimension("\ud800") < 2**32


def test_a_learned_fusion_sees_the_same_features(tmp_path: Path) -> None:
    evidence = evidence_of()
    counts = count(LAW, CUT).with_questions(ANNOTATED, CUT.terms)
    candidates = fill(store("edge", tmp_path), evidence.keyword, counts, dense=evidence.meaning)
    keyword = StoredBM25(evidence.keyword, candidates, "lucene")
    stored = replace(evidence, keyword=keyword, meaning=StoredDense(evidence.meaning, candidates))
    for question in ("loyer caution", "mur haie", "vol", "unheard"):
        one, other = asked(stored, question), asked(evidence, question)
        assert one.positions.tolist() == other.positions.tolist()
        assert one.features.tobytes() == other.features.tobytes()
