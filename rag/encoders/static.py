"""The static encoder: a text's vector is the sum of its terms' vectors.

Made by `indexes.build.static_encoder` when law comes in; needs numpy alone at question time. Because it
is a sum, what each word adds to a similarity is exact, which explanation can show.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rag.retrieval.term_counts import term_ids
from rag.storage import load_array
from rag.text import Analyser
from rag.types import Article, Floats

BLOCK = 8192  # texts that are encoded before the next ones are cut


@dataclass(frozen=True)
class StaticEncoder:
    """Term vectors with their learnt weights folded in, as bytes with one scale a term."""

    name: str
    analyser: Analyser
    vocabulary: Mapping[str, int] = field(repr=False)
    codes: npt.NDArray[np.int8] = field(repr=False)  # (n_terms, dim)
    scales: Floats = field(repr=False)  # (n_terms,); vector = codes * scale

    @classmethod
    def of(
        cls, name: str, analyser: Analyser, vocabulary: Mapping[str, int], vectors: Floats
    ) -> StaticEncoder:
        """Round (n_terms, dim) float32 vectors to bytes.

        The error is at most 1/254 of a term's largest part.
        """
        scales = (np.abs(vectors).max(axis=1, initial=0) / 127).astype(np.float32)
        codes = np.round(vectors / np.where(scales > 0, scales, 1)[:, None]).astype(np.int8)
        return cls(name, analyser, vocabulary, codes, scales)

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self.codes.shape[1])

    def encode_questions(self, questions: Sequence[str]) -> Floats:
        """Return unit vectors, (n_questions, dim) float32; zeros where no word is known."""
        return self.encode_terms(self.analyser.terms(q) for q in questions)

    def encode_articles(self, articles: Sequence[Article]) -> Floats:
        """Return unit vectors of code + headings + text, (n_articles, dim) float32."""
        return self.encode_terms(article_terms(a, self.analyser) for a in articles)

    def encode_terms(self, texts: Iterable[Sequence[str]]) -> Floats:
        """Return unit vectors of texts that the analyser has cut already, (n_texts, dim) float32."""
        ids = (term_ids(terms, self.vocabulary) for terms in texts)
        # one text at a time, so that a vector does not depend on its batch; blocks of them spare memory
        rows = (self.scales[own] @ self.codes[own].astype(np.float32) for own in ids)
        blocks = [np.zeros((0, self.dim), np.float32)]
        while block := list(islice(rows, BLOCK)):
            blocks.append(unit(np.array(block, dtype=np.float32)))
        return np.concatenate(blocks)

    def weights(self, terms: Iterable[str]) -> Floats:
        """Return how much each term counts in a text, (n_terms,): the length of its vector, 0 if unknown."""
        at = np.array([self.vocabulary.get(term, -1) for term in terms], dtype=np.int64)
        if not len(self.vocabulary):
            return np.zeros(len(at), np.float32)
        lengths = np.sqrt((self.codes[at].astype(np.float32) ** 2).sum(axis=1)) * self.scales[at]
        return np.where(at < 0, np.float32(0), lengths).astype(np.float32)

    def save(self, folder: Path) -> None:
        """Write vocabulary and vectors under the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "codes.npy", self.codes, allow_pickle=False)
        np.save(folder / "scales.npy", self.scales, allow_pickle=False)
        words = sorted(self.vocabulary, key=self.vocabulary.__getitem__)
        (folder / "vocabulary.json").write_text(json.dumps(words, ensure_ascii=False), encoding="utf-8")
        about = {"name": self.name, "dim": self.dim, "terms": len(words), "analyser": self.analyser.id}
        (folder / "encoder.json").write_text(json.dumps(about, indent=1), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, analyser: Analyser) -> StaticEncoder:
        """Open an encoder that `save` wrote; its vectors stay on disk, memory-mapped."""
        about = json.loads((folder / "encoder.json").read_text(encoding="utf-8"))
        words = json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))
        return cls(
            about["name"],
            analyser,
            {word: i for i, word in enumerate(words)},
            load_array(folder / "codes.npy"),
            np.load(folder / "scales.npy", allow_pickle=False),
        )


def article_terms(article: Article, analyser: Analyser) -> list[str]:
    """Return the terms that an article is encoded by."""
    return [term for t in (article.code, *article.headings, article.text) for term in analyser.terms(t)]


def unit(vectors: Floats) -> Floats:
    """Return each vector at a length of 1, (n, dim) float32; zeros stay zeros."""
    length = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    return np.asarray(vectors / np.where(length > 0, length, 1), dtype=np.float32)
