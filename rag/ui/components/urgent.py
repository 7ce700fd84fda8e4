"""Whom to call first: help for urgent situations, before any law."""

from __future__ import annotations

import streamlit as st

from rag.answer.screening.decision import Decision
from rag.corpus.card import Contact
from rag.ui.html import Html, join, link, tag, telephone
from rag.ui.i18n import N_, Words
from rag.ui.layout import note_of

_NOW = N_("If this is happening to you, get help first")
_NAMED = N_("If you are in this situation, these can help")
_LIMIT = N_("A time limit may be running: ask for help today, and keep the letter with its envelope.")
_NOBODY = N_("Call the emergency number of the place where you are.")
_TIMED = ("housing", "deadline")


def draw(decision: Decision, t: Words, law: str) -> None:
    """Draw the help box; nothing where the question speaks of no urgent situation.

    Args:
        decision: about the question.
        t: the interface.
        law: language of the corpus, in which its contacts are written.
    """
    if not decision.urgent:
        return
    timed = any(situation.now and situation.danger in _TIMED for situation in decision.urgent)
    danger = any(situation.danger not in _TIMED for situation in decision.urgent)
    said = [tag("p", t(_LIMIT))] if timed else []
    if decision.contacts:
        said.append(tag("ul", *(tag("li", _contact(contact), lang=law) for contact in decision.contacts)))
    elif danger and decision.grave:
        said.append(tag("p", t(_NOBODY)))
    if not said:
        return
    title = t(_NOW) if decision.grave else t(_NAMED)
    kind = "pd-box pd-urgent" if decision.grave else "pd-box"
    st.html(tag("div", tag("h2", title), *said, class_=kind, role="alert" if decision.grave else "status"))


def _contact(contact: Contact) -> Html:
    phone = [" · ", telephone(contact.phone)] if contact.phone else []
    return join(tag("strong", link(contact.url, contact.name)), *phone, note_of(contact))
