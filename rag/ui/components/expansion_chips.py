"""Words of the law that a search was widened by: told, taken out, put back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import streamlit as st

from rag.engine.result import Result
from rag.retrieval.translation_model import ExpansionTerm, Removed
from rag.ui.html import plain_label, tag
from rag.ui.i18n import N_, Interface

Act: TypeAlias = Callable[[str, ExpansionTerm], None]
_STATE = "bridge_removed"  # the question asked, and the pairs that were taken out of its search
_HINT = N_("Searched too. Press one to leave it out.")
_GONE = N_("Searched without these words of the law. Press one to put it back.")
_CHIP = N_("“{typed}”: this law says “{law}” ✕")
_BACK = N_("“{typed}”: put back “{law}”")


def removed(question: str) -> Removed:
    """Return the pairs that were taken out of this question's search; another question begins with all."""
    return frozenset((pair.lay, pair.law) for pair in _removed(question))


def draw(question: str, result: Result, t: Interface) -> None:
    """Draw a chip for each pair that is told, and one for each that was taken out."""
    if result.known:  # never widened
        return
    _chips(_HINT, _CHIP, "bridged", [(pair, _take_out) for pair in result.bridged], question, t)
    _chips(_GONE, _BACK, "unbridged", [(pair, _put_back) for pair in _removed(question)], question, t)


def _chips(
    hint: str, label: str, key: str, pairs: Sequence[tuple[ExpansionTerm, Act]], question: str, t: Interface
) -> None:
    if not pairs:
        return
    with st.container(key=key):
        st.html(tag("p", t(hint), class_="pd-hint", role="status"))
        with st.container(horizontal=True, key=f"{key}-chips"):
            for number, (pair, act) in enumerate(pairs):  # numbered: few keys in a session, see share.py
                label_ = t(label, typed=pair.typed.lower(), law=pair.form)
                st.button(plain_label(label_), key=f"{key}-{number}", on_click=act, args=(question, pair))


def _removed(question: str) -> tuple[ExpansionTerm, ...]:
    state, pairs = st.session_state.get(_STATE, ("", ()))
    return pairs if state == question else ()


def _take_out(question: str, pair: ExpansionTerm) -> None:
    st.session_state[_STATE] = question, (*_removed(question), pair)


def _put_back(question: str, pair: ExpansionTerm) -> None:
    st.session_state[_STATE] = question, tuple(other for other in _removed(question) if other != pair)
