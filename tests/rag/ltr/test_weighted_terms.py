"""What articles have of a question's terms by weight: by hand, and as features."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.ltr.features import WEIGHED, WEIGHTED_SUFFIXES, summed_parts, term_parts, weighted_parts
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.term_counts import count
from rag.types import Article
from tests.fakes.ranking.features import CUT, ENCODER, LAW, WAYS, asked, column, evidence_of

EVIDENCE = evidence_of()
IDS = EVIDENCE.keyword.order.ids
ALL = np.arange(len(LAW))
weights = st.dictionaries(
    st.sampled_from([*WAYS, "unheard"]), st.sampled_from([0.0, 0.5, 1.0, 3.0]), max_size=7
)


def added(term: str) -> np.ndarray:
    scores = EVIDENCE.law.scores(term)
    return np.where(np.isfinite(scores), scores, 0)


def test_by_hand() -> None:
    parts = term_parts(EVIDENCE.law, ["mur", "haie", "unheard"], ALL)
    told = weighted_parts(parts, np.array([3.0, 1.0, 2.0], np.float32))
    score, covered, heaviest, missed = (dict(zip(IDS, part.tolist(), strict=True)) for part in told)
    assert score == pytest.approx(dict(zip(IDS, (3 * added("mur") + added("haie")).tolist(), strict=True)))
    # a3 is of the wall alone, b1 of wall and hedge, b2 of the hedge; no article knows the third word
    none = dict.fromkeys(("a1", "a2", "c1"), 0.0)
    assert covered == pytest.approx({"a3": 3 / 6, "b1": 4 / 6, "b2": 1 / 6, **none})
    assert heaviest == pytest.approx({"a3": 1, "b1": 1, "b2": 1 / 3, **none})
    assert missed == pytest.approx({"a3": 2 / 3, "b1": 2 / 3, "b2": 1, **dict.fromkeys(none, 1)})


def test_what_counts_against_an_article_is_there_all_the_same() -> None:
    common = [Article(f"x{n}", "civil", str(n), "mur" if n else "haie") for n in range(5)]
    against = BM25.build(count(common, CUT), BM25Settings(variant="robertson"), Mask(common), CUT)
    told = weighted_parts(term_parts(against, ["mur"], np.arange(5)), np.array([2.0], np.float32))
    assert told[1].tolist() == [0, 1, 1, 1, 1]
    assert told[3].tolist() == [1, 0, 0, 0, 0]
    assert (told[0][1:] < 0).all()


@given(weights, st.permutations(ALL.tolist()), st.integers(0, len(LAW)))
def test_any_articles_in_any_order(of: dict[str, float], order: list[int], n: int) -> None:
    terms, weight = list(of), np.array(list(of.values()), np.float32)
    whole = weighted_parts(term_parts(EVIDENCE.keyword, terms, ALL), weight)
    some = weighted_parts(term_parts(EVIDENCE.keyword, terms, np.array(order[:n], dtype=np.int64)), weight)
    for all_, few in zip(whole, some, strict=True):
        assert few.dtype == np.float32
        assert few.tolist() == pytest.approx(all_[order[:n]].tolist())
    for share in whole[1:]:
        assert ((share >= 0) & (share <= 1 + 1e-6)).all()
    if not weight.any():
        assert not any(part.any() for part in whole)


@given(st.lists(st.sampled_from([*WAYS, "unheard"]), max_size=9), st.permutations(ALL.tolist()))
def test_the_parts_of_terms_add_up_to_bm25(question: list[str], order: list[int]) -> None:
    often = Counter(question)
    for bm25 in (EVIDENCE.law, EVIDENCE.keyword, EVIDENCE.questions):
        parts = term_parts(bm25, list(often), np.array(order))
        whole = bm25.scores(" ".join(question))
        wanted = np.where(np.isfinite(whole), whole, 0)[order]
        assert summed_parts(parts, list(often.values())).tolist() == pytest.approx(wanted.tolist())


def test_the_encoder_says_what_counts() -> None:
    vectors = np.eye(3, dtype=np.float32)[list(WAYS.values())] * np.arange(1, 7, dtype=np.float32)[:, None]
    encoder = type(ENCODER).of("heavy", ENCODER.analyser, ENCODER.vocabulary, vectors)
    assert encoder.weights(["vol", "unheard", "loyer"]).tolist() == pytest.approx([6, 0, 1])
    assert encoder.weights([]).tolist() == []
    assert type(ENCODER).of("empty", ENCODER.analyser, {}, vectors[:0]).weights(["vol"]).tolist() == [0]
    evidence = evidence_of(encoder=encoder)
    found = asked(evidence, "mur haie mur")
    named = dict(zip(WAYS, range(1, 7), strict=True))
    whole = named["mur"] + named["haie"]  # a term that stands twice counts once
    told = column(evidence, found, "law_covered")
    assert told["a3"] == pytest.approx(named["mur"] / whole)
    assert told["b1"] == pytest.approx(1)
    assert column(evidence, found, "law_missed")["b2"] == pytest.approx(named["mur"] / named["haie"])
    assert column(evidence, found, "asked_covered")["b2"] == pytest.approx(named["haie"] / whole)
    names = [system + kind for system in WEIGHED for kind in WEIGHTED_SUFFIXES]
    assert all(any(column(evidence, found, name).values()) for name in names)
