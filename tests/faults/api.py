"""`python -m tests.faults.api`: odd requests, made from the interface's own description by schemathesis.

    python -m tests.faults.api --minutes 10 --seed 1

The server runs over the index that ships. It fails where an answer is a 500, or one that the description does
not have; the first failure is printed with the request that makes it again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from indexes.cli.terminal import guarded
from rag.errors import MissingExtra, install_hint
from tests.fakes.pages.api import running

# Which codes can be filtered by depends on the law, and no description says it: others are refused (422).
# What is too large is refused (413) before it is read, wrong or not.
CONFIG = """\
[checks]
positive_data_acceptance.enabled = false
negative_data_rejection.expected-statuses = [400, 401, 404, 405, 413, 415, 422, 429]
"""


def fuzz(folder: Path, *, seconds: int, seed: int) -> int:
    """Return the exit status of schemathesis: 0 where nothing failed."""
    script, config = Path(sys.executable).parent / "schemathesis", folder / "schemathesis.toml"
    if not script.exists():
        raise MissingExtra(f"odd requests are made by schemathesis: run {install_hint('dev')}")
    config.write_text(CONFIG, encoding="utf-8")
    with running(folder) as (url, _, _):
        command = [str(script), "--no-color", "--config-file", str(config), "fuzz", f"{url}/openapi.json"]
        options = ["--max-time", str(seconds), "--seed", str(seed)]
        return subprocess.run([*command, *options], cwd=folder, check=False).returncode


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Ask for some minutes."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.api", description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parsed = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        return fuzz(Path(folder), seconds=round(60 * parsed.minutes), seed=parsed.seed)


if __name__ == "__main__":
    sys.exit(main())
