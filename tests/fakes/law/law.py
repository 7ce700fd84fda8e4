"""A corpus of the size of a page, a plain analyser and a slow, obvious sort to compare with."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from hypothesis import strategies as st

from rag.encoders.static import StaticEncoder
from rag.retrieval.token_index import EncodedText
from rag.text import Token
from rag.types import Article, Ranking

WORDS = ("bail", "loyer", "mur", "arbre", "voisin", "dette", "enfant", "mariage")


@dataclass(frozen=True)
class SplitAnalyser:
    """Words are what blanks separate: terms that a test can read."""

    id: str = "split"
    language: str = "fr"

    def tokens(self, text: str) -> list[Token]:
        found, at = [], 0
        for word in text.split():
            at = text.index(word, at)
            found.append(Token(at, at + len(word), word))
            at += len(word)
        return found

    def terms(self, text: str) -> list[str]:
        return text.split()


SPLIT = SplitAnalyser()


def law() -> list[Article]:
    """Two codes, national and regional articles, dates, and four articles of the same words."""
    rows = [
        Article("9", "civil", "9", "bail loyer dette", ("du louage",), law_type="national"),
        Article("10", "civil", "10", "bail loyer dette", ("du louage",), law_type="national"),
        Article(
            "2", "civil", "2", "bail loyer dette", ("du louage",), law_type="regional", region="Bruxelles"
        ),
        Article("100", "civil", "100", "bail loyer dette", ("du louage",)),
        Article(
            "a", "civil", "671", "arbre voisin mur distance", ("des servitudes",), valid_from=date(1804, 1, 1)
        ),
        Article("b", "civil", "672", "arbre voisin arracher", ("des servitudes",), valid_to=date(2020, 1, 1)),
        Article("c", "rural", "1", "voisin mur bétail", (), law_type="regional", region="Wallonie"),
        Article(
            "d", "rural", "2", "mariage enfant", (), valid_from=date(2020, 1, 1), valid_to=date(2024, 1, 1)
        ),
        Article("e", "penal", "1", "dette enfant mur mur mur loyer", ("des peines", "de la dette")),
    ]
    return rows + [
        Article(f"f{i}", "divers", str(i), f"clause{i} mur {WORDS[i % len(WORDS)]}", (f"partie {i % 3}",))
        for i in range(20)
    ]


class Words:
    """A token encoder whose tokens are the words of the articles, each with a random direction."""

    def __init__(self, analyser: SplitAnalyser, articles: Sequence[Article], dim: int = 16) -> None:
        self.analyser, self.dim = analyser, dim
        self.words = sorted({term for a in articles for term in self.of(a)})
        drawn = np.random.default_rng(7).normal(size=(len(self.words), dim))
        self.vectors = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)

    def of(self, article: Article) -> list[str]:
        return self.analyser.terms(" ".join((article.code, *article.headings, article.text)))

    def encode(self, terms: Sequence[str]) -> EncodedText:
        at = {word: n for n, word in enumerate(self.words)}
        tokens = np.array([at[term] for term in terms if term in at], dtype=np.int64)
        return EncodedText(self.vectors[tokens], tokens)

    def encode_questions(self, questions: Sequence[str]) -> list[EncodedText]:
        known = ([t for t in self.analyser.terms(q) if t in self.words] for q in questions)
        return [self.encode(terms[:64]) for terms in known]  # no encoder reads more than its window

    def encode_articles(self, articles: Sequence[Article]) -> list[EncodedText]:
        return [self.encode(self.of(a)) for a in articles]


def random_encoder(analyser: SplitAnalyser, articles: Sequence[Article], dim: int = 16) -> StaticEncoder:
    """A static encoder with a random vector for each word of the articles."""
    texts = (t for a in articles for t in (a.code, *a.headings, a.text))
    words = sorted({term for text in texts for term in analyser.terms(text)})
    vectors = np.random.default_rng(0).standard_normal((len(words), dim)).astype(np.float32)
    return StaticEncoder.of("random", analyser, {w: i for i, w in enumerate(words)}, vectors)


def slow_rank(scores: Mapping[str, float], k: int, decimals: int | None = 5) -> Ranking:
    """Sort in the most obvious way: the score, rounded, falling; then the id as a string."""
    finite = {i: s for i, s in scores.items() if math.isfinite(s)}
    if decimals is not None:
        finite = {i: float(np.round(s, decimals)) for i, s in finite.items()}
    ranked = sorted(finite.items(), key=lambda pair: (-pair[1], pair[0]))
    return Ranking.of((i, s) for i, s in ranked[: max(k, 0)])


def corpora(max_articles: int = 8) -> st.SearchStrategy[list[list[str]]]:
    """Articles as lists of words, empty ones among them."""
    return st.lists(st.lists(st.sampled_from(WORDS), max_size=12), min_size=1, max_size=max_articles)


def queries() -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from((*WORDS, "unheard")), min_size=1, max_size=6)


def plain_articles(texts: Sequence[Sequence[str]]) -> list[Article]:
    """Articles of one field."""
    return [Article(f"id{i}", "", str(i), " ".join(words)) for i, words in enumerate(texts)]
