"""What a way to search costs: bytes, milliseconds, floating-point operations, memory, hours and kWh.

Law is imported with the questions of four folds of five, an index is built of it step by step, as a host
would, and after each step the ways to search that it then has are asked the questions of the fifth, each in a
process of its own: that opens the index, asks one at a time, and then in batches. Of the index that ships,
which is built already, all is measured but what it took to build.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from indexes.builtin_corpus import read_test_questions
from indexes.corpus.corpus import read, to_learn_from, write
from indexes.corpus.folds import folds, pick
from indexes.sources import registry
from indexes.store.atomic import replacing
from indexes.store.open_index import open_index
from indexes.store.paths import BUILTIN, builtin, locate
from rag.engine.engine import Engine
from rag.engine.result import Mode
from rag.errors import BadInput
from rag.retrieval.dense import Dense
from rag.retrieval.hybrid import DEPTH
from rag.types import Question, Ranking
from training.benchmark.growth import NAME, run_python
from training.eval.metrics import per_question
from training.eval.report import head as provenance
from training.eval.system_names import EXPANDED_BM25
from training.neural.trainer.resources import Hardware, cost, peak_memory
from training.tables.efficiency import COLUMNS, cells
from training.tables.markdown import head, row

KIND = "efficiency"
_CHILD = f"from {__name__} import _answer_parent; _answer_parent()"
FOLDS, SEED = 5, 42
K = 100  # articles of a ranking
BATCH = 32  # questions that are asked together
MEASURES = ("R@10", "R@100", "MRR@10")
LEARNED_FROM = 100  # questions to learn from, below which no learned fusion is fitted
_WORDS, _MEANING = ("bm25", "bridge"), ("encoder", "vectors.faiss", "vectors.int8.npy")
# what each way to search reads of an index, and the mode of a search that it is
_PARTS: Mapping[str, tuple[Mode, tuple[str, ...]]] = {
    EXPANDED_BM25: ("keyword", _WORDS),
    "dense": ("meaning", _MEANING),
    "hybrid": ("hybrid", (*_WORDS, *_MEANING)),
    "learned": ("hybrid", (*_WORDS, *_MEANING, "learned", "graph")),
}


# --- floating-point operations of a question, by the formulas of Louis et al. 2025 ("Know When to Fuse") ---


def bm25_flops(question: float, articles: int) -> float:
    """Return 4 |q| |C|: a sum over all articles, of which an inverted index does a part."""
    return 4 * question * articles


def forward_flops(layers: int, width: int, inner: int, tokens: float) -> float:
    """Return those of one pass of n tokens through a transformer's layers: its matrix products.

    Of each token 2 (4 d² + 2 d f), for four projections and two layers in between; and 4 n² d for queries
    times keys and weights times values. Embeddings are looked up, and cost none.
    """
    return layers * tokens * (2 * (4 * width**2 + 2 * width * inner) + 4 * tokens * width)


def static_forward_flops(question: float, width: int) -> float:
    """Return those of a static encoder: |q| vectors, each times its weight, added up and normalised."""
    return 2 * question * width + 3 * width


def dense_flops(forward: float, width: int, articles: int) -> float:
    """Return C_FW + (2 d - 1) |C|: a pass, and a product with every article's vector."""
    return forward + (2 * width - 1) * articles


def splade_flops(forward: float, terms: float = 178, postings: float = 378) -> float:
    """Return C_FW + 2 t p of t active terms of a question and lists of p articles."""
    return forward + 2 * terms * postings


def question_knn_flops(question: float, width: int, questions: int, citations: int) -> float:
    """Return (4 |q| + 2 d - 1) |Q| + 2 c of |Q| annotated questions that cite c articles in all.

    They are documents to BM25, their vectors are compared with the one that the encoder made already (d is 0
    without an encoder), and each votes for what it cites. Ours: the paper has no such list.
    """
    compared = dense_flops(0, width, questions) if width else 0.0
    return bm25_flops(question, questions) + compared + 2 * citations


