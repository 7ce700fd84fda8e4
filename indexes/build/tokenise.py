"""Cutting the texts of a corpus into numbered terms, for an encoder: a large one by all cores.

A cutter of Chinese takes three quarters of a minute for 55,000 articles, and does one text after the other.
So a large corpus is cut in pieces, each in a process of its own; every piece numbers its terms as they come,
and the numbers are brought to one list afterwards. What comes of it does not depend on how many there were.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from tqdm._monitor import TMonitor

from indexes.build.training_pairs import TermIds
from rag.text import Analyser
from rag.types import Ints

MIN_PARALLEL_LENGTH = 2_000_000  # characters; fewer are cut in this process before others have begun
_FORK = "fork"


@dataclass(frozen=True)
class TokenisedTexts:
    """Texts as arrays of term numbers."""

    terms: Sequence[str]  # each once, numbered as they first come
    texts: Sequence[TermIds] = field(repr=False)  # in order, repeats kept


def tokenise_texts(analyser: Analyser, texts: Sequence[str], processes: int | None = None) -> TokenisedTexts:
    """Analyse texts to terms by so many processes, or by one a core where there is much to cut."""
    if processes is None:
        processes = cores() if sum(map(len, texts)) > MIN_PARALLEL_LENGTH else 1
    processes = min(processes, len(texts))
    if processes < 2 or not may_fork():
        return _tokenise(analyser, texts)
    _tokenise(analyser, texts[:1])  # what is read once, such as a dictionary, is there before they fork
    number: dict[str, int] = {}  # terms as they come
    found: list[TermIds] = []

    def piece(begin: int, end: int) -> tuple[list[str], TermIds, Ints]:
        """Return terms, all numbers in one row, and how many each text has: arrays are handed back fast."""
        part = _tokenise(analyser, texts[begin:end])
        return list(part.terms), _row(part.texts), np.array([len(ids) for ids in part.texts], dtype=np.int64)

    try:
        for terms, row, lengths in map_pieces(piece, len(texts), processes, processes):
            of_all = np.array([number.setdefault(t, len(number)) for t in terms], dtype=np.int32)
            found += np.split(of_all[row] if len(row) else row, np.cumsum(lengths)[:-1])
    except BrokenProcessPool:  # one was ended from outside, as where memory is short: alone it needs less
        return _tokenise(analyser, texts)
    return TokenisedTexts(list(number), found)


def cores() -> int:
    """Return how many cores this process may use; fewer where OMP_NUM_THREADS says so."""
    limit = os.environ.get("OMP_NUM_THREADS", "")
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(available, int(limit)) if limit.isdecimal() and int(limit) else available


def may_fork() -> bool:
    """Tell whether this process can have others beside it.

    Not where it is itself one of several that were forked, which share the cores already; and not beside
    another thread, which might hold a lock that would then be held for ever in the other process. What
    watches a progress bar is no such thread: nothing there draws one.
    """
    if _FORK not in multiprocessing.get_all_start_methods() or multiprocessing.parent_process() is not None:
        return False
    others = (each for each in threading.enumerate() if each is not threading.current_thread())
    return all(isinstance(each, TMonitor) for each in others)


_T = TypeVar("_T")
_work: list[Callable[[int, int], Any]] = []  # of a process that was forked


def map_pieces(work: Callable[[int, int], _T], total: int, pieces: int, processes: int) -> Iterator[_T]:
    """Yield what work returns of the pieces of a range, each from where to where, in order.

    The processes are forked: what the work needs is there, and only what it returns goes between them. Where
    one is ended from outside, BrokenProcessPool is raised.
    """
    bounds = np.linspace(0, total, pieces + 1).astype(int).tolist()
    context = multiprocessing.get_context(_FORK)
    with ProcessPoolExecutor(processes, context, _set_work, (work,)) as pool:
        yield from pool.map(_piece, pairwise(bounds))


def _set_work(work: Callable[[int, int], Any]) -> None:
    _work[:] = [work]


def _piece(bounds: tuple[int, int]) -> Any:  # noqa: ANN401 - whatever the work returns
    return _work[0](*bounds)


def _tokenise(analyser: Analyser, texts: Sequence[str]) -> TokenisedTexts:
    number: dict[str, int] = {}
    terms = [
        np.array([number.setdefault(t, len(number)) for t in analyser.terms(text)], dtype=np.int32)
        for text in texts
    ]
    return TokenisedTexts(list(number), terms)


def _row(texts: Sequence[TermIds]) -> TermIds:
    return np.concatenate([np.zeros(0, np.int32), *texts])


def in_texts(texts: Sequence[TermIds], n_terms: int) -> Ints:
    """Return in how many texts each term stands, (n_terms,)."""
    return np.bincount(_row([np.unique(ids) for ids in texts]), minlength=n_terms).astype(np.int64)
