"""The table of states names every state that is looked at, and tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

from page_states import APP, FAKE

HERE = Path(__file__).parent
TABLE = (HERE.parents[1] / "docs" / "states.md").read_text(encoding="utf-8")


def test_the_table_names_tests_that_are_there() -> None:
    named = set(re.findall(r"`(test_\w+\.py)::(test_\w+)`", TABLE))
    gone = {
        (file, test)
        for file, test in named
        if f"\ndef {test}(" not in (HERE / file).read_text(encoding="utf-8")
    }

    assert len(named) > 50
    assert not gone


def test_every_state_that_is_looked_at_is_in_the_table() -> None:
    rows = [line.rpartition(" | ")[2] for line in TABLE.splitlines() if line.startswith("| ")]

    assert {name for row in rows for name in re.findall(r"`([a-z-]+)`", row)} == {*APP, *FAKE}
