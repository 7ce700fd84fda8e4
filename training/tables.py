"""`python -m training.tables RESULT.json …`: the Markdown tables of README and docs, from result files.

A test holds the documents against the files in docs/results, so that no number is typed by hand.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SHORT = ("R@10", "R@100", "MRR@10", "Success@1", "Success@10")
LONG = ("R@5", "R@10", "R@20", "R@100", "MRR@10", "nDCG@10", "R-precision", "Success@1", "Success@10")


def markdown(entry: Mapping[str, Any], measures: Sequence[str] = SHORT) -> str:
    """Return a table in percent, each value with its 95 % interval, and the time of a question.

    Args:
        entry: what metrics.json holds.
        measures: the columns.
    """
    head = ["system", *measures, "ms a question (p95)"]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for name, system in entry["systems"].items():
        cells = [f"{100 * system[m]['value']:.1f} ({_span(system[m])})" for m in measures]
        took = "{median:.1f} ({p95:.1f})".format(**system["ms_per_question"])
        lines.append(" | ".join([f"| `{name}`", *cells, f"{took} |"]))
    return "\n".join(lines)


def differences(entry: Mapping[str, Any], system: str, measures: Sequence[str]) -> str:
    """Return how a system differs from the first one, in points, with the paired 95 % interval."""
    first = next(iter(entry["systems"]))
    cells = []
    for name in measures:
        d = entry["systems"][system][name]["difference"]
        cells.append(f"{name} {100 * d['value']:+.1f} [{100 * d['low']:+.1f}, {100 * d['high']:+.1f}]")
    return f"`{system}` − `{first}`: {'; '.join(cells)}"


def categories(
    entry: Mapping[str, Any], system: str, measures: Sequence[str] = ("R@10", "Success@10")
) -> str:
    """Return one system's measures by category of question."""
    head = ["category", "questions", *measures]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for category, values in entry["systems"][system]["by_category"].items():
        cells = [f"{100 * values[m]:.1f}" for m in measures]
        lines.append(f"| {' | '.join([category, str(int(values['questions'])), *cells])} |")
    return "\n".join(lines)


def _span(measure: Mapping[str, float]) -> str:
    return f"{100 * measure['low']:.1f}–{100 * measure['high']:.1f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables of the files named."""
    top = argparse.ArgumentParser(prog="python -m training.tables", description=__doc__)
    top.add_argument("results", nargs="+", type=Path, help="metrics.json files")
    top.add_argument("--long", action="store_true", help="all measures")
    top.add_argument("--categories", metavar="SYSTEM", help="this system by category of question")
    parsed = top.parse_args(arguments)
    for path in parsed.results:
        entry = json.loads(path.read_text(encoding="utf-8"))
        print(markdown(entry, LONG if parsed.long else SHORT))  # noqa: T201
        for name in list(entry["systems"])[1:]:
            print(differences(entry, name, ("R@10", "R@100", "MRR@10")))  # noqa: T201
        if parsed.categories:
            print(categories(entry, parsed.categories))  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
