"""Our retrieval beside well-known libraries: the same law, the same questions, one run.

Each system has a process of its own (`training.benchmark.timing`), and is asked one question at a time for
its first hundred; what a fusion is made of for as many as it looks at too. Terms and vectors are made
beforehand, once for all (`training.benchmark.libraries`). Rankings that must be equal are compared: where two
differ past ties, the run fails.
"""

from __future__ import annotations

import json
import multiprocessing
import platform
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from indexes.build.encoder_choice import fit_encoder
from indexes.builtin_corpus import complete_corpus, read_test_questions
from indexes.corpus.corpus import Corpus
from indexes.sources import registry
from indexes.store.atomic import replacing
from indexes.store.manifest import machine
from indexes.store.paths import BUILTIN, builtin
from rag.corpus.licence import provenance
from rag.errors import BadInput, PandectError, install_hint
from rag.fusion.settings import DAMPING
from rag.retrieval.hybrid import DEPTH
from rag.text.analysers import analyser
from rag.types import Question, no_progress
from training.benchmark import libraries
from training.benchmark.fusion import QUICK
from training.benchmark.libraries import BOTH, MEANING, OURS, SAME, WORDS, Found, Material, System
from training.benchmark.timing import Act, Cost, in_subprocess, milliseconds
from training.eval.report import commit
from training.tables.markdown import head, row
from training.tables.peers import COLUMNS, cells, only, target

K = 100  # articles that are asked for
QUESTIONS = 200
BLOCK = 50  # questions whose inner products are computed at once
TOLERANCE = 1e-5  # of a score, and of 1: ours have five decimals, others are sums in single precision
AIM = 1.5  # a hybrid takes at most so many times what the best libraries take for its two lists
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
MEASURED = ("fr", "stard")  # its corpora with questions of people
DISTRIBUTIONS = (
    "bm25s", "faiss-cpu", "numba", "numpy", "qdrant-edge-py", "rank-bm25", "scikit-learn", "scipy", "tantivy",
)  # fmt: skip


class RankingDiffers(PandectError):
    """A ranking is not the one that it must equal; names the system, the question and the article."""


@dataclass(frozen=True)
class Benchmark:
    """Law and questions as they are given to each system, and what their numbers stand for."""

    name: str
    ids: Sequence[str]
    questions: Sequence[Question]
    material: Material


@dataclass(frozen=True)
class Measured:
    """A system, what it took, and what it found of each question: the first `K`, and the first `DEPTH`."""

    system: System
    cost: Cost
    found: Sequence[Found]
    deep: Sequence[Found]

    @property
    def deep_p50(self) -> float:
        """Milliseconds of a core, the median of questions asked for `DEPTH`."""
        return float(np.median(self.cost.cores[len(self.found) :])) * 1000

    def p50(self, n: int) -> float:
        """Return milliseconds of a core, the median of the first n questions, asked for `K`."""
        return float(np.median(self.cost.cores[:n])) * 1000


def measure(
    paths: Sequence[Path], say: Callable[[str], object], command: str, output: Path | None = None
) -> None:
    """Say a Markdown table of each law as it is measured, and write all figures as JSON where asked to.

    Without paths, the measuring data beside the repository, or where there is none "builtin": the law that
    ships, and its test questions.

    Raises:
        BadInput: this system cannot fork processes, or law has no questions with an answer.
        RankingDiffers: two rankings are not equal that must be; the figures are written all the same.
    """
    if "fork" not in multiprocessing.get_all_start_methods():
        raise BadInput("--peers measures in processes that fork, which this system has not: use Linux")
    differences: list[str] = []
    figures = []
    for path in paths or [DATA / name for name in MEASURED if (DATA / name).is_dir()] or [Path(BUILTIN)]:
        corpus = _shipped() if path == Path(BUILTIN) else registry.law(path)
        with tempfile.TemporaryDirectory() as scratch:
            figures.append(_measure(corpus, Path(scratch), say, differences))
    if output is not None:
        made = {"kind": "peers", "command": command, "commit": commit(), "machine": machine()}
        whole = {**made, "versions": _versions(), "corpora": figures}
        with replacing(output) as part:
            part.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if differences:
        raise RankingDiffers("\n".join(differences))


def _shipped() -> Corpus:
    corpus = complete_corpus(builtin(), written=True)  # nobody can search texts that do not ship
    asked = {question.id for question in read_test_questions(builtin())}
    return replace(corpus, questions=tuple(q for q in corpus.questions if q.id in asked))


def _versions() -> Mapping[str, str]:
    found = {"Python": platform.python_version(), "SQLite": sqlite3.sqlite_version}
    for name in DISTRIBUTIONS:
        with suppress(PackageNotFoundError):  # its table says that it is not installed
            found[name] = version(name)
    return found


