from __future__ import annotations

import logging
from datetime import date
from pathlib import Path

import pytest
from answer_fakes import ANSWERS
from any_page_driver import open_page
from page_driver import ask, body, checked, page
from page_fakes import QUESTION, FakeEngine
from streamlit.testing.v1 import AppTest

from rag.feedback import Feedback, Reason, Word

OFFER = "Dire ce que vous pensez de ces articles"
SHOWN = ("672", "671", "673")


@pytest.fixture
def kept(tmp_path: Path) -> Feedback:
    return Feedback(tmp_path / "feedback.sqlite", days=30)


def asked(kept: Feedback | None) -> AppTest:
    return ask(page(FakeEngine(), kept=kept), QUESTION)


def send(app: AppTest) -> str:
    """Send the form and return what is said."""
    [button] = [b for b in app.button if b.label == "Envoyer"]
    checked(button.click().run())
    return [block.body for block in app.html][-1] if False else body(app).text


def test_nothing_is_offered_unless_the_host_keeps_it() -> None:
    assert OFFER not in [each.label for each in asked(None).expander]
    assert not asked(None).radio(key="feedback_reason") if _has(asked(None)) else True


def _has(app: AppTest) -> bool:
    return any(radio.key == "feedback_reason" for radio in app.radio)


def test_a_word_on_one_article_is_kept_without_the_question(kept: Feedback) -> None:
    app = asked(kept)
    assert OFFER in [each.label for each in app.expander]
    assert "pendant 30 jours" in body(app).text
    assert not app.text_input  # a free text is off unless the host offers it
    app.selectbox(key="feedback_on").set_value("671")
    app.radio(key="feedback_reason").set_value(Reason.WRONG_ARTICLE)

    assert "Merci. Votre avis est conservé." in send(app)
    assert list(kept.words()) == [
        Word(date.today(), "civil", "3", SHOWN, Reason.WRONG_ARTICLE, "671")
    ]
