"""The pages in a real Chromium: a server of them, a browser, and a visit on which nothing may go wrong."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rag.ui.layout import mark
from tests.fakes.process import answers, free_port, started
from tests.paths import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Locator, Page

FAKE = Path(__file__).with_name("ask_page.py")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
]  # fmt: skip
CHROMIUM = next((path for name in BROWSERS if (path := shutil.which(name))), None)
IN_A_BROWSER = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH: apt-get install chromium"),
]
WAIT = 30_000  # milliseconds; a loaded machine may need some


@dataclass(frozen=True)
class Server:
    url: str
    log: Path
    process: int = 0  # its id

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")


@contextmanager
def served(script: Path, folder: Path, **environ: str) -> Iterator[Server]:
    """Run a page in a clean environment with a few variables more; all that it can log is kept in a file."""
    port = free_port()
    url, log = f"http://127.0.0.1:{port}", folder / "server.log"
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)]
    command += ["--logger.level", "debug"]
    environ = {"PYTHONPATH": str(ROOT)} | environ
    with started(command, log, lambda: answers(url + "/_stcore/health"), **environ) as process:
        yield Server(url, log, process.pid)


@contextmanager
def opened(browser: Browser, **options: Any) -> Iterator[BrowserContext]:
    """Somebody's browser; its tabs share the scripts that it loads."""
    context = browser.new_context(**{"locale": "fr-FR", **options})
    context.set_default_timeout(WAIT)
    yield context
    context.close()


@contextmanager
def tab(context: BrowserContext, url: str) -> Iterator[Page]:
    """Open a page; a dialog, an error of the script or a call to another machine fails the test."""
    page = context.new_page()
    wrong: list[str] = []
    page.on("dialog", lambda dialog: (wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on("pageerror", lambda error: wrong.append(f"error {error}"))
    page.on(
        "request", lambda r: None if "//127.0.0.1:" in r.url or r.url[:5] == "data:" else wrong.append(r.url)
    )
    page.goto(url)
    page.wait_for_selector(".pd-notice")
    yield page
    page.close()
    assert not wrong


@contextmanager
def visit(browser: Browser, url: str, **options: Any) -> Iterator[Page]:
    """Open a page in a browser that was nowhere before."""
    with opened(browser, **options) as context, tab(context, url) as page:
        yield page


def ask(page: Page, question: str) -> None:
    box = page.get_by_role("textbox", name=re.compile("question"))
    box.fill(question)
    box.press("Enter")


def answered(page: Page, question: str) -> None:
    """Wait until the page answers this question, whatever it answered before."""
    page.locator(f"[data-question='{mark(question)}']").wait_for(state="attached")  # in the foot, drawn last
    at_rest(page)


def at_rest(page: Page) -> None:
    """Wait until nothing of the page is being drawn."""
    page.wait_for_function("document.querySelector('.stApp').dataset.testScriptState === 'notRunning'")
    page.wait_for_function("!document.querySelector('[data-stale=true]')")  # what goes is faded first


def choose(page: Page, box: Locator, option: Locator) -> None:
    """Choose from a list as a person does: one that the page shut by being drawn anew is opened again."""
    at_rest(page)
    for _ in range(5):
        box.click()
        for _ in range(30):
            if option.is_visible():
                option.click()
                return
            page.wait_for_timeout(100)
    pytest.fail("the list stays shut")


def picture(page: Page, name: str, width: int) -> None:
    """Keep a picture of the page, if they are wanted."""
    folder = os.environ.get("PANDECT_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        height = page.locator("[data-testid=stMainBlockContainer]").evaluate("e => e.scrollHeight")
        page.set_viewport_size({"width": width, "height": int(height) + 40})
        page.wait_for_timeout(300)
        page.screenshot(path=Path(folder) / f"{name}-{width}.png")
