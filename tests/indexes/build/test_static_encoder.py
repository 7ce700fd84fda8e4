"""The encoder that is fitted to a corpus: what it learns, and that it learns the same every time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes.build import static_encoder
from indexes.build.contrastive import Gradient, pair_gradient
from indexes.build.fit_settings import FitSettings, FittedParameters
from indexes.build.static_encoder import Fitter
from indexes.build.training_pairs import TASKS, Texts, bags, pair
from rag.encoders.static import StaticEncoder
from rag.text.analysers import analyser
from rag.types import Article, Floats, Question

WORDS = analyser("fr", stop_words=False, stem=False)
SETTINGS = FitSettings(dim=16, passes=6, question_passes=60, batch=64, random_negatives=64)
TOPICS = ("eau", "feu")
PER_TOPIC = 200


def word(topic: str, n: int) -> str:
    return f"{topic}{chr(97 + n // 10)}{chr(97 + n % 10)}"


def speech(topic: str, n: int, rng: np.random.Generator) -> str:
    """So many words of a topic's 60, and a word in three that every topic has."""
    own = [word(topic, int(i)) for i in rng.integers(0, 60, n)]
    common = [word("mot", int(i)) for i in rng.integers(0, 20, n // 2)]
    return " ".join(rng.permutation([*own, *common]).tolist())


@cache
def law() -> tuple[Article, ...]:
    """Articles of two topics, each under a heading of its own."""
    rng = np.random.default_rng(7)
    return tuple(
        Article(f"{topic}-{i}", "Code", str(i), speech(topic, 16, rng), (f"titre {topic}",))
        for i in range(PER_TOPIC)
        for topic in TOPICS
    )


@cache
def fitter(settings: FitSettings = SETTINGS) -> Fitter:
    return Fitter(law(), WORDS, settings)


@cache
def fitted() -> FittedParameters:
    return fitter().fit_corpus()


def topic_of(article_id: str) -> str:
    return article_id.partition("-")[0]


def nearest(encoder: StaticEncoder, questions: Sequence[str]) -> list[str]:
    """The article nearest to each question."""
    cosines = encoder.encode_questions(questions) @ encoder.encode_articles(law()).T
    return [law()[i].id for i in cosines.argmax(axis=1)]


def margin(encoder: StaticEncoder) -> float:
    """How much nearer a short question lies to its topic's articles than to the other's, in cosine."""
    rng = np.random.default_rng(8)
    asked = [(topic, speech(topic, 4, rng)) for topic in TOPICS for _ in range(100)]
    cosines = encoder.encode_questions([q for _, q in asked]) @ encoder.encode_articles(law()).T
    own = np.array([[topic_of(a.id) == topic for a in law()] for topic, _ in asked])
    return float(cosines[own].mean() - cosines[~own].mean())


def kin(encoder: StaticEncoder) -> float:
    """How many words of a topic have a word of the same topic for their nearest neighbour."""
    own = [term for term in encoder.vocabulary if len(term) == 5 and term.startswith(TOPICS)]
    vectors = encoder.encode_questions(own)
    cosines = vectors @ vectors.T - 2 * np.eye(len(own))  # nobody is a neighbour of itself
    return float(np.mean([own[i][:3] == own[j][:3] for i, j in enumerate(cosines.argmax(axis=1))]))


def test_the_right_topic_comes_nearer_than_it_was_before_fitting() -> None:
    start, end = fitter().start().encoder("start", WORDS), fitted().encoder("end", WORDS)
    assert margin(start) < 0.2  # words in common alone
    assert margin(end) > margin(start) + 0.3
    assert kin(start) < 0.65  # two topics: about a half by chance
    assert kin(end) > 0.85
    rng = np.random.default_rng(9)
    asked = [(topic, speech(topic, 4, rng)) for topic in TOPICS for _ in range(100)]
    found = nearest(end, [question for _, question in asked])
    right = sum(topic_of(id_) == topic for id_, (topic, _) in zip(found, asked, strict=True))
    assert right >= 195  # of 200; by chance 100


def test_words_that_every_topic_has_weigh_less() -> None:
    def weight(stem: str) -> float:
        own = [i for term, i in fitted().vocabulary.items() if term.startswith(stem)]
        return float(
            np.linalg.norm(fitted().encoder("end", WORDS).codes[own] * _scales(fitted())[own], axis=1).mean()
        )

    assert weight("mot") < 0.8 * weight("eau")


def _scales(of: FittedParameters) -> Floats:
    return of.encoder("end", WORDS).scales[:, None]


def test_the_same_seed_gives_the_same_and_another_one_another() -> None:
    again = Fitter(law(), WORDS, SETTINGS).fit_corpus()
    assert again.vocabulary == fitted().vocabulary
    assert (again.vectors == fitted().vectors).all()
    assert (again.log_weights == fitted().log_weights).all()
    other = Fitter(law(), WORDS, replace(SETTINGS, seed=1)).fit_corpus()
    assert not np.allclose(other.vectors, fitted().vectors)


def lay_questions() -> list[Question]:
    """Ten lay words, each asked about one article; articles never say them."""
    return [
        Question(f"q{n}-{again}", f"truc{chr(97 + n)} {'machin' if again else 'chose'}", (f"eau-{n}",))
        for n in range(10)
        for again in range(3)
    ]


def test_questions_teach_words_that_the_law_does_not_have() -> None:
    asked = lay_questions()
    before = fitted().encoder("law", WORDS)
    assert (before.encode_questions(["truca"]) == 0).all()
    learnt = fitter().fit_questions(fitted(), asked)
    fresh = {"chose", "machin", *(f"truc{chr(97 + n)}" for n in range(10))}
    assert set(learnt.vocabulary) - set(fitted().vocabulary) == fresh
    assert list(learnt.vocabulary.values()) == list(range(len(learnt.vocabulary)))
    found = nearest(learnt.encoder("learnt", WORDS), [f"truc{chr(97 + n)}" for n in range(10)])
    assert found == [f"eau-{n}" for n in range(10)]
    again = fitter().fit_questions(fitted(), asked)
    assert (again.vectors == learnt.vectors).all()


def test_fitting_to_questions_leaves_what_it_started_from() -> None:
    before = fitted().vectors.copy(), fitted().log_weights.copy(), dict(fitted().vocabulary)
    fitter().fit_questions(fitted(), lay_questions())
    assert (fitted().vectors == before[0]).all()
    assert (fitted().log_weights == before[1]).all()
    assert fitted().vocabulary == before[2]


def test_a_word_asked_only_once_gets_no_vector() -> None:
    rare = [*lay_questions(), Question("rare", "bidule chose", ("eau-1",))]
    assert "bidule" not in fitter().fit_questions(fitted(), rare).vocabulary


@pytest.mark.parametrize(
    "questions",
    [
        [],
        [Question("q", "", ("eau-1",))],
        [Question("q", "chose", ("absent",))],
        [Question("q", "chose", ())],
    ],
)
def test_questions_that_teach_nothing_change_nothing(questions: list[Question]) -> None:
    after = fitter().fit_questions(fitted(), questions)
    assert (after.vectors[: len(fitted().vectors)] == fitted().vectors).all()


@pytest.mark.parametrize("texts", [[], ["un"], ["un deux trois"], ["", ""], ["a b c d e f", ""]])
def test_corpora_too_small_to_learn_from(texts: list[str]) -> None:
    articles = [Article(str(i), "", "", text) for i, text in enumerate(texts)]
    small = Fitter(articles, WORDS, replace(SETTINGS, min_count=1))
    made = small.fit_questions(small.fit_corpus(), [Question("q", "un deux", ("0",))])
    encoder = made.encoder("small", WORDS)
    assert np.isfinite(made.vectors).all()
    assert encoder.encode_articles(articles).shape == (len(articles), SETTINGS.dim)
    assert (encoder.encode_questions(["", "jamais vu"]) == 0).all()


def test_the_vocabulary_is_the_most_frequent_terms_that_are_frequent_enough() -> None:
    articles = [Article(str(i), "Code", "", text) for i, text in enumerate(["a b c", "a b", "a d d d"])]
    chosen = Fitter(articles, WORDS, replace(SETTINGS, min_count=2)).vocabulary
    assert set(chosen) == {"a", "b", "code"}  # d stands in one article alone, however often
    few = Fitter(articles, WORDS, replace(SETTINGS, min_count=1, max_terms=2)).vocabulary
    assert few == {"a": 0, "code": 1}


def test_first_weights_are_three_tenths_of_idf() -> None:
    start = fitter().start()
    term = "motaa"
    frequency = sum(term in WORDS.terms(article.text) for article in law())
    weight = float(np.exp(start.log_weights[start.vocabulary[term]]))
    assert weight == pytest.approx(0.3 * np.log(len(law()) / frequency), rel=1e-5)
    everywhere = float(np.exp(start.log_weights[start.vocabulary["code"]]))
    assert everywhere == pytest.approx(0.3 * 0.1, rel=1e-5)  # a floor, or it could never be learnt


def test_bytes_err_by_half_a_step_of_the_largest_part() -> None:
    folded = fitted().vectors * np.exp(fitted().log_weights)[:, None]
    encoder = fitted().encoder("end", WORDS)
    kept = encoder.codes.astype(np.float32) * encoder.scales[:, None]
    assert (np.abs(kept - folded) <= np.abs(folded).max(axis=1, keepdims=True) / 254 * 1.001).all()


def test_progress_counts_every_step_and_the_loss_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, int, int | None]] = []
    losses: list[float] = []

    def spy(*left_and_right: Any, **given: Any) -> Gradient:
        gradient = pair_gradient(*left_and_right, **given)
        losses.append(gradient.loss)
        return gradient

    monkeypatch.setattr(static_encoder, "pair_gradient", spy)
    fitter().fit_corpus(lambda *step: seen.append(step))
    total = len(seen)
    assert seen == [("fitting the encoder to the law", n, total) for n in range(1, total + 1)]
    third = total // 3
    assert np.mean(losses[-third:]) < np.mean(losses[:third])


