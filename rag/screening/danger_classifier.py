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
from dataclasses import dataclass, replace
from functools import cache
from lzma import LZMAError
from pathlib import Path
from typing import TypeAlias
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from rag.errors import BadInput
from rag.screening.lexicon import CLAUSE, SENTENCE
from rag.types import Bools, Floats, Ints

FILE = Path(__file__).parent / "data" / "danger" / "classifier.npz"
FEWEST, FEWEST_FOREIGN = 6, 3  # words, of French and of other languages
# of the network in a score: between 0.55 and 0.7, which found most of four writers left out (and not 0.43)
SHARE = 0.6
# by how much higher the score of what the rules raise is taken for, beside the score itself
RULED = 4.0
MANY = 12  # words, beyond which more tell nothing
NONE = -20.0  # the score of a part that is not there
# most words of a part of a text; those that longer ones are read in, and how far apart they begin
RUNS, SHORT_RUNS = (14, 9, 5), (8, 6, 2)
BUCKETS = 2**18
CHARACTERS, WORDS = (4, 5), (1, 2, 3)  # lengths of n-grams
_HAN = "\u3400-\u9fff"
_HAN_SIGN = re.compile(f"[{_HAN}]")
_WORD = re.compile(rf"[{_HAN}]|[^\s{_HAN}]*[^\W_{_HAN}][^\s{_HAN}]*")
_SENTENCE, _CLAUSE = (
    re.compile(f"[{re.escape(''.join(sorted(marks)))}]+") for marks in (SENTENCE, SENTENCE | CLAUSE)
)
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
    weights: Floats  # (filters of all widths + dim + hidden, outputs)
    bias: Floats  # (outputs,)

    @classmethod
    def read(cls, data: Mapping[str, npt.NDArray[np.generic]]) -> Network:
        """Read the arrays of a file; `training.danger.network.packed` names them."""

        def floats(name: str) -> Floats:
            return data[name].astype(np.float32, order="C")  # a file may hold columns one after another

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
        )

    def _vector(self, word: str) -> Floats:
        """Return what a word means out of context, (dim,)."""
        code = np.uint32(zlib.crc32(word.encode()))  # a Python int would cast the whole table
        at = min(int(np.searchsorted(self.words, code)), len(self.words) - 1)
        own = self.vectors[self.rows[at] if self.words[at] == code else 0]
        found: Floats = own + self.subwords[subword_buckets(word, len(self.subwords))].mean(0)
        return found

    def scores(self, text: str) -> Floats:
        """Return log odds, (outputs,) float32: of each class, of any, and of each as what a text is about."""
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
class Scores:
    """What a classifier makes of a text, log odds."""

    classes: Floats  # (classes,) somebody is in it: a mean of those of n-grams and network
    anybody: float  # somebody is in any of them
    subjects: Floats  # (classes,) it is told of, as happening or not


@dataclass(frozen=True, slots=True)
class Evidence:
    """What rules and classifier tell of a text and of its parts, for each class."""

    scores: Scores
    part_scores: Floats  # (classes,) the highest of the text and its parts
    ruled: Bools  # (classes,) raised by the rules
    ruled_parts: Floats  # (classes,) the highest score of a part that the rules raise by itself, or `NONE`
    unmeant: Bools  # (classes,) the rules take its words for denied, figurative or over
    words: float  # see `count_words`
    french: bool

    def rows(self) -> Floats:
        """Return what is decided by, (classes, `EVIDENCE`) float32."""
        own, subjects = self.scores.classes, self.scores.subjects
        part = np.maximum(self.part_scores, self.ruled_parts + RULED)
        columns = (
            own, own - own.max(), self.part_scores, self.ruled, self.ruled_parts,
            own + RULED * self.ruled, part, subjects, subjects - subjects.max(), self.scores.anybody,
            self.unmeant, min(self.words, MANY), self.french,
        )  # fmt: skip
        found: Floats = np.stack([np.broadcast_to(each, own.shape) for each in columns], 1, dtype=np.float32)
        return found


# whether more of it speaks for a class (1), against it (-1) or for either (0), of each of `Evidence.rows`
EVIDENCE = (1, 0, 1, 1, 1, 1, 1, 0, 0, 1, -1, 0, 0)


@dataclass(frozen=True, slots=True)
class Trees:
    """Gradient boosted trees (Friedman 2001); the nodes of all of them, one after another.

    A leaf leads to itself.
    """

    roots: Ints  # (trees,) the first node of each
    features: Ints  # (nodes,) which number of a row a node looks at
    thresholds: Floats  # (nodes,) up to which it leads to `below`
    below: Ints  # (nodes,)
    above: Ints  # (nodes,)
    values: Floats  # (nodes,) of leaves, what they add; 0 of others
    depth: int  # of the deepest
    start: float  # what all leaves add to

    @classmethod
    def read(cls, data: Mapping[str, npt.NDArray[np.generic]]) -> Trees:
        """Read the arrays of a file; `training.danger.decision.packed` names them."""

        def whole(name: str) -> Ints:
            return data[f"tree_{name}"].astype(np.int64)

        def floats(name: str) -> Floats:
            return data[f"tree_{name}"].astype(np.float32)

        return cls(
            whole("roots"),
            whole("features"),
            floats("thresholds"),
            whole("below"),
            whole("above"),
            floats("values"),
            int(data["tree_depth"]),
            float(data["tree_start"]),
        )

    def log_odds(self, rows: Floats) -> Floats:
        """Return what the trees make of rows of numbers, (rows,)."""
        at = np.tile(self.roots, (len(rows), 1))
        for _ in range(self.depth):
            looked = np.take_along_axis(rows, self.features[at], 1)
            at = np.where(looked <= self.thresholds[at], self.below[at], self.above[at])
        found: Floats = self.values[at].sum(1) + np.float32(self.start)
        return found


