"""The pages: `streamlit run app.py`. Opens one index, once, and hands it to `rag.ui`."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import streamlit as st

from indexes.places import version_of
from rag.errors import PandectError
from rag.types import Question
from rag.ui import configured, failure, frame, heap, pages
from rag.ui.ports import Answers

if TYPE_CHECKING:
    from rag.engine import Engine


@st.cache_resource(show_spinner=False, max_entries=2)
def opened(index: str | None, version: str | None) -> Engine:
    """Open an index by name or path, None for the one that ships; every session shares a version of it.

    A version that is switched in while the page runs is another key, so the next question meets it.
    """
    import indexes  # why here: the name and the promise are on the screen before numpy and FAISS are loaded

    engine = indexes.open(index)
    threading.Thread(target=heap.warm, args=(engine,), name="warm", daemon=True).start()  # while they type
    return engine


@st.cache_resource(show_spinner=False, max_entries=2)
def answers(index: str | None, version: str | None) -> Answers:
    """Return what the page answers with, beside the articles of a version of an index."""
    from rag.answer.extract import Extractor

    return Answers(Extractor.of(opened(index, version)), *configured.model())


@st.cache_resource(show_spinner=False, max_entries=2)
def test_questions(index: str | None, version: str | None) -> Sequence[Question]:
    """Read the questions of an index that it did not learn from; none where they cannot be read."""
    from indexes.corpus import HELD_OUT, read, read_questions
    from indexes.places import builtin, locate

    try:
        folder, _ = locate(index)
        corpus = read(folder / "corpus")
        if folder == builtin():  # its test questions lie beside it, and in no corpus
            return read_questions(folder.with_name("questions_test.jsonl"), corpus.articles)
    except PandectError:
        return ()
    return [q for q in corpus.questions if q.split in HELD_OUT and q.article_ids]


def main() -> None:
    """Draw the page."""
    index = os.environ.get("PANDECT_INDEX") or None
    version = version_of(index)  # one small file is read
    frame.set_up()
    t = frame.interface(st.session_state.get("corpus_language"))
    frame.masthead(t)
    page = pages.draw(t)
    try:
        with st.spinner(t("Opening the law…"), show_time=False):
            engine = opened(index, version)
            kept = configured.feedback()
    except PandectError as error:
        failure.draw(error, t)
        frame.notice(t)
        return
    if "corpus_language" not in st.session_state:
        # A browser that speaks none of our languages gets the corpus's, which is known only now.
        st.session_state["corpus_language"] = engine.card.language
        if frame.interface(engine.card.language).language != t.language:
            st.rerun()
    handed: tuple[object, ...] = ()  # what a page needs beside the index
    if page == pages.COMPARE:
        handed = (partial(test_questions, index, version),)
    elif page == pages.QUALITY:
        from indexes import measured

        handed = (partial(measured.of, index),)
    elif page in (pages.ASK, pages.ABOUT):
        handed = (answers(index, version), kept)
    import_module(f"rag.ui.{page or 'ask'}").render(engine, t, *handed)  # only now: it brings the analysers


main()
