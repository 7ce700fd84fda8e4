"""The page over a fake engine: AppTest puts one in the session, a browser names one (`?engine=hostile`)."""

import streamlit as st
from page_fakes import ENGINES

from rag.ui import ask, frame

frame.set_up()
words = frame.interface()
frame.masthead(words)
ask.render(st.session_state.get("engine") or ENGINES[st.query_params.get("engine", "plain")], words)
