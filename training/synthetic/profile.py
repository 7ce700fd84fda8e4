"""How questions are asked, in numbers that need no parser: lengths, persons, what is copied of the law."""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from rag.encoders.word_vectors import word_splitter
from rag.errors import BadInput
from rag.text.analysers import analyser
from rag.text.folding import fold
from rag.types import Article, Question
from training.synthetic.questions import names_article

Values = npt.NDArray[np.float64]
WINDOW = 50  # words of a window of the type-token ratio (Covington & McFall 2010)
MEASURES: Mapping[str, str] = {
    "words": "words a question",
    "characters": "characters a question",
    "characters a word": "",
    "question words": "share of questions with a word such as who, what, how",
    "question mark": "share that end with a question mark",
    "first person": "share that speak of I or we",
    "second person": "share that speak to you",
    "sentences": "sentences a question",
    "content words": "share of words that are no stop words",
    "overlap": "share of content terms that stand in a gold article (the one that has most of them)",
    "longest copy": "words in a row that a gold article has too, at most",
    "names an article": "share that name an article's number",
}
_SENTENCE = re.compile(r"[.!?。！？…]+(?:\s|$)|[。！？]")


@dataclass(frozen=True, slots=True)
class Profile:
    """One set of questions."""

    name: str
    questions: int
    values: Mapping[str, Values]  # measure -> one a question; nan where it has none
    variety: float  # moving-average type-token ratio over all words; nan for fewer than a window


@cache
def _words() -> Mapping[str, Mapping[str, Sequence[str]]]:
    text = (files("training.synthetic") / "profile_words.toml").read_text(encoding="utf-8")
    found: Mapping[str, Mapping[str, Sequence[str]]] = tomllib.loads(text)
    return found


def profile(
    name: str, questions: Sequence[Question], articles: Mapping[str, Article], language: str
) -> Profile:
    """Count how these questions are asked, and what is copied of their gold articles, which stand by id.

    Raises:
        BadInput: no questions, or a language whose words are not known.
    """
    if not questions:
        raise BadInput(f"{name}: no questions to look at")
    if language not in _words():
        raise BadInput(f"{language}: no words of questions are known; expected {', '.join(_words())}")
    meter = _Meter(language, articles)
    rows = [meter.row(question) for question in questions]
    values = {measure: np.array([row[measure] for row in rows], dtype=np.float64) for measure in MEASURES}
    every = [word for question in questions for word in meter.folded(question.text)]
    return Profile(name, len(questions), values, variety(every))


class _Meter:
    def __init__(self, language: str, articles: Mapping[str, Article]) -> None:
        self.language, self.articles = language, articles
        self.split_words, self.terms = word_splitter(language), analyser(language).terms
        self.listed = {kind: frozenset(words) for kind, words in _words()[language].items()}
        self._article = cache(self._read)

    def folded(self, text: str) -> list[str]:
        return [form for word in self.split_words(text) if (form := fold(word))]

    def row(self, question: Question) -> dict[str, float]:
        text = question.text.strip()
        words, terms = self.folded(text), set(self.terms(text))
        gold = [self._article(i) for i in question.article_ids if i in self.articles]
        shared = [len(terms & of) / len(terms) for of, _ in gold] if terms else []
        return {
            "words": len(words),
            "characters": len(text),
            "characters a word": float(np.mean([len(w) for w in words])) if words else math.nan,
            "question words": self._has("question", text, words),
            "question mark": float(text.endswith(("?", "？"))),
            "first person": self._has("first", text, words),
            "second person": self._has("second", text, words),
            "sentences": max(1, len([p for p in _SENTENCE.split(text) if p and p.strip()])),
            "content words": sum(bool(self.terms(w)) for w in words) / len(words) if words else math.nan,
            "overlap": max(shared, default=math.nan),
            "longest copy": float(max((longest_run(words, of) for _, of in gold), default=math.nan)),
            "names an article": float(names_article(text)),
        }

    def _read(self, article_id: str) -> tuple[frozenset[str], list[str]]:
        text = self.articles[article_id].text
        return frozenset(self.terms(text)), self.folded(text)

    def _has(self, kind: str, text: str, words: Sequence[str]) -> float:
        if self.language == "zh":
            return float(any(word in text for word in self.listed[kind]))
        return float(not self.listed[kind].isdisjoint(words))


def longest_run(words: Sequence[str], among: Sequence[str]) -> int:
    """Return the length of the longest run of words that stands in both, word for word."""
    return SequenceMatcher(None, among, words, autojunk=False).find_longest_match().size


def variety(words: Sequence[str], window: int = WINDOW) -> float:
    """Return the moving-average type-token ratio: the mean share of different words in a window of words."""
    if len(words) < window:
        return math.nan
    counts = Counter(words[:window])
    total = len(counts)
    for gone, come in zip(words, words[window:], strict=False):
        counts[gone] -= 1
        if not counts[gone]:
            del counts[gone]
        counts[come] += 1
        total += len(counts)
    return total / (len(words) - window + 1) / window


def effect(one: Values, other: Values) -> float:
    """Return Cohen's d: how far the mean of the other lies above that of the one, in pooled deviations."""
    a, b = one[~np.isnan(one)], other[~np.isnan(other)]
    if len(a) < 2 or len(b) < 2:
        return math.nan
    pooled = ((len(a) - 1) * a.var(ddof=1) + (len(b) - 1) * b.var(ddof=1)) / (len(a) + len(b) - 2)
    return float((b.mean() - a.mean()) / math.sqrt(pooled)) if pooled > 0 else math.nan
