"""The page over a fake engine: AppTest puts one in the session, a browser names one (`?engine=hostile`)."""

import streamlit as st
from answer_fakes import ANSWER_ENGINES, ANSWERS

from rag.ui import ask, frame

frame.set_up()
words = frame.interface()
frame.masthead(words)
engine = st.session_state.get("engine") or ANSWER_ENGINES[st.query_params.get("engine", "plain")]
answers = st.session_state.get("answers") or ANSWERS.get(st.query_params.get("answers", ""), ask.NO_ANSWERS)
ask.render(engine, words, answers, st.session_state.get("kept"))
