"""Where the tests find what they need, and which of them the default run leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from tests.paths import SHARED

# By default the same few examples at every run: what it finds, anybody can find again. CI runs the property
# tests once more with fifty drawn anew, others each time: --hypothesis-profile fresh --hypothesis-seed N.
settings.register_profile("same", derandomize=True, deadline=None, max_examples=20)
settings.register_profile("fresh", deadline=None, max_examples=50)
settings.load_profile("same")

MARKS = ("browser", "data")  # written into JUnit reports, for the report of CI


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run the tests marked slow too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    data = (SHARED / "data").is_dir()
    for item in items:
        item.user_properties += [("mark", mark) for mark in MARKS if item.get_closest_marker(mark)]
        if item.get_closest_marker("data") and not data:
            reason = f"needs the measuring data, absent from {SHARED / 'data'}"
            item.add_marker(pytest.mark.skip(reason=reason))
    if not config.getoption("--all"):
        slow = [item for item in items if item.get_closest_marker("slow")]
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)


@pytest.fixture(autouse=True)
def _outside_of_a_clone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have hints name the commands that are typed anywhere, not those of an environment of ./pandect."""
    monkeypatch.setattr("rag.errors.STAMP", "no-such-file")


@pytest.fixture(scope="session")
def data() -> Path:
    """The measuring data, for tests marked `data`."""
    return SHARED / "data"
