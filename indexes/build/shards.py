"""Counting and encoding a collection shard by shard, in processes or on machines, to what one pass comes to.

First pass: each shard counts its articles (`count_shard`) and says what the weights of all need of it
(`CollectionStatistics.of`). A merge of these few numbers goes back to the shards, and each weighs its own
articles (`rag.retrieval.bm25.term_scores`): nobody holds all of the law. Where one process writes the index,
the counts themselves are merged (`merge`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import chain
from typing import TypeVar

import numpy as np
import scipy.sparse as sp

from indexes.build.tokenise import MIN_PARALLEL_LENGTH, cores, map_pieces, may_fork
from indexes.update.term_counts import FIELDS, canonical
from rag.encoders.static import StaticEncoder
from rag.retrieval.term_counts import FieldCounts, count
from rag.text import Analyser
from rag.types import Article, ArticleOrder, Encoder, Floats, Progress, Question, no_progress

PIECES = 4  # a process: so that progress is seen, and none waits long for the last
_T = TypeVar("_T")


def count_shard(
    articles: Sequence[Article],
    learnt: Iterable[Question],
    analyser: Analyser,
    progress: Progress = no_progress,
) -> FieldCounts:
    """Return the counts of some articles and of the questions that cite them, in their canonical form."""
    return canonical(count(articles, analyser, progress).with_questions(learnt, analyser.terms))


def merge(shards: Sequence[FieldCounts]) -> FieldCounts:
    """Return the counts of all articles, shard after shard: those of one pass, to the byte."""
    words = sorted(set(chain.from_iterable(shard.vocabulary for shard in shards)))
    vocabulary = {word: i for i, word in enumerate(words)}
    columns = [np.array([vocabulary[word] for word in each.vocabulary], dtype=np.int32) for each in shards]
    fields = {}
    for name in FIELDS:
        placed = [
            sp.csr_array((part.data, column[part.indices], part.indptr), shape=(part.shape[0], len(words)))
            for part, column in zip((shard.fields[name] for shard in shards), columns, strict=True)
        ]
        fields[name] = sp.csr_array(sp.vstack(placed, format="csr"))
    return FieldCounts(ArticleOrder.of([id_ for s in shards for id_ in s.order.ids]), vocabulary, fields)


def count_articles(
    articles: Sequence[Article],
    learnt: Sequence[Question],
    analyser: Analyser,
    progress: Progress = no_progress,
    processes: int | None = None,
) -> FieldCounts:
    """Return what `count_shard` makes of all, by so many processes, or by one a core where there is much."""
    count_shard(articles[:1], (), analyser)  # what is read once is there before they fork

    def counted(begin: int, end: int) -> FieldCounts:
        return count_shard(articles[begin:end], learnt, analyser)

    shards = _by_processes(counted, articles, partial(progress, "analysing articles"), processes)
    return count_shard(articles, learnt, analyser, progress) if shards is None else merge(shards)


def encode_articles(
    encoder: Encoder,
    articles: Sequence[Article],
    progress: Progress = no_progress,
    processes: int | None = None,
) -> Floats:
    """Return vectors, (n_articles, dim) float32; those of a static encoder by processes, as they are counted.

    A vector does not depend on what is encoded beside it. Other encoders have cores of their own to share.
    """
    shards = None
    if isinstance(encoder, StaticEncoder):
        encoder.encode_articles(articles[:1])

        def encoded(begin: int, end: int) -> Floats:
            return encoder.encode_articles(articles[begin:end])

        shards = _by_processes(encoded, articles, partial(progress, "encoding articles"), processes)
    vectors = encoder.encode_articles(articles) if shards is None else np.concatenate(shards)
    progress("encoding articles", len(articles), len(articles))
    return vectors


def _by_processes(
    work: Callable[[int, int], _T],
    articles: Sequence[Article],
    progress: Callable[[int, int], object],
    processes: int | None,
) -> list[_T] | None:
    """Return what work makes of pieces of the articles, in order; None where one process does it alone."""
    if processes is None:
        processes = cores() if sum(len(a.text) for a in articles) > MIN_PARALLEL_LENGTH else 1
    total = len(articles)
    pieces = min(processes * PIECES, total)
    if processes < 2 or pieces < 2 or not may_fork():
        return None
    made: list[_T] = []
    try:
        for piece in map_pieces(work, total, pieces, processes):
            made.append(piece)
            progress(total * len(made) // pieces, total)
    except BrokenProcessPool:  # one was ended from outside, as where memory is short: alone it needs less
        return None
    return made