@dataclass(frozen=True, slots=True)
class Classifier:
    """Weights of all classes for the n-grams that it knows: row `i` is that of bucket `buckets[i]`."""

    names: tuple[str, ...]
    buckets: Ints  # (known,), ascending
    idf: Floats  # (known,)
    weights: npt.NDArray[np.int8]  # (known, classes)
    scale: Floats  # (classes,) that a weight is multiplied by
    bias: Floats  # (classes,)
    network: Network

    @classmethod
    def read(cls, data: Mapping[str, npt.NDArray[np.generic]]) -> Classifier:
        """Read the arrays of a file; `training.danger` writes them."""
        return cls(
            tuple(map(str, data["names"])),
            np.cumsum(data["bucket_gaps"], dtype=np.int64),
            data["idf"].astype(np.float32),
            data["weights"].astype(np.int8),
            data["scale"].astype(np.float32),
            data["bias"].astype(np.float32),
            Network.read(data),
        )

    def scores(self, text: str) -> Scores:
        """Return the scores of a text."""
        ids, counts = ngrams(text)
        rows = np.searchsorted(self.buckets, ids)
        known = self.buckets[np.minimum(rows, len(self.buckets) - 1)] == ids
        rows = rows[known]
        values = (1 + np.log(counts[known])) * self.idf[rows]
        norm = float(np.sqrt(values @ values)) or 1.0
        alone = (values @ self.weights[rows]) * self.scale / norm + self.bias
        classes, of_network = len(self.names), self.network.scores(text)
        return Scores(
            (1 - SHARE) * alone + SHARE * of_network[:classes],
            float(of_network[classes]),
            of_network[classes + 1 :],
        )


def count_words(text: str) -> float:
    """Return how many words a text has; two Chinese signs are one."""
    return len(_WORD.findall(text)) - len(_HAN_SIGN.findall(text)) / 2


def parts(text: str) -> list[list[str]]:
    """Return the sentences of a text, each with its clauses, and the runs of words of longer ones, behind it.

    People tell a danger in half a sentence among practical troubles, often without any mark.
    """
    found = []
    for sentence in _SENTENCE.split(text):
        clauses = _CLAUSE.split(sentence)
        within = [sentence, *clauses, *(run for clause in clauses for run in _runs_of_words(clause, *RUNS))]
        if own := list(dict.fromkeys(part for part in map(str.strip, within) if part)):
            found.append(own)
    return found


def short_runs(sentence: str) -> list[str]:
    """Return the runs of few words of a sentence's longer clauses, where the plainest words stand alone."""
    return [run for clause in _CLAUSE.split(sentence) for run in _runs_of_words(clause, *SHORT_RUNS)]


def _runs_of_words(clause: str, most: int, length: int, step: int) -> list[str]:
    """Return the overlapping runs of a clause of more words than `most`; of Chinese, twice as many signs."""
    words = list(_WORD.finditer(clause))
    unit = 2 if 2 * len(_HAN_SIGN.findall(clause)) > len(words) else 1
    if len(words) <= most * unit:
        return []
    starts = range(0, len(words) - (length - step) * unit, step * unit)
    runs = [words[start : start + length * unit] for start in starts]
    return [clause[run[0].start() : run[-1].end()] for run in runs]


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


@dataclass(frozen=True, slots=True)
class Decider:
    """From what evidence a class is raised, and named."""

    trees: Trees
    raises: float  # log odds from which a class is raised
    hints: float  # lower ones, from which it is named: help is shown, without an alarm


_used = [FILE]


_raises: list[float] = []  # a threshold to measure with instead of the one that the file has


def use(path: Path = FILE, raises: float | None = None) -> None:
    """Let another file, or threshold, tell of danger in this process, to be measured; before any question.

    `raises` are the log odds from which a class is raised; None: those of the file.

    Raises:
        BadInput: it is no such file.
    """
    try:
        with np.load(path) as data:
            Classifier.read(data)
            _decider(data)
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, LZMAError) as error:
        raise BadInput(
            f"{path}: {error!r}; expected what `python -m training.danger --output` writes"
        ) from None
    _used[:] = [path]
    _raises[:] = [] if raises is None else [raises]
    classifier.cache_clear()
    decider.cache_clear()


@cache
def classifier() -> Classifier:
    """Return the classifier that ships."""
    with np.load(_used[0]) as data:
        return Classifier.read(data)


@cache
def decider() -> Decider:
    """Return the decider that ships."""
    with np.load(_used[0]) as data:
        by = _decider(data)
    return replace(by, raises=_raises[0]) if _raises else by


def _decider(data: Mapping[str, npt.NDArray[np.generic]]) -> Decider:
    return Decider(Trees.read(data), float(data["raises"]), float(data["hints"]))
