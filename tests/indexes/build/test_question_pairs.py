"""Batches of annotated questions: whose partner is whose, what may be a negative, what is left out."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from indexes.build.fit_settings import FitSettings
from indexes.build.training_pairs import MINED, AnnotatedTexts, bag, dropped
from rag.types import Floats, Question

N_TERMS = 30
texts = st.lists(st.integers(0, N_TERMS - 1), min_size=1, max_size=12)


@st.composite
def laid(draw: st.DrawFn) -> tuple[AnnotatedTexts, list[Question]]:
    """Some articles, and questions of digits that cite some of them."""
    articles = draw(st.lists(texts, min_size=2, max_size=20))
    names = [str(i) for i in range(len(articles))]
    questions = [
        Question(
            str(n),
            " ".join(map(str, draw(texts))),
            tuple(draw(st.lists(st.sampled_from([*names, "gone"]), max_size=4))),
            answer=draw(st.none() | texts.map(lambda t: " ".join(map(str, t)))),
        )
        for n in range(draw(st.integers(1, 6)))
    ]
    rows = [np.array(a, np.int32) for a in articles]
    position = {name: i for i, name in enumerate(names)}
    return AnnotatedTexts.of(questions, position, terms, rows, N_TERMS), questions


def terms(text: str) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array([int(word) for word in text.split()], np.int32)


def parameters() -> tuple[Floats, Floats]:
    rng = np.random.default_rng(1)
    return rng.standard_normal((N_TERMS, 8)).astype(np.float32), np.zeros(N_TERMS, np.float32)


SETTINGS = FitSettings(question_passes=4, question_batch=8, random_negatives=5, hard_negatives=2)


@given(laid())
def test_every_question_and_answer_is_paired_with_each_article_it_cites(
    made: tuple[AnnotatedTexts, list[Question]],
) -> None:
    asked, questions = made
    cited = [len({a for a in q.article_ids if a != "gone"}) for q in questions]
    both = [n * (1 + (q.answer is not None)) for n, q in zip(cited, questions, strict=True)]
    assert len(asked.pairs) == sum(both)
    assert asked.gold.sum() == len(asked.pairs)
    assert all(asked.gold[text, article] == 1 for text, article in asked.pairs)


@pytest.mark.slow
@given(laid())
def test_a_right_article_is_a_partner_or_masked_and_a_wrong_one_is_neither(
    made: tuple[AnnotatedTexts, list[Question]],
) -> None:
    asked, _ = made
    whole = replace(SETTINGS, drop_question=0.0, drop_article=0.0)
    steps = 0
    for make in asked.batches(whole):
        batch = make(*parameters())
        steps += 1
        assert batch.masked is not None
        left, right = (_wide(side, batch.terms) for side in (batch.left, batch.right))
        texts, articles = asked.texts.toarray(), asked.articles.toarray()
        for i, row in enumerate(left):
            alike = {int(t) for t in np.flatnonzero((texts == row).all(axis=1))}
            for j, other in enumerate(right):
                meant = [int(a) for a in np.flatnonzero((articles == other).all(axis=1))]
                gold = {asked.gold[t, a] > 0 for t in alike for a in meant}
                assert batch.masked[i, j] in gold  # equal texts may differ in what they cite
            assert batch.masked[i, i]
    assert bool(steps) == (len(asked.pairs) >= 2)


@given(laid())
def test_no_article_that_a_text_cites_is_among_its_hard_negatives(
    made: tuple[AnnotatedTexts, list[Question]],
) -> None:
    asked, _ = made
    mined = asked._mine_negatives(*parameters())
    assert mined.shape[0] == asked.texts.shape[0]
    assert mined.shape[1] <= MINED
    for text, found in enumerate(mined):
        assert len(set(found.tolist())) == len(found)
        assert not asked.gold[text].toarray().ravel()[found].any()


def test_hard_negatives_are_the_nearest_wrong_articles() -> None:
    rows = [np.array([i], np.int32) for i in range(N_TERMS)]
    question = Question("q", "0", ("0",))
    asked = AnnotatedTexts.of([question], {str(i): i for i in range(N_TERMS)}, terms, rows, N_TERMS)
    angle = np.linspace(0, np.pi, N_TERMS, dtype=np.float32)  # each term a little farther from the first
    vectors = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    log_weights = np.zeros(N_TERMS, np.float32)
    near = FitSettings(question_passes=2)
    assert asked._mine_negatives(vectors, log_weights).tolist()[0].count(0) == 0
    assert len(list(asked.batches(near))) == 0  # one pair has nothing to be told from
    many = AnnotatedTexts.of([question] * 2, {str(i): i for i in range(60)}, terms, rows * 2, N_TERMS)
    found = set(many._mine_negatives(vectors, log_weights)[0].tolist())
    assert len(found) == MINED
    assert found.isdisjoint({0, 28, 29, 58, 59})  # itself, and those that point away


@given(st.floats(0.1, 0.9), st.integers(0, 2**32 - 1))
def test_dropout_leaves_out_about_its_share_and_changes_nothing_else(share: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    texts = bag([rng.integers(0, N_TERMS, 40).astype(np.int32) for _ in range(50)], N_TERMS)
    left = dropped(texts, share, np.random.default_rng(seed))
    assert left.shape == texts.shape
    kept = left.toarray() > 0
    assert (left.toarray()[kept] == texts.toarray()[kept]).all()
    spread = 5 * np.sqrt(share * (1 - share) / texts.nnz)
    assert abs(1 - left.nnz / texts.nnz - share) < spread
    assert dropped(texts, 0.0, rng) is texts


def test_hard_negatives_join_from_the_second_pass_on() -> None:
    rows = [np.array([i % N_TERMS], np.int32) for i in range(60)]
    questions = [Question(str(i), str(i), (str(i),)) for i in range(4)]
    asked = AnnotatedTexts.of(questions, {str(i): i for i in range(60)}, terms, rows, N_TERMS)
    sizes = [make(*parameters()).right.shape[0] for make in asked.batches(SETTINGS)]
    assert sizes == [4 + 5, *[4 + 5 + 2 * 4] * 3]
    assert all(a <= b for a, b in pairwise(sizes))


def _wide(side: sp.csr_array, columns: np.ndarray) -> np.ndarray:
    whole = np.zeros((side.shape[0], N_TERMS), np.float32)
    whole[:, columns] = side.toarray()
    return whole


@given(laid(), st.integers(1, 5))
def test_texts_that_cite_the_same_article_are_paired_and_no_right_one_is_a_negative(
    made: tuple[AnnotatedTexts, list[Question]], every: int
) -> None:
    asked, _ = made
    settings = replace(SETTINGS, drop_question=0.0, drop_article=0.0)
    plain = len(list(asked.batches(settings)))
    more = list(asked.batches(replace(settings, alike_every=every)))
    often = np.asarray(asked.gold.sum(axis=0)).ravel()
    assert len(more) - plain == (-(-plain // every) if (often > 1).any() else 0)
    texts = asked.texts.toarray()
    together = (asked.gold @ asked.gold.T).toarray() > 0
    if len(more) == plain:
        return
    batch = more[1](*parameters())  # after the first step
    assert batch.masked is not None
    left, right = (_wide(side, batch.terms) for side in (batch.left, batch.right))
    which = [[set(np.flatnonzero((texts == row).all(axis=1))) for row in side] for side in (left, right)]
    for i, mine in enumerate(which[0]):
        for j, other in enumerate(which[1]):
            pairs = {(a, b) for a in mine for b in other}
            if i == j:
                assert any(a != b and together[a, b] for a, b in pairs)
            elif not batch.masked[i, j]:
                assert not all(together[a, b] for a, b in pairs)
