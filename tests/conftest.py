"""Where the tests find what they need, and the reasons they give when it is missing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent


# The same examples at every run of CI: what it finds, anybody can find again. Elsewhere they are drawn anew.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("here", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")


MARKS = ("browser", "data", "long")  # written into JUnit reports, for the report of CI
# The files that take longest, longest first: with files handed out to several processes in this order, none
# of them is begun when the other processes have nothing left to do.
LONGEST = (
    "tests/ui/test_answer_browser.py", "tests/indexes/test_killed.py", "tests/indexes/test_update.py",
    "tests/ui/test_accessibility.py", "tests/ui/test_browser_pages.py", "tests/ui/test_browser.py",
    "tests/indexes/test_export.py", "tests/training/test_neural_training.py", "tests/answer/test_before.py",
    "tests/indexes/test_learned_index.py", "tests/indexes/test_digest_command.py",
    "tests/indexes/test_datacard.py", "tests/indexes/test_switching.py", "tests/indexes/test_sources_fuzz.py",
    "tests/indexes/test_source_measuring.py", "tests/training/test_metrics.py",
    "tests/retrieval/test_transformer.py", "tests/test_repository.py", "tests/test_elsewhere.py",
    "tests/training/test_near_duplicates.py", "tests/indexes/test_streaming.py",
)  # fmt: skip


def shared() -> Path:
    """The folder that holds `data/`; PANDECT_SHARED names another one."""
    return Path(os.environ.get("PANDECT_SHARED", ROOT.parent / "shared"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked slow too")
    parser.addoption(
        "--long", action="store_true", help="run the tests marked long too, which CI has no time for"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    data = (shared() / "data").is_dir()
    turn = {ROOT / file: n for n, file in enumerate(LONGEST)}
    items.sort(key=lambda item: turn.get(item.path, len(turn)))  # stable: the others stay as they are
    for item in items:
        item.user_properties += [("mark", mark) for mark in MARKS if item.get_closest_marker(mark)]
        if "slow" in item.keywords and not config.getoption("--slow"):
            item.add_marker(pytest.mark.skip(reason="slow: run with --slow"))
        if "long" in item.keywords and not config.getoption("--long"):
            item.add_marker(pytest.mark.skip(reason="long: run with --long"))
        if "data" in item.keywords and not data:
            reason = f"needs the measuring data, absent from {shared() / 'data'}"
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def data() -> Path:
    """The measuring data, for tests marked `data`."""
    return shared() / "data"