def prepare(corpus: Corpus, folder: Path, say: Callable[[str], object]) -> Benchmark:
    """Cut law and questions to terms, fit an encoder to the law alone, and encode both.

    Terms are spelt t0, t1 …, so that every library's own tokeniser keeps them as they are.

    Raises:
        BadInput: no question has an answer among the articles and a term that the encoder knows.
    """
    position = {article.id: n for n, article in enumerate(corpus.articles)}
    asked = [q for q in corpus.questions if not position.keys().isdisjoint(q.article_ids)][:QUESTIONS]
    cut = analyser(corpus.card.language)
    encoder, _ = fit_encoder(corpus, (), cut, QUICK, no_progress)
    if asked:
        took = milliseconds(lambda question: encoder.encode_questions([question]), [q.text for q in asked])
        vectors = encoder.encode_questions([q.text for q in asked])
        asked = [q for q, vector in zip(asked, vectors, strict=True) if vector.any()]
    if not asked:
        raise BadInput(f"{corpus.card.name}: no question has an answer: give law with annotated questions")
    numbers: dict[str, int] = {}

    def terms(*texts: str) -> list[str]:
        return [f"t{numbers.setdefault(term, len(numbers))}" for text in texts for term in cut.terms(text)]

    rows = [terms(a.text, *a.headings, a.code) for a in corpus.articles]
    say(f"\n{corpus.card.name}: {len(rows):,} articles, {len(asked)} questions, the first {K} of each")
    say(f"for all alike a question is cut to terms and encoded in {np.median(took):.2f} ms\n")
    material = Material(
        rows, encoder.encode_articles(corpus.articles), [terms(q.text) for q in asked],
        vectors[vectors.any(axis=1)], folder,
    )  # fmt: skip
    return Benchmark(corpus.card.name, list(position), asked, material)


def _measure(
    corpus: Corpus, folder: Path, say: Callable[[str], object], differences: list[str]
) -> Mapping[str, Any]:
    """Measure all systems over one corpus, and add what differs."""
    benchmark = prepare(corpus, folder, say)
    done: dict[str, Measured] = {}
    systems = []
    for line in head(COLUMNS):
        say(line)
    for system in libraries.SYSTEMS:
        if system.module and find_spec(system.module) is None:
            say(row(only("", f"{system.name}: not installed, {install_hint('peers')}")))
            continue
        done[system.name] = found = _ask(system, benchmark.material)
        figures = _figures(found, done[OURS[system.kind]], benchmark)
        systems.append({"system": system.name, "kind": system.kind, **figures})
        say(row(cells(systems[-1])))
    hybrid = _target(done)
    say(row(target(hybrid)))
    claims = _claims(done, benchmark.material)
    differing = [line for claim in claims for line in _differs(claim, benchmark)]
    differences += differing
    pairs = "; ".join(f"{claim.name} and {claim.rival}" for claim in claims)
    say(f"\ncompared, up to ties: {pairs}: {len(differing) or 'none'} of {len(claims)} differ\n")
    return {
        **provenance(corpus.card),
        "sha256": corpus.sha256,
        "articles": len(benchmark.ids),
        "questions": len(benchmark.questions),
        "k": K,
        "depth": DEPTH,
        "systems": systems,
        "hybrid": hybrid,
        "compared": [[claim.name, claim.rival] for claim in claims],
        "differences": differing,
    }


def _ask(system: System, material: Material) -> Measured:
    asked = range(min(len(material.asked), system.most))

    def make() -> list[Act]:
        search = system.make(material)
        return [partial(search, n, k) for k in ((K, DEPTH) if system.part else (K,)) for n in asked]

    cost = in_subprocess(system.name, make, system.read)
    return Measured(system, cost, cost.found[: len(asked)], cost.found[len(asked) :])


def _figures(of: Measured, ours: Measured, benchmark: Benchmark) -> dict[str, Any]:
    n = len(of.found)
    wall = of.cost.wall[:n] * 1000
    position = {id_: n for n, id_ in enumerate(benchmark.ids)}
    recalls, shared = [], []
    for question, (found, _), (first, _) in zip(benchmark.questions, of.found, ours.found, strict=False):
        gold, hits = set(question.article_ids), set(found.tolist())
        recalls.append(len({position.get(id_) for id_ in gold} & hits) / len(gold))
        shared.append(len(hits.intersection(first.tolist())) / max(len(first), 1))
    return {
        "ours_over_it": None if of is ours else ours.p50(n) / of.p50(n),
        "questions": n,
        "build_s": of.cost.built,
        "grown_bytes": of.cost.grown,
        "p50_ms": of.p50(n),
        "p95_ms": float(np.quantile(of.cost.cores[:n], 0.95)) * 1000,
        "wall_p50_ms": float(np.median(wall)),
        "wall_p95_ms": float(np.quantile(wall, 0.95)),
        "deep_p50_ms": of.deep_p50 if of.deep else None,
        f"R@{K}": float(np.mean(recalls)) if n == len(benchmark.questions) else None,
        "of_ours": float(np.mean(shared)),
    }


