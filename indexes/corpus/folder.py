"""The folder of a corpus: its files, and how it appears whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from indexes.store import atomic
from rag.errors import BadInput

ARTICLES = ("articles.jsonl.gz", "articles.jsonl")
QUESTIONS = ("questions.jsonl", "questions.jsonl.gz")


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
    part = atomic.aside(folder, "part")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        part.mkdir()
    except OSError as error:
        raise BadInput(
            f"{folder}: cannot be made ({error.strerror}). Give a place that you may write."
        ) from None
    try:
        yield part
        atomic.sync(part)
        part.replace(folder)  # over an empty folder too
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    atomic.sync_folder(folder.parent)


def articles_file(folder: Path) -> Path:
    """Return the articles' file of a folder.

    Raises:
        BadInput: there is none, or both the plain and the gzip one.
    """
    found = [folder / name for name in ARTICLES if (folder / name).is_file()]
    if len(found) == 1:
        return found[0]
    if found:
        raise BadInput(
            f"{folder}: both {' and '.join(ARTICLES)} are there. Remove the one that is out of date."
        )
    raise BadInput(
        f"{folder}: no {' or '.join(ARTICLES)} in it. Give the folder that holds one, or its path."
    )


def questions_file(folder: Path, named: str | None = None) -> Path | None:
    """Return the questions' file of a folder, or None where there is none and none was named.

    Raises:
        BadInput: the file named is not there; the text lists those that are.
    """
    if named is not None:
        if (folder / named).is_file():
            return folder / named
        there = ", ".join(sorted(path.name for path in folder.glob("questions*.jsonl*"))) or "none"
        raise BadInput(f"{folder / named}: no such file. Questions in this folder: {there}.")
    return next((folder / name for name in QUESTIONS if (folder / name).is_file()), None)
