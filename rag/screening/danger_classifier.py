"""A classifier of danger beside its rules: what a person in danger writes, learnt from written cases.

Logistic regression for each class over hashed n-grams of characters and words (Weinberger et al. 2009),
weighed by inverse document frequency; no word list, one model for all languages. `training.danger` makes it.
"""

from __future__ import annotations

import unicodedata
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rag.types import Floats, Ints

FILE = Path(__file__).parent / "data" / "danger" / "classifier.npz"
FEWEST = 6  # words
FOREIGN = 2.0  # that a score of another language must have more
CHARACTERS, WORDS = (2, 3, 4, 5), (1, 2, 3)  # lengths of n-grams
Hashes: TypeAlias = npt.NDArray[np.uint64]
_STEP = np.uint64(1_000_003)
_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / the golden ratio: spreads hashes (Knuth, TAOCP 6.4)


@dataclass(frozen=True, slots=True)
class Classifier:
    """Weights of all classes; n-gram `i` adds `weights[i, class]`."""

    names: tuple[str, ...]
    weights: Floats  # (buckets, classes), float32
    bias: Floats  # (classes,)
    idf: Floats  # (buckets,)
    raises: Floats  # (classes,) scores from which a class is raised

    def scores(self, text: str) -> Floats:
        """Return the log odds of each class, float32."""
        ids, counts = ngrams(text, len(self.idf))
        values = (1 + np.log(counts)) * self.idf[ids]
        norm = float(np.sqrt(values @ values)) or 1.0
        return (values @ self.weights[ids]) / norm + self.bias

    def predict(self, text: str, *, french: bool) -> list[str]:
        """Return the classes that it finds; none in fewer than six words, where every one weighs too much.

        Of other languages than French it has read little, and must be surer.
        """
        if french and len(text.split()) < FEWEST:
            return []
        wanted = self.raises + (0.0 if french else FOREIGN)
        scores = self.scores(text)
        return [name for name, score, least in zip(self.names, scores, wanted, strict=True) if score >= least]


def ngrams(text: str, buckets: int) -> tuple[Ints, Ints]:
    """Return the buckets of a text's n-grams, ascending, and how often each occurs.

    Letters lose case and accents; what is no letter or digit parts words. `buckets` is a power of two.
    """
    plain = unicodedata.normalize("NFKD", text.casefold())
    kept = (c if c.isalnum() else " " for c in plain if not unicodedata.combining(c))
    words = "".join(kept).split()
    letters = np.frombuffer(f" {' '.join(words)} ".encode("utf-32-le"), np.uint32).astype(np.uint64)
    hashes = np.array([zlib.crc32(word.encode()) for word in words], np.uint64)
    found = [_windows(letters, n, n) for n in CHARACTERS] + [_windows(hashes, n, 100 + n) for n in WORDS]
    shift = np.uint64(64 - (buckets.bit_length() - 1))
    ids, counts = np.unique((np.concatenate(found) * _MIX) >> shift, return_counts=True)
    return ids.astype(np.int64), counts


def _windows(units: Hashes, length: int, seed: int) -> Hashes:
    """Return a hash of every run of so many units."""
    count = max(len(units) - length + 1, 0)
    hashed: Hashes = np.full(count, seed, np.uint64)
    for at in range(length):
        hashed = (hashed * _STEP) ^ units[at : at + count]
    return hashed


@cache
def classifier() -> Classifier:
    """Return the classifier that ships."""
    with np.load(FILE) as data:
        scale = data["scale"]
        return Classifier(
            tuple(map(str, data["names"])),
            data["weights"].astype(np.float32) * scale,
            data["bias"],
            data["idf"].astype(np.float32),
            data["raises"],
        )
