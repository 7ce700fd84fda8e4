"""Zero-shot with word vectors: a text's vector is the mean of its words' (Mikolov et al. 2013).

    E(t) = 1/|W(t)| * sum of v(w) over the words w of t that have a vector;   s(q, a) = cos(E(q), E(a))

as BSARD measured it (Louis & Spanakis 2022, section 4): mean pooling, cosine, nothing learnt. A word is
looked up as it is written, then in small letters; one that has no vector is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from rag.encoders.texts import article_text
from rag.encoders.vector_files import Found, VectorFile
from rag.text.chinese import HAN, load_jieba
from rag.text.folding import level
from rag.types import Article, Floats

_WORD = re.compile(rf"[{HAN}]+|(?:(?![{HAN}])\w)+(?:-(?:(?![{HAN}])\w)+)*")
_HAN = re.compile(rf"[{HAN}]+")
Words = Callable[[str], list[str]]


def words_of(language: str) -> Words:
    """Return what cuts a text of this language into words as vector files list them, in their own case.

    Elisions part ("l'avocat": l, avocat), hyphened words stay whole; Chinese is cut by jieba.
    """
    return partial(_cut, load_jieba() if language == "zh" else None)


def _cut(jieba: Callable[[str], list[str]] | None, text: str) -> list[str]:
    found: list[str] = []
    for word in _WORD.findall(level(text)):
        found += jieba(word) if jieba is not None and _HAN.fullmatch(word) else [word]
    return found


@dataclass(frozen=True)
class WordVectorEncoder:
    """Means of word vectors; the file is read for the words that are new, and those stay."""

    file: VectorFile
    words: Words
    known: dict[str, Floats | None] = field(default_factory=dict, repr=False)  # None: it has no vector

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.file.name

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return self.file.dim

    def prepare(self, texts: Iterable[str]) -> float:
        """Look the words of these texts up in one pass over the file.

        Returns:
            The share of all their words that have a vector; 1 where there are no words.
        """
        cut = [self.words(text) for text in texts]
        self._look_up({word for text in cut for word in text})
        total = sum(map(len, cut))
        return sum(self._vector(word) is not None for text in cut for word in text) / total if total else 1.0

    def encode_questions(self, questions: Sequence[str]) -> Floats:
        """Return unit vectors, (n_questions, dim) float32; zeros where no word has a vector."""
        return self._encode(questions)

    def encode_articles(self, articles: Sequence[Article]) -> Floats:
        """Return unit vectors of code + headings + text, (n_articles, dim) float32."""
        return self._encode([article_text(a) for a in articles])

    def _encode(self, texts: Sequence[str]) -> Floats:
        cut = [self.words(text) for text in texts]
        self._look_up({word for text in cut for word in text})
        vectors = np.array([self._mean(text) for text in cut], dtype=np.float32).reshape(len(cut), self.dim)
        length = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
        return np.asarray(vectors / np.where(length > 0, length, 1), dtype=np.float32)

    def _look_up(self, words: set[str]) -> None:
        new = {form for word in words for form in self._forms(word) if form not in self.known}
        if new:
            found: Found = self.file.find(new)
            self.known.update({form: found.get(form) for form in new})

    def _forms(self, word: str) -> tuple[str, ...]:
        # A file with subwords has a vector for every word as it is written.
        return (word,) if self.file.subwords else (word, word.lower())

    def _vector(self, word: str) -> Floats | None:
        return next((v for form in self._forms(word) if (v := self.known[form]) is not None), None)

    def _mean(self, words: Sequence[str]) -> Floats:
        found = [vector for word in words if (vector := self._vector(word)) is not None]
        if not found:
            return np.zeros(self.dim, dtype=np.float32)
        return np.asarray(np.mean(found, axis=0, dtype=np.float64), dtype=np.float32)
