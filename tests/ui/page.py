"""The page over a fake engine: AppTest puts one in the session, a browser names one (`?engine=hostile`)."""

from pathlib import Path

import streamlit as st
from answer_fakes import ANSWER_ENGINES, ANSWERS

from rag.errors import MissingIndex
from rag.feedback import Feedback
from rag.ui import ask, failure, frame

frame.set_up()
words = frame.interface()
frame.masthead(words)
frame.content()
if st.query_params.get("engine") == "missing":
    failure.draw(MissingIndex("belgium is not there: run python -m indexes build belgium"), words)
    frame.notice(words)
    st.stop()
engine = st.session_state.get("engine") or ANSWER_ENGINES[st.query_params.get("engine", "plain")]
answers = st.session_state.get("answers") or ANSWERS.get(st.query_params.get("answers", ""), ask.NO_ANSWERS)
kept = st.session_state.get("kept")
if "kept" in st.query_params:
    kept = Feedback(Path.home() / "said.sqlite")  # the folder of this server alone
ask.render(engine, words, answers, kept)