def colbert_flops(forward: float, width: int, question: float, article: float, articles: int) -> float:
    """Return C_FW + |q| (2 d |a| + |a| + 1) |C|; the paper prints |q|², which its 2.6e11 matches."""
    return forward + question * (2 * width * article + article + 1) * articles


def cross_encoder_flops(forward: float, candidates: int = 1000) -> float:
    """Return those of as many passes as there are candidates."""
    return candidates * forward


def search_flops(engine: Engine, name: str, questions: Sequence[str]) -> float:
    """Return those of a question to an index, by the formulas above; the mean over questions.

    A question's terms are its own and those that it is expanded by. A learned fusion adds what its trees and
    networks do with each candidate, a comparison as one; of its features only the nearest questions count.
    """
    searcher, n = engine.searcher, len(engine.articles)
    terms = [len(engine.analyser.terms(text)) for text in questions]
    more = [len(searcher.expanded.used(text)) if searcher.expanded else 0 for text in questions]
    total = 0.0
    if name != "dense":
        total += bm25_flops(float(np.mean(terms) + np.mean(more)), n)
    if name != EXPANDED_BM25 and isinstance(searcher.meaning, Dense):
        width = searcher.meaning.encoder.dim
        total += dense_flops(static_forward_flops(float(np.mean(terms)), width), width, n)
    if name in ("hybrid", "learned") and (nearest := searcher.nearest_questions) is not None:
        known = nearest.index
        width = 0 if known.vectors is None else known.vectors.shape[1]
        total += question_knn_flops(float(np.mean(terms)), width, len(known.questions), known.cites.nnz)
    if name == "learned" and searcher.learned is not None:
        ranker = searcher.learned.ranker
        weights = sum(layer.size for network in ranker.networks for layer in network.weights)
        depth = sum(np.log2(max(len(tree.value), 2)) for tree in ranker.trees.trees)
        total += DEPTH * (depth + 2 * weights)
    return total


# --- the run ---


def measure(path: Path, output: Path | None, say: Callable[[str], object], command: str) -> None:
    """Say a table of the ways to search law at a path, and write it as JSON, after each as it is measured.

    "builtin" is the index that ships, which is asked its test questions.

    Raises:
        BadInput: the law cannot be read, or has too few questions with an answer for five folds.
    """
    ships = str(path) == BUILTIN
    corpus = read(builtin() / "corpus") if ships else registry.law(path)
    of_what_ships = (q for q in read_test_questions(builtin()) if q.split == "test" and q.article_ids)
    gold = list(of_what_ships) if ships else to_learn_from(corpus.questions)
    if len(gold) < FOLDS:
        raise BadInput(f"{path}: {len(gold)} questions with an answer, of which no {FOLDS} folds can be made")
    fold = folds(len(gold), FOLDS, SEED)[0]
    held, learn = (gold, []) if ships else (pick(gold, fold.held), pick(gold, fold.learn))
    text_bytes = sum(len(" ".join((a.code, *a.headings, a.text)).encode()) for a in corpus.articles)
    learnt = len(corpus.questions) if ships else len(learn)
    record: dict[str, Any] = {
        "kind": KIND,
        **provenance(corpus, command=[command], questions=len(held), unanswerable=0, seed=SEED),
        "learnt_from": f"{learnt} questions, none of those asked",
        "text_bytes": text_bytes,
        "batch": BATCH,
        "k": K,
        "systems": {},
    }
    say("\n".join(head(COLUMNS)))
    with tempfile.TemporaryDirectory() as scratch:
        home, law = Path(scratch) / "home", Path(scratch) / "law"
        spent = _Spent()
        if not ships:
            named = replace(corpus.card, name=NAME)
            write(replace(corpus, card=named, questions=tuple(learn)), law)
        for step, names in [([], tuple(_PARTS)[:3])] if ships else _steps(law, learnt):
            if step:
                spent.run(home, step)
            for name in names:
                system = _measured(home, BUILTIN if ships else NAME, name, held, text_bytes)
                record["systems"][name] = system | {"training": None if ships else spent.cost()}
                say(row(cells(name, record["systems"][name])))
                if output is not None:
                    with replacing(output) as part:
                        text = json.dumps(record, ensure_ascii=False, indent=1) + "\n"
                        part.write_text(text, encoding="utf-8")


