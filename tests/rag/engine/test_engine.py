"""Ask the engine a question: what it shows, in which order, and what it says of each article."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.corpus.card import CorpusCard, Elsewhere, Moved
from rag.encoders.static import StaticEncoder, article_terms
from rag.engine.confidence import Confidence
from rag.engine.engine import MAX_QUESTION, Engine
from rag.engine.result import Mode, Result
from rag.errors import missing
from rag.ltr.reranker import KEYWORD, MEANING
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.dense import Dense, build_vectors
from rag.retrieval.term_counts import count
from rag.text.analysers import analyser
from rag.types import EMPTY, Article, Filter, Question, Ranking, Retriever
from tests.fakes.ranking.engines import engine_of

CUT = analyser("fr")
CIVIL, RURAL = "Code civil", "Code rural"
ARTICLES = [
    Article(
        "c671", CIVIL, "671", "Les arbres sont plantés à deux mètres de la clôture.", ("Des servitudes",)
    ),
    Article(
        "c672", CIVIL, "672", "Le voisin peut exiger que les arbres soient arrachés.", ("Des servitudes",)
    ),
    Article(
        "c1240",
        CIVIL,
        "1240",
        "Tout fait de l'homme qui cause un dommage oblige à le réparer.",
        ("Du délit",),
    ),
    Article(
        "c1382", CIVIL, "1382", "Les présomptions sont laissées à l'appréciation du juge.", ("De la preuve",)
    ),
    Article(
        "c1719",
        CIVIL,
        "1719",
        "Le bailleur délivre la chose louée au locataire.",
        ("Du louage",),
        law_type="national",
        valid_from=date(1804, 3, 21),
    ),
    Article(
        "r1",
        RURAL,
        "671",
        "Le bail rural se paie en argent.",
        ("Des baux",),
        law_type="regional",
        region="Corse",
    ),
    Article(
        "r2", RURAL, "L411-1", "Le preneur exploite la terre du bailleur.", (), valid_to=date(2020, 1, 1)
    ),
]
ASKED = [
    Question("q1", "Mon voisin a planté un arbre contre ma clôture, que faire ?", ("c671", "c672", "c671")),
    Question("q2", "Puis-je faire couper un arbre ?", ("c672",)),
    Question("q3", "Un arbre du voisin touche la clôture", ("c672",)),
    Question("q4", "La clôture du voisin", ("c672",)),
]
DEPOSIT = Elsewhere(
    "deposit", {"fr": "Dépôt"}, "Loi de 1989", ("dépôts de garantie", "rendre caution", "de la"), {"fr": ""}
)
LABOUR = replace(DEPOSIT, id="labour", phrases=("licenciement",), codes=("Code du travail",))
FARM = replace(DEPOSIT, id="farm", phrases=("bail rural",), codes=(RURAL,))
CARD = CorpusCard(
    "small",
    "Petit corpus",
    "fr",
    moved=(
        Moved(CIVIL, "1382", ("1240", "1241"), "2016-10-01"),
        Moved(CIVIL, "1134", ("1719",), "2016-10-01"),
    ),
    elsewhere=(DEPOSIT, LABOUR, FARM),
)


def build(articles: list[Article], *, meaning: bool = True, card: CorpusCard = CARD) -> Engine:
    mask, counts = Mask(articles), count(articles, CUT).with_questions(ASKED, CUT.terms)
    keyword = BM25.build(counts, BM25Settings(), mask, CUT)
    words = sorted({t for a in articles for t in article_terms(a, CUT)})
    vectors = np.random.default_rng(0).standard_normal((len(words), 24)).astype(np.float32)
    encoder = StaticEncoder.of("small", CUT, {w: i for i, w in enumerate(words)}, vectors)
    index = build_vectors(encoder.encode_articles(articles))
    dense = Dense(encoder, index, counts.order, mask) if meaning else None
    return engine_of(articles, CUT, keyword, dense, card=card, questions=ASKED)


ENGINE = build(ARTICLES)
BLIND = build(ARTICLES, meaning=False)
ARBRE = "Mon voisin a planté un arbre contre ma clôture, que faire ?"


def ids(result: Result) -> list[str]:
    return [shown.article.id for shown in result.shown]


class Parted(BM25):
    """A list of which parts do not answer."""

    silent: tuple[str, ...] = ()

    def search(self, questions: Sequence[str], k: int, where: Filter | None = None) -> list[Ranking]:
        missing(*self.silent)
        return super().search(questions, k, where)


def test_a_part_that_falls_silent_and_answers_again_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    mask, counts = Mask(ARTICLES), count(ARTICLES, CUT)
    keyword = Parted.build(counts, BM25Settings(), mask, CUT)
    engine = engine_of(ARTICLES, CUT, keyword)
    logged = []
    for silent in ((), ("shard 2 of 3",), ("shard 2 of 3",), ("shard 1 of 3",), ()):
        keyword.silent = silent
        caplog.clear()
        assert engine.ask(ARBRE).missing == tuple(sorted(engine.silent)) == silent
        engine.ask(ARBRE, k=0)  # asks no part
        logged.append([record.getMessage() for record in caplog.records])
    one, two = (f"shard {n} of 3 of small: " for n in (1, 2))
    gone, back = "no answer; articles are missing", "answers again"
    assert logged == [[], [two + gone], [], [one + gone, two + back], [one + back]]


@pytest.mark.parametrize("mode", ENGINE.modes)
def test_every_mode_answers(mode: Mode) -> None:
    result = ENGINE.ask(ARBRE, mode=mode)
    assert result.status == "found"
    assert set(ids(result)[:2]) == {"c671", "c672"}
    assert [s.rank for s in result.shown] == list(range(1, len(result.shown) + 1))
    assert (result.question, result.known, result.elsewhere) == (ARBRE, (), ())
    assert result.milliseconds > 0
    scores = [s.score for s in result.shown]
    assert scores == sorted(scores, reverse=True)
    assert all(s.article is ENGINE.articles[s.article.id] for s in result.shown)


def test_a_mode_is_one_list_or_both() -> None:
    both = {name for s in ENGINE.ask(ARBRE).shown for name in s.why.ranks}
    assert both == {KEYWORD, MEANING}
    assert {n for s in ENGINE.ask(ARBRE, mode="keyword").shown for n in s.why.ranks} == {KEYWORD}
    assert {n for s in ENGINE.ask(ARBRE, mode="meaning").shown for n in s.why.ranks} == {MEANING}


def test_without_an_encoder_every_mode_is_by_keywords() -> None:
    assert BLIND.modes == ("keyword",)
    assert ENGINE.modes == ("hybrid", "keyword", "meaning")
    expected = ENGINE.ask(ARBRE, mode="keyword").shown
    for mode in ENGINE.modes:
        assert BLIND.ask(ARBRE, mode=mode).shown == expected


@pytest.mark.parametrize("question", ["", "  ", "\n\t\u00a0"])
def test_no_question(question: str) -> None:
    assert ENGINE.ask(question) == Result(question, "empty")


@pytest.mark.parametrize("question", ["xyzzy", "de la", "?!", "🏠", "\ud800", "\x00"])
def test_nothing_found(question: str) -> None:
    result = ENGINE.ask(question)
    assert (result.status, result.shown, result.known) == ("nothing", (), ())


def test_an_article_named_by_number_comes_first() -> None:
    result = ENGINE.ask("article 672 du code civil")
    assert ids(result) == ["c672"]  # nothing but the reference was asked
    assert result.shown[0].why.known
    assert result.known[0].found == ("c672",)


def test_a_number_without_a_code_names_that_of_every_code() -> None:
    assert ids(ENGINE.ask("article 671")) == ["c671", "r1"]


def test_what_was_renumbered_comes_next() -> None:
    result = ENGINE.ask("art. 1382 C. civ.")
    assert ids(result) == ["c1382", "c1240"]  # what bears the number now, then where its content went
    assert [(s.why.known, s.why.moved_from) for s in result.shown] == [(True, None), (False, "1382")]
    gone = ENGINE.ask("article 1134 du code civil")
    assert (ids(gone), gone.status, gone.shown[0].why.moved_from) == (["c1719"], "found", "1134")


def test_the_rest_of_the_question_is_searched() -> None:
    result = ENGINE.ask("article 1240 du code civil et arbre du voisin")
    assert ids(result)[0] == "c1240"
    assert result.shown[0].why.known
    assert {"c671", "c672"} <= set(ids(result)[1:])
    assert len(set(ids(result))) == len(result.shown)
    assert [s.rank for s in result.shown] == list(range(1, len(result.shown) + 1))
    pinned_again = ENGINE.ask("article 672 du code civil, arbre du voisin")
    assert ids(pinned_again).count("c672") == 1
    assert pinned_again.shown[0].why.ranks[KEYWORD] == 1  # the search had found it too
    assert pinned_again.shown[0].why.terms


def test_a_number_that_nothing_bears() -> None:
    result = ENGINE.ask("article 9999 du code civil")
    assert (result.status, ids(result)) == ("nothing", [])
    assert result.known[0].found == ()


def test_why_terms_are_the_question_s_words_in_the_article() -> None:
    first = next(s for s in ENGINE.ask("les arbres de la clôture").shown if s.article.id == "c671")
    assert first.why.terms == set(CUT.terms("arbres clôture"))
    above = next(s for s in ENGINE.ask("servitudes du délit").shown if s.article.id == "c671")
    assert above.why.terms == set(CUT.terms("servitudes"))  # headings count


def test_why_ranks_are_places_in_each_list() -> None:
    [keyword] = ENGINE.searcher.keyword.search([ARBRE], 100)
    assert ENGINE.searcher.meaning is not None
    [meaning] = ENGINE.searcher.meaning.search([ARBRE], 100)
    places = {
        KEYWORD: {h.article_id: n for n, h in enumerate(keyword, start=1)},
        MEANING: {h.article_id: n for n, h in enumerate(meaning, start=1)},
    }
    for shown in ENGINE.ask(ARBRE).shown:
        for name, ranks in places.items():
            assert shown.why.ranks.get(name) == ranks.get(shown.article.id)


def test_why_asked_are_the_two_likest_annotated_questions() -> None:
    shown = {s.article.id: s.why for s in ENGINE.ask("Un arbre du voisin touche la clôture").shown}
    assert shown["c672"].asked == (ASKED[2].text, ASKED[0].text)  # the same words, then three of them
    assert shown["c671"].asked == (ASKED[0].text,)  # cited twice, told once
    assert shown["c1240"].asked == () if "c1240" in shown else True
    one_word = {s.article.id: s.why for s in ENGINE.ask("couper").shown}
    assert one_word["c672"].asked == (ASKED[1].text,)
    # one word in common says nothing when the question has more
    assert {s.article.id: s.why for s in ENGINE.ask("couper le bail").shown}["c672"].asked == ()


def test_topics_of_other_laws_are_told_by_their_stems() -> None:
    assert ENGINE.ask("Il garde mon dépôt, la garantie du logement").elsewhere == (DEPOSIT,)
    assert ENGINE.ask("licenciements").elsewhere == (LABOUR,)
    assert ENGINE.ask("Comment me faire rendre ma caution, licenciement !").elsewhere == (DEPOSIT, LABOUR)
    assert ENGINE.ask("une garantie").elsewhere == ()  # half of a phrase is not the topic
    nothing = ENGINE.ask("licenciement")
    assert (nothing.status, nothing.elsewhere) == ("nothing", (LABOUR,))


def test_a_topic_whose_code_is_loaded_is_not_elsewhere() -> None:
    assert ENGINE.ask("mon bail rural").elsewhere == ()
    civil = build([a for a in ARTICLES if a.code == CIVIL])
    assert civil.ask("mon bail rural").elsewhere == (FARM,)


@pytest.mark.parametrize(
    ("where", "admitted"),
    [
        (Filter(codes=frozenset({RURAL})), {"r1", "r2"}),
        (
            Filter(law_types=frozenset({"national"}), codes=frozenset({CIVIL})),
            {"c671", "c672", "c1240", "c1382", "c1719"},
        ),
        (Filter(regions=frozenset({"Bretagne"})), {a.id for a in ARTICLES} - {"r1"}),
        (Filter(in_force_on=date(2024, 1, 1)), {a.id for a in ARTICLES} - {"r2"}),
        (Filter(codes=frozenset({"Code pénal"})), set()),
    ],
)
def test_filters_hold_for_what_is_found_and_what_is_named(where: Filter, admitted: set[str]) -> None:
    asked = "arbre clôture voisin dommage juge bailleur bail rural preneur terre"
    result = ENGINE.ask(asked, k=50, where=where)
    assert set(ids(result)) == admitted
    assert result.status == ("found" if admitted else "nothing")
    named = ENGINE.ask("article 671", where=where)
    assert set(ids(named)) == {"c671", "r1"} & admitted


@pytest.mark.parametrize("k", [-1, 0, 1, 2, 3, 100])
def test_at_most_k(k: int) -> None:
    for question in (ARBRE, "article 671", "article 671 arbre du voisin", "art. 1382 du code civil"):
        every = ENGINE.ask(question, k=1000)
        result = ENGINE.ask(question, k=k)
        assert ids(result) == ids(every)[: max(k, 0)]
        assert result.status == ("found" if k > 0 else "nothing")


def test_only_twenty_thousand_characters_are_read() -> None:
    read = "mot " * (MAX_QUESTION // 4 - 2)
    assert ids(ENGINE.ask(read + "arbre"))
    assert ENGINE.ask(read + " " * 20 + "arbre").shown == ()
    assert ENGINE.ask(" " * MAX_QUESTION + "arbre").status == "empty"


def test_facets_count_the_articles() -> None:
    facets = ENGINE.facets()
    assert facets.codes == {CIVIL: 5, RURAL: 2}
    assert facets.law_types == {"national": 1, "regional": 1}
    assert facets.regions == {"Corse": 1}
    assert facets.dated
    assert not build(ARTICLES[:3]).facets().dated


def test_the_hybrid_looks_no_further_than_its_parts() -> None:
    class Silent:
        """A retriever that finds nothing."""

        def search(self, questions: list[str], k: int, where: Filter | None = None) -> list[Ranking]:
            return [EMPTY for _ in questions]

    engine = build(ARTICLES)
    engine.searcher.meaning = cast("Retriever", Silent())
    assert ids(engine.ask(ARBRE)) == ids(engine.ask(ARBRE, mode="keyword"))
    assert engine.ask(ARBRE, mode="meaning").status == "nothing"


PIECES = (
    "article",
    "671",
    "L411-1",
    "du code civil",
    "arbre",
    "1382",
    "第五条",
    "§",
    "🏠",
    "\ud800",
    "\x00",
    "caution",
    "l'",
)


@settings(deadline=None, max_examples=3 * settings().max_examples)
@given(
    question=st.text() | st.lists(st.sampled_from(PIECES)).map(" ".join),
    k=st.integers(-2, 12),
    mode=st.sampled_from(ENGINE.modes),
)
def test_any_question_has_an_answer(question: str, k: int, mode: Mode) -> None:
    for engine in (ENGINE, BLIND):
        result = engine.ask(question, k=k, mode=mode)
        assert len(result.shown) <= max(k, 0)
        assert len(set(ids(result))) == len(result.shown)
        assert (result.status == "found") == bool(result.shown)
        assert (result.status == "empty") == (not question.strip())
        pinned = [s.why.known or s.why.moved_from is not None for s in result.shown]
        assert pinned == sorted(pinned, reverse=True)  # what was named stands above what was searched


@pytest.mark.slow
def test_the_index_that_ships_tells_a_doubtful_question_from_a_sure_one() -> None:
    import indexes

    engine = indexes.open()
    sure = engine.ask("Mon voisin a planté un arbre contre ma clôture, que faire ?")
    vague = engine.ask("quelle pâte pour une tarte aux pommes")
    assert sure.confidence is not None
    assert vague.confidence is not None
    assert sure.confidence > 0.8 > vague.confidence
    assert (sure.doubtful, vague.doubtful) == (False, True)
    assert engine.ask("article 671 du code civil").confidence is None, "named by number: nothing to doubt"
    assert engine.ask("arbre du voisin", mode="keyword").confidence is None, "calibrated for hybrid alone"
    only = Filter(codes=frozenset({"Code civil"}))
    assert engine.ask("arbre du voisin", where=only).confidence is None, "and for the whole corpus"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("divorse par consentement mutuel", "divorce par consentement mutuel"),
        ("ou garder son testamant", "ou garder son testament"),
        ("mon voisn a planté un arbre contre ma cloturre", "mon voisin a planté un arbre contre ma clôture"),
    ],
)
def test_a_typing_error_finds_what_was_meant(typed: str, meant: str) -> None:
    import indexes

    engine = indexes.open()
    wrong, right = engine.ask(typed), engine.ask(meant)
    assert ids(wrong)[:3] == ids(right)[:3]
    assert {m.typed for m in wrong.mended} == set(typed.split()) - set(meant.split())
    assert not right.mended
    told = engine.explain(wrong)[0]
    assert {word.word for word in told.words} & {m.typed for m in wrong.mended}  # shown as it was typed


@pytest.mark.slow
def test_a_topic_of_another_law_is_known_by_a_mistyped_word() -> None:
    import indexes

    said = indexes.open().ask("combien d'impot sur le reveun")
    assert [topic.title["en"] for topic in said.elsewhere] == ["Taxes"]


def again(engine: Engine, confidence: Confidence) -> Engine:
    """The same engine with another calibration."""
    s, bare = engine.searcher, replace(engine.notices, confidence=None, signals=None)
    notices = bare.calibrated(confidence, s, engine.info.corpus_sha256, ())
    law = list(engine.articles.values())
    return Engine(
        card=engine.card,
        info=engine.info,
        articles=law,
        searcher=s,
        explainer=engine.explainer,
        notices=notices,
    )


@pytest.mark.slow
def test_a_calibration_for_another_corpus_is_left_aside() -> None:
    import indexes

    engine = indexes.open()
    elsewhere = engine.info.corpus_sha256[::-1]
    shipped = engine.notices.confidence
    assert isinstance(shipped, Confidence)
    assert again(engine, shipped).ask("arbre du voisin").confidence is not None
    assert again(engine, replace(shipped, corpus_sha256=elsewhere)).ask("arbre du voisin").confidence is None


@pytest.mark.slow
def test_a_calibration_for_other_trees_is_left_aside() -> None:
    import indexes

    engine = indexes.open()
    shipped = engine.notices.confidence
    assert isinstance(shipped, Confidence)
    assert shipped.ranked_by == engine.searcher.ranked_by
    other = replace(shipped, ranked_by="0123456789abcdef")
    assert again(engine, other).ask("arbre du voisin").confidence is None


@pytest.mark.slow
def test_what_the_first_question_would_wait_for_can_be_done_before() -> None:
    import indexes

    engine = indexes.open()
    signals = engine.notices.signals
    assert signals is not None
    assert "index" not in vars(signals.nearest)
    engine.warm()
    assert len(signals.nearest.index.questions) > 1000
    assert isinstance(engine.searcher.meaning, Dense)
    assert engine.searcher.meaning.vector.cache_info().currsize == 1  # a question was asked
    assert "index" in vars(signals.nearest)
    if engine.searcher.learned is not None:
        assert "index" in vars(engine.searcher.learned.evidence.nearest)
