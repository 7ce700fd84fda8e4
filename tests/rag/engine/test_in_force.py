"""The law in force on a day: what is not in force then is never listed, unless its number was asked for."""

from __future__ import annotations

from datetime import date

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.corpus.card import CorpusCard, Moved
from rag.encoders.static import StaticEncoder, article_terms
from rag.engine.engine import Engine
from rag.engine.result import Result
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.dense import Dense, build_vectors
from rag.retrieval.known_item import together
from rag.retrieval.term_counts import count
from rag.text.analysers import analyser
from rag.types import Article, Filter, in_force
from tests.fakes.ranking.engines import engine_of

CUT = analyser("fr")
CODE, RURAL = "Code civil", "Code rural"
WORDS = ("four", "pain", "puits", "chèvre")
A, B, C = date(2000, 1, 1), date(2010, 1, 1), date(2020, 1, 1)
DAYS = st.dates(date(1999, 12, 30), date(2000, 1, 8))


def build(articles: list[Article], *, card: CorpusCard | None = None) -> Engine:
    mask, counts = Mask(articles), count(articles, CUT)
    words = sorted({t for a in articles for t in article_terms(a, CUT)})
    vectors = np.random.default_rng(0).standard_normal((len(words), 8)).astype(np.float32)
    encoder = StaticEncoder.of("small", CUT, {w: i for i, w in enumerate(words)}, vectors)
    index = build_vectors(encoder.encode_articles(articles))
    keyword = BM25.build(counts, BM25Settings(), mask, CUT)
    return engine_of(articles, CUT, keyword, Dense(encoder, index, counts.order, mask), card=card)


def ids(result: Result) -> list[str]:
    return [shown.article.id for shown in result.shown]


@st.composite
def laws(draw: st.DrawFn) -> list[Article]:
    ends = st.none() | DAYS
    row = st.tuples(st.sampled_from("1234"), st.sampled_from(WORDS), ends, ends)
    rows = draw(st.lists(row, min_size=1, max_size=9))
    return [
        Article(f"a{i}", CODE, number, f"Le {word} du village.", valid_from=begun, valid_to=ended)
        for i, (number, word, begun, ended) in enumerate(rows)
    ]


@settings(deadline=None, max_examples=25)
@given(law=laws(), day=DAYS, number=st.sampled_from("1239"), word=st.sampled_from(WORDS), data=st.data())
def test_what_is_not_in_force_is_listed_only_if_it_is_asked_for_by_number(
    law: list[Article], day: date, number: str, word: str, data: st.DataObject
) -> None:
    engine = build(law)
    asked = data.draw(
        st.sampled_from([word, f"article {number} du code civil", f"article {number} : le {word}"])
    )
    for mode in engine.modes:
        result = engine.ask(asked, k=5, where=Filter(in_force_on=day), mode=mode)
        assert result.in_force_on == day
        assert len(result.shown) <= 5
        for shown in result.shown:
            assert in_force(shown.article, day) or (shown.why.known and shown.article.article_no == number)
        if asked == word:
            held = [a for a in law if in_force(a, day) and word in a.text]
            assert {a.id for a in held[:1]} <= set(ids(result)) or len(result.shown) == 5 or mode == "meaning"


@settings(deadline=None, max_examples=25)
@given(law=laws(), word=st.sampled_from(WORDS))
def test_no_two_versions_of_one_article_are_listed(law: list[Article], word: str) -> None:
    engine = build(law)
    for mode in engine.modes:
        shown = [s.article for s in engine.ask(word, k=4, mode=mode).shown]
        for i, one in enumerate(shown):
            assert all(one.article_no != b.article_no or together(one, b) for b in shown[:i])


def versions(n: int, number: str, text: str) -> list[Article]:
    years = range(1900, 1900 + n)
    return [
        Article(f"{number}-{y}", CODE, number, text, valid_from=date(y, 1, 1), valid_to=date(y + 1, 1, 1))
        for y in years
    ]


def test_versions_do_not_crowd_out_the_other_articles() -> None:
    many = versions(60, "1", "Le four commun est chauffé par le four.")
    others = [Article(f"o{i}", CODE, str(i), "Le four du village et le reste.") for i in range(2, 12)]
    engine = build([*many, *others])
    for mode in engine.modes:
        listed = [s.article.article_no for s in engine.ask("four", k=10, mode=mode).shown]
        assert len(listed) == len(set(listed)) == 10
    then = engine.ask("four", k=11, where=Filter(in_force_on=date(1925, 6, 1)))
    assert [i for i in ids(then) if i.startswith("1-")] == ["1-1925"]


def test_an_article_that_is_named_is_the_version_of_the_day_or_the_nearest() -> None:
    law = [
        Article("v1", CODE, "5", "Le four.", valid_from=A, valid_to=B),
        Article("v2", CODE, "5", "Le pain.", valid_from=B, valid_to=C),
        Article("r", RURAL, "5", "La chèvre."),
    ]
    engine = build(law)
    on = lambda day: Filter(in_force_on=day)  # noqa: E731
    assert ids(engine.ask("article 5 du code civil", where=on(date(2005, 1, 1)))) == ["v1"]
    assert ids(engine.ask("article 5 du code civil", where=on(B))) == ["v2"]
    assert ids(engine.ask("article 5 du code civil", where=on(date(2030, 1, 1)))) == [
        "v2"
    ]  # the last there was
    assert ids(engine.ask("article 5 du code civil")) == ["v2"]
    assert ids(engine.ask("article 5", where=on(date(2005, 1, 1)))) == ["v1", "r"]
    elsewhere = Filter(codes=frozenset({RURAL}), in_force_on=date(2005, 1, 1))
    assert ids(engine.ask("article 5", where=elsewhere)) == ["r"]  # the other filters hold all the same


def test_what_took_over_a_number_is_the_version_of_the_day_or_nothing() -> None:
    law = [
        Article("v1", CODE, "1240", "Le four.", valid_from=A, valid_to=B),
        Article("v2", CODE, "1240", "Le pain.", valid_from=B),
    ]
    card = CorpusCard("small", "Petit corpus", "fr", moved=(Moved(CODE, "1382", ("1240",)),))
    engine = build(law, card=card)
    question = "article 1382 du code civil"
    assert ids(engine.ask(question, where=Filter(in_force_on=date(2005, 1, 1)))) == ["v1"]
    assert ids(engine.ask(question)) == ["v2"]
    assert ids(engine.ask(question, where=Filter(in_force_on=date(1990, 1, 1)))) == []
