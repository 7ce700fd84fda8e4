"""Gives an index a learned fusion, or takes it away, and is killed where it is told: see killed_worker.

The command of an order is the path of a file of trees, or nothing.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from indexes.update.reuse import Start
from indexes.update.update import refine
from rag.ltr.ranker import Ranker
from tests.fakes.law import killed_worker


def main(words: Sequence[str]) -> int:
    trees = Ranker.from_json(Path(words[0]).read_text(encoding="utf-8")) if words else None
    refine("village", Start.of("village"), trees, keep=2)
    return 0


if __name__ == "__main__":
    killed_worker.main = main  # type: ignore[assignment]
    os.fsync = lambda fd: None  # a killed process loses nothing that it wrote
    steps = os.memfd_create("steps")
    for line in sys.stdin:
        sys.stdout.write(json.dumps(killed_worker.run(json.loads(line), steps)) + "\n")
        sys.stdout.flush()
