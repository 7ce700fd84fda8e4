"""Why an article stands where it does: every part adds up to the score that it explains."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.encoders.static import StaticEncoder, article_terms
from rag.engine.engine import Engine
from rag.engine.explain import MAX_QUESTIONS
from rag.engine.result import Explanation, Mode, Result
from rag.ltr.reranker import KEYWORD, MEANING
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25, BM25Settings, Variant
from rag.retrieval.dense import Dense, build_vectors
from rag.retrieval.term_counts import PRECEDING_FIELD, FieldCounts, count
from rag.text.analysers import analyser
from rag.types import Article, Encoder, Floats, Question, Retriever
from tests.fakes.ranking.engines import engine_of

CUT = analyser("fr")
WORDS = (
    "voisin",
    "arbre",
    "clôture",
    "mur",
    "bail",
    "loyer",
    "dommage",
    "juge",
    "branche",
    "planter",
    "limite",
)
ARTICLES = [
    Article("a", "Code civil", "1", "Un arbre planté près du mur du voisin. L'arbre se coupe.", ("Du mur",)),
    Article("b", "Code civil", "2", "Le voisin coupe les branches.", ("Du mur", "De l'arbre du voisin")),
    Article("c", "Code rural", "3", "Le bail se paie au juge.", ()),
    Article("d", "Code du voisin", "4", "Le dommage se répare.", ("Du dommage",)),
    Article("e", "Code rural", "5", "La limite de l'arbre.", ("Du loyer",)),
]
ASKED = [
    Question("q1", "Mon voisin a planté un arbre contre ma clôture", ("a", "b", "a")),
    Question("q2", "Qui doit couper la branche d'un arbre ?", ("b",)),
    Question("q3", "Le loyer de mon bail", ("c",)),
    Question("q4", "Mon voisin a planté un arbre contre ma clôture", ("a",)),  # the same words again
    Question("q5", "Un arbre", ("a",)),
    Question("q6", "Le mur du voisin", ("a",)),
    Question("q7", "La clôture et la limite", ("a",)),
]
UNEVEN = {"text": 1.0, "headings": 2.5, "code": 0.0, "questions": 0.3}
ARBRE = "Mon voisin a planté un arbre, un grand arbre, contre le mur"


def counts() -> FieldCounts:
    return count(ARTICLES, CUT).with_questions(ASKED, CUT.terms)


def static() -> StaticEncoder:
    words = sorted(
        {t for a in ARTICLES for t in article_terms(a, CUT)} | {t for w in WORDS for t in CUT.terms(w)}
    )
    vectors = np.random.default_rng(7).standard_normal((len(words), 16)).astype(np.float32)
    return StaticEncoder.of("small", CUT, {w: i for i, w in enumerate(words)}, vectors)


def build(
    bm25: BM25Settings | None = None, encoder: Encoder | None = None, keyword: Retriever | None = None
) -> Engine:
    mask, fields = Mask(ARTICLES), counts()
    meaning = encoder and Dense(encoder, build_vectors(encoder.encode_articles(ARTICLES)), fields.order, mask)
    keyword = keyword or BM25.build(fields, bm25 or BM25Settings(), mask, CUT)
    return engine_of(ARTICLES, CUT, keyword, meaning or None, questions=ASKED)


ENGINE = build(encoder=static())
QUESTIONS = st.lists(st.sampled_from([*WORDS, "zanzibar", "le", "article 3", "?"]), max_size=12).map(" ".join)


def of(engine: Engine, question: str, mode: Mode = "hybrid") -> tuple[Result, dict[str, Explanation]]:
    result = engine.ask(question, mode=mode)
    told = engine.explain(result)
    assert [e.article_id for e in told] == [s.article.id for s in result.shown]
    return result, {e.article_id: e for e in told}


@cache  # for all examples of a test
def searching_by(variant: Variant, *, even: bool) -> Engine:
    weights = dict.fromkeys(UNEVEN, 1.0) if even else UNEVEN
    return build(BM25Settings(variant=variant, weights=weights))


@pytest.mark.parametrize("variant", get_args(Variant))
@pytest.mark.parametrize("even", [True, False])
@settings(deadline=None, max_examples=25)
@given(question=QUESTIONS)
def test_words_add_up_to_bm25_and_fields_to_words(variant: Variant, even: bool, question: str) -> None:
    engine = searching_by(variant, even=even)
    keyword = engine.searcher.keyword
    assert isinstance(keyword, BM25)
    result, told = of(engine, question)
    scores = dict(zip(keyword.order.ids, keyword.scores(result.question).tolist(), strict=True))
    for article_id, explanation in told.items():
        if any(s.why.known for s in result.shown):
            continue  # what was searched is another text: the test below
        assert explanation.bm25 == pytest.approx(scores[article_id], rel=1e-6, abs=1e-9)
        for word in explanation.words:
            assert math.fsum(word.fields.values()) == pytest.approx(word.share, rel=1e-6)
            assert set(word.fields) <= {name for name, weight in UNEVEN.items() if weight or even}


@settings(deadline=None, max_examples=2 * settings().max_examples)
@given(question=QUESTIONS)
def test_meaning_adds_up_to_the_cosine_and_ranks_to_the_fused_score(question: str) -> None:
    result, told = of(ENGINE, question)
    for shown in result.shown:
        why = told[shown.article.id]
        if not shown.why.known:
            assert why.fused == pytest.approx(shown.score, rel=1e-12)
        if why.cosine is not None:
            assert math.fsum(m.share for m in why.meaning) == pytest.approx(why.cosine, rel=1e-6, abs=1e-6)
    by_meaning, alone = of(ENGINE, question, "meaning")
    for shown in by_meaning.shown:
        if not shown.why.known:
            assert alone[shown.article.id].cosine == pytest.approx(shown.score, abs=1e-5)  # rank() rounds


@cache
def lending() -> Engine:
    """An engine in which an article lends its terms to the next."""
    fields = count(ARTICLES, CUT)
    keyword = BM25.build(fields, BM25Settings(), Mask(ARTICLES), CUT, lambda: np.array([0, 0, 1, 1, 1]))
    return engine_of(ARTICLES, CUT, keyword, None)


@pytest.mark.slow
@settings(deadline=None, max_examples=2 * settings().max_examples)
@given(question=QUESTIONS)
def test_what_the_article_before_lends_is_told_apart_and_adds_up(question: str) -> None:
    engine = lending()
    keyword = engine.searcher.keyword
    assert isinstance(keyword, BM25)
    result, told = of(engine, question)
    scores = dict(zip(keyword.order.ids, keyword.scores(result.question).tolist(), strict=True))
    lent = {
        word.term: set(word.fields)
        for each in told.values()
        for word in each.words
        if PRECEDING_FIELD in word.fields
    }
    assert all(fields == {PRECEDING_FIELD} for fields in lent.values())
    if not any(s.why.known for s in result.shown):
        assert all(e.bm25 == pytest.approx(scores[id_], rel=1e-6) for id_, e in told.items())


def test_what_the_article_before_lends_by_hand() -> None:
    _, told = of(lending(), "planter des branches, payer un dommage")
    assert {word.word: set(word.fields) for word in told["b"].words} == {
        "branches": {"text"},
        "planter": {PRECEDING_FIELD},
    }
    assert {word.word: set(word.fields) for word in told["d"].words} == {
        "dommage": {"text", "headings"},
        "payer": {PRECEDING_FIELD},
    }


def test_fields_by_hand() -> None:
    _, told = of(ENGINE, "arbre")
    [word] = told["a"].words
    # the text says it twice; q1 cites the article twice and counts once, q4 and q5 once each: 2 and 3 of 5
    assert word.fields == pytest.approx({"text": word.share * 2 / 5, "questions": word.share * 3 / 5})
    [word] = told["b"].words
    assert word.fields == pytest.approx({"headings": word.share / 3, "questions": word.share * 2 / 3})


def test_field_weights_of_an_opened_index_are_given_again(tmp_path: Path) -> None:
    mask, fields = Mask(ARTICLES), counts()
    BM25.build(fields, BM25Settings(weights=UNEVEN), mask, CUT).save(tmp_path)
    _, told = of(build(keyword=BM25.load(tmp_path, fields.order, mask, CUT, UNEVEN)), "arbre")
    [word] = told["b"].words
    assert word.fields == pytest.approx(
        {"headings": word.share * 2.5 / 3.1, "questions": word.share * 0.6 / 3.1}
    )


def test_words_are_as_the_question_writes_them_and_a_repeated_one_counts_twice() -> None:
    _, once = of(ENGINE, "Arbres plantés")
    _, twice = of(ENGINE, "Arbres plantés arbre")
    assert {w.word for w in once["a"].words} == {"Arbres", "plantés"}
    share = {w.word: w.share for w in once["a"].words}
    assert {w.word: w.share for w in twice["a"].words} == pytest.approx(
        share | {"Arbres": 2 * share["Arbres"]}
    )


def test_equal_scores_share_a_rank_as_they_do_in_fusion() -> None:
    twins = [replace(ARTICLES[0], id=i, article_no=i) for i in ("x", "y")]
    mask, fields = Mask(twins), count(twins, CUT)
    encoder = static()
    meaning = Dense(encoder, build_vectors(encoder.encode_articles(twins)), fields.order, mask)
    engine = engine_of(twins, CUT, BM25.build(fields, BM25Settings(), mask, CUT), meaning)
    result, told = of(engine, "arbre voisin")
    assert [dict(s.why.ranks) for s in result.shown] == [{KEYWORD: 1, MEANING: 1}] * 2
    assert [told[s.article.id].fused for s in result.shown] == [s.score for s in result.shown]


def test_the_nearest_annotated_questions_each_text_once() -> None:
    _, told = of(ENGINE, ARBRE)
    alike = told["a"].alike
    assert len(alike) == MAX_QUESTIONS  # of five that cite it, two of which say the same
    assert alike[0].text == ASKED[0].text
    assert len({a.text for a in alike}) == MAX_QUESTIONS
    assert [a.nearness for a in alike] == sorted((a.nearness for a in alike), reverse=True)
    [vector] = static().encode_questions([ARBRE])
    for a in alike:
        [other] = static().encode_questions([a.text])
        assert a.cosine == pytest.approx(float(vector @ other), abs=1e-6)
    blind = of(build(), ARBRE)[1]["a"].alike[0]
    assert (blind.cosine, blind.nearness) == (None, blind.overlap)
    assert blind.overlap == len(blind.shared) / len(set(CUT.terms(ARBRE)) | set(CUT.terms(ASKED[0].text)))


def test_only_what_counted_is_told() -> None:
    _, words = of(ENGINE, ARBRE, "keyword")
    _, meaning = of(ENGINE, ARBRE, "meaning")
    assert words["a"].words
    assert (words["a"].cosine, words["a"].meaning, words["a"].fused) == (None, (), None)
    assert [p.system for p in words["a"].places] == [KEYWORD]
    assert meaning["a"].meaning
    assert (meaning["a"].words, meaning["a"].bm25, meaning["a"].fused) == ((), 0.0, None)
    assert [p.system for p in meaning["a"].places] == [MEANING]


def test_an_article_named_by_number_is_explained_by_the_rest_of_the_question() -> None:
    result, told = of(ENGINE, "article 3 du code rural et bail")
    assert result.shown[0].why.known
    assert [w.term for w in told["c"].words] == CUT.terms("bail")
    assert told["c"].places
    alone, nothing = of(ENGINE, "article 3 du code rural")
    assert [s.article.id for s in alone.shown] == ["c"]
    assert (nothing["c"].words, nothing["c"].cosine, nothing["c"].fused) == ((), None, None)


class Opaque:
    """An encoder that is no sum."""

    name, dim = "opaque", 16

    def __init__(self) -> None:
        self.inner = static()

    def encode_questions(self, questions: list[str]) -> Floats:
        return self.inner.encode_questions(questions)

    def encode_articles(self, articles: list[Article]) -> Floats:
        return self.inner.encode_articles(articles)


def test_another_encoder_tells_the_likeness_alone() -> None:
    _, known = of(ENGINE, ARBRE)
    _, told = of(build(encoder=Opaque()), ARBRE)  # type: ignore[arg-type]
    assert told["a"].cosine == known["a"].cosine
    assert told["a"].meaning == ()
    assert told["a"].alike[0].cosine is not None


def test_another_kind_of_retriever_is_passed_over() -> None:
    class Reversed:
        """Ranks by BM25, the last first."""

        def search(self, questions, k, where=None):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            return [r[::-1] for r in ENGINE.searcher.keyword.search(questions, k, where)]

    _, told = of(build(keyword=Reversed()), ARBRE)
    assert told["a"].words == ()
    assert told["a"].alike


@pytest.mark.parametrize("question", ["", "   ", "zanzibar", "le la les", "\ud800"])
def test_nothing_found_is_nothing_to_explain(question: str) -> None:
    assert ENGINE.explain(ENGINE.ask(question)) == []
