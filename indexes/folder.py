"""A folder that appears whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag.errors import BadInput


@contextmanager
def appearing(folder: Path) -> Iterator[Path]:
    """Give a temporary folder beside `folder`, which becomes it when the block ends without an error.

    Everything in it is on the disk before the rename; after an error nothing of it is left.

    Raises:
        BadInput: `folder` is there already and is not empty, or its parent cannot be written.
    """
    folder = folder.absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{folder} is there already. Remove it (rm -r) or give another place.")
    part = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.part")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        part.mkdir()
    except OSError as error:
        raise BadInput(
            f"{folder}: cannot be made ({error.strerror}). Give a place that you may write."
        ) from None
    try:
        yield part
        for path in (*part.rglob("*"), part):
            _sync(path)
        part.replace(folder)  # over an empty folder too
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    _sync(folder.parent)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
