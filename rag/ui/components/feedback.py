"""What people may say of the articles of a question, where the host keeps it; told before it is sent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import streamlit as st

from rag.corpus.card import CorpusCard
from rag.corpus.citation import citation
from rag.errors import log_failure
from rag.feedback import LONGEST_COMMENT, Feedback, FeedbackEntry, FeedbackNotSaved, FeedbackReason
from rag.types import Article
from rag.ui import visits
from rag.ui.html import tag
from rag.ui.i18n import N_, Interface

MOST = 50  # words of one session: more is no reader
REASONS = {
    FeedbackReason.ANSWERS: N_("It answers my question"),
    FeedbackReason.NOT_THE_LAW: N_("It is not the law that I need"),
    FeedbackReason.WRONG_ARTICLE: N_("It is the wrong article"),
    FeedbackReason.FALSE_ANSWER: N_("The answer above seems false"),
    FeedbackReason.DISLIKE: N_("I dislike what this law says"),
}
_PRIVACY = N_(
    "If you send this, the machine that runs this page keeps it for {time}: the day, the articles found, the "
    "one you mean, and your reason. Whoever runs the page can read it. Nothing about you is kept."
)
_SHARED = N_(
    "From this connection, which others may share, enough was sent for now. You may try again later."
)
_LIST = ""  # among article ids: the whole list
_KEYS = ("feedback_on", "feedback_reason", "feedback_question", "feedback_comment")
_ABOUT, _SENT = "feedback_about", "feedback_sent"  # in the session


@dataclass(frozen=True, slots=True)
class About:
    """A list of articles that something may be said of."""

    question: str
    articles: tuple[Article, ...]
    index: str
    version: str
    card: CorpusCard
    answered: bool  # whether an answer, quoted or written, stands with them


def retention_text(feedback: Feedback, t: Interface) -> str:
    """Return how long feedback is stored."""
    return t.n("one day", "{count} days", feedback.days)


@st.fragment  # so that what is said of a list does not search for it again
def draw(feedback: Feedback, about: About, t: Interface) -> None:
    """Draw the form under the articles; what was begun for another question is forgotten."""
    of = about.question, tuple(article.id for article in about.articles)
    if st.session_state.get(_ABOUT) != of:
        st.session_state[_ABOUT] = of
        for key in _KEYS:
            st.session_state.pop(key, None)
    with st.expander(t("Tell what you think of these articles")):
        st.html(tag("p", t(_PRIVACY, time=retention_text(feedback, t)), class_="pd-hint"))
        with st.form("feedback", border=False):
            word = _form(feedback, about, t)
            sent = st.form_submit_button(t("Send"))
        if sent:
            st.html(tag("p", _thanks(feedback, word, t), class_="pd-hint", role="status"))


def _form(feedback: Feedback, about: About, t: Interface) -> FeedbackEntry | None:
    names = {article.id: citation(article, about.card) for article in about.articles}
    on = st.selectbox(
        t("What it is about"),
        [_LIST, *names],
        format_func=lambda i: names.get(i) or t("The whole list"),
        key="feedback_on",
        placeholder=t("Choose"),  # never seen where one is chosen, but a screen reader may read it
    )
    reason = st.radio(
        t("What you would like to say"),
        [each for each in REASONS if each is not FeedbackReason.FALSE_ANSWER or about.answered],
        index=None,
        format_func=lambda each: t(REASONS[each]),
        key="feedback_reason",
    )
    with_question = st.checkbox(t("Keep my question with it, as it was asked"), key="feedback_question")
    st.html(tag("p", t("Without the tick, your question is not kept."), class_="pd-hint"))
    comment = ""
    if feedback.comments:
        label = t("In your words (optional; no names)")
        comment = st.text_input(label, max_chars=LONGEST_COMMENT, key="feedback_comment")
    if reason is None:
        return None
    question = about.question if with_question else None
    found = date.today(), about.index, about.version, tuple(names)
    return FeedbackEntry(*found, reason, on or None, question, comment.strip() or None)


def _thanks(feedback: Feedback, word: FeedbackEntry | None, t: Interface) -> str:
    """Keep a word and return what to say of that; one that is said twice is kept once."""
    if word is None:
        return t("Choose first what you would like to say.")
    sent: set[FeedbackEntry] = st.session_state.setdefault(_SENT, set())
    if word not in sent:
        if len(sent) >= MOST:
            return t("Thank you, that is enough from one reader.")
        if visits.visits().feedback.take(address=visits.address()) > 0:
            return t(_SHARED)
        try:
            feedback.keep(word)
        except FeedbackNotSaved as error:
            log_failure(error, "keeping feedback")
            return t("This could not be kept. The articles are not touched by it; you may try again later.")
        sent.add(word)
    return t("Thank you. It is kept.")
