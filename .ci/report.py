"""Tell which tests never ran, by reason, and refuse the skips that the machine gives no reason for.

`python .ci/report.py FOLDER` reads what `.ci/run` left there: JUnit reports (`*.xml`) of one or more
pytest runs. `tests/conftest.py` writes the marks that decide what may be skipped into them, as properties
of the tests. A test that was skipped in one run and passed in another did run.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Outcomes:
    """What became of the tests over all runs; a test is known by its JUnit name."""

    ran: set[str] = field(default_factory=set)
    reasons: dict[str, str] = field(default_factory=dict)  # test -> why it was skipped
    marks: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # mark -> its tests

    def skipped(self) -> dict[str, str]:
        """The tests that no run has run, with the reason."""
        return {test: reason for test, reason in self.reasons.items() if test not in self.ran}


def read(reports: Iterable[Path]) -> Outcomes:
    """Gather what the JUnit reports say."""
    outcomes = Outcomes()
    for report in reports:
        for case in ElementTree.parse(report).iter("testcase"):  # noqa: S314  pytest has just written it
            test = f"{case.get('classname') or ''}::{case.get('name')}"
            for mark in case.iterfind("properties/property[@name='mark']"):
                outcomes.marks[mark.get("value") or ""].add(test)
            skip = case.find("skipped")
            if skip is None:
                outcomes.ran.add(test)
            elif skip.get("type") != "pytest.xfail":
                outcomes.reasons[test] = (skip.get("message") or "no reason given").strip()
    return outcomes


def complaints(outcomes: Outcomes, data: bool, chromium: bool) -> list[str]:
    """Name the skips that nothing here excuses."""
    found = []
    if data:
        skipped = sorted(outcomes.marks["data"] - outcomes.ran)
        found += [f"the measuring data is here, but {test} did not run" for test in skipped]
    if chromium and not outcomes.marks["browser"] & outcomes.ran:
        found.append("chromium is here, but no test marked browser ran")
    return found


def main(folder: Path) -> int:
    """Print the report; return 1 if a skip is not excused."""
    outcomes = read(sorted(folder.glob("*.xml")))
    by_reason: defaultdict[str, list[str]] = defaultdict(list)
    for test, reason in outcomes.skipped().items():
        by_reason[reason].append(test)
    for reason, tests in sorted(by_reason.items(), key=lambda item: -len(item[1])):
        sys.stdout.write(f"{len(tests):5}  {reason}\n")
        for test in sorted(tests):
            sys.stdout.write(f"           {test}\n")
    sys.stdout.write(f"{len(outcomes.ran)} tests ran, {len(outcomes.skipped())} were skipped in every run\n")
    shared = Path(os.environ.get("PANDECT_SHARED", ROOT.parent / "shared"))
    unexcused = complaints(outcomes, (shared / "data").is_dir(), shutil.which("chromium") is not None)
    for complaint in unexcused:
        sys.stdout.write(f"ERROR: {complaint}\n")
    return 1 if unexcused or not outcomes.ran else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
