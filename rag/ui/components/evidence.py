"""Articles that a person adds to those that were found, from what stands around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from rag.engine.result import Shown, Why
from rag.types import Article
from rag.ui import url_state
from rag.ui.components import permalink
from rag.ui.components.article_card import View, card_html
from rag.ui.html import tag
from rag.ui.i18n import Words
from rag.ui.links import named

MOST = 20  # a list that is longer helps nobody


def take() -> None:
    """Move what the address adds into the session; call it before anything else of the page is drawn.

    Without a question or a link in this session (the link was opened in another tab) it is shown by itself.
    """
    wanted = named(st.query_params.get("add"))[:1]
    if "add" not in st.query_params:
        return
    asked = st.session_state.get("asked")
    of, ids = st.session_state.get("added", (None, ()))
    del st.query_params["add"]
    url_state.keep()
    if asked:
        ids = ids if of == asked else ()
        st.session_state["added"] = asked, tuple(dict.fromkeys((*ids, *wanted)))[:MOST]
    else:
        permalink.add(wanted)


def draw(shown: Sequence[Article], view: View, asked: str, t: Words) -> tuple[Article, ...]:
    """Draw the articles that were added to what a question found, and return them.

    Args:
        shown: those that were found.
        view: what the cards share.
        asked: the question, as it stands in the session.
        t: the interface.
    """
    of, ids = st.session_state.get("added", (None, ()))
    if of != asked or view.law is None:
        return ()
    known = {article.id for article in shown}
    found = tuple(view.law.articles[i] for i in ids if i in view.law.articles and i not in known)
    if not found:
        return ()
    title = t.n("You added one article", "You added {count} articles", len(found))
    head = tag("h2", title, tabindex="-1", data_arrive=f"added {len(found)}")
    st.html(tag("div", head, class_="pd-found", role="status"))
    for n, article in enumerate(found, start=len(shown) + 1):
        st.html(card_html(Shown(n, article, 0.0, Why()), replace(view, ranked=False)))
    st.button(t("Take them out again"), key="unadd", on_click=_forget)
    return found


def _forget() -> None:
    st.session_state.pop("added", None)
