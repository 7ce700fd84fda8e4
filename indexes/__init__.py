"""Law comes in: corpora, sources and built indexes.

`indexes.open()` opens the index that ships, `indexes.open("belgium")` one of your own.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag.engine.engine import Engine

__all__ = ["open"]


def open(name_or_path: str | Path | None = None) -> Engine:
    """Open an index, by its name under PANDECT_HOME, "builtin", or its path: see `store.open_index`.

    Raises:
        MissingIndex, DamagedIndex, StaleIndex: it cannot be opened; the text says what to type.
    """
    from indexes.store.open_index import open_index

    return open_index(name_or_path)