def test_settings_are_told_apart_by_their_id() -> None:
    assert FitSettings().id == FitSettings().id
    assert len({FitSettings().id, FitSettings(seed=1).id, FitSettings(dim=8).id}) == 3


lines = st.lists(st.integers(0, 9), max_size=12).map(lambda ids: np.array(ids, dtype=np.int32))


@given(articles=st.lists(st.tuples(lines, lines), min_size=1, max_size=5), seed=st.integers(0, 2**32))
@settings(deadline=None)
def test_both_halves_of_a_pair_come_from_the_articles_and_are_empty_only_with_them(
    articles: list[tuple[np.ndarray, np.ndarray]], seed: int
) -> None:
    everyone = np.arange(len(articles))
    texts = Texts([t for t, _ in articles], [h for _, h in articles], [everyone] * len(articles))
    rng = np.random.default_rng(seed)
    for i, (text, headings) in enumerate(articles):
        for task in TASKS:
            left, right = pair(texts, i, task, rng)
            assert set(right.tolist()) <= {*text.tolist(), *headings.tolist()}
            if len(text) >= 4:
                assert len(right)
                if task != "sibling":
                    assert len(left)
                    assert set(left.tolist()) <= set(text.tolist())


def test_a_sibling_shares_the_headings() -> None:
    articles = [Article(str(i), "Code", str(i), f"mot{i} mot{i}", (f"Section {i % 2}",)) for i in range(8)]
    texts = Fitter(articles, WORDS, replace(SETTINGS, min_count=1)).texts
    rng = np.random.default_rng(1)
    for i in range(8):
        partners = {tuple(pair(texts, i, "sibling", rng)[0].tolist()) for _ in range(60)}
        allowed = {tuple(texts.text[j].tolist()) for j in range(i % 2, 8, 2)}
        assert partners <= allowed
        assert len(partners) >= 3