def _steps(law: Path, learn: int) -> list[tuple[list[str], tuple[str, ...]]]:
    """Return commands, each with the ways to search that an index has after it."""
    index = ["-m", "indexes"]
    steps: list[tuple[list[str], tuple[str, ...]]] = [
        ([*index, "import", str(law), "--name", NAME, "--build", "--encoder", "none"], (EXPANDED_BM25,)),
        ([*index, "build", NAME, "--encoder", "fit"], ("dense", "hybrid")),
    ]
    if learn >= LEARNED_FROM:
        steps.append((["-m", "training.train", "fusion", NAME, "--always"], ("learned",)))
    return steps


class _Spent:
    """What the steps to an index took so far."""

    def __init__(self) -> None:
        self.wall = self.cores = 0.0  # seconds, by the clock and of cores

    def run(self, home: Path, step: Sequence[str]) -> None:
        begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        run_python(home, step)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.wall += time.perf_counter() - begun
        self.cores += after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def cost(self) -> dict[str, object]:
        """Return core-hours, and what a core that works all the time draws."""
        return {**cost(self.cores / 3600, Hardware.processor(1)), "clock_hours": self.wall / 3600}


def _measured(home: Path, index: str, name: str, held: Sequence[Question], text_bytes: int) -> dict[str, Any]:
    """Ask an index in one of its ways, in a process of its own, and weigh what that reads of it."""
    asked = json.dumps([q.text for q in held])
    said, _ = run_python(home, ["-c", _CHILD, index, name], asked)
    found = json.loads(said)
    version, _ = locate(index if index == BUILTIN else home / "indexes" / index)
    parts = [version / part for part in _PARTS[name][1]]
    files = [file for part in parts for file in (part.rglob("*") if part.is_dir() else [part])]
    size = sum(file.stat().st_size for file in files if file.is_file())
    rankings = found.pop("rankings")
    run = {q.id: Ranking.of((id_, 1.0) for id_ in ids) for q, ids in zip(held, rankings, strict=True)}
    values = per_question({q.id: frozenset(q.article_ids) for q in held}, run, MEASURES)
    quality = {measure: float(value.mean()) for measure, value in values.items()}
    return {"measures": quality, "index_bytes": size, "ratio": size / text_bytes, **found}


def answer(index: str, name: str, questions: Sequence[str]) -> dict[str, Any]:
    """Open the index in this process, ask one at a time and then in batches; return what that took."""
    engine = open_index(index)
    mode = _PARTS[name][0]
    searcher = engine.searcher
    found = searcher.retriever(mode, searcher.expansion(mode))
    found.search_parts(questions[:1], K)  # what happens once is not timed with the others
    wall, cores, rankings = [], [], []
    for question in questions:
        begun, used = time.perf_counter(), time.process_time()
        [(ranking, _)] = found.search_parts([question], K)
        cores.append((time.process_time() - used) * 1000)
        wall.append((time.perf_counter() - begun) * 1000)
        rankings.append(ranking.ids)
    begun, used = time.perf_counter(), time.process_time()
    for start in range(0, len(questions), BATCH):
        found.search_parts(questions[start : start + BATCH], K)
    took, worked = time.perf_counter() - begun, time.process_time() - used
    at = (0.5, 0.95, 0.99)
    return {
        "ms": np.quantile(wall, at).tolist(),
        "core_ms": np.quantile(cores, at).tolist(),
        "per_second": len(questions) / took,
        "per_core_second": len(questions) / worked,
        "flops": search_flops(engine, name, questions),
        "peak_bytes": peak_memory(),
        "rankings": rankings,
    }


def _answer_parent() -> None:
    """Answer what the process that began this one asks, in JSON."""
    sys.stdout.write(json.dumps(answer(sys.argv[1], sys.argv[2], json.load(sys.stdin))))
