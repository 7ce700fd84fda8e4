"""The network of `training.danger`: filters over the vectors of words in context, fitted with torch.

Its word vectors begin as what the texts of this project tell of a word by its neighbours, so that words that
no case has are read as ones that mean nearly the same. What is fitted runs with numpy alone.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.linalg import svds

from rag.errors import MissingExtra, install_hint
from rag.screening.danger_classifier import CONTEXT, WIDTHS, Network, plain_words, subword_buckets
from rag.types import Bools, Floats, Ints

KNOWN_DIM, DIM = 48, 96  # of a word's vector: what other texts tell of it, and all (64: 1 point less found)
FILTERS = 128  # of each width
HIDDEN = 128  # numbers that tell what a word means in its context
SUBWORD_BUCKETS = 2**14
SEEN = 9  # occurrences of a word with a vector of its own
COMPARED_AT_ONCE = 4096  # words
COMMON = 35_000  # most frequent words of all texts: those without one are read as the nearest of these
NEAREST = 0.4  # least cosine of such a pair
COMPARED = 100  # dimensions by which these cosines are told
EPOCHS, BATCH, RATE = 5, 128, 3e-3
CUT = 100  # words of a text that is learnt from
WORD_DROPOUT, DROPOUT = 0.2, 0.4
DECAY = 0.01
# on either side of 0 that the numbers of a vector, and of what reads it, are rounded to in the file
VECTOR_LEVELS, LEVELS = 31, 127
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
        first = _unit(compared[:, :KNOWN_DIM])
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
            common = [word for word in list(known_words.rows) if word not in rows]
            for start in range(0, len(common), COMPARED_AT_ONCE):
                block = common[start : start + COMPARED_AT_ONCE]
                cosines = compared[[known_words.rows[word] for word in block]] @ known.T
                for word, nearest, cosine in zip(block, cosines.argmax(1), cosines.max(1), strict=True):
                    if cosine > NEAREST:
                        rows[word] = rows[paired[int(nearest)]]
        return cls(rows, drawn)


def _unit(vectors: Floats) -> Floats:
    return np.asarray(
        vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9), dtype=np.float32
    )


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts as numbers of their distinct words, of which the first, 0, is none; and the subwords of each."""

    texts: Sequence[Ints]  # for each (words,), at least one
    rows: Ints  # (distinct words,) of a vocabulary
    subwords: Ints  # buckets, of one word after another
    starts: Ints  # (distinct words + 1,) where the subwords of each begin

    @classmethod
    def read(cls, texts: Sequence[str], vocabulary: Vocabulary) -> Texts:
        """Read texts with a vocabulary."""
        words = [plain_words(text)[:CUT] for text in texts]
        distinct = sorted({word for text in words for word in text})
        number = {word: at for at, word in enumerate(distinct, 1)}
        parts = [subword_buckets(word, SUBWORD_BUCKETS) for word in distinct]
        return cls(
            [np.array([number[word] for word in text] or [0], np.int64) for text in words],
            np.array([0, *(vocabulary.rows.get(word, 0) for word in distinct)], np.int64),
            np.concatenate([np.empty(0, np.int64), *parts]),
            np.cumsum([0, 0, *map(len, parts)]),
        )

    def padded(self, which: Ints) -> tuple[Ints, Ints]:
        """Return the words of some texts, (texts, longest), with 0 behind the last, and the lengths."""
        lengths = np.array([len(self.texts[at]) for at in which])
        ids = np.zeros((len(which), lengths.max()), np.int64)
        for row, at in zip(ids, which, strict=True):
            row[: len(self.texts[at])] = self.texts[at]
        return ids, lengths

    def parts(self, words: Ints) -> tuple[Ints, Ints]:
        """Return the subwords of some words, one word after another, and where each begins."""
        first, counts = self.starts[words], self.starts[words + 1] - self.starts[words]
        begins = np.cumsum(counts) - counts
        return self.subwords[np.arange(counts.sum()) + np.repeat(first - begins, counts)], begins


def require() -> None:
    """Raise MissingExtra where torch is not installed."""
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise MissingExtra(f"the network of danger needs torch: run {install_hint('models')}") from error


