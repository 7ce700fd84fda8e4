"""The page: `streamlit run app.py`. Opens one index, once, and hands it to `rag.ui`."""

from __future__ import annotations

import os

import streamlit as st

from rag.errors import PandectError
from rag.ui import failure, frame
from rag.ui.ports import AskEngine


@st.cache_resource(show_spinner=False, max_entries=2)
def opened(index: str | None) -> AskEngine:
    """Open an index by name or path, None for the one that ships; every session shares it."""
    import indexes  # why here: the name and the promise are on the screen before numpy and FAISS are loaded

    return indexes.open(index)


def main() -> None:
    """Draw the page."""
    frame.set_up()
    t = frame.interface(st.session_state.get("corpus_language"))
    frame.masthead(t)
    try:
        with st.spinner(t("Opening the law…"), show_time=False):
            engine = opened(os.environ.get("PANDECT_INDEX") or None)
    except PandectError as error:
        failure.draw(error, t)
        frame.notice(t)
        return
    if "corpus_language" not in st.session_state:
        # A browser that speaks none of our languages gets the corpus's, which is known only now.
        st.session_state["corpus_language"] = engine.card.language
        if frame.interface(engine.card.language).language != t.language:
            st.rerun()
    from rag.ui import ask  # why here: as above, it brings the analysers

    ask.render(engine, t)


main()
