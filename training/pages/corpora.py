"""Memory of the page while its corpus is switched: one process, one version after another."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from indexes.store.atomic import switch
from indexes.store.paths import index_folder
from training.pages.serving import RunningServer, served
from training.pages.visitor import Visitor

NAME = "switched"
VERSIONS = 6  # more than the page keeps open, so that those it closes are seen
WARM_UP_SECONDS = 2.0  # seconds after an answer: what warms up beside the page has ended


def measure(folder: Path, questions: Sequence[str]) -> dict[str, Any]:
    """Switch the page's index to copies of one; return the memory (MiB) after each was opened and asked.

    The copies are alike, so that without a bound memory would grow by the same for each.
    """
    with other_home():
        versions = index_folder(NAME)
        for n in range(VERSIONS):
            copy_version(folder, versions / f"v{n}")
        switch(versions, "v0")
        with served(NAME) as page:
            held = asyncio.run(_visits(page, versions, questions))
    return {"memory_mib": held}


@contextmanager
def other_home() -> Iterator[None]:
    """Have a PANDECT_HOME that is nobody's, and empty, until the block ends."""
    with tempfile.TemporaryDirectory() as home:
        former, os.environ["PANDECT_HOME"] = os.environ.get("PANDECT_HOME"), home
        try:
            yield
        finally:
            if former is None:
                del os.environ["PANDECT_HOME"]
            else:
                os.environ["PANDECT_HOME"] = former


def copy_version(folder: Path, target: Path) -> None:
    """Copy a version of an index, by second names of its files where the disk allows it."""

    def link(source: str, copied: str) -> None:
        try:
            os.link(source, copied)
        except OSError:
            shutil.copyfile(source, copied)

    shutil.copytree(folder, target, copy_function=link)


async def _visits(page: RunningServer, versions: Path, questions: Sequence[str]) -> list[float]:
    held = [page.memory()]
    visitor, _ = await Visitor.arrive(page.port)
    for n in range(VERSIONS):
        switch(versions, f"v{n}")
        await visitor.ask(questions[n % len(questions)])
        await asyncio.sleep(WARM_UP_SECONDS)
        held.append(page.memory())
    await visitor.leave()
    return [round(each, 1) for each in held]
