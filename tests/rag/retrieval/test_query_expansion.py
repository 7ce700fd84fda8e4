"""BM25 over a bridge: sums by hand, explained to the last part, and from disk the same."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import BadInput
from rag.ltr.features import EXPANSION_FEATURES
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.query_expansion import Expanded, ExpandedBM25, LawWords
from rag.retrieval.term_counts import count
from rag.retrieval.translation_model import Pair, TranslationModel
from rag.types import Question
from tests.fakes.law.law import SPLIT, law
from tests.fakes.ranking.features import CUT, LAW, QUESTIONS, asked, column, evidence_of

BRIDGE = TranslationModel(
    {
        "proprio": (Pair("proprio", "bail", 0.5, 4), Pair("proprio", "loyer", 0.25)),
        "clôture": (Pair("clôture", "mur", 0.4), Pair("clôture", "bail", 0.1)),
        "bail": (Pair("bail", "bail", 0.6), Pair("bail", "dette", 0.2)),
    }
)
ARTICLES = law()
COUNTS = count(ARTICLES, SPLIT).with_questions([Question("q", "proprio loyer", ("9", "e"))], SPLIT.terms)
KEYWORD = BM25.build(COUNTS, BM25Settings(), Mask(ARTICLES), SPLIT)
WORDS = LawWords.of(COUNTS, BM25Settings(), BRIDGE.law_terms)
OVER = ExpandedBM25(KEYWORD, BRIDGE, WORDS, weight=0.5)
EVERY = np.arange(len(ARTICLES))
LAW_ALONE = BM25.build(count(ARTICLES, SPLIT), BM25Settings(), Mask(ARTICLES), SPLIT)
words = st.lists(st.sampled_from(["proprio", "clôture", "bail", "mur", "unheard", "dette"]), max_size=6)


def test_what_the_bridge_brings_counts_in_the_law_alone_by_its_weight() -> None:
    plain, over = KEYWORD.scores("proprio"), OVER.scores("proprio")
    of_law = [np.where(np.isfinite(s := LAW_ALONE.scores(w)), s, 0.0) for w in ("bail", "loyer")]
    wanted = np.where(np.isfinite(plain), plain, 0.0) + 0.5 * (0.5 * of_law[0] + 0.25 * of_law[1])
    assert over[wanted > 0] == pytest.approx(wanted[wanted > 0], rel=1e-5)
    assert np.isneginf(over[wanted == 0]).all()
    assert Expanded(OVER).scores("proprio").max() == pytest.approx((0.5 * of_law[0] + 0.25 * of_law[1]).max())


def test_what_is_typed_already_or_taken_out_is_not_brought() -> None:
    without = OVER.leaving_out(frozenset({("proprio", "loyer")}))
    assert without.scores("proprio bail loyer").tolist() == without.scores("bail loyer proprio").tolist()
    assert {p.law for p in OVER.used("proprio bail")} == {"loyer", "dette"}
    assert {p.law for p in without.used("proprio bail")} == {"dette"}
    assert OVER.scores("proprio").tolist() != without.scores("proprio").tolist()


@given(question=words.map(" ".join))
def test_shares_add_up_to_what_is_added(question: str) -> None:
    held = {}
    for a in ARTICLES:
        texts = {"text": a.text, "headings": " ".join(a.headings), "code": a.code}
        held[a.id] = {f: {t: text.split().count(t) for t in BRIDGE.law_terms} for f, text in texts.items()}
    rows = {a.id: i for i, a in enumerate(ARTICLES)}
    told = OVER.shares(question, rows, held)
    added = OVER.weight * OVER.expanded(question.split())
    for id_, row in rows.items():
        assert math.fsum(s.share for s in told.get(id_, ())) == pytest.approx(added[row], abs=1e-9)
        for share in told.get(id_, ()):
            assert math.fsum(share.fields.values()) == pytest.approx(share.share)
            assert share.bridged
            assert share.word in question


def test_a_question_is_likelier_of_an_article_that_says_what_its_words_stand_for() -> None:
    def likelihood(terms: list[str], positions: np.ndarray = EVERY) -> np.ndarray:
        return OVER.of_articles(terms, positions)[1]

    likely = dict(zip(OVER.order.ids, likelihood(["clôture"]).tolist(), strict=True))
    assert likely["c"] > 0  # a wall
    assert likely["d"] == 0  # neither wall nor lease
    assert likelihood(["unheard"]).tolist() == [0.0] * len(ARTICLES)
    twice = likelihood(["clôture", "clôture"])
    assert twice.tolist() == pytest.approx((2 * likelihood(["clôture"])).tolist())
    for some in (EVERY[::-1], EVERY[1:3], EVERY[:0]):  # of whichever articles, in their order
        told = likelihood(["clôture"], some)
        assert told.tolist() == [likely[OVER.order.ids[n]] for n in some]


@given(question=words, order=st.permutations(EVERY.tolist()), n=st.integers(0, len(ARTICLES)))
def test_of_some_articles_it_says_what_it_says_of_all(question: list[str], order: list[int], n: int) -> None:
    some = np.array(order[:n], dtype=np.int64)
    added, likely = OVER.of_articles(question, some)
    assert added.tolist() == pytest.approx(OVER.expanded(question)[some].tolist(), abs=1e-9)
    whole = OVER.of_articles(question, EVERY)
    assert (added.tolist(), likely.tolist()) == tuple(part[some].tolist() for part in whole)
    by_hand = np.zeros(len(ARTICLES))
    for term in question:
        ratio = np.zeros(len(ARTICLES))
        for pair in BRIDGE.pairs.get(term, ()):
            span = slice(*WORDS.indptr[[(at := BRIDGE.law_terms.index(pair.law)), at + 1]])
            of_law = np.zeros(len(ARTICLES))
            of_law[WORDS.indices[span]] = WORDS.shares[span]
            ratio += pair.probability * of_law / of_law.mean()
        by_hand += np.log1p(ratio)
    assert likely.tolist() == pytest.approx(by_hand[some].tolist())


def test_pairs_that_are_taken_out_say_nothing_of_any_article() -> None:
    taken = frozenset({("proprio", "bail"), ("proprio", "loyer")})
    added, likely = OVER.leaving_out(taken).of_articles(["proprio"], EVERY)
    assert not added.any()
    assert not likely.any()
    added, likely = OVER.of_articles(["proprio"], EVERY)
    assert added.any()
    assert likely.any()


def test_it_is_the_same_from_disk(tmp_path: Path) -> None:
    WORDS.save(tmp_path)
    again = ExpandedBM25(KEYWORD, BRIDGE, LawWords.load(tmp_path), weight=0.5)
    assert again.scores("proprio clôture").tolist() == OVER.scores("proprio clôture").tolist()
    np.save(tmp_path / "adds.npy", WORDS.adds[1:])
    with pytest.raises(BadInput, match=r"adds\.npy holds"):
        LawWords.load(tmp_path)
    with pytest.raises(BadInput, match="over 4 of them"):
        ExpandedBM25(KEYWORD, TranslationModel({}), WORDS)


def test_without_pairs_nothing_is_added(tmp_path: Path) -> None:
    none = LawWords.of(COUNTS, BM25Settings(), ())
    none.save(tmp_path)
    over = ExpandedBM25(KEYWORD, TranslationModel({}), LawWords.load(tmp_path))
    assert over.scores("proprio mur").tolist() == KEYWORD.scores("proprio mur").tolist()


def test_features_of_a_bridge() -> None:
    plain = evidence_of()
    pairs = TranslationModel({"proprio": (Pair("proprio", "loyer", 0.5),)})
    counts = count(LAW, CUT).with_questions(QUESTIONS, CUT.terms)
    over = ExpandedBM25(plain.keyword, pairs, LawWords.of(counts, BM25Settings(), pairs.law_terms))
    bridged = replace(plain, expansion=over)
    asks = "proprio mur"
    with_, without = (asked(of, asks) for of in (bridged, plain))
    assert set(column(plain, without, "bridge").values()) == {0.0}
    told = {name: column(bridged, with_, name) for name in EXPANSION_FEATURES}
    assert told["bridge"]["a1"] > told["bridge"]["a2"] > told["bridge"]["a3"] == 0
    assert told["bridge_share"]["a1"] == 1
    assert told["bridge_rank"]["a1"] == 0
    assert told["bridge_likelihood"]["a1"] > 0 == told["bridge_likelihood"]["b1"]
