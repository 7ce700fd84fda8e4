"""The page over a fake engine: AppTest puts one in the session, a browser names one (`?engine=hostile`).

A browser may name another page too (`?page=quality`).
"""

from pathlib import Path

import streamlit as st

from rag.errors import BadInput, MissingIndex
from rag.feedback import Feedback
from rag.ui import layout
from rag.ui.components import notices
from rag.ui.pages import about, ask, browse, compare, quality
from rag.ui.pages.law import page as law
from tests.fakes.pages import law_library
from tests.fakes.pages.ui_answers import ANSWER_ENGINES, ANSWERS


def broken() -> None:
    raise BadInput("results.json: line 1 is no JSON")


layout.set_up()
words = layout.interface()
layout.masthead(words)
layout.content()
if st.query_params.get("engine") == "missing":
    notices.draw_failure(MissingIndex("belgium is not there: run python -m indexes build belgium"), words)
    layout.notice(words)
    st.stop()
engine = st.session_state.get("engine") or ANSWER_ENGINES[st.query_params.get("engine", "plain")]
answers = st.session_state.get("answers") or ANSWERS.get(st.query_params.get("answers", ""), ask.NO_ANSWERS)
kept = st.session_state.get("kept")
if "kept" in st.query_params:
    kept = Feedback(Path.home() / "said.sqlite")  # the folder of this server alone
match st.query_params.get("page"):
    case "about":
        about.render(engine, words, answers, kept)
    case "browse":
        browse.render(engine, words)
    case "compare":
        compare.render(engine, words)
    case "law":
        law.render(law_library.of_address(), words)
    case "quality":
        quality.render(engine, words, broken if "broken" in st.query_params else lambda: None)
    case _:
        ask.render(engine, words, answers, kept)
