"""What the parts of the benchmark share: how a figure is said, a question timed, a folder weighed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Say: TypeAlias = Callable[[str, float, str], object]  # what, how much of it, its unit


def milliseconds(ask: Callable[[str], object], asked: Iterable[str]) -> npt.NDArray[np.float64]:
    """Ask one question after the other, and return what each took, (n_questions,)."""
    took = []
    for question in asked:
        begun = time.perf_counter()
        ask(question)
        took.append((time.perf_counter() - begun) * 1000)
    return np.array(took)


def mebibytes(folder: Path) -> float:
    """Return what the files of a folder take together."""
    return sum(path.stat().st_size for path in folder.iterdir()) / 2**20