@given(left=st.lists(lines, max_size=4), right=st.lists(lines, max_size=4))
@settings(deadline=None)
def test_bags_count_the_terms_of_both_sides(left: list[np.ndarray], right: list[np.ndarray]) -> None:
    terms, one, two = bags(left, right)
    assert terms.tolist() == sorted({int(t) for text in (*left, *right) for t in text})
    for side, counts in ((left, one), (right, two)):
        assert counts.shape == (len(side), len(terms))
        wanted = [[int((text == term).sum()) for term in terms] for text in side]
        assert counts.toarray().tolist() == wanted


def test_a_large_law_is_fitted_to_a_sample_and_to_what_questions_cite() -> None:
    some = replace(SETTINGS, max_articles=100, passes=1, question_passes=1)
    made = Fitter(law(), WORDS, some)
    assert made.n_articles == 100
    assert list(made.position) == [a.id for a in law() if a.id in made.position]  # in the law's order
    assert made.position == Fitter(law(), WORDS, some).position
    assert made.position != Fitter(law(), WORDS, replace(some, seed=1)).position

    left_aside = [a for a in law() if a.id not in made.position]
    cited = [Question(f"q{n}", a.text, (a.id,)) for n, a in enumerate(left_aside[:20])]
    start = made.fit_corpus()
    drawn = made.fit_questions(start, cited)
    assert not np.array_equal(drawn.vectors, start.vectors)
    none_cited = made.fit_questions(start, [replace(q, article_ids=("nowhere",)) for q in cited])
    assert np.array_equal(none_cited.vectors[: len(start.vectors)], start.vectors)

    whole = Fitter(law(), WORDS, replace(some, max_articles=len(law())))
    assert np.array_equal(
        whole.fit_corpus().vectors, Fitter(law(), WORDS, replace(SETTINGS, passes=1)).fit_corpus().vectors
    )
