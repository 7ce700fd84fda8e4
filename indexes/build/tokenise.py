"""Cutting the texts of a corpus into numbered terms, for an encoder: a large one by all cores.

A cutter of Chinese takes three quarters of a minute for 55,000 articles, and does one text after the other.
So a large corpus is cut in pieces, each in a process of its own; every piece numbers its terms as they come,
and the numbers are brought to one list afterwards. What comes of it does not depend on how many there were.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from tqdm._monitor import TMonitor

from indexes.build.training_pairs import TermIds
from rag.text import Analyser
from rag.types import Ints

MIN_PARALLEL_LENGTH = 2_000_000  # characters; fewer are cut in this process before others have begun
_FORK = "fork"  # what is cut is there then: nothing but numbers goes from one process to the other


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
    if processes < 2 or not _may_fork():
        return _tokenise(analyser, texts)
    _tokenise(analyser, texts[:1])  # what is read once, such as a dictionary, is there before they fork
    bounds = np.linspace(0, len(texts), processes + 1).astype(int).tolist()
    number: dict[str, int] = {}  # terms as they come
    found: list[TermIds] = []
    context = multiprocessing.get_context(_FORK)
    try:
        with ProcessPoolExecutor(processes, context, _set_worker_input, (analyser, texts)) as pool:
            for terms, row, lengths in pool.map(_piece, pairwise(bounds)):
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


def _may_fork() -> bool:
    """Tell whether this process can have others beside it.

    Not where it is itself one of several that were forked, which share the cores already; and not beside
    another thread, which might hold a lock that would then be held for ever in the other process. What
    watches a progress bar is no such thread: nothing there draws one.
    """
    if _FORK not in multiprocessing.get_all_start_methods() or multiprocessing.parent_process() is not None:
        return False
    others = (each for each in threading.enumerate() if each is not threading.current_thread())
    return all(isinstance(each, TMonitor) for each in others)


_handed: list[tuple[Analyser, Sequence[str]]] = []  # to a process that was forked


def _set_worker_input(analyser: Analyser, texts: Sequence[str]) -> None:
    _handed[:] = [(analyser, texts)]


def _piece(bounds: tuple[int, int]) -> tuple[list[str], TermIds, Ints]:
    """Return terms, all numbers in one row, and how many each text has: arrays are handed back fast."""
    [(analyser, texts)] = _handed
    part = _tokenise(analyser, texts[slice(*bounds)])
    return list(part.terms), _row(part.texts), np.array([len(ids) for ids in part.texts], dtype=np.int64)


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
