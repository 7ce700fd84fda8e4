"""Which retriever ranks a search, and query expansion: when it is used, displayed, and pairs removed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rag.encoders.static import StaticEncoder
from rag.engine.engine import Engine
from rag.engine.result import Mode
from rag.engine.searcher import Searcher
from rag.errors import BadInput
from rag.fusion.settings import FusionSettings
from rag.ltr.reranker import KEYWORD, MEANING
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.dense import Dense, build_vectors
from rag.retrieval.query_expansion import ExpandedBM25, LawWords
from rag.retrieval.question_knn import QUESTION_KNN
from rag.retrieval.term_counts import count
from rag.retrieval.translation_model import Pair, TranslationModel
from rag.text.analysers import analyser
from rag.types import Article
from tests.fakes.ranking.engines import engine_of

CUT = analyser("fr")
LAW = [
    Article("1", "Code du travail", "1", "Le licenciement se motive."),
    Article("2", "Code du travail", "2", "L'employeur paie le salaire."),
    Article("3", "Code du travail", "3", "Le patron affiche les horaires."),
    Article("4", "Code du travail", "4", "La cantine ouvre à midi."),
]
PAIRS = {
    "vir": (Pair("vir", "licenc", 0.6, 9, 0.5), Pair("vir", "salair", 0.05)),
    "patron": (Pair("patron", "employeur", 0.4, 5), Pair("patron", "patron", 0.1)),
}
VIRER = "mon patron m'a viré"


def engine(*, bridged: bool = True) -> Engine:
    assert CUT.terms("viré licenciement patron employeur salaire") == [
        "vir",
        "licenc",
        "patron",
        "employeur",
        "salair",
    ]
    counts, mask = count(LAW, CUT), Mask(LAW)
    keyword = BM25.build(counts, BM25Settings(), mask, CUT)
    bridge = TranslationModel(PAIRS, {"licenc": "licenciement"})
    over = ExpandedBM25(keyword, bridge, LawWords.of(counts, BM25Settings(), bridge.law_terms))
    words = dict(counts.vocabulary)
    vectors = np.random.default_rng(3).standard_normal((len(words), 8)).astype(np.float32)
    encoder = StaticEncoder.of("small", CUT, words, vectors)
    dense = Dense(encoder, build_vectors(encoder.encode_articles(LAW)), counts.order, mask)
    return engine_of(LAW, CUT, keyword, dense, expanded=over if bridged else None)


def ids(found: Engine, question: str, mode: Mode = "keyword", **how: object) -> list[str]:
    return [s.article.id for s in found.ask(question, mode=mode, **how).shown]  # type: ignore[arg-type]


def test_the_law_is_found_by_its_own_words_for_mine() -> None:
    assert ids(engine(bridged=False), VIRER) == ["3"]
    assert set(ids(engine(), VIRER)) == {"1", "2", "3"}
    result = engine().ask(VIRER, mode="keyword")
    assert [(b.typed, b.form) for b in result.bridged] == [("viré", "licenciement"), ("patron", "employeur")]
    why = {s.article.id: s.why for s in result.shown}
    assert why["1"].bridged == {"licenc"}
    assert why["2"].bridged == {"employeur"}  # that salaries were looked for too is too weak to tell
    assert why["3"].bridged == frozenset()


def test_a_pair_that_is_taken_out_is_neither_searched_nor_told() -> None:
    without = frozenset({("vir", "licenc")})
    result = engine().ask(VIRER, mode="keyword", without=without)
    assert "1" not in [s.article.id for s in result.shown]
    assert [b.law for b in result.bridged] == ["employeur"]
    assert result.without == without
    weaker = engine().ask("patron viré viré", mode="keyword", without=without)
    assert {("vir", "salair"), ("patron", "employeur")} == {
        (p.lay, p.law)
        for p in engine().searcher.expansion("keyword", without).words.used("patron viré viré")  # type: ignore[union-attr]
    }
    assert [b.law for b in weaker.bridged] == ["employeur"]  # 0.1 would be told, were it not for the other
    everything = frozenset((p.lay, p.law) for pairs in PAIRS.values() for p in pairs)
    assert ids(engine(), VIRER, without=everything) == ["3"]


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
def test_shares_add_up_over_the_bridge(mode: Mode) -> None:
    found = engine()
    result = found.ask(VIRER, mode=mode, without=frozenset({("vir", "salair")}))
    over = found.searcher.expansion(mode, result.without)
    assert over is not None
    [ranking] = over.words.search([VIRER], 10)
    scores = {hit.article_id: hit.score for hit in ranking}
    for explanation in found.explain(result):
        assert explanation.bm25 == pytest.approx(scores.get(explanation.article_id, 0.0), abs=1e-5)
        for word in explanation.words:
            assert math.fsum(word.fields.values()) == pytest.approx(word.share)
    [first] = [e for e in found.explain(result) if e.article_id == "1"]
    assert [(w.word, w.bridged) for w in first.words] == [("viré", "licenciement")]


@pytest.mark.parametrize("question", ["article 4 et viré", "l'article 99 du code du travail, viré"])
def test_a_question_that_names_an_article_is_never_rewritten(question: str) -> None:
    result = engine().ask(question, mode="keyword")
    assert result.known
    assert result.bridged == ()
    assert "1" not in [s.article.id for s in result.shown]
    assert not any(w.bridged for e in engine().explain(result) for w in e.words)
    assert ids(engine(), question, "hybrid") == ids(engine(bridged=False), question, "hybrid")


def test_meaning_goes_over_no_bridge() -> None:
    result = engine().ask(VIRER, mode="meaning")
    assert result.bridged == ()
    assert [s.score for s in result.shown] == [
        s.score for s in engine(bridged=False).ask(VIRER, mode="meaning").shown
    ]


def test_a_hybrid_says_that_it_is_ranked_over_a_bridge() -> None:
    assert engine(bridged=False).searcher.ranked_by == "rrf"
    assert engine().searcher.ranked_by == "rrf bridge 1.0"
    assert engine().ask(VIRER).bridged


@pytest.mark.parametrize("question", ["", "???", "zzz", "le la"])
def test_what_says_nothing_is_bridged_to_nothing(question: str) -> None:
    assert engine().ask(question).bridged == ()


def test_a_mode_chooses_the_retriever() -> None:
    searcher = engine().searcher
    expansion = searcher.expansion("hybrid")
    assert expansion is not None
    for mode, lists in (("keyword", {KEYWORD}), ("meaning", {MEANING}), ("hybrid", {KEYWORD, MEANING})):
        [(ranking, found)] = searcher.retriever(mode, expansion).search_parts([VIRER], 3)  # type: ignore[arg-type]
        assert set(found) == lists
        assert len(ranking) <= 3
        if len(lists) == 1:
            assert [ranking] == list(found.values())
    alone = Searcher(searcher.keyword)
    assert alone.modes == ("keyword",)
    assert set(alone.retriever("hybrid").search_parts([VIRER], 3)[0][1]) == {KEYWORD}


def test_shares_of_a_fused_ranking_add_up() -> None:
    searcher = engine().searcher
    [(ranking, lists)] = searcher.retriever("hybrid").search_parts([VIRER], 10)
    scores = {hit.article_id: hit.score for hit in ranking}
    places, shares = searcher.contributions(ranking, lists, scores)
    assert set(places) == {KEYWORD, MEANING}
    for id_, own in shares.items():
        assert math.fsum(own.values()) == pytest.approx(scores[id_], rel=1e-12)
    assert searcher.contributions(ranking, {KEYWORD: ranking}, scores)[1] == {}  # one list was not fused


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({KEYWORD: 1.0}, "name two lists or more"),
        ({KEYWORD: 1.0, QUESTION_KNN: 1.0}, "is not here to be fused"),
    ],
)
def test_a_fusion_of_lists_that_are_missing_is_refused(weights: dict[str, float], message: str) -> None:
    searcher = engine().searcher
    with pytest.raises(BadInput, match=message):
        Searcher(searcher.keyword, searcher.meaning, FusionSettings("rrf", weights))
