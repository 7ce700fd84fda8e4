"""Where the tests find what they need, and the reasons they give when it is missing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.paths import ROOT, SHARED

# The same examples at every run of CI: what it finds, anybody can find again. Elsewhere they are drawn anew.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("here", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")


MARKS = ("browser", "data", "long")  # written into JUnit reports, for the report of CI
# The files that take longest, longest first: with files handed out to several processes in this order, none
# of them is begun when the other processes have nothing left to do.
LONGEST = (
    "tests/rag/ui/test_answer_browser.py", "tests/indexes/store/test_killed.py",
    "tests/indexes/update/test_update.py", "tests/rag/ui/test_accessibility.py",
    "tests/rag/ui/test_pages_browser.py", "tests/rag/ui/test_ask_browser.py",
    "tests/indexes/corpus/test_export.py", "tests/training/neural/test_training.py",
    "tests/rag/answer/screening/test_decision.py", "tests/indexes/build/test_learned_fusion.py",
    "tests/indexes/digest/test_command.py", "tests/indexes/describing/test_datacard.py",
    "tests/indexes/store/test_switching.py", "tests/indexes/sources/test_fuzz.py",
    "tests/indexes/sources/test_measuring_data.py", "tests/training/eval/test_metrics.py",
    "tests/rag/encoders/test_transformer.py", "tests/test_repository.py",
    "tests/rag/corpus/test_out_of_scope.py", "tests/training/splits/test_near_duplicates.py",
    "tests/indexes/formats/test_streaming.py",
)  # fmt: skip


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked slow too")
    parser.addoption(
        "--long", action="store_true", help="run the tests marked long too, which CI has no time for"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    data = (SHARED / "data").is_dir()
    turn = {ROOT / file: n for n, file in enumerate(LONGEST)}
    items.sort(key=lambda item: turn.get(item.path, len(turn)))  # stable: the others stay as they are
    for item in items:
        item.user_properties += [("mark", mark) for mark in MARKS if item.get_closest_marker(mark)]
        if "slow" in item.keywords and not config.getoption("--slow"):
            item.add_marker(pytest.mark.skip(reason="slow: run with --slow"))
        if "long" in item.keywords and not config.getoption("--long"):
            item.add_marker(pytest.mark.skip(reason="long: run with --long"))
        if "data" in item.keywords and not data:
            reason = f"needs the measuring data, absent from {SHARED / 'data'}"
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(autouse=True)
def _outside_of_a_clone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have hints name the commands that are typed anywhere, not those of an environment of ./pandect."""
    monkeypatch.setattr("rag.errors.STAMP", "no-such-file")


@pytest.fixture(scope="session")
def data() -> Path:
    """The measuring data, for tests marked `data`."""
    return SHARED / "data"
