"""Any page driven without a browser, by its address."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

from rag.ui.search import Answers
from tests.fakes.pages.ask_page_driver import checked
from tests.fakes.pages.ui_engine import FakeEngine

SCRIPT = Path(__file__).with_name("any_page.py")


def open_page(
    name: str,
    engine: FakeEngine | None = None,
    locale: str = "en-GB",
    results: object = None,
    asked: str | None = None,
    answers: Answers | None = None,
    **query: str,
) -> AppTest:
    """The page of this name as a browser first sees it at an address."""
    app = AppTest.from_file(SCRIPT, default_timeout=30)
    app.session_state["page"] = name
    app.session_state["engine"] = engine or FakeEngine()
    app.session_state["results"] = results
    app.session_state["answers"] = answers
    if asked is not None:
        app.session_state["asked"] = asked
    app.context["locale"] = locale
    app.query_params.update(query)
    return checked(app.run())
