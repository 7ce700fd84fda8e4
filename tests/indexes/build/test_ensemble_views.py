"""Fits of one encoder that look at a text by other terms: words, pairs of characters, both."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from indexes.build import ensemble
from indexes.build.encoder_choice import fit_encoder
from indexes.build.fit_settings import FitSettings, FittedParameters
from indexes.build.static_encoder import Fitter
from indexes.build.training_pairs import bag
from rag.errors import BadInput
from rag.text.analysers import analyser
from rag.text.chinese import ChineseAnalyser, Units
from rag.types import Article, Question
from tests.fakes.law.corpus import TINY, VILLAGE

CUT = analyser("zh")
FRENCH = analyser("fr")
# words of two characters and of three, pairs across their borders, places and numbers
SAID = (
    "承租人应当按照约定支付租金，逾期不支付的，出租人可以解除合同。",
    "用人单位自用工之日起超过一个月未订立书面劳动合同的，应当每月支付二倍的工资。",
    "依照本法第十二条的规定，劳动者可以解除劳动合同。",
    "出租人应当在租赁期限内保持租赁物符合约定的用途。",
)


def law() -> list[Article]:
    return [Article(f"a{i}", "某法", str(i), text, ("总则",)) for i, text in enumerate(SAID * 3)]


QUESTIONS = [
    Question("q1", "房东不退租金怎么办", ("a0",), answer="出租人可以解除合同"),
    Question("q2", "没有签劳动合同能要双倍工资吗", ("a1",)),
    Question("q3", "租来的房子坏了房东要修吗", ("a3",)),
]


@cache
def fitted(units: Units, asked: bool = True) -> FittedParameters:
    made = Fitter(law(), CUT, replace(TINY, min_count=1, units=units))
    begun = made.fit_corpus()
    return made.fit_questions(begun, QUESTIONS) if asked else begun


def told(made: FittedParameters) -> set[str]:
    """The terms that have a vector."""
    return {term for term, i in made.vocabulary.items() if made.vectors[i].any()}


@pytest.mark.parametrize(
    ("term", "word", "pair"),
    [
        ("租金", True, True),
        ("人应", False, True),
        ("出租人", True, False),
        ("的", True, False),
        ("甲", True, False),
        ("第12条", True, True),
        ("2010", True, True),
        ("gps", True, True),
    ],
)
def test_a_term_is_a_word_or_a_pair_or_both(term: str, word: bool, pair: bool) -> None:
    assert isinstance(CUT, ChineseAnalyser)
    assert CUT.gives(term, "both")
    assert (CUT.gives(term, "words"), CUT.gives(term, "bigrams")) == (word, pair)


@pytest.mark.parametrize("only", ["words", "bigrams"])
def test_what_is_cut_one_way_alone_gives_all_that_it_gives(only: Units) -> None:
    cut = analyser("zh", chinese=only)
    assert isinstance(cut, ChineseAnalyser)
    assert all(cut.gives(term, units) for term in cut.terms(SAID[0]) for units in ("words", "bigrams"))


@pytest.mark.parametrize("text", SAID)
def test_together_they_are_all_terms(text: str) -> None:
    assert isinstance(CUT, ChineseAnalyser)
    for units in ("words", "bigrams"):
        alone = set(analyser("zh", chinese=units).terms(text))
        assert alone <= {term for term in CUT.terms(text) if CUT.gives(term, units)}
    assert all(CUT.gives(term, "words") or CUT.gives(term, "bigrams") for term in CUT.terms(text))


@pytest.mark.parametrize("asked", [False, True])
def test_a_fit_gives_vectors_to_the_terms_that_it_looks_at_and_to_no_other(asked: bool) -> None:
    assert isinstance(CUT, ChineseAnalyser)
    both, words, pairs = (fitted(units, asked) for units in ("both", "words", "bigrams"))
    assert words.vocabulary == pairs.vocabulary == both.vocabulary
    assert told(both) == set(both.vocabulary)
    assert told(words) == {term for term in both.vocabulary if CUT.gives(term, "words")}
    assert told(pairs) == {term for term in both.vocabulary if CUT.gives(term, "bigrams")}
    assert "出租人" in told(words) - told(pairs)
    assert "人应" in told(pairs) - told(words)


def test_articles_are_cut_down_to_the_terms_that_are_kept() -> None:
    made = Fitter(law(), CUT, replace(TINY, min_count=1))
    kept = np.array([CUT.gives(term, "words") for term in made.vocabulary])  # type: ignore[attr-defined]
    texts, only = made.texts, made.texts.only(kept)
    names = list(made.vocabulary)
    for i, article in enumerate(law()):
        left = [t for t in CUT.terms(article.text) if CUT.gives(t, "words")]  # type: ignore[attr-defined]
        assert [names[n] for n in only.text[i]] == left
        assert len(only.whole(i)) < len(texts.whole(i))
        assert only.siblings[i] is texts.siblings[i]


def test_several_fits_look_at_both_at_pairs_and_at_words_where_a_text_is_cut_both_ways() -> None:
    five = FitSettings(fits=5)
    assert ensemble.views(five, CUT) == ("both", "bigrams", "words", "both", "bigrams")
    assert ensemble.views(FitSettings(), CUT) == ("both",)
    assert ensemble.views(five, FRENCH) == ("both",) * 5
    assert ensemble.views(five, analyser("zh", chinese="words")) == ("both",) * 5
    assert ensemble.views(replace(five, units="words"), CUT) == ("words",) * 5  # as it was told


def test_three_fits_of_chinese_know_a_text_by_other_terms() -> None:
    chosen = replace(TINY, min_count=1, fits=3)
    made = ensemble.fit(Fitter(law(), CUT, chosen), QUESTIONS)
    both, pairs, words = np.split(made.vectors, 3, axis=1)
    at = made.vocabulary
    assert both[at["人应"]].any()
    assert pairs[at["人应"]].any()
    assert not words[at["人应"]].any()
    assert words[at["出租人"]].any()
    assert not pairs[at["出租人"]].any()
    encoder = made.encoder("static", CUT)
    again = Fitter(law(), CUT, chosen)
    assert np.array_equal(ensemble.fit(again, QUESTIONS).vectors, made.vectors)
    vectors = encoder.encode_questions(["房东不退租金"])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_what_is_cut_in_one_way_has_fits_of_all_terms() -> None:
    articles = [Article(str(i), "Code", str(i), f"le bail {i % 3} est dû", ("Titre",)) for i in range(9)]
    made = [
        Fitter(articles, FRENCH, replace(TINY, min_count=1, units=units)).fit_corpus()
        for units in ("both", "words", "bigrams")
    ]
    assert np.array_equal(made[0].vectors, made[1].vectors)
    assert np.array_equal(made[0].vectors, made[2].vectors)


def test_what_an_encoder_looks_at_goes_into_the_manifest() -> None:
    corpus = replace(
        VILLAGE, articles=tuple(law()), questions=tuple(QUESTIONS), card=replace(VILLAGE.card, language="zh")
    )
    told = []
    for fits in (1, 3):
        made, entry = fit_encoder(
            corpus, QUESTIONS, CUT, replace(TINY, min_count=1, fits=fits), lambda what, done, total: None
        )
        told.append(entry["views"])
        assert made.dim == fits * TINY.dim
    assert told == [["both"], ["both", "bigrams", "words"]]


def test_settings_that_look_at_other_terms_are_others() -> None:
    plain = FitSettings()
    assert plain.id == "339ef8a8"  # what was fitted and kept before is found
    assert replace(plain, seed=10, units="bigrams").id == "ce92e717"
    assert len({replace(plain, units=units).id for units in ("both", "words", "bigrams")}) == 3
    with pytest.raises(BadInput, match="expected one of words, bigrams, both"):
        FitSettings(units="letters")  # type: ignore[arg-type]


def test_an_article_without_a_term_of_the_view_does_not_count_in_its_length() -> None:
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((6, 4)).astype(np.float32)
    vectors[3:] = 0  # terms that this fit does not look at
    made = FittedParameters({str(i): i for i in range(6)}, vectors, np.zeros(6, np.float32))
    said = [np.array([0, 1], np.int32), np.array([2], np.int32)]
    others = [np.array([3, 4], np.int32), np.array([5], np.int32)]
    some, all_ = (ensemble.concatenate([made], bag(texts, 6)).vectors for texts in (said, [*said, *others]))
    assert np.array_equal(some, all_)
