"""Counting a collection shard by shard, in processes or on machines of their own, to what one pass comes to.

First pass: each shard counts its articles (`count_shard`) and says what the weights of all need of it
(`CollectionStatistics.of`). A merge of these few numbers goes back to the shards, and each weighs its own
articles (`rag.retrieval.bm25.term_scores`): nobody holds all of the law. Where one process writes the index,
the counts themselves are merged (`merge`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures.process import BrokenProcessPool
from itertools import chain

import numpy as np
import scipy.sparse as sp

from indexes.build.tokenise import MIN_PARALLEL_LENGTH, cores, map_pieces, may_fork
from indexes.update.term_counts import FIELDS, canonical
from rag.retrieval.term_counts import FieldCounts, count
from rag.text import Analyser
from rag.types import Article, ArticleOrder, Progress, Question, no_progress

PIECES = 4  # a process: so that progress is seen, and none waits long for the last


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
    if processes is None:
        processes = cores() if sum(len(a.text) for a in articles) > MIN_PARALLEL_LENGTH else 1
    pieces = min(processes * PIECES, len(articles))
    if processes < 2 or pieces < 2 or not may_fork():
        return count_shard(articles, learnt, analyser, progress)
    count_shard(articles[:1], (), analyser)  # what is read once is there before they fork

    def counted(begin: int, end: int) -> FieldCounts:
        return count_shard(articles[begin:end], learnt, analyser)

    shards: list[FieldCounts] = []
    done = 0
    try:
        for shard in map_pieces(counted, len(articles), pieces, processes):
            shards.append(shard)
            done += len(shard.order.ids)
            progress("analysing articles", done, len(articles))
    except BrokenProcessPool:  # one was ended from outside, as where memory is short: alone it needs less
        return count_shard(articles, learnt, analyser, progress)
    return merge(shards)
