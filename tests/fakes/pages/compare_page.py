"""The page "Compare" over a fake engine that AppTest puts in the session."""

import streamlit as st

from rag.ui import layout
from rag.ui.pages import compare

layout.set_up()
words = layout.interface()
layout.masthead(words)
layout.content()
questions = st.session_state["benchmark_questions"]
compare.render(st.session_state["engine"], words, lambda: questions)
