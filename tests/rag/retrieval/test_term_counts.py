"""Term counts by field: weights, and the field that annotated questions make."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rag.retrieval.term_counts import QUESTIONS_FIELD, FieldCounts, count, document_frequency, term_ids
from rag.types import Article, Question
from tests.fakes.law.law import SPLIT, WORDS, corpora, plain_articles

ARTICLES = [
    Article("1", "code civil", "1", "mur arbre mur", ("livre mur", "titre")),
    Article("2", "code civil", "2", "", ()),
    Article("3", "code rural", "3", "arbre", ("livre mur",)),
]


def row(counts: FieldCounts, weights: dict[str, float], article: int) -> dict[str, float]:
    """Weighted counts of one article, those of 0 left out."""
    dense = counts.weighted(weights).toarray()[article]
    return {term: float(dense[i]) for term, i in counts.vocabulary.items() if dense[i]}


def test_fields_are_counted_apart() -> None:
    counts = count(ARTICLES, SPLIT)
    assert row(counts, {"text": 1}, 0) == {"mur": 2, "arbre": 1}
    assert row(counts, {"headings": 1}, 0) == {"livre": 1, "mur": 1, "titre": 1}
    assert row(counts, {"code": 1}, 2) == {"code": 1, "rural": 1}
    assert row(counts, {"text": 2, "headings": 0.5, "unheard": 9}, 0) == {
        "mur": 4.5, "arbre": 2, "livre": 0.5, "titre": 0.5,
    }  # fmt: skip
    assert row(counts, {"text": 1}, 1) == {}


def test_a_term_of_a_field_without_weight_stands_nowhere() -> None:
    counts = count(ARTICLES, SPLIT)
    df = document_frequency(counts.weighted({"text": 1.0, "headings": 0.0}))
    assert df[counts.vocabulary["livre"]] == 0
    assert df[counts.vocabulary["arbre"]] == 2


def test_progress_ends_at_the_number_of_articles() -> None:
    steps: list[tuple[str, int, int | None]] = []
    count(plain_articles([["mur"]] * 1201), SPLIT, lambda *step: steps.append(step))
    assert steps == [("analysing articles", n, 1201) for n in (500, 1000, 1201)]


def test_annotated_questions_are_a_field_of_the_articles_they_cite() -> None:
    counts = count(ARTICLES, SPLIT)
    asked = [
        Question("a", "clôture mur", ("1", "1", "3")),  # a gold id listed twice counts once
        Question("b", "clôture", ("1", "no such article")),  # an unknown one is passed over
        Question("c", "rien"),
    ]
    expanded = counts.with_questions(asked, SPLIT.terms)
    assert row(expanded, {QUESTIONS_FIELD: 1}, 0) == {"clôture": 2, "mur": 1}
    assert row(expanded, {QUESTIONS_FIELD: 1}, 1) == {}
    assert row(expanded, {QUESTIONS_FIELD: 1}, 2) == {"clôture": 1, "mur": 1}
    assert row(expanded, {"text": 1}, 0) == row(counts, {"text": 1}, 0)
    assert row(expanded, {"text": 1, QUESTIONS_FIELD: 0.5}, 2) == {"arbre": 1, "clôture": 0.5, "mur": 0.5}
    assert "clôture" not in counts.vocabulary  # the counts that it was made from stay as they were
    assert "rien" not in expanded.vocabulary


def test_terms_that_are_not_known_are_passed_over() -> None:
    assert term_ids(["b", "?", "a", "b"], {"a": 0, "b": 1}).tolist() == [1, 0, 1]
    assert term_ids([], {}).dtype == np.int64


@given(corpora(), st.integers(1, 3))
def test_a_weight_is_so_many_times_written(texts: list[list[str]], times: int) -> None:
    once, often = (
        count(plain_articles(texts), SPLIT),
        count(plain_articles([t * times for t in texts]), SPLIT),
    )
    assert once.vocabulary == often.vocabulary
    weighted = once.weighted({"text": float(times)})
    assert (weighted.toarray() == often.weighted({"text": 1.0}).toarray()).all()
    assert set(once.vocabulary) <= set(WORDS)
