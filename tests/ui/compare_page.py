"""The page "Compare" over a fake engine that AppTest puts in the session."""

import streamlit as st

from rag.ui import compare, frame

frame.set_up()
words = frame.interface()
frame.masthead(words)
frame.content()
questions = st.session_state["benchmark_questions"]
compare.render(st.session_state["engine"], words, lambda: questions)
