"""Memory of the page while its corpus is switched: one process, one version after another."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from indexes.store.atomic import CURRENT
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
    with tempfile.TemporaryDirectory() as home:
        former, os.environ["PANDECT_HOME"] = os.environ.get("PANDECT_HOME"), home
        try:
            versions = index_folder(NAME)
            for n in range(VERSIONS):
                shutil.copytree(folder, versions / f"v{n}", copy_function=_linked)
            _switch(versions, 0)
            with served(NAME) as page:
                held = asyncio.run(_visits(page, versions, questions))
        finally:
            if former is None:
                del os.environ["PANDECT_HOME"]
            else:
                os.environ["PANDECT_HOME"] = former
    return {"memory_mib": held}


def _linked(source: str, target: str) -> None:
    """Copy a file by a second name where the disk allows it."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _switch(versions: Path, number: int) -> None:
    """Bring a version into use as `python -m indexes` does: in one step."""
    new = versions / f".{CURRENT}"
    new.write_text(f"v{number}", encoding="utf-8")
    new.replace(versions / CURRENT)


async def _visits(page: RunningServer, versions: Path, questions: Sequence[str]) -> list[float]:
    held = [page.memory()]
    visitor, _ = await Visitor.arrive(page.port)
    for n in range(VERSIONS):
        _switch(versions, n)
        await visitor.ask(questions[n % len(questions)])
        await asyncio.sleep(WARM_UP_SECONDS)
        held.append(page.memory())
    await visitor.leave()
    return [round(each, 1) for each in held]
