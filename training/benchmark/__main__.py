"""`python -m training.benchmark`: time and memory, one process a figure, never a test.

Machines are noisy: compare figures of one run with each other, not with those of another machine.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from indexes.sources import registry
from indexes.store.paths import builtin
from rag.errors import PandectError
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.term_counts import count
from rag.text.analysers import analyser
from rag.types import ArticleOrder
from training.benchmark import encoder as benchmark_encoder
from training.benchmark import fusion
from training.benchmark import neural as benchmark_neural
from training.benchmark.timing import mebibytes, milliseconds
from training.benchmark.update import measure

QUESTIONS = 300
_MEASURED = {  # name -> what is typed to measure it
    "corpus": "--corpus PATH",
    "update": "--update PATH",
    "learned": "--learned PATH",
    "encoding": "--encoding",
    "fitting": "--fitting PATH",
    "neural": "--neural",
    "page": "--page",
}
_T = TypeVar("_T")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was measured, a line a figure."""
    top = argparse.ArgumentParser(prog="python -m training.benchmark", description=__doc__)
    top.add_argument("--corpus", type=Path, help="a corpus folder with questions: BM25 is built over it")
    top.add_argument(
        "--page", action="store_true", help="start the page and measure its memory and first answer"
    )
    top.add_argument(
        "--update",
        type=Path,
        metavar="PATH",
        help="law of which 1 %% changes: an update is measured beside a full build",
    )
    top.add_argument("--encoder", default="auto", help="of the build that --update measures")
    top.add_argument(
        "--learned",
        type=Path,
        metavar="PATH",
        help="law with questions: a learned fusion and its explanation",
    )
    top.add_argument("--encoding", action="store_true", help="the encoder that ships: its size, a question")
    top.add_argument(
        "--fitting",
        type=Path,
        metavar="PATH",
        help="law, with questions if it has any: an encoder is fitted to it, and encodes them",
    )
    top.add_argument(
        "--neural",
        action="store_true",
        help="gradient caching, MaxSim and SPLADE search beside those of sentence-transformers",
    )
    parsed = top.parse_args(arguments)
    if not any(vars(parsed)[name] for name in _MEASURED):
        top.error(f"nothing to measure: give one of {', '.join(_MEASURED.values())}")
    try:
        _measure(parsed)
    except PandectError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _measure(parsed: argparse.Namespace) -> None:
    if parsed.corpus is not None:
        _lexical(parsed.corpus)
    if parsed.update is not None:
        measure(parsed.update, _say, encoder=parsed.encoder)
    if parsed.learned is not None:
        fusion.measure(parsed.learned, _say)
    if parsed.encoding:
        benchmark_encoder.shipped(_say)
    if parsed.fitting is not None:
        benchmark_encoder.fitting(parsed.fitting, _say)
    if parsed.neural:
        benchmark_neural.measure(partial(print, flush=True))
    if parsed.page:
        _page()


def _say(what: str, value: float, unit: str) -> None:
    print(f"{what:60} {value:10.2f} {unit}", flush=True)


def _timed(what: str, action: Callable[[], _T]) -> _T:
    start = time.perf_counter()
    made = action()
    _say(what, time.perf_counter() - start, "s")
    return made


def _lexical(path: Path) -> None:
    """BM25: build with tokenisation, open memory-mapped, answer on one core."""
    corpus = registry.law(path)
    _say("articles", len(corpus.articles), "")
    cut = analyser(corpus.card.language)
    mask, order = Mask(corpus.articles), ArticleOrder.of([a.id for a in corpus.articles])

    def build() -> BM25:
        return BM25.build(count(corpus.articles, cut), BM25Settings(), mask, cut)

    made = _timed("BM25 built, tokenisation included", build)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "bm25"
        made.save(folder)
        _say("BM25 on disk", mebibytes(folder), "MiB")
        opened = _timed("BM25 opened, memory-mapped", lambda: BM25.load(folder, order, mask, cut))
        questions = [q.text for q in corpus.questions][:QUESTIONS] or [
            a.text[:60] for a in corpus.articles[:QUESTIONS]
        ]
        times = milliseconds(lambda question: opened.search([question], 10), questions)
    _say(f"BM25 question, median of {len(times)}", float(np.median(times)), "ms")
    _say("BM25 question, 95th percentile", float(np.quantile(times, 0.95)), "ms")
    _say("peak memory of this process", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MiB")


def _page() -> None:
    """The page as a person starts it: seconds until it answers, memory after a browser asked a question."""
    import shutil
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "streamlit", "run", str(root / "app.py"), "--server.port", str(port)]
    start = time.perf_counter()
    server = subprocess.Popen(  # noqa: S603 - our own page
        command, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ}
    )
    try:
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1):
                    break
            except OSError:
                if server.poll() is not None or time.perf_counter() - start > 60:
                    raise
                time.sleep(0.05)
        _say("page up after `streamlit run`", time.perf_counter() - start, "s")
        browser = shutil.which("chromium")
        if browser is None:
            print("no chromium: the first answer and the memory are not measured")
            return
        _ask(f"http://127.0.0.1:{port}", browser)
        status = Path(f"/proc/{server.pid}/status")
        if status.exists():
            peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
            _say("peak memory of the page's process", int(peak.split()[1]) / 1024, "MiB")
    finally:
        server.terminate()
        server.wait(10)


def _ask(url: str, browser: str) -> None:
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]
    card = json.loads((builtin().parent / "card.json").read_text(encoding="utf-8"))
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=browser, args=flags)
        page = chromium.new_page(locale="fr-FR")
        start = time.perf_counter()
        page.goto(url)
        box = page.get_by_role("textbox").first
        box.wait_for()
        _say("question box drawn after opening the page", time.perf_counter() - start, "s")
        for n, question in enumerate(card["examples"]):
            start = time.perf_counter()
            box.fill(question)
            box.press("Enter")
            page.locator("article.pd-card").first.wait_for()
            if n == 0:
                _say("first answer after sending the question", time.perf_counter() - start, "s")
            page.wait_for_timeout(500)
        chromium.close()


if __name__ == "__main__":
    sys.exit(main())
