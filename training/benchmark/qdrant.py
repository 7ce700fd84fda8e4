"""An index in this process beside the same in a vector store: they must say the same; what each takes.

Each has a process of its own, in one run. The first ten answers and both lists that fusion looks at must be
the same, scores and all. What the store's own sums would have given is told too: how far they are off, and
which first ten would differ for it.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from indexes.qdrant.address import connect
from indexes.qdrant.collection import collection_name
from indexes.qdrant.engines import EDGE
from indexes.qdrant.postgres import POSTGRES, PostgresStore
from indexes.qdrant.shards import SHARDS
from indexes.qdrant.upload import upload
from indexes.sources import registry
from indexes.store.atomic import replacing
from indexes.store.manifest import machine, read
from indexes.store.open_index import open_index
from indexes.store.paths import locate
from rag.retrieval.hybrid import DEPTH
from rag.retrieval.vector_store import StoredBM25, StoredExpandedBM25
from rag.types import Ranking
from training.benchmark import growth
from training.benchmark.asking import read_questions
from training.benchmark.counting import cores_used
from training.benchmark.peers import RankingDiffers
from training.benchmark.timing import Act, Cost, in_subprocess
from training.eval.report import commit
from training.tables.markdown import head, row

QUESTIONS = 500
FIRST = 10
COLUMNS = (
    "law",
    "articles",
    "ranked by",
    "ready in",
    "memory",
    "answer: p50",
    "p95",
    "by the clock: p50",
    "p95",
)


class Sums(NamedTuple):
    """What a store's own sums of one question's terms are, against ours."""

    off: float  # the largest relative difference
    same: bool  # whether they give the same first ten
    gap: float  # where they do not: how far apart the scores are that changed places


def measure(
    names: Sequence[str],
    articles: int | None,
    output: Path | None,
    say: Callable[[str], object],
    command: str,
    shards: int | None = None,
    to: str | None = None,
) -> None:
    """Say a table for each index, or for law at a path that is grown to so many articles and built.

    The store is the one at the address `to`, where the index stays; else Qdrant's engine in the process that
    asks, or in as many processes as there are `shards`.

    Raises:
        RankingDiffers: an answer from the store is another one; the figures are written all the same.
    """
    laws, differences = [], 0
    say("\n".join(head(COLUMNS)))
    for name in names:
        with tempfile.TemporaryDirectory() as scratch:
            index, questions, built = name, None, dict[str, float]()
            if articles is not None:
                index, questions, built = _grown(Path(name), articles, Path(scratch))
            asked = questions or read_questions(index, QUESTIONS)
            law = {**_compared(index, asked, Path(scratch), say, shards, to), **built}
        if built:
            say(
                f"{law['name']}: {built['build_s']:.0f} s to import and build in this process "
                f"({built['build_core_s']:.0f} s of a core; {law['upload_core_s']:.0f} s more to upload), "
                f"{built['build_peak_bytes'] / 1e6:,.0f} MB of memory of the largest process, "
                f"{built['index_bytes'] / 1e6:,.0f} MB on disk.\n"
            )
        laws.append(law)
        differences += law["differing_answers"] + law["differing_lists"]
    if output is not None:
        made = {"kind": "qdrant", "command": command, "commit": commit(), "machine": machine(), "laws": laws}
        with replacing(output) as part:
            part.write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    if differences:
        raise RankingDiffers(f"{differences} answers or lists from the store are not those of the index")


def _grown(path: Path, articles: int, scratch: Path) -> tuple[str, list[str], dict[str, float]]:
    """Build grown law, and return the index, questions, and what the build took: it is the upload's peer."""
    questions = growth.write(registry.law(path), articles, scratch / "law", seed=0)
    os.environ["PANDECT_HOME"] = home = str(scratch / "home")
    command = ["-m", "indexes", "import", str(scratch / "law"), "--name", growth.NAME, "--build"]
    begun, used = time.perf_counter(), cores_used()
    peak = growth.run_python(Path(home), command)[1]
    built = {
        "build_s": time.perf_counter() - begun,
        "build_core_s": cores_used() - used,  # by all processes of the build
        "build_peak_bytes": peak,  # of the largest of them
        "index_bytes": sum(p.stat().st_size for p in locate(growth.NAME)[0].rglob("*") if p.is_file()),
    }
    return growth.NAME, questions[1:], built


