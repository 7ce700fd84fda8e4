"""The pages: `streamlit run app.py`. Opens one index, once, and hands it to `rag.ui`."""

from __future__ import annotations

import logging
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import streamlit as st
from starlette.middleware import Middleware
from streamlit.starlette import App

from indexes.cli.terminal import guard_log
from indexes.store.paths import current_version, default_index, file_state
from rag import lifecycle
from rag.errors import PandectError
from rag.ui import engine_cache, layout, navigation, shell, visits
from rag.ui.components import notices
from rag.ui.pages.ask_header import begin
from rag.ui.pages.law import access

if TYPE_CHECKING:
    from rag.engine.engine import Engine


def _open(index: str | None) -> Engine:
    import indexes  # why here: the name, the promise and the form are on the screen before FAISS is loaded

    return indexes.open(index)


def _healthy() -> bool:
    index = default_index()
    return engine_cache.healthy(index, current_version(index), _open, file_state)


def _unscripted() -> str:
    """Return what a browser without scripts shows; without contacts where the index cannot be read."""
    from indexes.shipped_questions import card_of

    return shell.no_script(card_of(default_index()))


def main() -> None:
    """Draw the page."""
    index = default_index()
    version = current_version(index)  # one small file is read, or a store asked once a second
    layout.set_up()
    t = layout.interface(st.session_state.get("corpus_language"))
    layout.masthead(t)
    page = navigation.draw(t, law=access.is_offered())
    if page == navigation.LAW:  # before the index is opened: whoever has none brings it in there
        library = import_module("indexes.cli.library").ServerLibrary()
        import_module("rag.ui.pages.law.page").render(library, t)
        return
    header = begin(t) if page == navigation.ASK else None
    try:
        with st.spinner(t("Opening the law…"), show_time=False):
            engine, version = engine_cache.serving(index, version, _open, file_state)
            feedback_store = engine_cache.feedback()
            visits.visits()  # a setting that cannot be used is told by its name
    except PandectError as error:
        if header is not None:
            header.stage.empty()
        notices.draw_failure(error, t)
        layout.notice(t)
        return
    if "corpus_language" not in st.session_state:
        # A browser that speaks none of our languages gets the corpus's, which is known only now.
        st.session_state["corpus_language"] = engine.card.language
        if layout.interface(engine.card.language).language != t.language:
            st.rerun()
    handed: tuple[object, ...] = ()  # what a page needs beside the index
    if page == navigation.COMPARE:
        from indexes.shipped_questions import held_out

        handed = (partial(engine_cache.held_out_questions, index, version, held_out),)
    elif page == navigation.QUALITY:
        handed = (partial(import_module("indexes.cli.results").read_results, index),)
    elif page in (navigation.ASK, navigation.ABOUT):
        answers = engine_cache.answers(index, version, engine)
        handed = (answers, feedback_store, *([header] if header is not None else []))
    page_module = import_module(f"rag.ui.pages.{page or 'ask'}")  # only now: it brings the analysers
    page_module.render(engine, t, *handed)


if __name__ == "__main__":  # run by Streamlit for each view
    with lifecycle.WORK.one():
        main()
else:  # imported by its server
    guard_log()
    try:
        engine_cache.check_settings()
    except PandectError as error:  # the page tells it too, and /health is not well
        logging.getLogger(__name__).error("%s", error)
    around = Middleware(shell.Shell, unscripted=_unscripted, healthy=lifecycle.Health(_healthy))
    app = App(__file__, middleware=[around], lifespan=lifecycle.draining)
