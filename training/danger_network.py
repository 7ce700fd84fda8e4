"""The network of `training.danger`: filters over word vectors, fitted with numpy alone.

Its word vectors begin as what the texts of this project tell of a word by its neighbours, so that words that
no case has are read as ones that mean nearly the same.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.linalg import svds

from rag.screening.danger_classifier import WIDTHS, convolve, plain_words
from rag.types import Bools, Floats, Ints

DIM = 48  # of a word's vector
FILTERS = 96  # of each width
SEEN = 5  # occurrences of a word with a vector of its own
COMMON = 35_000  # most frequent words of all texts: those without one are read as the nearest of these
NEAREST = 0.4  # least cosine of such a pair
COMPARED = 100  # dimensions by which these cosines are told
EPOCHS, BATCH, RATE = 5, 64, 2e-3
CUT = 150  # words of a text that is learnt from
SHARE = 0.43  # of the network in a score: of 0.2, 0.33, 0.43 and 0.5, what found most of three new writers
WORD_DROPOUT, DROPOUT = 0.1, 0.4
DECAY = 0.01
WINDOW = 4  # words on either side that a word is met with
SMOOTHED = 0.75  # power of the counts of those


@dataclass(frozen=True, slots=True)
class WordVectors:
    """What words mean by the company that they keep: plain word -> row, the most frequent word first."""

    rows: Mapping[str, int]
    vectors: Floats  # (rows, dim), of length 1

    @classmethod
    def of(cls, texts: Iterable[str], dim: int = COMPARED) -> WordVectors:
        """Factor the positive pointwise mutual information of words that stand near (Levy et al. 2015)."""
        words = [plain_words(text) for text in texts]
        counts = Counter(word for text in words for word in text)
        known = [word for word, count in counts.most_common(COMMON) if count >= SEEN]
        rows = {word: at for at, word in enumerate(known)}
        between = [-1] * WINDOW  # no word of one text is near one of the next
        flat = np.array([row for text in words for row in (*(rows.get(word, -1) for word in text), *between)])
        apart = range(1, WINDOW + 1)
        first, second = np.concatenate([flat[:-n] for n in apart]), np.concatenate([flat[n:] for n in apart])
        both = (first >= 0) & (second >= 0)
        met = coo_matrix((np.ones(both.sum(), np.float32), (first[both], second[both])), (len(known),) * 2)
        met = (met + met.T).tocoo()
        row, column = (np.asarray(met.sum(axis)).ravel() for axis in (1, 0))
        smoothed = column**SMOOTHED
        expected = row[met.row] * smoothed[met.col] / smoothed.sum()
        information = np.maximum(np.log(met.data / expected), 0)
        table = csr_matrix((information, (met.row, met.col)), met.shape)
        start = np.random.default_rng(0).normal(size=len(known)).astype(np.float32)
        left, strength, _ = svds(table, k=min(dim, len(known) - 1), v0=start)
        order = np.argsort(-strength)
        return cls(rows, _unit(left[:, order] * np.sqrt(strength[order])))


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Which row of `vectors` each word is read by; the first row is that of unknown words."""

    rows: Mapping[str, int]
    vectors: Floats  # (rows, DIM), before any fit

    @classmethod
    def of(cls, texts: Sequence[str], known_words: WordVectors) -> Vocabulary:
        """Give the words that texts often have rows of their own, and others that of the nearest."""
        compared = known_words.vectors
        first = _unit(compared[:, :DIM])
        counts = Counter(word for text in texts for word in plain_words(text))
        seen = sorted(word for word, count in counts.items() if count >= SEEN)
        rows = {word: at for at, word in enumerate(seen, 1)}
        drawn = np.random.default_rng(0).normal(0, 0.05, (len(seen) + 1, DIM)).astype(np.float32)
        drawn[0] = 0
        paired = [word for word in seen if word in known_words.rows]
        if paired:
            drawn[[rows[word] for word in paired], : first.shape[1]] = first[
                [known_words.rows[word] for word in paired]
            ]
            known = compared[[known_words.rows[word] for word in paired]]
            common = [word for word in list(known_words.rows)[:COMMON] if word not in rows]
            for start in range(0, len(common), BATCH**2):
                block = common[start : start + BATCH**2]
                cosines = compared[[known_words.rows[word] for word in block]] @ known.T
                for word, nearest, cosine in zip(block, cosines.argmax(1), cosines.max(1), strict=True):
                    if cosine > NEAREST:
                        rows[word] = rows[paired[int(nearest)]]
        return cls(rows, drawn)

    def read(self, text: str) -> Ints:
        """Return the rows of a text's words, (words,), at least one."""
        return np.array([self.rows.get(word, 0) for word in plain_words(text)[:CUT]] or [0], np.int64)


