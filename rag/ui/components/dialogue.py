"""A question back where the first articles split on a condition, and follow-ups that come to stand alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from rag.engine.result import Result
from rag.screening.dialogue import (
    Conversation,
    Option,
    RewriteMethod,
    StandaloneQuestion,
    answered,
    clarify,
    standalone,
)
from rag.text import Analyser
from rag.ui import url_state
from rag.ui.html import plain_label, tag
from rag.ui.i18n import N_, Interface

_WHY = N_("You may leave it open.")
_CHOSEN = N_("Your choice stands in front of your question.")
_KEY = "clarified"  # in the session
_REGIONS = "regions"  # the box of the search options, and its parameter


@dataclass(frozen=True, slots=True)
class _Choice:
    own: str  # the question with the choice
    former: str  # as it was
    region: str | None  # that the choice filters by
    regions: tuple[str, ...]  # that the person had filtered by before


def draw_choice(own: str, t: Interface) -> bool:
    """Draw what was chosen of a question back, with the way back; mostly nothing (False).

    `own` is the question as the person left it.
    """
    choice: _Choice | None = st.session_state.get(_KEY)
    if choice is None or choice.own != own:
        return False
    with st.container(key="clarified", horizontal=True, vertical_alignment="center"):
        st.html(tag("p", t(_CHOSEN), class_="pd-hint", role="status"))
        st.button(t("Take it back"), key="unclarify", on_click=_undo, args=(choice,))
    return True


def draw_clarification(own: str, question: str, result: Result, language: str, t: Interface) -> None:
    """Draw the question back; mostly nothing.

    `own` is the question as the person left it, `question` the same with what was said in front of it.
    """
    clarification = clarify(question, result.shown, language)
    if clarification is None:
        return
    with st.container(key="clarifying"):
        st.html(tag("h2", clarification.ask, class_="pd-small", lang=language))
        with st.container(key="clarifying-options", horizontal=True):
            for number, option in enumerate(clarification.options):
                st.button(
                    plain_label(option.label), key=f"option-{number}", on_click=_choose, args=(own, option)
                )
        st.html(tag("p", t(_WHY), class_="pd-hint"))


def _choose(own: str, option: Option) -> None:
    whole = answered(own, option)
    st.session_state[_KEY] = _Choice(whole, own, option.region, tuple(st.session_state.get(_REGIONS, ())))
    st.session_state["question"] = st.session_state["asked"] = whole
    if option.region is not None:
        _filter([option.region])


def _undo(choice: _Choice) -> None:
    st.session_state.pop(_KEY, None)
    st.session_state["question"] = st.session_state["asked"] = choice.former
    # what was chosen in the box since then stays
    if choice.region is not None and st.session_state.get(_REGIONS) == [choice.region]:
        _filter(choice.regions)


def _filter(regions: Sequence[str]) -> None:
    """Put regions into the box of the search options, and into the address, as a choice there does."""
    st.session_state[_REGIONS] = list(regions)
    url_state.set_parameter(_REGIONS, regions)


_PLACE = N_("For example: and how long does it take?")
_READ = N_(
    "Your question was joined to the one before, so that it can be understood alone. Change it if you like."
)
_NEXT, _JOINED, _TALK = "further", "joined", "conversation"  # in the session


def draw_follow_up(question: str, analyser: Analyser, t: Interface) -> None:
    """Draw the box beneath the articles of a question; it is empty for every new one."""
    talk: Conversation = st.session_state.get(_TALK, Conversation())
    if talk.questions[-1:] != (question.strip(),):  # one asked in the box above begins another conversation
        talk = st.session_state[_TALK] = Conversation().then(question)
        st.session_state[_NEXT] = ""
    with st.container(key="followup"), st.form("further_form", border=False):  # noqa: SIM117 - one row in it
        with st.container(key="followup-row", horizontal=True, vertical_alignment="bottom"):
            st.text_input(t("Your next question"), key=_NEXT, placeholder=t(_PLACE))
            st.form_submit_button(t("Continue"), on_click=_ask, args=(talk, analyser))


def _ask(talk: Conversation, analyser: Analyser) -> None:
    """Ask a follow-up, joined to what was asked before unless it stands alone; for a callback."""
    question: StandaloneQuestion = standalone(talk, st.session_state[_NEXT], analyser)
    if not question.text:
        return
    st.session_state[_TALK] = talk.then(question.text)
    st.session_state["question"] = st.session_state["asked"] = question.text
    st.session_state[_NEXT] = ""
    st.session_state[_JOINED] = "" if question.how is RewriteMethod.AS_TYPED else question.text


def draw_rewrite(question: str, t: Interface) -> None:
    """Say that a follow-up was joined to the question before it; the box above has the whole, to change."""
    if question and st.session_state.get(_JOINED) == question:
        st.html(tag("p", t(_READ), class_="pd-hint pd-read-as", role="status"))
