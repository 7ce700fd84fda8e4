"""BM25: the formula by hand, bm25s as an oracle for every variant, fields, the file on disk."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import get_args

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.errors import BadInput
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25, PRECEDING, BM25Settings, Variant
from rag.retrieval.term_counts import count
from rag.types import Article, Question
from tests.fakes.law.law import SPLIT, corpora, plain_articles, queries

TEXT = {"text": 1.0}
K1, B = st.sampled_from([0.0, 0.9, 1.2, 2.5]), st.sampled_from([0.0, 0.2, 0.75, 1.0])


def build(articles: list[Article], chosen: BM25Settings) -> BM25:
    return BM25.build(count(articles, SPLIT), chosen, Mask(articles), SPLIT)


def formula(
    texts: list[list[str]], query: list[str], idf: dict[str, float], k1: float, b: float
) -> list[float]:
    """Sum of idf * tf / (tf + k1 (1 - b + b length / mean length)); -inf without a common term."""
    mean = sum(map(len, texts)) / len(texts) or 1
    scores = []
    for text in texts:
        tf, norm = Counter(text), k1 * (1 - b + b * len(text) / mean)
        common = [t for t in query if tf[t]]
        scores.append(math.fsum(idf[t] * tf[t] / (tf[t] + norm) for t in common) if common else -math.inf)
    return scores


def frequencies(texts: list[list[str]]) -> Counter[str]:
    return Counter(term for text in texts for term in set(text))


@given(corpora(), queries(), K1, B)
def test_robertson_is_the_formula_of_the_papers(
    texts: list[list[str]], query: list[str], k1: float, b: float
) -> None:
    n, df = len(texts), frequencies(texts)
    idf = {t: math.log((n - f + 0.5) / (f + 0.5)) for t, f in df.items()}
    made = build(plain_articles(texts), BM25Settings("robertson", k1, b, weights=TEXT))
    assert made.scores(" ".join(query)) == pytest.approx(formula(texts, query, idf, k1, b), abs=2e-5)


def test_a_term_in_over_half_of_the_articles_counts_against() -> None:
    articles = plain_articles([["mur"], ["mur"], ["mur", "arbre"]])
    scores = build(articles, BM25Settings("robertson", weights=TEXT)).scores("mur")
    idf = math.log(0.5 / 3.5)  # N = 3, df = 3
    assert idf < 0
    assert scores[0] == pytest.approx(idf / (1 + 1.2 * (0.25 + 0.75 * 1 / (4 / 3))), abs=1e-6)
    [ranking] = build(articles, BM25Settings("robertson", weights=TEXT)).search(["mur"], 10)
    assert [hit.article_id for hit in ranking] == ["id2", "id0", "id1"]  # and they are returned all the same
    assert (build(articles, BM25Settings("lucene", weights=TEXT)).scores("mur") > 0).all()


@settings(deadline=None)
@given(corpora(), queries(), K1, B, st.sampled_from([0.5, 1.0]))
@pytest.mark.parametrize("variant", get_args(Variant))
def test_bm25s_agrees(
    variant: Variant, texts: list[list[str]], query: list[str], k1: float, b: float, delta: float
) -> None:
    """bm25s takes negative idfs of "robertson" for 0; bm25l and bm25+ score absent terms there, not here."""
    if not any(texts) or (variant == "bm25+" and k1 == 0):  # bm25s divides 0 by 0 there
        return
    df = frequencies(texts)
    if variant == "robertson":
        query = [t for t in query if df[t] <= len(texts) / 2]
    known = [t for t in query if t in df]
    if not known:
        return
    oracle = bm25s.BM25(k1=k1, b=b, delta=delta, method=variant, backend="numpy")
    oracle.index(texts, show_progress=False, create_empty_token=False)
    expected = oracle.get_scores(known)
    ours = build(plain_articles(texts), BM25Settings(variant, k1, b, delta, TEXT)).scores(" ".join(query))
    matched = [any(t in text for t in known) for text in texts]
    assert np.isfinite(ours).tolist() == matched
    if not any(matched):
        return
    absent = 0.0
    if variant in ("bm25l", "bm25+"):
        n = len(texts)
        part = (k1 + 1) * delta / (k1 + delta) if variant == "bm25l" else delta
        shift = 0.5 if variant == "bm25l" else 0.0
        absent = sum(math.log((n + 1) / (df[t] + shift)) * part for t in known)
    assert ours[matched] + absent == pytest.approx(expected[matched], abs=1e-4)


@given(corpora(), corpora(), queries(), st.integers(0, 3))
def test_a_field_of_weight_two_is_a_field_written_twice(
    texts: list[list[str]], headings: list[list[str]], query: list[str], times: int
) -> None:
    headings = [headings[i % len(headings)] for i in range(len(texts))]
    rows = list(enumerate(zip(texts, headings, strict=True)))
    fielded = [Article(str(i), "", "", " ".join(t), (" ".join(h),)) for i, (t, h) in rows]
    joined = [Article(str(i), "", "", " ".join(t + h * times)) for i, (t, h) in rows]
    one = build(fielded, BM25Settings(weights={"text": 1.0, "headings": float(times)}))
    other = build(joined, BM25Settings(weights=TEXT))
    assert one.search([" ".join(query)], 20) == other.search([" ".join(query)], 20)


def test_bm25l_without_saturation_or_floor() -> None:
    articles = plain_articles([["mur", "mur"], ["arbre"]])
    scores = build(articles, BM25Settings("bm25l", k1=0, delta=0, weights=TEXT)).scores("mur")
    assert scores.tolist() == [pytest.approx(math.log(3 / 1.5)), -math.inf]


def test_annotated_questions_lift_the_articles_they_cite() -> None:
    articles = plain_articles([["mur"], ["mur"], ["arbre"]])
    counts = count(articles, SPLIT).with_questions([Question("q", "clôture haute", ("id1",))], SPLIT.terms)
    [[hit]] = BM25.build(counts, BM25Settings(), Mask(articles), SPLIT).search(["clôture"], 10)
    assert hit.article_id == "id1"
    deaf = BM25.build(counts, BM25Settings(weights={**TEXT, "questions": 0.0}), Mask(articles), SPLIT)
    assert deaf.search(["clôture"], 10) == [()]


@pytest.mark.parametrize("texts", [[["mur", "arbre"], ["mur"], []], [[], []]])
def test_on_disk_it_is_the_same_and_memory_mapped(tmp_path: Path, texts: list[list[str]]) -> None:
    articles = plain_articles(texts)
    made = build(articles, BM25Settings())
    made.save(tmp_path)
    opened = BM25.load(tmp_path, made.order, Mask(articles), SPLIT)
    assert all(isinstance(opened.index.scores[part], np.memmap) for part in ("data", "indices"))
    questions = ["mur arbre", "arbre arbre", "unheard", ""]
    assert opened.search(questions, 5) == made.search(questions, 5)
    assert not any(path.suffix in (".pkl", ".pickle") for path in tmp_path.iterdir())


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"variant": "okapi"}, "robertson"),
        ({"k1": -0.1}, "k1 and delta must be 0 or more"),
        ({"k1": math.inf}, "k1 and delta must be 0 or more"),
        ({"k1": math.nan}, "k1 and delta must be 0 or more"),
        ({"b": 1.01}, "b between 0 and 1"),
        ({"b": math.nan}, "b between 0 and 1"),
        ({"delta": -1.0}, "k1 and delta must be 0 or more"),
        ({"weights": {"text": -1.0}}, "each must be a number of 0 or more"),
        ({"weights": {"text": math.nan}}, "each must be a number of 0 or more"),
    ],
)
def test_settings_that_no_bm25_can_use(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        BM25Settings(**wrong)  # type: ignore[arg-type]


@given(corpora(), queries(), st.lists(st.integers(0, 2), min_size=40, max_size=40))
def test_what_an_article_lacks_is_lent_by_the_one_before_it(
    texts: list[list[str]], query: list[str], sections: list[int]
) -> None:
    articles, of = plain_articles(texts), np.array(sections[: len(texts)] + [3] * (len(texts) - 40))
    alone = build(articles, BM25Settings(weights=TEXT))
    counts = count(articles, SPLIT)
    made = BM25.build(counts, BM25Settings(weights=TEXT), Mask(articles), SPLIT, lambda: of)
    known = {term: made.index.vocab_dict[term] for term in dict.fromkeys(query) if term in counts.vocabulary}
    lent = made.from_preceding(np.array(list(known.values()), np.int64), np.arange(len(texts)))
    expected = alone.scores(" ".join(query)).astype(np.float64)
    for i, text in enumerate(texts):
        before = [j for j in range(i) if of[j] == of[i]]
        for row, term in enumerate(known):
            adds = alone.scores(term)[before[-1]] if before else -math.inf
            if term in text or adds == -math.inf:
                assert math.isnan(lent[row, i])
            else:
                assert lent[row, i] == pytest.approx(PRECEDING * adds, abs=1e-6)
                expected[i] += query.count(term) * PRECEDING * adds
    assert made.scores(" ".join(query)) == pytest.approx(expected, abs=2e-5)