def _unit(vectors: Floats) -> Floats:
    return np.asarray(
        vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9), dtype=np.float32
    )


@dataclass(frozen=True, slots=True)
class Fitted:
    """The parts of a `rag.screening.danger_classifier.Network` that are learnt."""

    vectors: Floats
    filters: tuple[Floats, ...]
    offsets: tuple[Floats, ...]
    weights: Floats
    bias: Floats

    @classmethod
    def drawn(cls, vectors: Floats, classes: int, chance: np.random.Generator) -> Fitted:
        """Draw the weights of a network that has learnt nothing."""

        def uniform(rows: int, columns: int) -> Floats:
            found: Floats = (chance.uniform(-1, 1, (rows, columns)) / np.sqrt(rows)).astype(np.float32)
            return found

        dim = vectors.shape[1]
        return cls(
            vectors * 3,  # a word's parts are about as large as a filter's answer should be
            tuple(uniform(width * dim, FILTERS) for width in WIDTHS),
            tuple(np.zeros(FILTERS, np.float32) for _ in WIDTHS),
            uniform(FILTERS * len(WIDTHS) + dim, classes),
            np.zeros(classes, np.float32),
        )

    def arrays(self) -> list[Floats]:
        """Return all that is learnt, which a step changes in place."""
        return [self.vectors, *self.filters, *self.offsets, self.weights, self.bias]

    def scores(self, texts: Sequence[Ints]) -> Floats:
        """Return the log odds of texts, (texts, classes) float32, that a vocabulary has read."""
        found = np.zeros((len(texts), len(self.bias)), np.float32)
        order = np.argsort([len(text) for text in texts], kind="stable")
        for start in range(0, len(order), 4 * BATCH):
            own = order[start : start + 4 * BATCH]
            ids, lengths = _padded([texts[at] for at in own])
            read = self.vectors[ids] * (ids >= 0)[..., None]
            pooled, _ = convolve(read, lengths, self.filters, self.offsets)
            found[own] = pooled @ self.weights + self.bias
        return found


