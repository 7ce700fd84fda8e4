from __future__ import annotations

import logging
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from rag.corpus.asker_situations import situations
from rag.feedback import Feedback, FeedbackEntry, FeedbackReason
from tests.fakes.pages.any_page_driver import SCRIPT as ANY_PAGE
from tests.fakes.pages.ask_page_driver import ask, body, checked, page
from tests.fakes.pages.ui_answers import ANSWERS
from tests.fakes.pages.ui_engine import QUESTION, FakeEngine

OFFER = "Dire ce que vous pensez de ces articles"
WORD = FeedbackEntry(date.today(), "civil", "3", ("672", "671", "673"), FeedbackReason.WRONG_ARTICLE, "671")


@pytest.fixture
def kept(tmp_path: Path) -> Feedback:
    return Feedback(tmp_path / "feedback.sqlite", days=30)


def asked(kept: Feedback | None, engine: FakeEngine | None = None) -> AppTest:
    return ask(page(engine or FakeEngine(), kept=kept), QUESTION)


def say(app: AppTest, on: str, reason: FeedbackReason) -> str:
    """Fill the form in, send it, and return what the page says then."""
    app.selectbox(key="feedback_on").set_value(on)
    app.radio(key="feedback_reason").set_value(reason)
    return send(app)


def send(app: AppTest) -> str:
    [button] = [b for b in app.button if b.label == "Envoyer"]
    checked(button.click().run())
    return body(app).text


@pytest.mark.slow
def test_nothing_is_offered_unless_the_host_keeps_it() -> None:
    assert OFFER not in [each.label for each in asked(None).expander]


def test_a_word_on_one_article_is_kept_without_the_question(kept: Feedback) -> None:
    app = asked(kept)
    assert OFFER in [each.label for each in app.expander]
    assert "pendant 30 jours" in body(app).text
    assert not [each for each in app.text_input if each.key == "feedback_comment"]  # the host offers none
    assert len(app.radio(key="feedback_reason").options) == 4  # no answer stands there that could seem false

    assert "Choisissez d’abord" in send(app)
    assert "Votre avis est conservé." in say(app, "671", FeedbackReason.WRONG_ARTICLE)
    assert "Votre avis est conservé." in send(app)  # once more: it is kept once
    assert list(kept.words()) == [WORD]


@pytest.mark.slow
def test_the_question_goes_along_with_a_tick_that_another_question_takes_back(kept: Feedback) -> None:
    [tenant] = [each for each in situations("fr") if each.id == "tenant"]
    app = page(FakeEngine(situations=(tenant,)), kept=kept, situation="tenant")
    ask(app, QUESTION)
    app.checkbox(key="feedback_question").check()
    say(app, "", FeedbackReason.DISLIKE)

    [word] = kept.words()
    assert word == replace(
        WORD, reason=FeedbackReason.DISLIKE, article_id=None, question=f"Je suis locataire. {QUESTION}"
    )
    ask(app, "Les branches du voisin")
    assert not app.checkbox(key="feedback_question").value
    assert app.radio(key="feedback_reason").value is None


@pytest.mark.slow
def test_a_free_text_where_the_host_wants_one_and_the_answer_where_there_is_one(kept: Feedback) -> None:
    app = page(FakeEngine(), kept=replace(kept, comments=True), answers=ANSWERS["written"])
    ask(app, QUESTION)
    app.text_input(key="feedback_comment").set_value("  trop vieux  ")
    say(app, "", FeedbackReason.FALSE_ANSWER)

    assert [(word.reason, word.comment) for word in kept.words()] == [
        (FeedbackReason.FALSE_ANSWER, "trop vieux")
    ]


@pytest.mark.slow
def test_a_place_that_cannot_be_written_is_said_and_the_page_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = asked(Feedback(tmp_path))  # a folder
    with caplog.at_level(logging.DEBUG):
        app.checkbox(key="feedback_question").check()
        said = say(app, "671", FeedbackReason.ANSWERS)

    assert "n’a pas pu être conservé" in said
    assert len(body(app).all("article")) == 3
    assert app.radio(key="feedback_reason").value is FeedbackReason.ANSWERS  # nothing that was chosen is lost
    assert "keeping feedback failed with FeedbackNotSaved" in caplog.text
    assert QUESTION not in caplog.text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "keeps", "said"),
    [
        (None, False, ("Nothing you type leaves the machine", "is not collected here")),
        ("written", True, ("Scribe 1. Another machine may run it", "for 30 days. Your question")),
        ("local", False, ("Scribe 1. It runs on the machine of this page", "is not collected here")),
    ],
)
def test_about_says_where_a_question_goes(
    answers: str | None, keeps: bool, said: tuple[str, str], kept: Feedback
) -> None:
    app = AppTest.from_file(ANY_PAGE, default_timeout=30)
    app.session_state["page"] = "about"
    app.session_state["engine"] = FakeEngine()
    app.session_state["answers"] = ANSWERS[answers] if answers else None
    app.session_state["kept"] = kept if keeps else None
    app.context["locale"] = "en-GB"

    told = body(checked(app.run())).text
    assert "Your question is not recorded" in told
    for each in said:
        assert each in told
