"""What the page Ask draws before the law is open: the question box, and what must be known.

It stands apart from `rag.ui.pages.ask`, which brings the analysers: a visitor types while they are loaded.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rag.ui import layout
from rag.ui.components import permalink, question_form
from rag.ui.i18n import Interface


@dataclass(frozen=True, slots=True)
class AskHeader:
    """The upper part of the page, with placeholders for what depends on the law."""

    first: DeltaGenerator  # above the box: the articles of a link that was opened
    stage: DeltaGenerator  # all else: emptied where the law cannot be opened
    shared: permalink.SharedLink | None  # what the address asks to be shown
    box: question_form.ChoiceBox
    options: DeltaGenerator


def begin(t: Interface) -> AskHeader:
    """Draw what needs no law, so that the first visitor of a page writes while it is being opened.

    What they have typed by then stays: the box is the same element before and after.
    """
    permalink.take()
    shared = permalink.opened()
    first = st.container()  # also where no link is shown: the box keeps its place among the elements
    stage = st.empty()
    with stage.container():
        box = question_form.draw_box(t)
        options = st.container()
        layout.notice(t)
    return AskHeader(first, stage, shared, box, options)
