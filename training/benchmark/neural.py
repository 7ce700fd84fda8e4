"""Our gradient-cached step, MaxSim search and SPLADE search beside those of sentence-transformers.

Everything is made up, from one seed: weights, words and vectors decide neither time nor memory, sizes do.
How each figure is taken says `training.benchmark.timing`.
"""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from rag.errors import BadInput
from rag.retrieval.base import Mask
from rag.retrieval.colbert import ColBERT
from rag.retrieval.splade import Splade
from rag.retrieval.token_index import EncodedText, Neighbourhoods, TokenSearch, TokenVectors
from rag.types import Article, ArticleOrder, Floats, Question, Ranking
from training.benchmark.timing import FIRST, Act, Cost, in_subprocess, table
from training.neural.data.batches import TrainingBatch
from training.neural.recipe.recipe import parse_recipe
from training.neural.systems.backbone import make_scratch, require
from training.neural.systems.biencoder import BiEncoder
from training.neural.trainer.distributed import World
from training.neural.trainer.step import gradients


@dataclass(frozen=True)
class Sizes:
    """What is measured; the defaults are those of `--neural`."""

    batch: int = 64  # questions of a step, and as many articles
    mini_batch: int = 8
    others: tuple[int, ...] = (16, 4)  # pieces that ours is measured with besides
    words: int = 90  # of an article
    width: int = 128  # of the encoder
    articles: int = 4000  # that are searched
    tokens: int = 100  # of an article, on average
    dim: int = 64  # numbers a token
    terms: int = 180  # of an article's sparse vector
    vocabulary: int = 30_000
    questions: int = 20
    question_tokens: int = 32
    times: int = 3  # that a step is taken


def measure(say: Callable[[str], object], sizes: Sizes | None = None) -> None:
    """Say a Markdown table: each of ours and the library's, ratios, and whether they agree.

    Raises:
        BadInput: this system cannot fork processes.
        MissingExtra: torch is not installed.
    """
    sizes = sizes or Sizes()
    if "fork" not in multiprocessing.get_all_start_methods():
        raise BadInput("--neural measures in processes that fork, which this system has not: use Linux")
    require()
    import torch

    torch.set_num_threads(1)  # a pool of threads does not outlive a fork
    with tempfile.TemporaryDirectory() as folder:
        for line in table(each(sizes, Path(folder)) for each in (_steps, _max_sims, _splades)):
            say(line)


# --- a step of training ---


def _steps(sizes: Sizes, folder: Path) -> list[Cost]:
    rng = np.random.default_rng(1)
    words = np.array([f"w{n}" for n in range(2000)])
    texts = [" ".join(rng.choice(words, sizes.words)) for _ in range(sizes.batch)]
    articles = tuple(Article(str(n), "", "", text) for n, text in enumerate(texts))
    questions = tuple(Question(a.id, " ".join(a.text.split()[:12]), (a.id,)) for a in articles)
    tokens = 2 * sizes.words + 32  # so that no text is cut
    scratch = {"width": sizes.width, "dropout": 0.0, "positions": tokens, "vocabulary": 3000}
    of = parse_recipe(
        {
            "name": "step", "system": "biencoder", "model": {"pooling": "mean", "scratch": scratch},
            "text": {"question_tokens": 32, "article_tokens": tokens},
            "training": {"batch": sizes.batch, "steps": 1}, "loss": {"temperature": 0.05},
        }
    )  # fmt: skip
    if of.model.scratch is None:
        raise TypeError(of)
    make_scratch(of.model.scratch, texts, folder / "encoder")
    every = np.arange(sizes.batch)
    batch = TrainingBatch(
        0, 0.0, questions, articles, every, np.ones((sizes.batch,) * 2, np.bool_), ((),) * sizes.batch
    )

    def ours(mini_batch: int) -> list[Act]:
        import torch

        system = BiEncoder.build(of, str(folder / "encoder"))
        system.module.train()

        def step() -> float:
            system.module.zero_grad(set_to_none=True)
            return gradients(system, batch, mini_batch, World(torch.device("cpu")), nullcontext)["loss"]

        return [step] * sizes.times

    def library() -> list[Act]:
        import torch
        from sentence_transformers.sentence_transformer.losses import CachedMultipleNegativesRankingLoss

        module = BiEncoder.build(of, str(folder / "encoder")).module
        module.train()
        loss = CachedMultipleNegativesRankingLoss(module, scale=1 / 0.05, mini_batch_size=sizes.mini_batch)
        both = [module.preprocess([q.text for q in questions]), module.preprocess(texts)]

        def step() -> float:
            module.zero_grad(set_to_none=True)
            # it takes what it is given apart
            value = loss([dict(features) for features in both], torch.arange(sizes.batch))
            value.backward()
            return float(value.detach())

        return [step] * sizes.times

    cached = f"gradient-cached step of {sizes.batch}, {sizes.mini_batch} at once"
    ways: dict[str, Callable[[], list[Act]]] = {
        f"{cached}: the library": library,
        f"{cached}: ours": partial(ours, sizes.mini_batch),
    }
    ways |= {f"the same step, {size} at once: ours": partial(ours, size) for size in sizes.others}
    ways |= {"the same step, all at once: ours": partial(ours, 0)}
    return [in_subprocess(way, make) for way, make in ways.items()]


# --- searches ---


class _Precomputed:
    """Questions "0", "1" … whose vectors are known; what encodes is measured nowhere here."""

    def __init__(self, known: Sequence[Any]) -> None:
        self.known = known

    def encode_questions(self, questions: Sequence[str]) -> Any:  # noqa: ANN401 - of any encoder
        [question] = questions
        return self.known[int(question)]

    def texts(self, tokens: Sequence[int]) -> list[str]:
        return [str(token) for token in tokens]


