"""Both models that read danger from texts: what they learn, and how they score texts of writers left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from rag.screening.danger import CLASSES
from rag.screening.danger_classifier import BUCKETS, Network, ngrams
from rag.types import Bools, Floats, Ints
from training.danger.cases import Example
from training.danger.network import Texts, Vocabulary, WordVectors, assemble, fit_network, packed, rounded

FEWEST = 20  # texts that an n-gram must be in
SUBJECT = 0.5  # weight of telling the network what a text is about, beside whether somebody is in it
# weight of a situation where another class is learnt, for people in one danger are often in two; with a fifth
# 7 to 18 points less are found of writers left out, at 5 and 2 % of the near misses
OTHERS = 0.02
COST = 10.0  # of an error, beside the squared weights
STEPS = 60
WEAK = 0.4  # of the n-grams, those that move a score least are left out of the file
IDF_LEVELS = 32  # that 1 is divided into, to pack smaller
LEVELS = 31  # on either side of 0 that a weight of an n-gram is rounded to in the file


@dataclass(frozen=True, slots=True)
class Grams:
    """The n-grams of some texts, one row of length 1 a text, and what weighs them."""

    rows: csr_matrix  # (texts, known) float32
    buckets: Ints  # (known,)
    idf: Floats  # (known,) inverse document frequencies, rounded as in the file


def weigh(texts: Sequence[str]) -> Grams:
    """Count the n-grams of texts that are in a few of them at least."""
    rows = [ngrams(text) for text in texts]
    ids = np.concatenate([ids for ids, _ in rows])
    counts = np.concatenate([counts for _, counts in rows])
    row = np.repeat(np.arange(len(rows)), [len(ids) for ids, _ in rows])
    texts_with = np.bincount(ids, minlength=BUCKETS)
    buckets = np.flatnonzero(texts_with >= FEWEST)
    idf = np.log((1 + len(texts)) / (1 + texts_with[buckets])) + 1
    idf = (np.round(idf * IDF_LEVELS) / IDF_LEVELS).astype(np.float32)
    known = texts_with[ids] >= FEWEST
    row, column = row[known], np.searchsorted(buckets, ids[known])
    values = (1 + np.log(counts[known])) * idf[column]
    values /= np.sqrt(np.maximum(np.bincount(row, values**2, len(rows)), 1e-9))[row]
    return Grams(
        csr_matrix((values.astype(np.float32), (row, column)), (len(rows), len(buckets))), buckets, idf
    )


def balanced(labels: Bools) -> Floats:
    """Return what an error costs, (texts, classes): both labels of a class weigh the same."""
    weight = np.where(labels.any(1, keepdims=True) & ~labels, OTHERS, 1.0)
    positive, all_ = labels.sum(0), weight.sum(0)
    each = np.where(labels, all_ / (2 * np.maximum(positive, 1)), all_ / (2 * (all_ - positive)))
    costs: Floats = (weight * each).astype(np.float32)
    return costs


def fit(rows: csr_matrix, labels: Bools) -> tuple[Floats, Floats]:
    """Return weights (n-grams, classes) and bias (classes,)."""
    classes, sign = labels.shape[1], np.where(labels, 1.0, -1.0).astype(np.float32)
    balance, transposed = balanced(labels), rows.T.tocsr()

    def loss(flat: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        whole = flat.reshape(-1, classes).astype(np.float32)  # half of the time
        weights, bias = whole[:-1], whole[-1]
        margin = sign * (rows @ weights + bias)
        slope = -sign * balance / (1 + np.exp(np.clip(margin, -50, 50)))
        value = COST * (balance * np.logaddexp(0, -margin)).sum(dtype=np.float64)
        value += 0.5 * np.square(weights, dtype=np.float64).sum()
        slopes = np.vstack([COST * (transposed @ slope) + weights, COST * slope.sum(0)])
        return float(value), slopes.ravel().astype(np.float64)

    start: npt.NDArray[np.float64] = np.zeros((rows.shape[1] + 1) * classes)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS, "maxcor": 6})
    whole = found.x.reshape(-1, classes).astype(np.float32)
    return whole[:-1], whole[-1]


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """What is learnt from: texts as both models read them, and what each is an example of."""

    texts: Sequence[str]
    grams: Grams
    vocabulary: Vocabulary
    read: Texts
    labels: Bools  # (texts, classes): a situation of that class
    tasks: Bools  # (texts, outputs of the network): `labels`, any situation, and what a text is about
    seed: int

    @classmethod
    def of(cls, examples: Sequence[Example], known: WordVectors, seed: int) -> TrainingSet:
        """Read examples; `known` are word vectors of these and more texts."""
        texts = [each.text for each in examples]
        vocabulary = Vocabulary.of(texts, known)
        subjects = np.array([[each.danger == name for name in CLASSES] for each in examples])
        case = np.array([[each.is_case] for each in examples])
        labels = subjects & case
        tasks = np.hstack([labels, case, subjects])
        read = Texts.read(texts, vocabulary)
        return cls(texts, weigh(texts), vocabulary, read, labels, tasks, seed)

    def linear(self, learnt: Ints) -> tuple[Floats, Floats]:
        """Fit the weights of the n-grams to some of the texts; see `fit`."""
        return fit(self.grams.rows[learnt], self.labels[learnt])

    def network(self, learnt: Ints) -> Network:
        """Fit the network to some of the texts.

        It tells beside the classes whether anybody is in any danger, and what a text is about (Caruana
        1997): all classes and all near misses teach it what is told of as happening.
        """
        classes = self.labels.shape[1]
        costs = np.zeros(self.tasks.shape, np.float32)
        costs[learnt, :classes] = balanced(self.labels[learnt])
        costs[learnt, classes : classes + 1] = balanced(self.tasks[learnt, classes : classes + 1])
        costs[learnt, classes + 1 :] = SUBJECT * balanced(self.tasks[learnt, classes + 1 :])
        fitted = fit_network(self.read, self.tasks, costs, self.vocabulary.vectors, self.seed)
        return assemble(self.vocabulary, fitted)

    def arrays(self, learnt: Ints) -> dict[str, npt.NDArray[np.generic]]:
        """Fit both to some of the texts; return what the file of a classifier keeps of them."""
        weights, bias = self.linear(learnt)
        whole, scale = rounded(weights, LEVELS)
        moved = np.abs(whole * scale).max(1) * self.grams.idf
        kept = moved >= np.quantile(moved, WEAK)
        return {
            "names": np.array(CLASSES),
            "bucket_gaps": np.diff(self.grams.buckets[kept], prepend=0).astype(np.uint32),  # pack smaller
            "scale": scale,
            "weights": whole[kept],
            "bias": bias,
            "idf": self.grams.idf[kept].astype(np.float16),
            **packed(self.network(learnt)),
        }
