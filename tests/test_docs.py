"""The documents: few, and every place that they name is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.paths import ROOT

PAGES = sorted((ROOT / "docs").glob("*.md"))
TABLES = sorted((ROOT / "docs").glob("*/*.md"))  # results and checklists: no prose
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *PAGES, *TABLES]
_LINK = re.compile(r"\]\((?!https?://|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
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