def _module(vectors: Floats, outputs: int) -> Any:  # noqa: ANN401 - of torch
    """Return a torch.nn.Module that does what `Network.scores` does, for texts of a `Texts`."""
    import torch
    from torch import nn
    from torch.nn import functional

    class Module(nn.Module):  # type: ignore[misc]  # torch has no types here
        def __init__(self) -> None:
            super().__init__()
            dim = vectors.shape[1]
            # times 3: of length 1, their parts are smaller than what a filter finds should be
            self.words = nn.Embedding.from_pretrained(torch.tensor(vectors * 3), freeze=False, padding_idx=0)
            self.subwords = nn.EmbeddingBag(SUBWORD_BUCKETS, dim, mode="mean")
            nn.init.normal_(self.subwords.weight, 0, 0.15)
            self.context = nn.Linear(CONTEXT * dim, HIDDEN)
            self.filters = nn.ModuleList(nn.Linear(width * (dim + HIDDEN), FILTERS) for width in WIDTHS)
            self.dropout = nn.Dropout(DROPOUT)
            self.output = nn.Linear(FILTERS * len(WIDTHS) + dim + HIDDEN, outputs)

        def forward(self, texts: Texts, ids: Ints, lengths: Ints) -> Any:  # noqa: ANN401 - of torch
            words, place = np.unique(ids, return_inverse=True)
            subwords, begins = texts.parts(words)
            vector = self.words(torch.from_numpy(texts.rows[words]))
            vector = vector + self.subwords(torch.from_numpy(subwords), torch.from_numpy(begins))
            read = functional.embedding(torch.from_numpy(place.reshape(ids.shape)), vector)
            words_mask = torch.from_numpy(np.arange(ids.shape[1]) < lengths[:, None]).unsqueeze(2)
            hidden = self.context(runs(read, CONTEXT, CONTEXT // 2)).relu()
            read = torch.cat([read, hidden], 2) * words_mask
            highest = []
            for width, each in zip(WIDTHS, self.filters, strict=True):
                found = each(runs(read, width, width - 1))
                padding = np.arange(found.shape[1]) >= lengths[:, None] + width - 1  # runs of no word
                found = found.masked_fill(torch.from_numpy(padding).unsqueeze(2), -torch.inf)
                highest.append(found.amax(1).relu())
            mean = read.sum(1) / torch.from_numpy(lengths).unsqueeze(1)
            return self.output(self.dropout(torch.cat([*highest, mean], 1)))

    def runs(read: Any, width: int, margin: int) -> Any:  # noqa: ANN401 - of torch
        padded = functional.pad(read, (0, 0, margin, margin))
        return torch.cat([padded[:, at : padded.shape[1] - width + 1 + at] for at in range(width)], 2)

    return Module()


def fit_network(
    texts: Texts, labels: Bools, costs: Floats, vectors: Floats, seed: int, epochs: int = EPOCHS
) -> dict[str, Floats]:
    """Learn from texts; return what is learnt, by its names.

    `labels` and `costs` are (texts, outputs): whether a text is one, and what an error costs (0: nothing is
    learnt from it).

    Raises:
        MissingExtra: torch is not installed.
    """
    require()
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        module = _module(vectors, labels.shape[1])
        _train(module, texts, labels, costs, np.random.default_rng(seed), epochs)
    return {name: each.detach().numpy() for name, each in module.named_parameters()}


def _train(
    module: Any,  # noqa: ANN401 - of torch
    texts: Texts,
    labels: Bools,
    costs: Floats,
    chance: np.random.Generator,
    epochs: int,
) -> None:
    """Change a module by Adam with decay (Loshchilov & Hutter 2019)."""
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits

    optimizer = torch.optim.AdamW(module.parameters(), lr=RATE, weight_decay=DECAY)
    rows = np.flatnonzero(costs.any(1))
    lengths = np.array([len(texts.texts[at]) for at in rows.tolist()])
    steps, step = epochs * -(-len(rows) // BATCH), 0
    for _ in range(epochs):
        order = rows[np.argsort(lengths + chance.uniform(0, 4, len(rows)))]  # texts of one length together
        batches = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
        for at in chance.permutation(len(batches)):
            own = batches[at]
            ids, length = texts.padded(own)
            ids = np.where(chance.random(ids.shape) < WORD_DROPOUT, 0, ids)
            truth, cost = torch.from_numpy(labels[own].astype(np.float32)), torch.from_numpy(costs[own])
            scores = module(texts, ids, length)
            loss = binary_cross_entropy_with_logits(scores, truth, cost, reduction="sum") / len(own)
            step += 1
            for group in optimizer.param_groups:
                group["lr"] = RATE * min(1.0, step / 100) * max(0.02, 1 - step / steps)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def assemble(vocabulary: Vocabulary, learnt: Mapping[str, Floats]) -> Network:
    """Return what scores texts by what `fit_network` learnt."""
    hashes = {zlib.crc32(word.encode()): row for word, row in vocabulary.rows.items()}
    words = sorted(hashes)
    return Network(
        np.array(words, np.uint32),
        np.array([hashes[word] for word in words], np.uint16),
        learnt["words.weight"],
        learnt["subwords.weight"],
        learnt["context.weight"].T,
        learnt["context.bias"],
        tuple(learnt[f"filters.{at}.weight"].T for at in range(len(WIDTHS))),
        tuple(learnt[f"filters.{at}.bias"] for at in range(len(WIDTHS))),
        learnt["output.weight"].T,
        learnt["output.bias"],
    )


def packed(net: Network) -> dict[str, npt.NDArray[np.generic]]:
    """Return the arrays that the file of a classifier keeps.

    Weights are small whole numbers, times a scale a column. Hashes of words, which ascend, are told by what
    each adds.
    """
    found: dict[str, npt.NDArray[np.generic]] = {
        "word_gaps": np.diff(net.words.astype(np.int64), prepend=0).astype(np.uint32),
        "rows": net.rows,
        "context_offset": net.context_offset.astype(np.float16),
        "network_bias": net.bias,
    }
    filters = {f"filters{width}": own for width, own in zip(WIDTHS, net.filters, strict=True)}
    for width, offset in zip(WIDTHS, net.offsets, strict=True):
        found[f"offsets{width}"] = offset.astype(np.float16)
    for levels, tables in (
        (VECTOR_LEVELS, {"vectors": net.vectors, "subwords": net.subwords}),
        (LEVELS, {"context": net.context, "network_weights": net.weights, **filters}),
    ):
        for name, table in tables.items():
            found[name], found[f"{name}_scale"] = rounded(table, levels)
    return found


def rounded(weights: Floats, levels: int) -> tuple[npt.NDArray[np.int8], Floats]:
    """Return weights as a file holds them: small whole numbers, and what a column is multiplied by."""
    scale: Floats = np.maximum(np.abs(weights).max(0), 1e-9) / levels
    return np.round(weights / scale).astype(np.int8), scale.astype(np.float32)
