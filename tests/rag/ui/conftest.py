"""What tests of the pages share: a browser for each module, one server of the pages and one of the fakes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.fakes.pages.browser import ARGS, CHROMIUM, FAKE, Server, served
from tests.paths import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    sync = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install '.[dev]'")
    with sync.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="package")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(ROOT / "app.py", tmp_path_factory.mktemp("app")) as server:
        yield server


@pytest.fixture(scope="package")
def fake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(FAKE, tmp_path_factory.mktemp("fake")) as server:
        yield server
