"""TF-IDF and query likelihood against their printed formulas, worked the slow way."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import BadInput
from rag.retrieval.base import Mask
from rag.retrieval.lexical_baselines import QueryLikelihood, TfIdf
from rag.retrieval.term_counts import count
from rag.types import Article
from tests.fakes.law.law import SPLIT, corpora, plain_articles, queries

TEXT = {"text": 1.0}


def tfidf(texts: list[list[str]], *, normalised: bool) -> TfIdf:
    articles = plain_articles(texts)
    return TfIdf(count(articles, SPLIT), TEXT, Mask(articles), SPLIT, normalised=normalised)


@given(corpora(), queries())
def test_tfidf_as_bsard_prints_it(texts: list[list[str]], query: list[str]) -> None:
    df = Counter(term for text in texts for term in set(text))
    expected = [
        math.fsum(text.count(t) * math.log(len(texts) / df[t]) for t in query if t in text)
        if set(query) & set(text)
        else -math.inf
        for text in texts
    ]
    assert tfidf(texts, normalised=False).scores(" ".join(query)) == pytest.approx(expected, abs=1e-4)


@given(corpora(), queries())
def test_tfidf_is_the_cosine_times_the_question_s_length(texts: list[list[str]], query: list[str]) -> None:
    df = Counter(term for text in texts for term in set(text))
    idf = {t: math.log(len(texts) / f) for t, f in df.items()}
    asked = {t: n * idf[t] for t, n in Counter(query).items() if t in idf}
    expected = []
    for text in texts:
        weights = {t: n * idf[t] for t, n in Counter(text).items()}
        length = math.sqrt(math.fsum(w * w for w in weights.values())) or 1
        dot = math.fsum(weights.get(t, 0) * w for t, w in asked.items()) / length
        expected.append(dot if set(query) & set(text) else -math.inf)
    assert tfidf(texts, normalised=True).scores(" ".join(query)) == pytest.approx(expected, abs=1e-4)


def test_a_word_of_every_article_matches_and_weighs_nothing() -> None:
    for normalised in (True, False):
        [ranking] = tfidf([["mur"], ["mur", "mur"]], normalised=normalised).search(["mur"], 5)
        assert [(hit.article_id, hit.score) for hit in ranking] == [("id0", 0.0), ("id1", 0.0)]


@given(corpora(), queries(), st.sampled_from([0.5, 10.0, 2000.0]), st.sampled_from([0.01, 1.0, 3.0]))
def test_likelihood_ranks_as_dirichlet_smoothing_does(
    texts: list[list[str]], query: list[str], mu: float, weight: float
) -> None:
    """log p(q|a) = sum of log((tf + mu p(t)) / (length + mu)), less sum of log p(t), the same for all."""
    total = sum(map(len, texts))
    share = {t: n / total for t, n in Counter(t for text in texts for t in text).items()}
    known = [t for t in query if t in share]
    expected = []
    for text in texts:
        tf, length = Counter(text), weight * len(text)
        parts = (
            math.log((weight * tf[t] + mu * share[t]) / (length + mu)) - math.log(share[t]) for t in known
        )
        expected.append(math.fsum(parts) if set(known) & set(text) else -math.inf)
    articles = plain_articles(texts)
    counts = count(articles, SPLIT)
    made = QueryLikelihood(counts, {"text": weight}, Mask(articles), SPLIT, mu=mu)
    assert made.scores(" ".join(query)) == pytest.approx(expected, rel=1e-5, abs=1e-4)


def test_likelihood_prefers_the_shorter_of_two_that_match() -> None:
    articles = [Article("long", "", "", "mur " + "autre " * 50), Article("short", "", "", "mur")]
    made = QueryLikelihood(count(articles, SPLIT), TEXT, Mask(articles), SPLIT)
    [ranking] = made.search(["mur"], 2)
    assert [hit.article_id for hit in ranking] == ["short", "long"]


@pytest.mark.parametrize("mu", [0.0, -1.0, math.nan])
def test_smoothing_must_be_positive(mu: float) -> None:
    articles = plain_articles([["mur"]])
    with pytest.raises(BadInput, match="above 0"):
        QueryLikelihood(count(articles, SPLIT), TEXT, Mask(articles), SPLIT, mu=mu)
