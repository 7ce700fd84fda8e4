"""What an update costs beside a build from nothing: the commands that a host types, one process each."""

from __future__ import annotations

import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from indexes.corpus.corpus import Corpus, write
from indexes.qdrant.engines import EDGE
from indexes.sources import registry
from rag.types import Article
from training.benchmark.timing import ReportFigure

NAME = "measured"
SHARE = 0.01  # of the articles that change


def measure(path: Path, say: ReportFigure, encoder: str) -> None:
    """Build an index over law of any format, change a share of the articles, and update it.

    Starting Python, reading the law and every write are in all figures. The encoder is as
    `python -m indexes build --encoder` has it. With the extra [qdrant] both versions are uploaded, too.
    """
    there = find_spec("qdrant_edge") is not None
    corpus = registry.law(path)
    changed = change(corpus, SHARE, seed=0)
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch) / "home"
        write(corpus, Path(scratch) / "law")
        write(changed, Path(scratch) / "changed")
        say("articles", len(corpus.articles), "")
        _run(home, "import", Path(scratch) / "law", "--name", NAME)
        built = _run(home, "build", NAME, "--encoder", encoder)
        upload = ("qdrant", "upload", NAME, "--to", f"{EDGE}://{scratch}/store")
        uploaded = _run(home, *upload) if there else None
        updated = _run(home, "update", NAME, Path(scratch) / "changed")
        again = _run(home, *upload) if there else None
        unchanged = _run(home, "update", NAME, Path(scratch) / "changed")
    for what, took in (
        (f"full build (encoder: {encoder})", built),
        (f"update, {SHARE:.0%} of the articles changed, reading included", updated),
        ("update with the same law: nothing changed", unchanged),
        ("upload to Qdrant's engine, wholly", uploaded),
        ("upload of the update", again),
    ):
        if took is None:
            continue
        say(what, took.seconds, "s")
        say("    on the cores", took.cores, "s")
    if again is not None:
        for what, number in zip(("written", "there already", "removed"), counts(again.said), strict=True):
            say(f"    of its articles {what}", number, "")
    say("update / full build", 100 * updated.seconds / built.seconds, "%")
    say("update / full build, time on the cores", 100 * updated.cores / built.cores, "%")


class ProcessCost(NamedTuple):
    """What a process took."""

    seconds: float
    cores: float  # seconds on all cores together: the figure that other processes disturb less
    said: str


def counts(said: str) -> list[int]:
    """Return how many articles an upload said were written, there already, and removed."""
    found = re.findall(r"([\d,]+) (?:articles|there|removed)", said)
    return [int(number.replace(",", "")) for number in found]


def change(corpus: Corpus, share: float, seed: int) -> Corpus:
    """Return the corpus with a share of its articles changed, removed and added, a third each, by seed."""
    chance = random.Random(seed)  # noqa: S311
    some = max(1, round(share * len(corpus.articles) / 3))
    drawn = chance.sample(range(len(corpus.articles)), min(3 * some, len(corpus.articles)))
    edited, removed, copied = set(drawn[:some]), set(drawn[some : 2 * some]), set(drawn[2 * some :])
    articles: list[Article] = []
    for i, article in enumerate(corpus.articles):
        other = corpus.articles[chance.randrange(len(corpus.articles))].text
        if i in edited:
            article = replace(article, text=f"{article.text} {other[:200]}")
        if i not in removed:
            articles.append(article)
        if i in copied:
            articles.append(replace(article, id=f"{article.id}-new", text=other))
    present_ids = {article.id for article in articles}
    questions = (
        replace(q, article_ids=tuple(a for a in q.article_ids if a in present_ids)) for q in corpus.questions
    )
    return Corpus(corpus.card, tuple(articles), tuple(questions))


def _run(home: Path, *words: str | Path) -> ProcessCost:
    """Run `python -m indexes`."""
    command = [sys.executable, "-m", "indexes", *map(str, words)]
    root = Path(__file__).resolve().parents[2]
    paths = os.pathsep.join(filter(None, (str(root), os.environ.get("PYTHONPATH"))))
    start, cpu_start = time.perf_counter(), _on_the_cores()
    environ = {**os.environ, "PANDECT_HOME": str(home), "PYTHONPATH": paths}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return ProcessCost(time.perf_counter() - start, _on_the_cores() - cpu_start, done.stdout)


def _on_the_cores() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
