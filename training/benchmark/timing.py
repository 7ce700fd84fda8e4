"""How figures are taken: a question timed, a folder weighed, ways to do the same in processes of their own.

The latter on one core: seconds of that core, which other processes disturb least, and by how much the memory
of the process grew, with the index that it holds.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from rag.errors import BadInput
from rag.types import Doubles
from training.neural.trainer.resources import peak_memory, reset_peak
from training.tables.markdown import head, row

FIRST = 10  # places of a ranking that are compared
Act: TypeAlias = Callable[[], Any]
ReportFigure: TypeAlias = Callable[[str, float, str], object]  # what, how much of it, its unit


@dataclass(frozen=True)
class Cost:
    """What one way took."""

    way: str
    cores: Doubles  # seconds of one core, (n,): each step, or each question
    wall: Doubles  # seconds that passed, (n,)
    built: float  # seconds of one core until it was ready and had done the first
    grown: int  # bytes, at most
    found: Any  # what it computed, to compare

    @property
    def seconds(self) -> float:
        """The median of one core."""
        return float(np.median(self.cores))


def table(compared: Iterable[Sequence[Cost]]) -> Iterator[str]:
    """Yield a Markdown table as it is measured, of each group the first way and the others against it."""
    yield from head(["", "seconds", "MB", "seconds / the library's", "MB / the library's", "agrees"])
    for group in compared:
        library = group[0]
        for cost in group:
            cells = [cost.way, f"{cost.seconds:.4f}", f"{cost.grown / 1e6:.1f}", "", "", ""]
            if cost is not library:
                ratios = cost.seconds / library.seconds, cost.grown / max(library.grown, 1)
                cells[3:] = [*(f"{ratio:.2f}" for ratio in ratios), _agreement(cost.found, library.found)]
            yield row(cells)


def _agreement(found: Any, wanted: Any) -> str:  # noqa: ANN401 - a loss, or the first places of each question
    if isinstance(found, float):
        return f"loss {found:.5f} and {wanted:.5f}"
    shared = [len(set(a) & set(b)) / max(len(b), 1) for a, b in zip(found, wanted, strict=True)]
    return f"{100 * statistics.mean(shared):.1f} % of the first {FIRST}"


def _same(answer: Any) -> Any:  # noqa: ANN401
    return answer


def in_subprocess(way: str, make: Callable[[], Sequence[Act]], read: Callable[[Any], Any] = _same) -> Cost:
    """Run a measurement in a process of its own.

    `make` returns what is timed, one after the other, once it is ready; its memory counts, its time is told
    apart. `read` makes of what each returned what is compared, untimed.

    Raises:
        BadInput: the process ended early.
    """
    processes = multiprocessing.get_context("fork")
    receiver, sender = processes.Pipe(duplex=False)
    child = processes.Process(target=_measured, args=(make, read, sender))
    child.start()
    sender.close()
    try:
        cores, wall, built, grown, found = receiver.recv()
    except EOFError:
        raise BadInput(f"{way}: the process that measured it ended early, see above") from None
    finally:
        child.join()
    return Cost(way, cores, wall, built, grown, found)


def _measured(make: Callable[[], Sequence[Act]], read: Callable[[Any], Any], pipe: Connection) -> None:
    with suppress(
        AttributeError, OSError
    ):  # glibc: what was freed before the fork would be used again unseen
        ctypes.CDLL(None).malloc_trim(0)
    reset_peak()
    memory_before, start = peak_memory(), time.process_time()
    acts = make()
    acts[0]()  # what happens once is not timed with the others
    built = time.process_time() - start
    cores, wall = np.zeros(len(acts)), np.zeros(len(acts))
    found = []
    for n, act in enumerate(acts):
        begun, start = time.perf_counter(), time.process_time()
        answer = act()
        cores[n], wall[n] = time.process_time() - start, time.perf_counter() - begun
        found.append(read(answer))
    same = found[0] if isinstance(found[0], float) else found
    pipe.send((cores, wall, built, peak_memory() - memory_before, same))


def milliseconds(ask: Callable[[str], object], questions: Iterable[str]) -> Doubles:
    """Ask one question after the other, and return what each took, (n_questions,)."""
    took = []
    for question in questions:
        start = time.perf_counter()
        ask(question)
        took.append((time.perf_counter() - start) * 1000)
    return np.array(took)


def mebibytes(folder: Path) -> float:
    """Return what the files of a folder take together."""
    return sum(path.stat().st_size for path in folder.iterdir()) / 2**20
