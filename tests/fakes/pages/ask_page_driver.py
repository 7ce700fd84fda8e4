"""The page driven without a browser: open it, ask, and read what it says."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

from rag.feedback import Feedback
from rag.ui.search import Answers
from tests.fakes.pages.html_reader import Element, read
from tests.fakes.pages.ui_engine import FakeEngine

SCRIPT = Path(__file__).with_name("ask_page.py")


def page(
    engine: FakeEngine | None = None,
    locale: str = "fr-FR",
    answers: Answers | None = None,
    kept: Feedback | None = None,
    **query: str,
) -> AppTest:
    """The page as a browser first sees it."""
    app = AppTest.from_file(SCRIPT, default_timeout=30)
    app.session_state["engine"] = engine or FakeEngine()
    app.session_state["answers"] = answers
    app.session_state["kept"] = kept
    app.context["locale"] = locale
    app.query_params.update(query)
    return checked(app.run())


def checked(app: AppTest) -> AppTest:
    assert not app.exception
    return app


def ask(app: AppTest, question: str) -> AppTest:
    app.text_area(key="question").set_value(question)
    [send] = [b for b in app.button if b.label in ("Trouver les articles", "Find the articles")]
    return checked(send.click().run())


def body(app: AppTest) -> Element:
    """All that the page says in HTML of its own, without style and script."""
    said = [block.body for block in app.html if not block.body.startswith(("<style", "<script"))]
    return read("".join(said))


def press(app: AppTest, key: str) -> AppTest:
    return checked(app.button(key=key).click().run())


def cards(app: AppTest) -> list[Element]:
    return body(app).all("article")


def headings(app: AppTest) -> list[str]:
    return [h.text for h in body(app).all("h2")]


def examples(app: AppTest) -> list[str]:
    return [b.label for b in app.button if (b.key or "").startswith("example-")]
