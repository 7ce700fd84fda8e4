"""The page itself: what runs, what is installed, what may be brought in, what people said."""

from __future__ import annotations

import streamlit as st

from rag.library import OperatorLibrary
from rag.ui import engine_cache, layout
from rag.ui.components.entries import heading
from rag.ui.html import tag
from rag.ui.i18n import Interface
from rag.ui.pages.law import access, feedback_queue, import_form, installed, jobs


def render(library: OperatorLibrary, t: Interface) -> None:
    """Draw the page under the masthead, for whoever may see it."""
    if access.admitted(t):
        _draw(library, t)
    layout.notice(t)


def _draw(library: OperatorLibrary, t: Interface) -> None:
    laws = library.installed()
    opened = library.opened()
    told = [
        t("This page opens {name}. Another can be opened below.", name=opened)
        if library.may_open()
        else t(
            "This page opens {name}: the setting {setting} of the server names it.",
            name=opened,
            setting="PANDECT_INDEX",
        )
    ]
    model, _ = engine_cache.model()
    if model is not None and model.judge:
        told.append(t("Used here: {model} to write, {judge} to check.", model=model.name, judge=model.judge))
    st.html(
        tag(
            "div",
            heading(t("The law of this server"), "law"),
            tag("p", t.sentences(*told)),
            class_="pd-found",
        )
    )
    access.draw_way_out(t)
    running = jobs.draw(library, t)
    installed.draw(library, laws, t, running=running)
    import_form.draw(library, t, running=running)
    feedback_queue.draw(library, laws, t, running=running)
