"""A classifier of danger beside its rules: what a person in danger writes, learnt from written cases.

Logistic regression for each class over hashed n-grams of characters and words (Weinberger et al. 2009),
weighed by inverse document frequency; no word list, one model for all languages. The scores of a small
convolutional network over word vectors are mixed in where that finds more. `training.danger` makes both.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rag.types import Floats, Ints

FILE = Path(__file__).parent / "data" / "danger" / "classifier.npz"
FEWEST, FEWEST_FOREIGN = 6, 3  # words, of French and of other languages; a Chinese sign is one
LONGEST = 60  # words of a text that is no story; two Chinese signs are one
SHORT, UNSURE = 9, 1.0  # words of a short text in French, whose score must be higher by so much
UNSURE_LONG = (2.0, 3.0)  # the same of a longer text, for what tells of danger is long too: others, French
# by which a class may be less likely than the likeliest, in other languages and in French: people in one
# danger are often in two, but where it has read less it takes one for another
BEHIND = (1.0, 2.0)
BUCKETS = 2**18
CHARACTERS, WORDS = (4, 5), (1, 2, 3)  # lengths of n-grams
_HAN = "\u3400-\u9fff"
_HAN_SIGN = re.compile(f"[{_HAN}]")
_WORD = re.compile(rf"[{_HAN}]|[^\s{_HAN}]*[^\W_{_HAN}][^\s{_HAN}]*")
Hashes: TypeAlias = npt.NDArray[np.uint64]
_STEP = np.uint64(1_000_003)
WIDTHS = (1, 2, 3)  # words that a filter of the network sees at once
LONGEST_READ = 400  # words that the network looks at
_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / the golden ratio: spreads hashes (Knuth, TAOCP 6.4)


@dataclass(frozen=True, slots=True)
class Network:
    """Filters over the vectors of neighbouring words, of which each keeps its highest value (Kim 2014).

    Words that no case has share the row of the nearest one that cases have, so that they are read alike.
    """

    words: npt.NDArray[np.uint32]  # (known,), ascending: CRC-32 of each
    rows: npt.NDArray[np.uint16]  # (known,)
    vectors: Floats  # (rows, dim); the first, of unknown words, is 0
    filters: tuple[Floats, ...]  # for each of `WIDTHS` (width * dim, filters)
    offsets: tuple[Floats, ...]  # for each (filters,)
    weights: Floats  # (filters of all widths + dim, classes)
    bias: Floats  # (classes,)
    share: Floats  # (2, classes) of the network in a score, beside the n-grams: other languages, French

    @classmethod
    def read(cls, data: Mapping[str, npt.NDArray[np.generic]]) -> Network:
        """Read the arrays of a file; `training.danger_network.packed` names them."""

        def floats(name: str) -> Floats:
            return data[name].astype(np.float32)

        return cls(
            np.cumsum(data["word_gaps"], dtype=np.uint32),
            data["rows"].astype(np.uint16),
            floats("vectors") * floats("step"),
            tuple(floats(f"filters{width}") for width in WIDTHS),
            tuple(floats(f"offsets{width}") for width in WIDTHS),
            floats("network_weights"),
            floats("network_bias"),
            floats("share"),
        )

    def scores(self, text: str) -> Floats:
        """Return the log odds of each class, (classes,) float32."""
        hashes = np.array([zlib.crc32(w.encode()) for w in plain_words(text)[:LONGEST_READ]], np.uint32)
        at = np.minimum(np.searchsorted(self.words, hashes), len(self.words) - 1)
        ids = np.where(self.words[at] == hashes, self.rows[at], 0)
        read = self.vectors[ids if len(ids) else [0]][None]
        pooled, _ = convolve(read, np.array([read.shape[1]]), self.filters, self.offsets)
        found: Floats = pooled[0] @ self.weights + self.bias
        return found


def convolve(
    read: Floats, lengths: Ints, filters: Sequence[Floats], offsets: Sequence[Floats]
) -> tuple[Floats, list[Ints]]:
    """Return what filters find in texts: the highest value of each, not below 0, and the mean word.

    `read` are the vectors of their words, (texts, words, dim), with zeros after the last of `lengths` words.
    The second value is, for each width, where a filter is highest, (texts, filters); place 0 is the one whose
    last word is the text's first.
    """
    texts, count, dim = read.shape
    pooled, places = [], []
    for width, own, offset in zip(WIDTHS, filters, offsets, strict=True):
        padded = np.zeros((texts, count + 2 * (width - 1), dim), np.float32)
        padded[:, width - 1 : width - 1 + count] = read
        runs = count + width - 1
        windows = np.concatenate([padded[:, at : at + runs] for at in range(width)], axis=2)
        values = (windows.reshape(texts * runs, width * dim) @ own).reshape(texts, runs, -1)
        place = values.argmax(1)
        places.append(place)
        pooled.append(np.maximum(np.take_along_axis(values, place[:, None], 1)[:, 0] + offset, 0))
    pooled.append(read.sum(1) / lengths[:, None])
    return np.concatenate(pooled, axis=1).astype(np.float32), places


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

    def predict(self, text: str, *, french: bool, surer: Mapping[str, float] = {}) -> dict[str, bool]:
        """Return the classes that it finds, True where raised, False where named.

        Nothing is said of a few words, where each weighs too much; in a few more, and in many, it must be
        surer; of the classes in `surer` by so much.
        """
        count = len(_WORD.findall(text))
        if count < (FEWEST if french else FEWEST_FOREIGN):
            return {}
        scores, unsure = self.scores(text, french=french), UNSURE * (french and count < SHORT)
        unsure += UNSURE_LONG[int(french)] * (count - len(_HAN_SIGN.findall(text)) / 2 > LONGEST)
        raises, hints = self.raises[int(french)], self.hints[int(french)]
        likely = scores >= scores.max() - BEHIND[int(french)]
        scores = scores - unsure - np.array([surer.get(name, 0.0) for name in self.names], np.float32)
        found = likely & (scores >= hints)
        return {
            name: bool(raised)
            for name, raised, each in zip(self.names, scores >= raises, found, strict=True)
            if each
        }


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
            Network.read(data),
        )