def _max_sims(sizes: Sizes, folder: Path) -> list[Cost]:
    rng = np.random.default_rng(2)
    meant = rng.normal(size=(3000, sizes.dim)).astype(np.float32)  # what tokens say, before their context

    def unit(drawn: np.ndarray[Any, Any]) -> Floats:
        near = meant[drawn] + 0.4 * rng.normal(size=(len(drawn), sizes.dim)).astype(np.float32)
        return np.asarray(near / np.linalg.norm(near, axis=1, keepdims=True), dtype=np.float32)

    lengths = rng.integers(sizes.tokens // 2, 3 * sizes.tokens // 2, sizes.articles)
    spoken = [rng.zipf(1.3, n) % len(meant) for n in lengths]  # some tokens stand nearly everywhere
    vectors = [unit(drawn) for drawn in spoken]
    queries = [unit(rng.choice(spoken[n], sizes.question_tokens)) for n in _some(sizes)]
    order, mask, ids = _corpus(sizes)
    written = folder / "tokens"
    written.mkdir()
    TokenVectors.write(written, sizes.dim, [[EncodedText(v, np.zeros(len(v), np.int64)) for v in vectors]])
    known = [[EncodedText(q, np.arange(len(q)))] for q in queries]

    def ours(depth: int) -> list[Act]:
        import faiss

        faiss.omp_set_num_threads(1)
        held = TokenVectors.load(written)
        propose = TokenSearch(Neighbourhoods.build(held), order, mask) if depth else None
        search = ColBERT(_Precomputed(known), held, order, mask, propose, depth)
        return _asking(search.search, sizes)

    def library() -> list[Act]:
        import torch
        from sentence_transformers.util.similarity import maxsim

        held = [torch.from_numpy(own).clone() for own in vectors]  # as `encode_document` returns them

        return [partial(_best, ids, maxsim, [torch.from_numpy(query)], held) for query in queries]

    label = f"MaxSim over {sizes.articles:,} articles, {int(lengths.sum()):,} tokens of {sizes.dim}"
    depth = max(sizes.articles // 20, 2 * FIRST)
    return [
        in_subprocess(f"{label}: the library", library),
        in_subprocess(f"{label}: ours, of all", partial(ours, 0)),
        in_subprocess(f"{label}: ours, {depth} proposed by tokens", partial(ours, depth)),
    ]


def _splades(sizes: Sizes, folder: Path) -> list[Cost]:
    rng = np.random.default_rng(3)

    def drawn(n: int) -> np.ndarray[Any, Any]:
        # terms that stand nearly everywhere, and rare ones
        return np.unique(rng.zipf(1.15, n) % sizes.vocabulary)

    columns = [drawn(sizes.terms) for _ in range(sizes.articles)]
    data = rng.gamma(2, 0.3, sum(map(len, columns))).astype(np.float32)
    indices, ends = np.concatenate(columns).astype(np.int32), np.cumsum([0, *map(len, columns)])
    weights = sp.csr_array((data, indices, ends), shape=(sizes.articles, sizes.vocabulary))
    queries = []
    for n in _some(sizes):
        terms = np.unique(rng.choice(columns[n], sizes.question_tokens))
        values = rng.gamma(2, 0.3, len(terms)).astype(np.float32)
        queries.append(sp.csr_array((values, terms, [0, len(terms)]), shape=(1, sizes.vocabulary)))
    order, mask, ids = _corpus(sizes)

    def ours() -> list[Act]:
        return _asking(Splade(_Precomputed(queries), weights, order, mask).search, sizes)

    def library() -> list[Act]:
        import torch
        from sentence_transformers.util import dot_score  # what SparseEncoder.similarity does

        def tensor(rows: sp.csr_array) -> Any:  # noqa: ANN401 - of torch
            at = rows.tocoo()
            where = torch.from_numpy(np.stack([at.row, at.col]).astype(np.int64))
            data = torch.from_numpy(at.data)
            return torch.sparse_coo_tensor(where, data, rows.shape, check_invariants=True).coalesce()

        held = tensor(weights)
        return [partial(_best, ids, dot_score, question, held) for question in map(tensor, queries)]

    label = f"SPLADE over {sizes.articles:,} articles, {weights.nnz:,} weights"
    return [in_subprocess(f"{label}: the library", library), in_subprocess(f"{label}: ours", ours)]


def _some(sizes: Sizes) -> list[int]:
    """Return articles that questions are about."""
    return [int(n) for n in np.linspace(0, sizes.articles - 1, sizes.questions)]


def _corpus(sizes: Sizes) -> tuple[ArticleOrder, Mask, list[str]]:
    ids = [f"{n:06}" for n in range(sizes.articles)]
    return ArticleOrder.of(ids), Mask([Article(id_, "", "", "") for id_ in ids]), ids


def _best(ids: Sequence[str], score: Callable[..., Any], question: Any, held: Any) -> list[str]:  # noqa: ANN401 - tensors
    """Return the first articles by what the library scores."""
    import torch

    return [ids[int(i)] for i in torch.topk(score(question, held)[0], FIRST).indices]


def _asking(search: Callable[[Sequence[str], int], list[Ranking]], sizes: Sizes) -> list[Act]:
    def one(question: str) -> list[str]:
        [ranking] = search([question], FIRST)
        return [hit.article_id for hit in ranking]

    return [partial(one, str(n)) for n in range(sizes.questions)]
