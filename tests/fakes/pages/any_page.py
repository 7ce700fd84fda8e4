"""A page over a fake engine: AppTest puts both in the session, a browser names them (`?page=…&engine=…`)."""

import streamlit as st

from rag.corpus.quality import QualityResults
from rag.ui import layout
from rag.ui.pages import about, ask, browse, quality, sheet
from rag.ui.pages.law import page as law
from tests.fakes.pages.ui_engine import ENGINES


def results() -> QualityResults | None:
    told = st.session_state.get("results")
    if isinstance(told, Exception):
        raise told
    return told


layout.set_up()
words = layout.interface()
layout.masthead(words)
layout.content()
engine = st.session_state.get("engine") or ENGINES["plain"]
match st.session_state["page"]:
    case "browse":
        browse.render(engine, words)
    case "quality":
        quality.render(engine, words, results)
    case "about":
        about.render(
            engine, words, st.session_state.get("answers") or ask.NO_ANSWERS, st.session_state.get("kept")
        )
    case "sheet":
        sheet.render(engine, words)
    case "law":
        law.render(st.session_state["library"], words)
    case "beside":  # all but the first, one below the other
        browse.render(engine, words)
        quality.render(engine, words, results)
        about.render(engine, words)
        sheet.render(engine, words)
    case _:
        ask.render(engine, words)