def _target(done: Mapping[str, Measured]) -> dict[str, Any]:
    """Compare our hybrid with the fastest libraries for its two lists, both exact and of its depth."""
    parts = [each for each in done.values() if each.system.part and each.system.name not in OURS.values()]
    best = [
        min((each for each in parts if each.system.kind == kind), key=lambda each: each.deep_p50)
        for kind in (WORDS, MEANING)
    ]
    ours, theirs = done[OURS[BOTH]], sum(each.deep_p50 for each in best)
    took = ours.p50(len(ours.found))
    names = [each.system.name for each in best]
    return {
        "ratio": took / theirs,
        "aim": AIM,
        "p50_ms": took,
        "libraries": names,
        "libraries_p50_ms": theirs,
    }


# --- what must be equal ---


class Claim(NamedTuple):
    """Two systems whose rankings must be equal, of each question."""

    name: str
    found: Sequence[Found]
    rival: str
    wanted: Sequence[Found]
    tolerance: float = TOLERANCE


def _claims(done: Mapping[str, Measured], material: Material) -> list[Claim]:
    words, meaning, both = (done[OURS[kind]] for kind in (WORDS, MEANING, BOTH))
    same = [Claim(words.system.name, words.found, name, done[name].found) for name in SAME if name in done]
    lists = zip(words.deep, meaning.deep, strict=True)
    fused = [reciprocal_ranks(each) for each in lists]
    return [
        *same,
        Claim(meaning.system.name, meaning.found, "all products", all_products(material)),
        Claim(both.system.name, both.found, "reciprocal ranks of both", fused, 1e-12),
    ]


def _differs(claim: Claim, benchmark: Benchmark) -> Iterator[str]:
    """Yield the first question and article over which the rankings of a claim differ."""
    for question, one, other in zip(benchmark.questions, claim.found, claim.wanted, strict=True):
        if (differs := difference(one, other, claim.tolerance)) is not None:
            article, how = benchmark.ids[differs[0]], differs[1]
            names = f"{benchmark.name}: {claim.name} and {claim.rival} differ"
            yield f"{names}: question {question.id}, article {article}: {how}"
            return


def difference(found: Found, wanted: Found, tolerance: float = TOLERANCE) -> tuple[int, str] | None:
    """Return the first article over which two rankings differ, and how; None where they are the same.

    The order of articles whose scores are equal, to the tolerance, is free: also which of them come last.
    """
    for (positions, scores), other, which in ((found, wanted, "first"), (wanted, found, "second")):
        known = dict(zip(other[0].tolist(), other[1].tolist(), strict=True))
        last = float(other[1][-1]) if len(other[1]) else 0.0  # one that is not there may tie with the last
        lowest = np.inf
        for place, (position, score) in enumerate(zip(positions.tolist(), scores.tolist(), strict=True), 1):
            slack = tolerance * max(1.0, abs(score))
            if score > lowest + slack:
                return position, f"the {which} has {score:.6f} at place {place}, after {lowest:.6f}"
            lowest = min(lowest, score)
            expected = known.get(position, last)
            if abs(score - expected) > slack or (position not in known and len(other[0]) < len(positions)):
                there = f"{expected:.6f}" if position in known else f"not, down to {last:.6f}"
                return position, f"the {which} has {score:.6f} at place {place}, the other has it {there}"
    return None


def all_products(material: Material) -> list[Found]:
    """Return the first `K` articles of each question by the inner products with all vectors."""
    found = []
    for begin in range(0, len(material.asked), BLOCK):
        for products in material.asked_vectors[begin : begin + BLOCK] @ material.vectors.T:
            found.append(libraries.first(products, K))
    return found


def reciprocal_ranks(lists: Sequence[Found], k: int = K, c: float = DAMPING) -> Found:
    """Fuse by the sum of 1 / (c + rank), where the rank is one more than how many have a larger score.

    Plain Python that shares nothing with `rag.fusion`, which it is compared with (Cormack et al. 2009).
    """
    fused: dict[int, float] = {}
    for positions, scores in lists:
        rank, before = 0, np.inf
        for place, (position, score) in enumerate(zip(positions.tolist(), scores.tolist(), strict=True), 1):
            if score < before:
                rank, before = place, score
            fused[position] = fused.get(position, 0.0) + 1 / (c + rank)
    best = sorted(fused, key=lambda position: -fused[position])[:k]
    return np.array(best, dtype=np.int64), np.array([fused[position] for position in best])
