"""What every session shares: the indexes that are open, and what is read beside them.

`app.py` runs anew for every click. What Streamlit is to keep stands here, where it is looked at once: a
function that is wrapped at each run is read from its file, cut and hashed at each run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from rag.types import Question
from rag.ui import memory, rehearsal
from rag.ui.protocols import Answers

if TYPE_CHECKING:
    from rag.engine.engine import Engine

KEPT = 2  # indexes: the one in use, and the one before, so that a switch back is at once


@st.cache_resource(show_spinner=False, max_entries=KEPT, on_release=memory.closed)
def engine(index: str | None, version: str | None, _open: Callable[[str | None], Engine]) -> Engine:
    """Open an index by name or path, None for the one that ships; every session shares a version of it.

    A version that is switched in while the page runs is another key, so the next question meets it.

    Args:
        index: its name.
        version: what is in use now.
        _open: opens it; no part of the key.
    """
    memory.share_arenas()
    found = _open(index)
    threading.Thread(target=_warm, args=(found,), name="warm", daemon=True).start()  # while they type
    return found


def _warm(engine: Engine) -> None:
    """Do what the first question to an index would wait for, then take it out of the collector's way."""
    engine.warm()
    rehearsal.rehearse(engine)
    memory.settle()


@st.cache_resource(show_spinner=False, max_entries=KEPT)
def answers(index: str | None, version: str | None, _engine: Engine) -> Answers:
    """Return what the page answers with, beside the articles of a version of an index."""
    from rag.answer.extract import Extractor
    from rag.ui import configured

    return Answers(Extractor.of(_engine), *configured.model())


@st.cache_resource(show_spinner=False, max_entries=KEPT)
def asked_questions(
    index: str | None, version: str | None, _read: Callable[[str | None], Sequence[Question]]
) -> Sequence[Question]:
    """Return the questions of an index that it did not learn from."""
    return _read(index)
