"""Asking further: a follow-up becomes a question that stands alone, shown and open to change."""

from __future__ import annotations

import streamlit as st

from rag.answer.screening.conversation import Conversation, How, Standalone, standalone
from rag.text import Analyser
from rag.ui.html import tag
from rag.ui.i18n import N_, Words

_PLACE = N_("For example: and how long does it take?")
_READ = N_(
    "Your question was joined to the one before, so that it can be understood alone. Change it if you like."
)
_SAID, _WHOLE, _ASKS, _TALK = "further", "whole_question", "asks_whole", "conversation"  # in the session


def draw(question: str, analyser: Analyser, t: Words) -> None:
    """Draw the box beneath the articles.

    Args:
        question: whose articles are on the page.
        analyser: of the law.
        t: the interface.
    """
    talk = _conversation(question)
    with st.container(key="followup"):
        st.html(tag("h2", t("Ask further"), class_="pd-small"))
        with st.form("further_form", border=False):
            st.text_input(t("Your next question"), key=_SAID, placeholder=t(_PLACE))
            st.form_submit_button(t("Continue"), on_click=_say, args=(talk, analyser))
        if st.session_state.get(_ASKS) != question:
            return
        with st.form("whole_form", border=False):
            st.html(tag("p", t(_READ), class_="pd-hint", role="status"))
            st.text_area(t("The question as it will be asked"), key=_WHOLE, height=112)
            st.form_submit_button(t("Ask this"), type="primary", on_click=_ask_whole, args=(talk,))


def _conversation(question: str) -> Conversation:
    """Return the conversation that ends with this question; one asked in the box above begins another."""
    talk: Conversation = st.session_state.get(_TALK, Conversation())
    if talk.questions[-1:] != (question.strip(),):
        talk = st.session_state[_TALK] = Conversation().then(question)
    return talk


def _say(talk: Conversation, analyser: Analyser) -> None:
    """Take a follow-up: one that stands alone is asked, another is shown whole first; for a callback."""
    said: Standalone = standalone(talk, st.session_state[_SAID], analyser)
    st.session_state.pop(_ASKS, None)
    if said.how is How.AS_TYPED:
        _ask(talk, said.text)
    else:
        st.session_state[_WHOLE] = said.text
        st.session_state[_ASKS] = talk.questions[-1]


def _ask_whole(talk: Conversation) -> None:
    """Ask the question as the person left it; for a callback."""
    _ask(talk, st.session_state[_WHOLE])


def _ask(talk: Conversation, question: str) -> None:
    if question.strip():
        st.session_state[_TALK] = talk.then(question)
        st.session_state["question"] = st.session_state["asked"] = question.strip()
        st.session_state[_SAID] = ""
        st.session_state.pop(_ASKS, None)
