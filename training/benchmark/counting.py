"""What it costs to count, weigh and encode law past one process: articles a second, and bytes an article."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import TypeVar

from indexes.build.shards import count_articles, count_shard, encode_articles
from indexes.build.tokenise import cores
from indexes.corpus.corpus import to_learn_from
from indexes.sources import registry
from indexes.store.paths import builtin
from rag.encoders.static import StaticEncoder
from rag.errors import PandectError
from rag.retrieval.bm25 import BM25Settings, CollectionStatistics, term_scores
from rag.text.analysers import analyser
from rag.types import no_progress
from training.benchmark.growth import grown
from training.benchmark.timing import ReportFigure

SHARDS = 4
ENCODED = 20_000  # articles
_T = TypeVar("_T")


class WeightsDiffer(PandectError):
    """Shards came to other weights or vectors than one pass."""


def measure(path: Path, size: int, say: ReportFigure) -> None:
    """Count and weigh law that is made of this in one pass, by a process a core and by shards, and encode it.

    Raises:
        BadInput: the law cannot be read.
        WeightsDiffer: shards weigh, or processes encode, otherwise than one pass.
    """
    corpus = registry.law(path)
    cut, settings, learnt = analyser(corpus.card.language), BM25Settings(), to_learn_from(corpus.questions)
    articles = list(grown(corpus.articles, size, cut, seed=0))
    say("articles", size, "")
    say("text of an article, mean", sum(len(a.text) for a in articles) / size, "characters")

    def timed(what: str, act: Callable[[], _T]) -> _T:
        start, used = time.perf_counter(), cores_used()
        made = act()
        say(what, time.perf_counter() - start, "s")
        say("    on the cores, which other programs disturb less", cores_used() - used, "s")
        return made

    whole = timed("counted by one process", lambda: count_articles(articles, learnt, cut, no_progress, 1))
    n = cores()
    timed(f"counted by {n} and merged", lambda: count_articles(articles, learnt, cut, no_progress, n))
    weights = timed("weighed", lambda: term_scores(whole, settings))
    bounds = [size * i // SHARDS for i in range(SHARDS + 1)]
    shards = [count_shard(articles[a:b], learnt, cut) for a, b in pairwise(bounds)]
    said = [CollectionStatistics.of(shard, settings) for shard in shards]
    collection = timed(f"statistics of {SHARDS} shards merged", lambda: CollectionStatistics.merge(said))
    parts = b"".join(term_scores(shard, settings, collection).tocsr().data.tobytes() for shard in shards)
    if parts != weights.tocsr().data.tobytes():
        raise WeightsDiffer(f"{SHARDS} shards of {size:,} articles weigh otherwise than one pass")
    say("statistics that a shard sends, a million articles", len(pickle.dumps(said)) / size, "MB")
    say("terms", len(whole.vocabulary), "")
    say("weights an article", weights.nnz / size, "")
    encoder = StaticEncoder.load(builtin() / "encoder", cut)  # of French law
    some = articles[:ENCODED]
    by_one, vectors = (
        timed(f"{len(some):,} encoded by {of}", partial(encode_articles, encoder, some, no_progress, of))
        for of in (1, n)
    )
    if by_one.tobytes() != vectors.tobytes():
        raise WeightsDiffer(f"{n} processes encode {len(some):,} articles otherwise than one")
    say("a vector", vectors.itemsize * vectors.shape[1], "bytes")


def cores_used() -> float:
    """Return the seconds that this process and those that it began and that ended have had of cores."""
    return sum(used.ru_utime + used.ru_stime for used in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN)))
