"""The table of states names every state that is looked at, and tests that are there."""

from __future__ import annotations

import re

from tests.fakes.pages.page_states import APP, FAKE, OFFLINE
from tests.paths import ROOT

TABLES = ROOT / "docs" / "tables"
TABLE = (TABLES / "page-states.md").read_text(encoding="utf-8")


def test_every_state_that_is_looked_at_is_in_the_table() -> None:
    rows = [line.rpartition(" | ")[2] for line in TABLE.splitlines() if line.startswith("| ")]

    assert {name for row in rows for name in re.findall(r"`([a-z-]+)`", row)} == {*APP, *FAKE, OFFLINE}


def test_the_product_s_lines_name_files_that_are_there() -> None:
    lines = (TABLES / "page-requirements.md").read_text(encoding="utf-8").splitlines()
    cells = [line.strip("|").split("|") for line in lines if line.startswith("| ") and "---" not in line]
    places = [name for row in cells for name in re.findall(r"`([\w/]+\.\w+)`", row[1])]
    held = [name for row in cells for name in re.findall(r"`([\w/]+\.\w+)`", row[2])]

    assert min(len(places), len(held)) > 40
    assert [name for name in places if not (ROOT / name).is_file()] == []
    assert [name for name in held if not (ROOT / "tests" / name).is_file()] == []
    assert [row[2] for row in cells if re.search(r"/`", row[2])] == []  # a folder holds nothing by itself
