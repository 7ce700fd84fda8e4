"""`python -m training.benchmark`: time and memory, one process a figure, never a test.

Machines are noisy: compare figures of one run with each other, not with those of another machine.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from indexes.cli.terminal import guarded
from indexes.sources import registry
from indexes.store.atomic import replacing
from indexes.store.manifest import machine
from indexes.store.paths import builtin
from rag.errors import PandectError
from rag.retrieval.base import Mask
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.term_counts import count
from rag.text.analysers import analyser
from rag.types import ArticleOrder
from training.benchmark import (
    asking,
    counting,
    efficiency,
    encoder,
    flame,
    fusion,
    graph,
    growth,
    neural,
    peers,
    qdrant,
    update,
)
from training.benchmark.timing import mebibytes, milliseconds
from training.eval.report import commit
from training.pages.serving import served
from training.pages.speed import BROWSERS, chromium

QUESTIONS = 300
PROFILED = 30.0  # seconds
_T = TypeVar("_T")


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was measured, a line a figure.

    Return 1 where a ranking differs that must not, or a million articles cost more than they may.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    typed = shlex.join(["python", "-m", "training.benchmark", *arguments])
    say = partial(print, flush=True)
    ways: dict[str, tuple[str, Callable[[], object]]] = {  # name -> what is typed, what is measured
        "ask": (
            "--ask INDEX",
            lambda: _printed(asking.measure(parsed.ask, parsed.against, fused=parsed.fused)),
        ),
        "profile": ("--profile INDEX", lambda: asking.profile(parsed.profile, PROFILED)),
        "flame": ("--flame FILE", lambda: _flame(parsed.flame, parsed.output)),
        "corpus": ("--corpus PATH", lambda: _lexical(parsed.corpus)),
        "update": ("--update PATH", lambda: update.measure(parsed.update, _say, parsed.encoder)),
        "learned": ("--learned PATH", lambda: fusion.measure(parsed.learned, _say)),
        "fusions": ("--fusions", lambda: fusion.measure_study(parsed.fusions, _say)),
        "graph": ("--graph PATH", lambda: graph.measure(parsed.graph, _say)),
        "encoding": ("--encoding", lambda: encoder.shipped(_say)),
        "fitting": ("--fitting PATH", lambda: encoder.fitting(parsed.fitting, _say)),
        "neural": ("--neural", lambda: neural.measure(say)),
        "peers": ("--peers", lambda: peers.measure(parsed.peers, say, typed, parsed.output)),
        "page": ("--page", _page),
        "qdrant": (
            "--qdrant INDEX",
            lambda: qdrant.measure(
                parsed.qdrant, parsed.articles, parsed.output, say, typed, parsed.shards, parsed.to
            ),
        ),
        "counting": ("--counting PATH", lambda: _counting(parsed, typed)),
        "growth": ("--growth PATH", lambda: _grow(parsed, typed)),
        "efficiency": (
            "--efficiency PATH",
            lambda: efficiency.measure(parsed.efficiency, parsed.output, say, typed),
        ),
    }
    top = argparse.ArgumentParser(prog="python -m training.benchmark", description=__doc__)
    flag = partial(top.add_argument, action="store_true")
    law = partial(top.add_argument, type=Path, metavar="PATH")
    index = partial(top.add_argument, metavar="INDEX", nargs="?", const="builtin")
    index("--ask", help="an index, the one that ships if left out: a question, asked and explained")
    law("--against", help="a checkout of another version: --ask times both, which must show the same")
    flag("--fused", help="--ask leaves a learned fusion out")
    index("--profile", help=f"ask it questions for {PROFILED} seconds, under a profiler such as py-spy")
    law("--flame", help="folded stacks that a profiler wrote: drawn as a flame graph, into --output")
    top.add_argument("--corpus", type=Path, help="a corpus folder with questions: BM25 is built over it")
    flag("--page", help="start the page and measure its memory and first answer")
    law("--update", help="law of which 1 %% changes: an update is measured beside a full build")
    top.add_argument("--encoder", default="auto", help="of the build that --update measures")
    law("--learned", help="law with questions: a learned fusion and its explanation")
    help_text = "every fusion of four systems over made-up lists of so many questions (1,235)"
    top.add_argument("--fusions", type=int, nargs="?", const=1235, metavar="N", help=help_text)
    law("--graph", help="law of which the graph is made, saved, opened and asked")
    flag("--encoding", help="the encoder that ships: its size, a question")
    law("--fitting", help="law, with questions if it has any: an encoder is fitted to it, and encodes them")
    help_text = "gradient caching, MaxSim and SPLADE search beside those of sentence-transformers"
    flag("--neural", help=help_text)
    law("--counting", help="law that is made larger, of the first of --sizes: counted by shards, and encoded")
    help_text = "our retrieval beside other libraries, over law with questions (the measuring data)"
    law("--peers", nargs="*", help=help_text)
    law(
        "--growth",
        help="law that is made larger: built, opened and asked; 1 if a million articles cost too much",
    )
    law(
        "--efficiency",
        help="law with questions: bytes, times, operations, memory and cost of each way to search",
    )
    sizes_help = "of --growth; the first, of --counting"
    top.add_argument("--sizes", type=int, nargs="+", default=growth.SIZES, metavar="N", help=sizes_help)
    help_text = "indexes in this process beside the same in a vector store, which must say the same"
    top.add_argument("--qdrant", nargs="+", metavar="INDEX", help=help_text)
    top.add_argument("--shards", type=int, metavar="N", help="processes of --qdrant, each with a part")
    help_text = "the store of --qdrant, such as postgres://HOST/DATABASE; else Qdrant's engine in a process"
    top.add_argument("--to", metavar="ADDRESS", help=help_text)
    help_text = "--qdrant builds law at a PATH that is made so large, and compares that"
    top.add_argument("--articles", type=int, metavar="N", help=help_text)
    top.add_argument("--vectors", default="flat", help="of the indexes that --growth builds")
    output_help = "JSON that --peers, --growth, --qdrant, --counting, --efficiency write, SVG of --flame"
    top.add_argument("--output", type=Path, metavar="FILE", help=output_help)
    parsed = top.parse_args(arguments)
    wanted = [measure for name, (_, measure) in ways.items() if getattr(parsed, name) not in (None, False)]
    if not wanted:
        top.error(f"nothing to measure: give one of {', '.join(option for option, _ in ways.values())}")
    ways_out = (
        parsed.peers, parsed.growth, parsed.qdrant, parsed.counting, parsed.efficiency, parsed.flame,
    )  # fmt: skip
    if parsed.output is not None and ways_out == (None,) * len(ways_out):
        writers = "--peers, --growth, --qdrant, --counting, --efficiency and --flame"
        top.error(f"--output is of {writers}: give one of them")
    if parsed.flame is not None and parsed.output is None:
        top.error("--flame draws into a file: give --output FILE.svg")
    try:
        missed = [measure() for measure in wanted]
    except peers.RankingDiffers as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except PandectError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return int(any(each is True for each in missed))


def _printed(lines: Iterable[str]) -> None:
    for line in lines:
        print(line, flush=True)


def _flame(path: Path, output: Path) -> None:
    text = path.read_text(encoding="utf-8")
    drawn = flame.draw(text.splitlines(), output.stem, ("Engine.ask", "Engine.explain"))
    with replacing(output) as part:
        part.write_text(drawn, encoding="utf-8")


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
    language_analyser = analyser(corpus.card.language)
    mask, order = Mask(corpus.articles), ArticleOrder.of([a.id for a in corpus.articles])
    made = _timed(
        "BM25 built, tokenisation included",
        lambda: BM25.build(
            count(corpus.articles, language_analyser), BM25Settings(), mask, language_analyser
        ),
    )
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "bm25"
        made.save(folder)
        _say("BM25 on disk", mebibytes(folder), "MiB")
        opened = _timed(
            "BM25 opened, memory-mapped", lambda: BM25.load(folder, order, mask, language_analyser)
        )
        questions = [q.text for q in corpus.questions] or [a.text[:60] for a in corpus.articles]
        times = milliseconds(lambda question: opened.search([question], 10), questions[:QUESTIONS])
    _say(f"BM25 question, median of {len(times)}", float(np.median(times)), "ms")
    _say("BM25 question, 95th percentile", float(np.quantile(times, 0.95)), "ms")
    _say("peak memory of this process", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MiB")


def _counting(parsed: argparse.Namespace, typed: str) -> None:
    figures: list[tuple[str, float, str]] = []

    def say(what: str, value: float, unit: str) -> None:
        _say(what, value, unit)
        figures.append((what.strip(), value, unit))

    counting.measure(parsed.counting, parsed.sizes[0], say)
    if parsed.output is not None:
        made = {
            "kind": "counting", "command": typed, "commit": commit(), "machine": machine(), "figures": figures
        }  # fmt: skip
        with replacing(parsed.output) as part:
            part.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


def _grow(parsed: argparse.Namespace, typed: str) -> bool:
    """Measure law of several sizes; tell whether a million articles cost more than they may."""
    say, options = partial(print, flush=True), ("--vectors", parsed.vectors)
    missed = growth.measure(parsed.growth, parsed.sizes, parsed.output, say, typed, options)
    for each in missed:
        print(f"missed: {each}", file=sys.stderr)
    return bool(missed)


def _page() -> None:
    """The page as a person starts it: seconds until it answers, memory after a browser asked a question."""
    with served(os.environ.get("PANDECT_INDEX")) as page:
        _say("page up after `streamlit run`", page.up, "s")
        if not any(map(shutil.which, BROWSERS)):
            print("no chromium: the first answer and the memory are not measured")
            return
        _ask(page.url)
        status = Path(f"/proc/{page.pid}/status")
        if status.exists():
            peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
            _say("peak memory of the page's process", int(peak.split()[1]) / 1024, "MiB")


def _ask(url: str) -> None:
    card = json.loads((builtin().parent / "card.json").read_text(encoding="utf-8"))
    with chromium() as browser:
        page = browser.new_page(locale="fr-FR")
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


if __name__ == "__main__":
    sys.exit(main())
