"""The pages and the links between them; "Ask" is the one at the bare address."""

from __future__ import annotations

import streamlit as st

from rag.ui.i18n import Words

COMPARE = "compare"  # also its address: /compare


def draw(t: Words) -> str:
    """Draw the links and return the name of the page that is open; "" is "Ask"."""
    ask = st.Page(_ask, title="Pandect", default=True)
    compare = st.Page(_compare, title=t("Compare"), url_path=COMPARE)
    chosen = st.navigation([ask, compare], position="hidden")
    if chosen.url_path:  # the title that the whole app was given would hide the page's own
        st.set_page_config(page_title=f"{chosen.title} · Pandect")
    # Streamlit drops the address's parameters when it changes the page: the language goes along.
    query = {"lang": st.query_params["lang"]} if "lang" in st.query_params else None
    with st.container(key="pages", horizontal=True):
        st.page_link(ask, label=t("Ask"), query_params=query)
        st.page_link(compare, label=t("Compare"), query_params=query)
    return chosen.url_path


def _ask() -> None:
    """Stand for the page "Ask": Streamlit names a page by a function, `app.py` draws it."""


def _compare() -> None:
    """Stand for the page "Compare"."""