def _padded(texts: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Return rows of words, (texts, longest), with -1 behind the last, and the lengths."""
    lengths = np.array([len(text) for text in texts])
    ids = np.full((len(texts), lengths.max()), -1, np.int64)
    for row, text in zip(ids, texts, strict=True):
        row[: len(text)] = text
    return ids, lengths


def gradients(
    net: Fitted, ids: Ints, lengths: Ints, labels: Bools, weights: Floats, kept: Floats
) -> list[Floats]:
    """Return the slopes of the weighted logistic loss of a batch, in the order of `Fitted.arrays`.

    `kept` is what pooled values are multiplied by (dropout), (texts, values).
    """
    read = net.vectors[ids] * (ids >= 0)[..., None]
    pooled, places = convolve(read, lengths, net.filters, net.offsets)
    scores = (pooled * kept) @ net.weights + net.bias
    slope = ((1 / (1 + np.exp(-np.clip(scores, -40, 40))) - labels) * weights / len(ids)).astype(np.float32)
    pooled_slope = (slope @ net.weights.T) * kept
    texts, count, dim = read.shape
    read_slope = np.zeros_like(read)
    filter_slopes, offset_slopes = [], []
    for at, (width, own, place) in enumerate(zip(WIDTHS, net.filters, places, strict=True)):
        part = slice(at * FILTERS, (at + 1) * FILTERS)
        each = pooled_slope[:, part] * (pooled[:, part] > 0)
        offset_slopes.append(each.sum(0))
        own_slope = np.zeros((width, dim, FILTERS), np.float32)
        for shift in range(width):  # only the words where a filter is highest have a part in it
            word = place - (width - 1) + shift
            inside = (word >= 0) & (word < count)
            word, inner = np.clip(word, 0, count - 1), each * inside
            own_slope[shift] = np.einsum(
                "tfd,tf->df", read[np.arange(texts)[:, None], word], inner, optimize=True
            )
            chosen = np.zeros((texts, count, FILTERS), np.float32)
            np.put_along_axis(chosen, word[:, None], inner[:, None], 1)
            read_slope += chosen @ own.reshape(width, dim, FILTERS)[shift].T
        filter_slopes.append(own_slope.reshape(width * dim, FILTERS))
    read_slope += (pooled_slope[:, FILTERS * len(WIDTHS) :] / lengths[:, None])[:, None]
    known = ids > 0  # unknown words keep 0
    rows, number = np.unique(ids[known], return_inverse=True)
    gathered = csr_matrix(
        (np.ones(len(number), np.float32), (number, np.arange(len(number)))), (len(rows), len(number))
    )
    vector_slope = np.zeros_like(net.vectors)
    vector_slope[rows] = gathered @ read_slope[known]
    return [vector_slope, *filter_slopes, *offset_slopes, (pooled * kept).T @ slope, slope.sum(0)]


def fit_network(
    texts: Sequence[Ints], labels: Bools, weights: Floats, vectors: Floats, seed: int, epochs: int = EPOCHS
) -> Fitted:
    """Learn from texts that a vocabulary has read, by Adam with decay (Loshchilov & Hutter 2019).

    `labels` and `weights` are (texts, classes): whether a class is meant, and what an error costs.
    """
    chance = np.random.default_rng(seed)
    net = Fitted.drawn(vectors, labels.shape[1], chance)
    arrays = net.arrays()
    mean, square = ([np.zeros_like(each) for each in arrays] for _ in range(2))
    lengths = np.array([len(text) for text in texts])
    steps, step = epochs * -(-len(texts) // BATCH), 0
    for _ in range(epochs):
        order = np.argsort(lengths + chance.uniform(0, 4, len(texts)))  # texts of one length go together
        batches = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
        for at in chance.permutation(len(batches)):
            own = batches[at]
            ids, length = _padded([texts[each] for each in own])
            ids = np.where((ids >= 0) & (chance.random(ids.shape) < WORD_DROPOUT), 0, ids)
            kept = chance.random((len(own), len(net.weights))) >= DROPOUT
            slopes = gradients(
                net, ids, length, labels[own], weights[own], (kept / (1 - DROPOUT)).astype(np.float32)
            )
            step += 1
            rate = RATE * min(1.0, step / 100) * max(0.02, 1 - step / steps)
            for place, (value, slope) in enumerate(zip(arrays, slopes, strict=True)):
                mean[place] += 0.1 * (slope - mean[place])
                square[place] += 0.001 * (slope * slope - square[place])
                move = (mean[place] / (1 - 0.9**step)) / (np.sqrt(square[place] / (1 - 0.999**step)) + 1e-8)
                value -= np.float32(rate) * (move + (DECAY * value if place else 0))
    return net


def packed(vocabulary: Vocabulary, net: Fitted, share: Floats) -> dict[str, npt.NDArray[np.generic]]:
    """Return the arrays that the file of a classifier keeps: vectors as bytes, the rest halved.

    Hashes of words, which ascend, are told by what each adds.
    """
    hashes = {zlib.crc32(word.encode()): row for word, row in vocabulary.rows.items()}
    words = sorted(hashes)
    step = np.float32(np.abs(net.vectors).max() / 127)
    found: dict[str, npt.NDArray[np.generic]] = {
        "word_gaps": np.diff(np.array(words, np.int64), prepend=0).astype(np.uint32),
        "rows": np.array([hashes[word] for word in words], np.uint16),
        "vectors": np.round(net.vectors / step).astype(np.int8),
        "step": np.array(step),
        "network_weights": net.weights.astype(np.float16),
        "network_bias": net.bias,
        "share": share,
    }
    for width, own, offset in zip(WIDTHS, net.filters, net.offsets, strict=True):
        found |= {f"filters{width}": own.astype(np.float16), f"offsets{width}": offset.astype(np.float16)}
    return found