def _compared(
    index: str, questions: Sequence[str], scratch: Path, say: Callable[[str], object],
    shards: int | None, to: str | None,
) -> Mapping[str, Any]:  # fmt: skip
    folder, cure = locate(index)
    engine = f"{SHARDS}://{shards}" if shards else f"{EDGE}://"
    manifest, address = read(folder, cure), to or f"{engine}{scratch / 'store'}"
    name = to.partition("://")[0] if to else f"{shards} shards" if shards else "qdrant-edge"

    def bring() -> list[Act]:
        upload(folder, manifest, cure, connect(address))
        return [lambda: 0.0]

    begun = time.perf_counter()
    brought = in_subprocess("upload", bring)
    seconds = time.perf_counter() - begun
    size = sum(path.stat().st_size for path in (scratch / "store").rglob("*") if path.is_file())
    here = in_subprocess(index, partial(_acts, index, questions), _read)
    place, collection = f"{address}/{manifest.name}", collection_name(manifest)
    before = _server(address, collection)
    there = in_subprocess(place, partial(_acts, place, questions), _read)
    after = _server(address, collection)
    n = len(questions)
    law: dict[str, Any] = {"name": manifest.name, "articles": manifest.corpus["articles"], "questions": n}
    for way, cost in (("this process", here), (name, there)):
        law[way] = figures = _figures(cost, n)
        ms = [f"{figures[key]:.1f} ms" for key in ("p50_ms", "p95_ms", "wall_p50_ms", "wall_p95_ms")]
        cells = (f"{figures['ready_s']:.1f} s", f"{figures['grown_bytes'] / 1e6:,.0f} MB", *ms)
        say(row([law["name"], f"{law['articles']:,}", way, *cells]))
    one, other = here.found, there.found
    sums = [of for of in other[2 * n :] if of is not None]
    gaps = [of.gap for of in sums if not of.same]
    law |= {
        "upload_s": seconds,
        "upload_core_s": brought.built,
        "upload_grown_bytes": brought.grown,
        "store_bytes": size,
        "differing_answers": sum(a != b for a, b in zip(one[:n], other[:n], strict=True)),
        "differing_lists": sum(a != b for a, b in zip(one[n : 2 * n], other[n : 2 * n], strict=True)),
        "store_alone_same": len(sums) - len(gaps),
        "store_alone_off": max((of.off for of in sums), default=0.0),
        "store_alone_gap": max(gaps, default=0.0),
    }
    if before and after:
        law["server"] = server = after[0]
        server |= {"transactions": after[1] - before[1], "core_s": None, "machine": "another one"}
        if before[2] is not None and after[2] is not None:
            server |= {"core_s": after[2] - before[2], "machine": machine()}
    say(
        f"\n{law['name']}: {seconds:.0f} s to upload, {brought.grown / 1e6:,.0f} MB of memory, "
        f"{size / 1e6:,.0f} MB on disk{' here' * bool(to)}; "
        f"{law['differing_answers']} of {n} first {FIRST} and {law['differing_lists']} of {n} pairs of "
        f"{DEPTH:,} differ. The store's own sums are off by {law['store_alone_off']:.1e} at most; by them "
        f"alone {law['store_alone_same']} of {len(sums)} lists of words would begin with the same {FIRST}"
        + (f", the others by scores {law['store_alone_gap']:.1e} apart at most.\n" if gaps else ".\n")
    )
    return law


def _server(address: str, collection: str) -> tuple[dict[str, Any], int, float | None] | None:
    """Return what a server says of itself, how many transactions, and seconds of a core if it is here."""
    if not address.startswith(POSTGRES):
        return None
    store = PostgresStore(address)  # of its own, and gone before a process is begun that would have it too
    told, transactions, process = store.server(collection)
    return told, transactions, _core_seconds(process) if process is not None else None


def _core_seconds(process: int) -> float | None:
    """Return what the parent of a process of a server took, with all its children; by Linux's /proc."""
    found: dict[int, tuple[int, int, int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            numbers = [int(fields[n]) for n in (1, 11, 12, 13, 14)]
            found[int(stat.parent.name)] = numbers[0], sum(numbers[1:3]), sum(numbers[3:])
    if process not in found or (parent := found[process][0]) not in found:  # in a container of its own
        return None
    ticks = [own for pid, (of, own, _) in found.items() if parent in (pid, of)]
    return (sum(ticks) + found[parent][2]) / os.sysconf("SC_CLK_TCK")


def _figures(cost: Cost, n: int) -> dict[str, float]:
    quantiles = [np.quantile(times[:n] * 1000, (0.5, 0.95)).tolist() for times in (cost.cores, cost.wall)]
    (p50, p95), (wall_p50, wall_p95) = quantiles
    return {
        "ready_s": cost.built, "grown_bytes": cost.grown,
        "p50_ms": p50, "p95_ms": p95, "wall_p50_ms": wall_p50, "wall_p95_ms": wall_p95,
    }  # fmt: skip


def _acts(place: str, questions: Sequence[str]) -> list[Act]:
    """Return for each question: its answer, then the lists of each, then what the store's sums are."""
    engine = open_index(place)
    engine.warm()
    searcher = engine.searcher
    words = searcher.expanded or searcher.keyword

    def answer(question: str) -> Any:  # noqa: ANN401
        return [(shown.article.id, shown.score) for shown in engine.ask(question, k=FIRST).shown]

    def lists(question: str) -> list[Ranking]:
        parts = [words, *([searcher.meaning] if searcher.meaning is not None else [])]
        return [part.search([question], DEPTH)[0] for part in parts]

    def sums(question: str) -> Sums | None:
        if not isinstance(words, StoredBM25 | StoredExpandedBM25):
            return None
        weights = words.weights_of(question)
        if not weights:
            return None
        at, found = words.candidates.by_terms(weights, FIRST, None)
        ours, exact = words.search([question], FIRST)[0], words.scores_at(question, at).astype(np.float64)
        gap = float(np.abs(np.sort(exact)[::-1] - ours.scores).max())
        gap = max(gap, float(np.maximum(exact[1:] - exact[:-1], 0).max(initial=0)))
        return Sums(float((np.abs(found - exact) / exact).max()), at.tolist() == ours.positions.tolist(), gap)

    return [partial(act, question) for act in (answer, lists, sums) for question in questions]


def _read(found: Any) -> Any:  # noqa: ANN401
    """Return what is compared: of long lists a hash, which a process can hand over."""
    if isinstance(found, list) and found and isinstance(found[0], Ranking):
        return [hash((tuple(each.ids), each.scores.tobytes())) for each in found]
    return found
