"""The documents: few, and every place that they name is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.paths import ROOT

PAGES = sorted((ROOT / "docs").glob("*.md"))
TABLES = sorted((ROOT / "docs").glob("*/*.md"))  # results and checklists: no prose
SECURITY = ROOT / ".github" / "SECURITY.md"
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", SECURITY, *PAGES, *TABLES]
_LINK = re.compile(r"\]\((?!https?://|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
_TEST = re.compile(r"`([\w/]+\.py)::(test_\w+)`")
_FILE = re.compile(r"`((?:rag|indexes|training|tests|docs)/[\w/.-]+\.[a-z]{2,5})`")


def _anchors(path: Path) -> set[str]:
    """Return the anchors of a document's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in titles)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in plain}


def test_the_pages_are_few() -> None:
    assert len(PAGES) <= 14


def test_the_readme_is_short() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 120
    assert [line for line in lines if len(line) > 160] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(document: Path) -> None:
    for place, anchor in _LINK.findall(document.read_text(encoding="utf-8")):
        target = (document.parent / place).resolve() if place else document
        assert target.exists(), place
        if anchor and target.suffix == ".md":
            assert anchor in _anchors(target), f"{place}#{anchor}"


@pytest.mark.parametrize("document", [*DOCUMENTS[:2], *PAGES, *TABLES], ids=lambda path: path.name)
def test_every_file_that_is_named_is_there(document: Path) -> None:
    named = _FILE.findall(document.read_text(encoding="utf-8"))
    here = [name for name in named if not re.search(r"[A-Z]{4}", name)]  # rag/retrieval/NAME.py: an example
    assert [name for name in here if not any((ROOT / top / name).exists() for top in ("", "tests"))] == []


@pytest.mark.parametrize("document", [*PAGES, *TABLES], ids=lambda path: path.name)
def test_every_test_that_is_named_is_there(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    named = set(_TEST.findall(text))
    assert [
        each for each in named if f"\ndef {each[1]}(" not in (ROOT / "tests" / each[0]).read_text("utf-8")
    ] == []
    assert len(named) == len(set(re.findall(r"[\w/]+\.py::test_\w+", text)))  # none is written otherwise


def test_whatever_could_go_wrong_has_a_test() -> None:
    section = (ROOT / "docs/host.md").read_text("utf-8").partition("## When something goes wrong")[2]
    rows = [line for line in section.partition("\n## ")[0].splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 30
    assert [row for row in rows if not _TEST.search(row.rpartition(" | ")[2])] == []


def test_every_setting_stands_in_the_table() -> None:
    section = (ROOT / "docs/operate.md").read_text("utf-8").partition("## Every setting")[2]
    rows = "".join(line for line in section.splitlines() if line.startswith("| `"))
    code = "".join(
        path.read_text("utf-8") for top in ("rag", "indexes") for path in (ROOT / top).rglob("*.py")
    )
    assert sorted(re.findall(r"`(PANDECT_\w+)`", rows)) == sorted(
        set(re.findall(r'"(PANDECT_[A-Z_]+)"', code))
    )
