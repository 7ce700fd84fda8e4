"""Personal data in a question: said before anything is sent, with the question without them offered."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from rag.answer.screening.personal_data import Finding, Kind, personal_data, redact
from rag.ui.components.question_form import shorten
from rag.ui.html import tag
from rag.ui.i18n import N_, Words

KINDS: Mapping[Kind, str] = {
    Kind.EMAIL: N_("an e-mail address"),
    Kind.IBAN: N_("a bank account"),
    Kind.NATIONAL: N_("an identity number"),
    Kind.CARD: N_("a payment card"),
    Kind.PHONE: N_("a telephone number"),
    Kind.ADDRESS: N_("a postal address"),
    Kind.PLATE: N_("a number plate"),
    Kind.NAME: N_("a name"),
}
WITHOUT, EDITED, AS_TYPED = "without", "edited", "as typed"
CHOICES: Mapping[str, str] = {
    WITHOUT: N_("Send it without them (recommended)"),
    EDITED: N_("Let me change it"),
    AS_TYPED: N_("Send it as I wrote it"),
}
_FOUND = N_("Your question seems to hold personal data: {kinds}. The answer does not need them.")
_STILL = N_("It still seems to hold: {kinds}.")


def draw(question: str, found: tuple[Finding, ...], jurisdiction: str, language: str, t: Words) -> None:
    """Draw the warning, and the choice of what is sent; `chosen` reads it.

    Args:
        question: as typed.
        found: its personal data.
        jurisdiction: of the law, which says how telephone numbers are written.
        language: of the question, ISO 639-1.
        t: the interface.
    """
    without = redact(question, found, language)
    said = t(_FOUND, kinds=_kinds(found, t))
    st.html(tag("p", tag("strong", said), class_="pd-personal", role="status"))
    choice = st.radio(
        t("What shall be sent?"), list(CHOICES), format_func=lambda each: t(CHOICES[each]), key="sent_as"
    )
    text = ""
    if choice == EDITED:
        st.session_state.setdefault("sent_text", without)
        text = st.text_area(t("The question that is sent"), key="sent_text", height=112).strip()
        left = personal_data(text, jurisdiction)
        if left:
            st.html(tag("p", t(_STILL, kinds=_kinds(left, t)), class_="pd-personal", role="status"))
    if not text:  # an emptied box sends what is recommended, and that is seen
        shown = question if choice == AS_TYPED else without
        st.html(
            tag(
                "blockquote",
                shown,
                class_="pd-sent",
                lang=language,
                role="group",  # what has none may bear no name
                aria_label=t("The question that is sent"),
            )
        )


def chosen(question: str, found: tuple[Finding, ...], language: str) -> str:
    """Return what the person agreed to send, cut to what a question may have; for a callback.

    It is never empty: a box that was emptied sends the question without personal data.
    """
    choice = st.session_state.get("sent_as", WITHOUT) if found else AS_TYPED
    if choice == AS_TYPED:
        return question
    edited = shorten(st.session_state.get("sent_text", ""))[0] if choice == EDITED else ""
    return edited or redact(question, found, language)


def forget() -> None:
    """Forget what was chosen for another question."""
    for key in ("sent_as", "sent_text"):
        st.session_state.pop(key, None)


def _kinds(found: tuple[Finding, ...], t: Words) -> str:
    return t.listed(t(KINDS[kind]) for kind in dict.fromkeys(each.kind for each in found))
