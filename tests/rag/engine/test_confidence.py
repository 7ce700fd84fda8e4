"""Features of a question's lists and the probability made of them."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.encoders.static import StaticEncoder
from rag.engine.confidence import NAMES, SIGNS, Confidence, Signals, WordSignals, features
from rag.engine.result import Level, Result
from rag.errors import BadInput
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.question_knn import QuestionKNN
from rag.retrieval.term_counts import count
from rag.text.analysers import analyser
from rag.types import EMPTY, Article, Question, Ranking

MODEL = Confidence(
    bias=0.5,
    weights={n: 0.3 * sign for n, sign in SIGNS.items()},
    means=dict.fromkeys(NAMES, 0.25),
    scales=dict.fromkeys(NAMES, 0.5),
    threshold=0.4,
    false_alarm_rate=0.05,
    corpus_sha256="ab" * 32,
)
KEYWORD = Ranking.of((i, s) for i, s in zip("abcdefghij", (8, 6, 5, 4, 3, 3, 3, 3, 3, 2), strict=True))
MEANING = Ranking.of([("b", 0.9), ("x", 0.7), ("y", 0.6), ("a", 0.5)])

numbers = st.floats(-50, 50)
rankings = st.lists(st.tuples(st.sampled_from("abcdefghijkl"), numbers), unique_by=lambda t: t[0]).map(
    lambda pairs: Ranking.of((i, s) for i, s in sorted(pairs, key=lambda t: -t[1]))
)


def test_features_worked_by_hand() -> None:
    found = features(WordSignals(5, 3, 1, 16.0), KEYWORD, MEANING, nearest=0.6, elsewhere=True)
    assert found == pytest.approx(
        {
            "keyword_top": math.log(9),
            "keyword_share": 8 / 16,
            "keyword_second": 2 / 8,
            "keyword_tenth": 6 / 8,
            "meaning_top": 0.9,
            "meaning_second": 0.2,
            "meaning_tenth": 0.9,  # there is no tenth: nothing matched there
            "overlap": 2 / 10,  # a and b
            "keyword_first_in_meaning": 1 / 3,  # a is the fourth there: 1 / (1 + log2 4)
            "meaning_first_in_keyword": 1 / 2,  # b is the second: 1 / (1 + log2 2)
            "known": 3 / 5,
            "other_law": 1 / 5,
            "nearest": 0.6,
            "words": 1.0,
            "elsewhere": 1.0,
        }
    )


def test_empty_lists_have_features_and_a_low_probability() -> None:
    nothing = features(WordSignals(), EMPTY, EMPTY)
    assert nothing == dict.fromkeys(NAMES, 0.0)
    assert (
        0
        < MODEL.probability(nothing)
        < MODEL.probability(features(WordSignals(5, 5, 0, 9.0), KEYWORD, MEANING))
    )


@given(rankings, rankings, st.integers(0, 9), st.floats(0, 50), st.booleans())
def test_features_are_total_and_deterministic(
    keyword: Ranking, meaning: Ranking, terms: int, reach: float, elsewhere: bool
) -> None:
    words = WordSignals(terms, terms // 2, terms - terms // 2, reach)
    found = features(words, keyword, meaning, elsewhere=elsewhere)
    assert tuple(found) == NAMES
    assert all(math.isfinite(x) for x in found.values())
    assert found == features(words, keyword, meaning, elsewhere=elsewhere)
    assert 0 <= MODEL.probability(found) <= 1


@given(st.fixed_dictionaries(dict.fromkeys(NAMES, numbers)), st.sampled_from(NAMES), st.floats(0.01, 50))
def test_probability_follows_every_feature_in_its_direction(
    values: dict[str, float], name: str, step: float
) -> None:
    raised = values | {name: values[name] + step}
    low, high = MODEL.probability(values), MODEL.probability(raised)
    assert (high >= low) if SIGNS[name] > 0 else (high <= low)


@given(st.floats(-3000, 3000), st.floats(-3000, 3000))
def test_probability_is_monotone_in_the_log_odds_and_never_overflows(a: float, b: float) -> None:
    at = dict(MODEL.means)  # every part is 0 there: the log-odds are the bias
    low, high = (replace(MODEL, bias=bias).probability(at) for bias in sorted((a, b)))
    assert 0 <= low <= high <= 1


def test_probability_worked_by_hand() -> None:
    at = dict(MODEL.means) | {"meaning_top": 1.25}  # two scales above the mean: 0.5 + 0.3 * 2
    assert MODEL.probability(at) == pytest.approx(1 / (1 + math.exp(-1.1)))
    assert MODEL.parts(at)["meaning_top"] == pytest.approx(0.6)
    assert sum(MODEL.parts(at).values()) == pytest.approx(0.6)
    assert MODEL.threshold == 0.4


@given(st.fixed_dictionaries(dict.fromkeys(NAMES, st.floats(0, 9))), numbers, st.floats(0, 1))
def test_json_round_trip_is_exact(sizes: dict[str, float], bias: float, threshold: float) -> None:
    made = replace(MODEL, bias=bias, threshold=threshold, weights={n: SIGNS[n] * x for n, x in sizes.items()})
    assert Confidence.from_json(made.to_json()) == made


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"weights": {"keyword_top": 1.0}},
        {"weights": dict(MODEL.weights) | {"elsewhere": 0.1}},  # against its meaning
        {"scales": dict(MODEL.scales) | {"known": 0.0}},
        {"threshold": 1.5},
        {"bias": "high"},
        {"unheard": 1},
    ],
)
def test_other_weights_are_refused_with_the_cure(change: dict[str, object]) -> None:
    record = json.loads(MODEL.to_json()) | change
    with pytest.raises(BadInput, match=r"python -m training\.confidence"):
        Confidence.from_json(json.dumps(record))


@pytest.mark.parametrize("text", ["", "[]", "{}", "null"])
def test_what_is_no_weights_file_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=r"python -m training\.confidence"):
        Confidence.from_json(text)


CUT = analyser("fr")
ARTICLES = [
    Article("a", "Code", "1", "Les arbres du voisin."),
    Article("b", "Code", "2", "Le voisin et la clôture."),
]
ASKED = [Question("1", "un arbre", ("a",)), Question("2", "une clôture", ("b",))]


def signals(asked: list[Question]) -> tuple[Signals, BM25]:
    counts = count(ARTICLES, CUT)
    keyword = BM25.build(counts, BM25Settings(), Mask(ARTICLES), CUT)
    vocabulary = {CUT.terms(word)[0]: i for i, word in enumerate(("arbre", "clôture", "permis"))}
    encoder = StaticEncoder.of("eye", CUT, vocabulary, np.eye(3, dtype=np.float32))
    nearest = QuestionKNN(asked, counts.order, keyword.mask, CUT, encoder)
    return Signals(CUT, keyword, encoder, nearest), keyword


def test_words_say_what_the_corpus_knows() -> None:
    made, keyword = signals(ASKED)
    found = made.words("clôture permis xylophone")
    assert (found.terms, found.known, found.other_law) == (3, 1, 1)
    best = max(hit.score for hit in keyword.search(["clôture"], 2)[0])
    reached = [max(hit.score for hit in keyword.search([t], 2)[0]) for t in made.vocabulary]
    assert found.reach == pytest.approx(best + 2 * sum(reached) / len(reached), abs=1e-4)
    assert made.words("voisin") == made.words("voisin")
    assert made.words("") == WordSignals()


def test_best_article_never_passes_the_reach() -> None:
    made, keyword = signals(ASKED)
    for text in ("arbre", "voisin clôture", "arbre arbre voisin", "code"):
        [ranking] = keyword.search([text], 2)
        assert ranking[0].score <= made.words(text).reach + 1e-4


def test_call_joins_words_lists_and_neighbours() -> None:
    made, _ = signals(ASKED)
    found = made("arbre permis", KEYWORD, MEANING, elsewhere=False)
    near = made.nearest.nearest("arbre permis", 5)
    expected = features(made.words("arbre permis"), KEYWORD, MEANING, nearest=near)
    assert near == pytest.approx(0.5**1.5)  # half of the cosine with one of the two
    assert found == expected
    assert found["known"] == 0.5


@pytest.mark.parametrize(
    ("confidence", "doubtful", "answer_set", "level"),
    [
        (None, False, None, None),
        (0.2, True, None, Level.DOUBTFUL),
        (0.9, False, None, Level.UNSURE),  # likely, but nothing tells where
        (0.7, False, 3, Level.SURE),
    ],
)
def test_a_result_tells_how_sure_to_be(
    confidence: float | None, doubtful: bool, answer_set: int | None, level: Level | None
) -> None:
    result = Result("q", "found", confidence=confidence, doubtful=doubtful, answer_set=answer_set)
    assert result.level is level
