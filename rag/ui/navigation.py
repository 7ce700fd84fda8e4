"""The pages and the links between them; "Ask" is the one at the bare address."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from rag.ui import layout
from rag.ui.i18n import N_, Words

ASK = ""
BROWSE = "browse"  # also its address: /browse
COMPARE = "compare"
QUALITY = "quality"
ABOUT = "about"
SHEET = "sheet"  # reached from the articles that it prints
TITLES = {
    ASK: N_("Ask"),
    BROWSE: N_("Browse the codes"),
    COMPARE: N_("Compare"),
    QUALITY: N_("Quality"),
    ABOUT: N_("About"),
    SHEET: N_("One-page sheet"),
}


def draw(t: Words) -> str:
    """Draw the links and return the name of the page that is open; "" is "Ask"."""
    all_of_them = {
        name: st.Page(
            _stand_for(name), title=t(title) if name else "Pandect", url_path=name, default=not name
        )
        for name, title in TITLES.items()
    }
    chosen = st.navigation(list(all_of_them.values()), position="hidden")
    if chosen.url_path:  # the title that the whole app was given would hide the page's own
        st.set_page_config(page_title=f"{chosen.title} · Pandect")
    # Streamlit drops the address's parameters when it changes the page: the language goes along.
    query = {"lang": st.query_params["lang"]} if "lang" in st.query_params else None
    with st.container(key="pages", horizontal=True):
        for name, page in all_of_them.items():
            if name != SHEET:
                st.page_link(page, label=t(TITLES[name]), query_params=query)
    layout.content(chosen.url_path)
    return chosen.url_path


def _stand_for(name: str) -> Callable[[], None]:
    """Return what Streamlit names a page by: a function, which `app.py` never has it call."""

    def page() -> None: ...

    page.__name__ = page.__qualname__ = name or "ask"
    return page
