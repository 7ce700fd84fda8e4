"""How an index grows: law of a thousand articles, and of a million, built and asked as a host would.

More law than there is at hand is made of it: articles are drawn again, as other codes', with a share of their
words changed for others of the same law. It has no new words, so that vocabularies grow less than they would.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import indexes
from indexes.corpus.articles import article_record
from indexes.corpus.card import FILE as CARD
from indexes.corpus.card import card_bytes
from indexes.corpus.corpus import ARTICLES, QUESTIONS, Corpus
from indexes.corpus.questions import question_record
from indexes.formats.jsonl import dump, write_lines
from indexes.sources import registry
from indexes.store.manifest import machine
from rag.errors import BadInput
from rag.text import Analyser
from rag.text.analysers import analyser
from rag.types import Article
from training.eval.report import commit
from training.neural.trainer.resources import peak_memory
from training.tables.growth import COLUMNS, cells
from training.tables.markdown import head, row

SIZES = (1_000, 10_000, 100_000, 1_000_000)
CHANGED = 0.3  # share of the words of an article that is drawn again
ASKED = 200
NAME = "measured"
# what a million articles must keep to: seconds, milliseconds, bytes
LARGE, OPEN, ANSWER, MEMORY = 1_000_000, 2.0, 100.0, 2e9


@dataclass(frozen=True, slots=True)
class Growth:
    """What an index of so many articles costs."""

    articles: int
    on_disk: int  # bytes
    build_seconds: float
    build_peak: int  # bytes, of the process that imports and builds
    open_seconds: float  # by a process that has imported Python's modules; pages of files in memory
    cold_open_seconds: float  # the same, none of its pages in memory
    cold_answer_ms: float  # of the first question then
    new_ms: tuple[float, float, float]  # p50, p95, p99 of questions asked for the first time, of one core
    again_ms: tuple[float, float, float]  # and of the same questions once more
    new_wall_ms: tuple[float, float, float]  # the first by the clock, which other processes disturb
    peak: int  # bytes, of the process that answers, pages of mapped files among them
    anonymous: int  # bytes of that process that are no pages of files

    def missed(self) -> list[str]:
        """Return what a million articles should have kept to and did not."""
        if self.articles < LARGE:
            return []
        kept = (
            (f"opened in {self.open_seconds:.1f} s, not {OPEN:.0f}", self.open_seconds < OPEN),
            (f"95 of 100 answered in {self.new_ms[1]:.0f} ms, not {ANSWER:.0f}", self.new_ms[1] < ANSWER),
            (f"{self.peak / 1e9:.1f} GB of memory, not {MEMORY / 1e9:.0f}", self.peak < MEMORY),
        )
        return [said for said, well in kept if not well]


def measure(
    path: Path,
    sizes: Sequence[int],
    output: Path | None,
    say: Callable[[str], object],
    command: str,
    options: Sequence[str] = (),
    seed: int = 0,
) -> list[str]:
    """Say in a table what law of these sizes costs, made of the law at a path, and return what was missed.

    `options` are further ones of `python -m indexes import --build`. An output gets the figures as JSON, with
    the command that was typed.

    Raises:
        BadInput: the law cannot be read, or a size is below 1.
    """
    if min(sizes, default=1) < 1:
        raise BadInput(f"--sizes {min(sizes)}: give numbers of articles of 1 or more")
    corpus = registry.law(path)
    say("\n".join(head(COLUMNS)))
    found: list[Growth] = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as scratch:
            questions = write(corpus, size, Path(scratch) / "law", seed)
            found.append(_measured(Path(scratch), questions, size, options))
        say(row(cells(asdict(found[-1]))))
        if output is not None:
            record = {
                "kind": "growth",
                "command": command,
                "commit": commit(),
                "law": corpus.card.title,
                "changed": CHANGED,
                "seed": seed,
                "machine": machine(),
                "sizes": [asdict(each) for each in found],
            }
            output.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return [missed for each in found for missed in each.missed()]


def write(corpus: Corpus, size: int, folder: Path, seed: int) -> list[str]:
    """Write a corpus of so many articles made of this one, and return questions to ask, each text once."""
    folder.mkdir(parents=True)
    kept: set[str] = set()

    def lines() -> Iterator[bytes]:
        for article in grown(corpus.articles, size, analyser(corpus.card.language), seed):
            kept.add(article.id)
            yield dump(article_record(article))

    write_lines(folder / ARTICLES[1], lines())
    annotated = [q for q in corpus.questions if q.article_ids and kept.issuperset(q.article_ids)]
    write_lines(folder / QUESTIONS[0], (dump(question_record(q)) for q in annotated))
    (folder / CARD).write_bytes(card_bytes(replace(corpus.card, name=NAME)))
    drawn = random.Random(seed)  # noqa: S311
    texts = [q.text for q in corpus.questions] or [a.text[:60] for a in corpus.articles]
    texts = list(dict.fromkeys(texts))
    return drawn.sample(texts, min(ASKED + 1, len(texts)))


def grown(articles: Sequence[Article], size: int, cut: Analyser, seed: int) -> Iterator[Article]:
    """Yield articles, the first ones as they are and then drawn again; the same seed gives the same."""
    draw = np.random.default_rng(seed)
    pieces = [_pieces(article.text, cut) for article in articles] if size > len(articles) else []
    words = [piece for each in pieces for piece in each[1::2]]
    for nth in range(-(-size // len(articles))):
        left = size - nth * len(articles)
        for i in sorted(draw.permutation(len(articles))[:left].tolist()):
            article = articles[i]
            if nth:
                changed = [*pieces[i]]
                at = 1 + 2 * np.flatnonzero(draw.random(len(changed) // 2) < CHANGED)
                for place, word in zip(at.tolist(), draw.integers(0, len(words), len(at)), strict=True):
                    changed[place] = words[word]
                article = replace(
                    article,
                    id=f"{article.id}-{nth}",
                    code=f"{article.code} {nth + 1}",
                    text="".join(changed),
                    references=tuple(f"{id_}-{nth}" for id_ in article.references),
                )
            yield article


def _pieces(text: str, cut: Analyser) -> list[str]:
    """Cut a text into what is between words, a word, what is between, and so on."""
    found, end = [], 0
    for token in cut.tokens(text):
        if token.start >= end:
            found += [text[end : token.start], sys.intern(text[token.start : token.end])]
            end = token.end
    return [*found, text[end:]]


def _measured(scratch: Path, questions: Sequence[str], size: int, options: Sequence[str]) -> Growth:
    home = scratch / "home"
    start = time.perf_counter()
    command = ["-m", "indexes", "import", str(scratch / "law"), "--name", NAME, "--build", *options]
    peak = run_python(home, command)[1]
    seconds = time.perf_counter() - start
    asked = json.dumps(questions)
    cold, warm = (json.loads(run_python(home, ["-m", __name__, way], asked)[0]) for way in ("cold", "warm"))
    [version] = (path for path in (home / "indexes" / NAME).iterdir() if path.is_dir())
    disk = sum(path.stat().st_size for path in version.rglob("*") if path.is_file())
    return Growth(
        size, disk, seconds, peak, warm["open"], cold["open"], cold["first"],
        tuple(warm["new"]), tuple(warm["again"]), tuple(warm["wall"]), warm["peak"], warm["anonymous"],
    )  # fmt: skip


def run_python(home: Path, command: Sequence[str], given: str = "") -> tuple[str, int]:
    """Run Python in a process of its own; return what it printed, and its peak of memory in bytes."""
    root = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    environ = {**os.environ, "PANDECT_HOME": str(home), "PYTHONPATH": paths}
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as typed:
        typed.write(given)
        typed.seek(0)
        arguments = [sys.executable, *command]
        child = subprocess.Popen(arguments, env=environ, stdin=typed, stdout=said, stderr=subprocess.STDOUT)  # noqa: S603
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        output = said.read()
    if child.returncode:
        raise BadInput(f"{' '.join(arguments)} ended with {child.returncode}:\n{output[-2000:]}")
    return output, used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def answer(questions: Sequence[str], *, cold: bool) -> dict[str, Any]:
    """Open the index in this process, ask, and return what that took."""
    if cold:
        _forget(Path(os.environ["PANDECT_HOME"]))
    start = time.perf_counter()
    engine = indexes.open(NAME)
    opened = time.perf_counter() - start

    def asked(question: str) -> tuple[float, float]:
        """Return milliseconds of one core, and by the clock."""
        begun, used = time.perf_counter(), time.process_time()
        engine.explain(engine.ask(question))
        return (time.process_time() - used) * 1000, (time.perf_counter() - begun) * 1000

    first, *others = questions
    took = {"open": opened, "first": asked(first)[1]}
    if cold:
        return took
    engine.warm()
    new, again = (np.array([asked(question) for question in others]) for _ in range(2))
    times = {"new": new[:, 0], "again": again[:, 0], "wall": new[:, 1]}
    quantiles = {name: np.quantile(of, (0.5, 0.95, 0.99)).tolist() for name, of in times.items()}
    return {**took, **quantiles, **_memory()}


def _memory() -> dict[str, int]:
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="utf-8").splitlines() if status.exists() else []
    held = next((line for line in lines if line.startswith("RssAnon:")), "RssAnon: 0")
    return {"peak": peak_memory(), "anonymous": int(held.split()[1]) * 1024}


def _forget(folder: Path) -> None:
    """Let the system drop what it holds of files in memory, where it knows how to."""
    for path in folder.rglob("*") if hasattr(os, "posix_fadvise") else ():
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(answer(json.load(sys.stdin), cold=sys.argv[1] == "cold")))
