"""A classifier of danger beside its rules: what a person in danger writes, learnt from written cases.

Logistic regression for each class over hashed n-grams of characters and words (Weinberger et al. 2009),
weighed by inverse document frequency; no word list, one model for all languages. The scores of a small
convolutional network over vectors of words and of their parts are mixed in where that finds more.
`training.danger` makes both.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rag.types import Bools, Floats, Ints

FILE = Path(__file__).parent / "data" / "danger" / "classifier.npz"
FEWEST, FEWEST_FOREIGN = 6, 3  # words, of French and of other languages; a Chinese sign is one
LONGEST = 60  # words of a text that is no story; two Chinese signs are one
SHORT, UNSURE = (10, 9), 1.0  # words of a text that is not short, and what a short one must score more
SHORTEST, UNSURE_SHORTEST = 7, 3.0  # the same of a very short text, often a mere topic, in another language
UNSURE_LONG = (2.0, 2.0)  # the same of a longer text, for what tells of danger is long too: others, French
# by which a class may be less likely than the likeliest, in other languages and in French: people in one
# danger are often in two, but where it has read less it takes one for another
BEHIND = (1.0, 2.0)
# words of a text in which the rules may be doubted, two Chinese signs for one: of fewer, which are often the
# plainest, a classifier knows little
DOUBTED = (7, 6)
BUCKETS = 2**18
CHARACTERS, WORDS = (4, 5), (1, 2, 3)  # lengths of n-grams
_HAN = "\u3400-\u9fff"
_HAN_SIGN = re.compile(f"[{_HAN}]")
_WORD = re.compile(rf"[{_HAN}]|[^\s{_HAN}]*[^\W_{_HAN}][^\s{_HAN}]*")
Hashes: TypeAlias = npt.NDArray[np.uint64]
_STEP = np.uint64(1_000_003)
WIDTHS = (1, 2, 3)  # words that a filter of the network sees at once
CONTEXT = 5  # words that tell what the middle one means there
SUBWORDS = (3, 4, 5)  # letters of a part of a word, "<" before its first and ">" behind its last included
LONGEST_READ = 400  # words that the network looks at
ONE_CORE = 2**18  # multiplications that a BLAS does not share out among threads
_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / the golden ratio: spreads hashes (Knuth, TAOCP 6.4)


@dataclass(frozen=True, slots=True)
class Network:
    """A network of convolutions: words in context, then filters that keep their highest value (Kim 2014).

    A word is the sum of its own vector and the mean of its subwords' (Bojanowski et al. 2017), so that one
    with a typing error or another ending is read alike. Words that no case has share the row of the nearest
    one that cases have.
    """

    words: npt.NDArray[np.uint32]  # (known,), ascending: CRC-32 of each
    rows: npt.NDArray[np.uint16]  # (known,)
    vectors: Floats  # (rows, dim); the first, of unknown words, is 0
    subwords: Floats  # (buckets, dim)
    context: Floats  # (CONTEXT * dim, hidden)
    context_offset: Floats  # (hidden,)
    filters: tuple[Floats, ...]  # for each of `WIDTHS` (width * (dim + hidden), filters)
    offsets: tuple[Floats, ...]  # for each (filters,)
    weights: Floats  # (filters of all widths + dim + hidden, classes)
    bias: Floats  # (classes,)
    share: Floats  # (2, classes) of the network in a score, beside the n-grams: other languages, French

    @classmethod
    def read(cls, data: Mapping[str, npt.NDArray[np.generic]]) -> Network:
        """Read the arrays of a file; `training.danger_network.packed` names them."""

        def floats(name: str) -> Floats:
            return data[name].astype(np.float32)

        def scaled(name: str) -> Floats:
            return floats(name) * floats(f"{name}_scale")

        return cls(
            np.cumsum(data["word_gaps"], dtype=np.uint32),
            data["rows"].astype(np.uint16),
            scaled("vectors"),
            scaled("subwords"),
            scaled("context"),
            floats("context_offset"),
            tuple(scaled(f"filters{width}") for width in WIDTHS),
            tuple(floats(f"offsets{width}") for width in WIDTHS),
            scaled("network_weights"),
            floats("network_bias"),
            floats("share"),
        )

    def _vector(self, word: str) -> Floats:
        """Return what a word means out of context, (dim,)."""
        code = np.uint32(zlib.crc32(word.encode()))  # a Python int would cast the whole table
        at = min(int(np.searchsorted(self.words, code)), len(self.words) - 1)
        own = self.vectors[self.rows[at] if self.words[at] == code else 0]
        found: Floats = own + self.subwords[subword_buckets(word, len(self.subwords))].mean(0)
        return found

    def scores(self, text: str) -> Floats:
        """Return the log odds of each class, (classes,) float32."""
        words = plain_words(text)[:LONGEST_READ]
        read = np.zeros((max(len(words), 1), self.vectors.shape[1]), np.float32)
        for at, word in enumerate(words):
            read[at] = self._vector(word)
        hidden = np.maximum(
            _product(_runs(read, CONTEXT, CONTEXT // 2), self.context) + self.context_offset, 0
        )
        read = np.hstack([read, hidden])
        highest = [
            np.maximum((_product(_runs(read, width, width - 1), own) + offset).max(0), 0)
            for width, own, offset in zip(WIDTHS, self.filters, self.offsets, strict=True)
        ]
        found: Floats = np.concatenate([*highest, read.mean(0)]) @ self.weights + self.bias
        return found


def _runs(read: Floats, width: int, margin: int) -> Floats:
    """Return every run of so many words, a row each; `margin` words of zeros stand at either end."""
    padded = np.pad(read, ((margin, margin), (0, 0)))
    return np.hstack([padded[at : len(padded) - width + 1 + at] for at in range(width)])


def _product(rows: Floats, weights: Floats) -> Floats:
    """Multiply a few rows at a time: threads that wait for each other cost a busy host ten times as much."""
    parts = -(-len(rows) * weights.size // ONE_CORE)
    return np.vstack([part @ weights for part in np.array_split(rows, min(parts, len(rows)))])


def subword_buckets(word: str, buckets: int) -> Ints:
    """Return the buckets of the parts of a word, which is not empty."""
    marked = f"<{word}>"
    parts = [marked[at : at + n] for n in SUBWORDS for at in range(len(marked) - n + 1)]
    return np.array([zlib.crc32(part.encode()) % buckets for part in parts], np.int64)


@dataclass(frozen=True, slots=True)
class Classifier:
    """Weights of all classes for the n-grams that it knows: row `i` is that of bucket `buckets[i]`.

    Thresholds are two rows: of other languages, of which it has read less, and of French.
    """

    names: tuple[str, ...]
    buckets: Ints  # (known,), ascending
    idf: Floats  # (known,)
    weights: npt.NDArray[np.int8]  # (known, classes)
    scale: Floats  # (classes,) that a weight is multiplied by
    bias: Floats  # (classes,)
    raises: Floats  # (2, classes) scores from which a class is raised
    hints: Floats  # (2, classes) lower ones, from which it is named: help is shown, without an alarm
    doubts: Floats  # (2, classes) lower still: below it what the rules raise is doubted
    network: Network | None = None

    def scores(self, text: str, *, french: bool) -> Floats:
        """Return the score of each class, (classes,) float32, in which the network has a language's share."""
        ids, counts = ngrams(text)
        rows = np.searchsorted(self.buckets, ids)
        known = self.buckets[np.minimum(rows, len(self.buckets) - 1)] == ids
        rows = rows[known]
        values = (1 + np.log(counts[known])) * self.idf[rows]
        norm = float(np.sqrt(values @ values)) or 1.0
        found: Floats = (values @ self.weights[rows]) * self.scale / norm + self.bias
        if self.network is not None and (share := self.network.share[int(french)]).any():
            found = (1 - share) * found + share * self.network.scores(text)
        return found

    def assess(self, text: str, *, french: bool) -> Assessment | None:
        """Score a text; None of a few words, where each weighs too much."""
        count, language = len(_WORD.findall(text)), int(french)
        if count < (FEWEST if french else FEWEST_FOREIGN):
            return None
        unsure = UNSURE * (count < SHORT[language])
        if not french and count < SHORTEST:
            unsure = UNSURE_SHORTEST
        words = count - len(_HAN_SIGN.findall(text)) / 2
        unsure += UNSURE_LONG[language] * (words > LONGEST)
        scores = self.scores(text, french=french)
        return Assessment(
            self.names,
            scores - self.raises[language],
            scores - self.hints[language],
            scores >= scores.max() - BEHIND[language],
            (scores < self.doubts[language]) & (words >= DOUBTED[language]),
            unsure,
        )


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a classifier tells of a text."""

    names: tuple[str, ...]
    above_raise: Floats  # (classes,) by how much the score of a class is above that from which it is raised
    above_hint: Floats  # (classes,) the same of the score from which it is named
    likely: Bools  # (classes,) not far behind the likeliest
    doubted: Bools  # (classes,) so unlikely that the rules may be wrong
    unsure: float  # by how much scores must be higher for a text of this length

    def found(self, surer: Mapping[str, float] = {}) -> dict[str, bool]:
        """Return the classes that it finds, True where raised, False where named.

        Of the classes in `surer` it must be surer by so much.
        """
        least = self.unsure + np.array([surer.get(name, 0.0) for name in self.names], np.float32)
        found = self.likely & (self.above_hint >= least)
        return {
            name: bool(raised)
            for name, raised, each in zip(self.names, self.above_raise >= least, found, strict=True)
            if each
        }

    def doubts(self, danger: str) -> bool:
        """Tell whether a class is so unlikely that the rules may be wrong."""
        return danger in self.names and bool(self.doubted[self.names.index(danger)])

    def margin(self, danger: str) -> float:
        """Return by how much a class is above the score from which it is raised; -inf of an unknown one."""
        return float(self.above_raise[self.names.index(danger)]) if danger in self.names else -np.inf


def plain_words(text: str) -> list[str]:
    """Return the words of a text: letters lose case and accents, what is no letter or digit parts words.

    A Chinese sign is a word.
    """
    plain = unicodedata.normalize("NFKD", _HAN_SIGN.sub(r" \g<0> ", text.casefold()))
    return "".join(c if c.isalnum() else " " for c in plain if not unicodedata.combining(c)).split()


def ngrams(text: str) -> tuple[Ints, Ints]:
    """Return the buckets of a text's n-grams, ascending, and how often each occurs."""
    words = plain_words(text)
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
            np.cumsum(data["bucket_gaps"], dtype=np.int64),
            data["idf"].astype(np.float32),
            data["weights"],
            data["scale"],
            data["bias"],
            data["raises"],
            data["hints"],
            data["doubts"],
            Network.read(data),
        )
