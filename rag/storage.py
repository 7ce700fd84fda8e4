"""How the files of an index are held: large ones mapped, others read, so that nobody can cut them short."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np

_WHOLE: ContextVar[bool] = ContextVar("whole", default=False)


@contextmanager
def read_whole(*, whole: bool = True) -> Iterator[None]:
    """Have what is opened in the block read into memory.

    A mapped file that is cut short in place ends the process at the next look (SIGBUS), and none of its
    errors can be caught.
    """
    token = _WHOLE.set(whole)
    try:
        yield
    finally:
        _WHOLE.reset(token)


def mapped() -> bool:
    """Return whether files are mapped."""
    return not _WHOLE.get()


def load_array(path: Path) -> Any:  # noqa: ANN401 - an array of whatever type holds it
    """Open a file of numpy, mapped or read; without pickle."""
    # a view: a slice of a memory-mapped array takes ten times as long to make as one of a plain array
    return np.asarray(np.load(path, mmap_mode="r" if mapped() else None, allow_pickle=False))


def load_bytes(path: Path) -> bytes | mmap.mmap:
    """Open a file's bytes, mapped or read."""
    if not mapped():
        return path.read_bytes()
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
