"""What the readings of the summaries found is kept, and the table of the docs counts it."""

from __future__ import annotations

import gzip
import json
import re
from typing import Any

import pytest

from indexes.corpus import corpus
from indexes.store import paths
from tests.paths import ROOT

FILE = ROOT / "docs" / "results" / "readings.jsonl.gz"
PAGE = ROOT / "docs" / "builtin-law.md"
STYLE = {"hard to read", "copied words"}  # faults that lose and change nothing of the law


def records() -> tuple[dict[str, int], list[dict[str, Any]]]:
    first, *rest = gzip.decompress(FILE.read_bytes()).decode("utf-8").splitlines()
    return json.loads(first)["read"], [json.loads(line) for line in rest]


def share(part: int, whole: int) -> str:
    return f"{part:,} ({100 * part / whole:.1f} %)"


def test_the_table_counts_what_is_kept() -> None:
    read, found = records()
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| ([\d,]+) \| (.+?) \| (.+?) \| (.+?) \|$", text, flags=re.M)
    told = {name.split(" (")[0]: rest for name, *rest in rows if name.split(" (")[0] in read}
    assert set(told) == set(read)
    for name, articles in read.items():
        mine = [r for r in found if r["reading"] == name]
        major = sum(r["severity"] == "major" for r in mine)
        substance = sum(not set(r["faults"]) <= STYLE for r in mine)
        shares = [share(part, articles) for part in (major, len(mine) - major, substance)]
        assert told[name] == [f"{articles:,}", *shares], name


@pytest.mark.slow
def test_each_fault_is_of_an_article_that_ships_once_a_reading() -> None:
    _, found = records()
    numbers = {a.article_no for a in corpus.read(paths.builtin() / "corpus").articles}
    assert {r["article_no"] for r in found} <= numbers
    keys = [(r["reading"], r["article_no"]) for r in found]
    assert len(keys) == len(set(keys))
    assert all(r["why"] and r["faults"] and r["severity"] in ("major", "minor") for r in found)
