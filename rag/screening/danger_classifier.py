"""A classifier of danger beside its rules: what a person in danger writes, learnt from written cases.

Logistic regression for each class over hashed n-grams of characters and words (Weinberger et al. 2009),
weighed by inverse document frequency; no word list, one model for all languages. `training.danger` makes it.
"""

from __future__ import annotations

import re
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
FEWEST, FEWEST_FOREIGN = 6, 3  # words, of French and of other languages; a Chinese sign is one
LONGEST = 60  # words of a text whose alarms it may doubt: one sentence of danger drowns in a long story
SHORT, UNSURE = 9, 1.0  # words of a short text, whose score must be higher by so much
FOREIGN = 2.0  # the same of another language
BEHIND = 2.0  # by which a class may be less likely than the likeliest: people in one danger are often in two
BUCKETS = 2**18
CHARACTERS, WORDS = (4, 5), (1, 2, 3)  # lengths of n-grams
_HAN = "\u3400-\u9fff"
_WORD = re.compile(rf"[{_HAN}]|[^\s{_HAN}]*[^\W_{_HAN}][^\s{_HAN}]*")
Hashes: TypeAlias = npt.NDArray[np.uint64]
_STEP = np.uint64(1_000_003)
_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / the golden ratio: spreads hashes (Knuth, TAOCP 6.4)


@dataclass(frozen=True, slots=True)
class Classifier:
    """Weights of all classes for the n-grams that it knows: row `i` is that of bucket `buckets[i]`."""

    names: tuple[str, ...]
    buckets: Ints  # (known,), ascending
    idf: Floats  # (known,)
    weights: npt.NDArray[np.int8]  # (known, classes)
    scale: Floats  # (classes,) that a weight is multiplied by
    bias: Floats  # (classes,)
    raises: Floats  # (classes,) scores from which a class is raised
    hints: Floats  # (classes,) lower ones, from which it is named: help is shown, without an alarm
    doubts: Floats  # (classes,) lower still: below them an alarm of the rules becomes a hint

    def scores(self, text: str) -> Floats:
        """Return the log odds of each class, float32."""
        ids, counts = ngrams(text)
        rows = np.searchsorted(self.buckets, ids)
        known = self.buckets[np.minimum(rows, len(self.buckets) - 1)] == ids
        rows = rows[known]
        values = (1 + np.log(counts[known])) * self.idf[rows]
        norm = float(np.sqrt(values @ values)) or 1.0
        found: Floats = (values @ self.weights[rows]) * self.scale / norm + self.bias
        return found

    def predict(self, text: str, *, french: bool) -> tuple[dict[str, bool], frozenset[str]]:
        """Return the classes that it finds, True where raised, False where named, and what it doubts.

        The rules should not raise what it doubts.

        Nothing is said of a few words, where each weighs too much; in a few more, and in other languages than
        French, of which it has read little, it must be surer. It doubts nothing in these, nor in long texts.
        """
        count = len(_WORD.findall(text))
        if count < (FEWEST if french else FEWEST_FOREIGN):
            return {}, frozenset()
        scores, unsure = self.scores(text), UNSURE * (count < SHORT)
        below = scores + unsure < self.doubts if french and count <= LONGEST else np.zeros(len(scores), bool)
        doubted = frozenset(np.array(self.names)[below].tolist())
        likely = scores >= scores.max() - BEHIND
        scores = scores - (unsure if french else FOREIGN)
        found = likely & (scores >= self.hints)
        return {
            name: bool(raised)
            for name, raised, each in zip(self.names, scores >= self.raises, found, strict=True)
            if each
        }, doubted


def ngrams(text: str) -> tuple[Ints, Ints]:
    """Return the buckets of a text's n-grams, ascending, and how often each occurs.

    Letters lose case and accents; what is no letter or digit parts words.
    """
    plain = unicodedata.normalize("NFKD", text.casefold())
    kept = (c if c.isalnum() else " " for c in plain if not unicodedata.combining(c))
    words = "".join(kept).split()
    letters = np.frombuffer(f" {' '.join(words)} ".encode("utf-32-le"), np.uint32).astype(np.uint64)
    hashes = np.array([zlib.crc32(word.encode()) for word in words], np.uint64)
    found = [_windows(letters, n, n) for n in CHARACTERS] + [_windows(hashes, n, 100 + n) for n in WORDS]
    shift = np.uint64(64 - (BUCKETS.bit_length() - 1))
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
        return Classifier(
            tuple(map(str, data["names"])),
            data["buckets"].astype(np.int64),
            data["idf"].astype(np.float32),
            data["weights"],
            data["scale"],
            data["bias"],
            data["raises"],
            data["hints"],
            data["doubts"],
        )
