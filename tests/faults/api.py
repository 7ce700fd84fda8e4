"""`python -m tests.faults.api`: odd requests, made from the interface's own description by schemathesis.

    python -m tests.faults.api --minutes 10 --seed 1 --out docs/results/everyday/requests.json

The server runs over the index that ships. It fails where an answer is a 500, or one that the description does
not have; the first failure is printed with the request that makes it again. `--out` keeps what
the server itself has counted.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families

from indexes.cli.terminal import guarded
from rag.errors import MissingExtra, install_hint
from tests.fakes.pages.api import running
from training.eval.report import commit

# Which codes can be filtered by depends on the law, and no description says it: others are refused (422).
# What is too large is refused (413) before it is read, wrong or not.
CONFIG = """\
[checks]
positive_data_acceptance.enabled = false
negative_data_rejection.expected-statuses = [400, 401, 404, 405, 413, 415, 422, 429]
"""


def counted(url: str) -> dict[str, Any]:
    """Return how many requests a server has had, in all, by route and by status."""
    families = text_string_to_metric_families(httpx.get(f"{url}/metrics", timeout=60).text)
    [requests] = (family for family in families if family.name == "pandect_requests")
    routes: dict[str, dict[str, int]] = {}
    for each in requests.samples:
        if each.name.endswith("_total"):
            routes.setdefault(each.labels["route"], {})[each.labels["status"]] = int(each.value)
    statuses = {name for each in routes.values() for name in each}
    return {
        "requests": sum(sum(each.values()) for each in routes.values()),
        "statuses": {name: sum(each.get(name, 0) for each in routes.values()) for name in sorted(statuses)},
        "routes": {route: dict(sorted(each.items())) for route, each in sorted(routes.items())},
    }


def fuzz(folder: Path, *, seconds: int, seed: int) -> tuple[int, dict[str, Any]]:
    """Return the exit status of schemathesis, 0 where nothing failed, and what the server has counted."""
    script, config = Path(sys.executable).parent / "schemathesis", folder / "schemathesis.toml"
    if not script.exists():
        raise MissingExtra(f"odd requests are made by schemathesis: run {install_hint('dev')}")
    config.write_text(CONFIG, encoding="utf-8")
    with running(folder) as (url, _, _):
        command = [str(script), "--no-color", "--config-file", str(config), "fuzz", f"{url}/openapi.json"]
        options = ["--max-time", str(seconds), "--seed", str(seed)]
        status = subprocess.run([*command, *options], cwd=folder, check=False).returncode
        return status, counted(url)


@guarded
def main(arguments: Sequence[str] | None = None) -> int:
    """Ask for some minutes."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.api", description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="a file for what was asked and answered")
    parsed = parser.parse_args(arguments)
    head = {"commit": commit(), "date": datetime.now(UTC).date().isoformat(), "minutes": parsed.minutes}
    with tempfile.TemporaryDirectory() as folder:
        status, told = fuzz(Path(folder), seconds=round(60 * parsed.minutes), seed=parsed.seed)
    if parsed.out:
        found = head | {"seed": parsed.seed, "failed": status != 0} | told
        parsed.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
