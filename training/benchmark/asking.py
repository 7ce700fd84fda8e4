"""What a question costs, asked and explained as a page does; and beside another version of this project.

Every version is timed in a process of its own, on one thread, and the versions take turns, a round each, so
that a busy moment meets them all. What is compared is processor time. The articles that they show, and the
scores, must be the same: a version that is fast because it finds something else is no faster.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from indexes.builtin_corpus import read_test_questions
from indexes.corpus.corpus import read
from indexes.store.open_index import open_index
from indexes.store.paths import builtin, locate
from rag.errors import BadInput, PandectError
from training.benchmark.peers import RankingDiffers
from training.tables.markdown import head, row

QUESTIONS = 200
ROUNDS = 3  # of each version; of each question the least counts
WARM = 20  # questions that are asked before any is timed
SHOWN = 10
PARTS = ("asked", "explained", "both")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# Runs in whichever version is first on the path: it uses what all of them have.
_ASK = """
import json, sys, time
from indexes.store.open_index import open_index
wanted = json.load(sys.stdin)
start = time.perf_counter()
engine = open_index(wanted["index"])
opened = time.perf_counter() - start
if wanted["fused"]:
    engine.searcher.learned = None
    engine.searcher._learned_without.cache_clear()
engine.warm()
asked, explained, shown = [], [], []
for n, question in enumerate(wanted["questions"]):
    begin = time.process_time()
    result = engine.ask(question, k=wanted["shown"])
    between = time.process_time()
    engine.explain(result)
    end = time.process_time()
    if n >= wanted["warm"]:
        asked.append(1000 * (between - begin))
        explained.append(1000 * (end - between))
        shown.append([[each.article.id, each.score] for each in result.shown])
json.dump({"opened": opened, "asked": asked, "explained": explained, "shown": shown}, sys.stdout)
"""


@dataclass(frozen=True)
class Asked:
    """What one version took, in milliseconds of one core, (n_questions,) each, and what it showed."""

    times: Mapping[str, np.ndarray[tuple[int], np.dtype[np.float64]]]
    shown: Sequence[Sequence[tuple[str, float]]]
    opened: float  # seconds


def measure(index: str | None, former: Path | None, *, fused: bool = False) -> Iterator[str]:
    """Yield a Markdown table of what a question costs in this version, and in the one of another checkout.

    `index` is a name or path; None the one that ships. `fused` leaves a learned fusion out.

    Raises:
        BadInput: there are too few questions, or the checkout is none.
        PandectError: a version fails.
        RankingDiffers: it shows other articles than this one.
    """
    questions = read_questions(index)
    if len(questions) <= WARM:
        raise BadInput(f"{len(questions)} questions: give an index of law with more than {WARM} questions")
    here = Path(__file__).resolve().parents[2]
    if former is not None and not (former / "rag" / "engine").is_dir():
        raise BadInput(f"{former}: no checkout of this project: git worktree add {former} COMMIT makes one")
    checkouts = {"now": here} if former is None else {"before": former.resolve(), "now": here}
    wanted = {"index": index, "questions": questions, "shown": SHOWN, "warm": WARM, "fused": fused}
    rounds: dict[str, list[Asked]] = {name: [] for name in checkouts}
    for _ in range(ROUNDS):
        for name, checkout in checkouts.items():
            rounds[name].append(_run(checkout, wanted))
    yield from _table({name: _least(asked) for name, asked in rounds.items()}, len(questions) - WARM)
    if former is not None and (fault := difference(rounds["before"][0].shown, rounds["now"][0].shown)):
        raise RankingDiffers(f"{fault}: the versions rank differently, and their times are no comparison")


def difference(before: Sequence[Sequence[Any]], now: Sequence[Sequence[Any]]) -> str:
    """Return where what two versions show first differs; "" where it is the same to the last digit."""
    for n, (former, found) in enumerate(zip(before, now, strict=True), start=1):
        for place in range(max(len(former), len(found))):
            one, other = (list(of[place]) if place < len(of) else None for of in (former, found))
            if one != other:
                return f"question {n}, place {place + 1}: {one} before, {other} now"
    return ""


def read_questions(index: str | None, most: int = QUESTIONS + WARM) -> list[str]:
    """Return questions to ask an index, each text once: test questions of the one that ships."""
    folder, _ = locate(index)
    given = read_test_questions(folder) if folder == builtin() else read(folder / "corpus").questions
    return list(dict.fromkeys(question.text for question in given))[:most]


def _run(checkout: Path, wanted: Mapping[str, Any]) -> Asked:
    environment = {**os.environ, **dict.fromkeys(_THREADS, "1"), "PYTHONPATH": str(checkout)}
    done = subprocess.run(  # noqa: S603 - this Python, and the text above
        [sys.executable, "-c", _ASK], cwd=checkout, env=environment, input=json.dumps(wanted),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
        raise PandectError(f"{checkout}: asking failed: {last[0]}")
    found = json.loads(done.stdout)
    asked, explained = np.array(found["asked"]), np.array(found["explained"])
    times = dict(zip(PARTS, (asked, explained, asked + explained), strict=True))
    return Asked(times, found["shown"], found["opened"])


def _least(rounds: Sequence[Asked]) -> Asked:
    """Return the least that each question took."""
    times = {part: np.min([asked.times[part] for asked in rounds], axis=0) for part in PARTS}
    return Asked(times, rounds[0].shown, min(asked.opened for asked in rounds))


def _table(versions: Mapping[str, Asked], count: int) -> Iterator[str]:
    ratio = ["now / before"] if "before" in versions else []
    yield from head([*ratio, f"{count} questions, ms of one core", *versions])
    figures = [
        (f"{part}, {what}", {name: float(np.quantile(of.times[part], q)) for name, of in versions.items()})
        for part in PARTS
        for what, q in (("median", 0.5), ("95th percentile", 0.95))
    ]
    figures.append(("index opened, s", {name: of.opened for name, of in versions.items()}))
    for what, values in figures:
        share = [f"{values['now'] / values['before']:.2f}"] if ratio else []
        yield row([*share, what, *(f"{value:.2f}" for value in values.values())])


def profile(index: str | None, seconds: float) -> None:
    """Ask and explain again and again, for a profiler that watches this process (`py-spy record`)."""
    questions, engine = read_questions(index), open_index(index)
    engine.warm()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for question in questions:
            engine.explain(engine.ask(question, k=SHOWN))
