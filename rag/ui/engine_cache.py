"""What every session shares: the indexes that are open, the language model, what is read beside them.

`app.py` runs anew for every click. What Streamlit is to keep stands here, where it is looked at once: a
function that is wrapped at each run is read from its file, cut and hashed at each run. What a page needs
only when the law is open is imported where it is used: the question box is on the screen before that.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from rag import memory
from rag.engine.law_in_use import LawInUse
from rag.errors import PandectError, log_failure
from rag.types import Question
from rag.ui import visits
from rag.ui.pages.law import access

if TYPE_CHECKING:
    from rag.answer.generation.writer import ModelWriter
    from rag.engine.engine import Engine
    from rag.feedback import Feedback
    from rag.ui.search import Answers

_log = logging.getLogger(__name__)
MAX_OPEN_INDEXES = 2  # indexes: the one in use, and the one before, so that a switch back is at once


@st.cache_resource(show_spinner=False, max_entries=MAX_OPEN_INDEXES, on_release=memory.closed)
def engine(index: str | None, version: str | None, _open: Callable[[str | None], Engine]) -> Engine:
    """Open an index by name or path, None for the one that ships; every session shares a version of it.

    A version that is switched in while the page runs is another key, so the next question meets it.
    """
    memory.share_arenas()
    found = _open(index)
    threading.Thread(target=_warm, args=(found,), name="warm", daemon=True).start()  # while they type
    return found


@st.cache_resource(show_spinner=False)
def _law() -> LawInUse:
    """Return which version of each index was opened last, and which could not be."""
    return LawInUse()


def serving(
    index: str | None,
    version: str | None,
    open_: Callable[[str | None], Engine],
    state: Callable[[str | None], object],
) -> tuple[Engine, str | None]:
    """Return the engine of the version in use, and that version; see `LawInUse.serving`."""
    return _law().serving(index, version, partial(engine, _open=open_), state)


def _secrets() -> dict[str, Any]:
    """Return what `.streamlit/secrets.toml` holds."""
    return st.secrets.to_dict() if st.secrets.load_if_toml_exists() else {}


def check_settings() -> None:
    """Raise `BadInput` of the first setting of this process that cannot be used."""
    from rag.answer.generation.settings import read, read_judge

    feedback()
    if shared := visits.visits().shared:
        shared.check()
    access.password()
    secrets = _secrets()
    writer = read(os.environ, secrets)
    if writer is not None:
        read_judge(writer, os.environ, secrets)


def healthy(
    index: str | None,
    version: str | None,
    open_: Callable[[str | None], Engine],
    state: Callable[[str | None], object],
) -> bool:
    """Return whether the settings can be used and an example question finds an article; the log says why."""
    try:
        check_settings()
        found, _ = serving(index, version, open_, state)
    except PandectError as error:
        _log.error("%s", error)
        return False
    result = found.ask(_example(found), k=1)
    return not result.missing and (bool(result.shown) or not found.card.examples)  # a title need not be found


def _example(engine: Engine) -> str:
    return engine.card.examples[0] if engine.card.examples else engine.card.title


def _warm(engine: Engine) -> None:
    """Do what the first question to an index would wait for, then take it out of the collector's way."""
    engine.warm()
    rehearse(engine)
    memory.settle()


def rehearse(engine: Engine) -> None:
    """Ask an example question of the corpus, and forget what is found, while somebody types theirs.

    Much is made when it is first asked for: neighbours and annotated questions, the patterns of urgent
    situations and countries (a third of a second), what the question back reads. A list of all that would
    soon lack something; a question goes through it as everybody's do. What breaks is logged and breaks
    nothing: who asks is told by the page.
    """
    from rag.screening.decision import screen_question
    from rag.screening.dialogue import clarify
    from rag.ui.search import SHOWN

    card, question = engine.card, _example(engine)
    try:
        result = engine.ask(question, k=SHOWN)
        engine.explain(result)
        # why leaves=False: what marks personal data needs the extra [llm], which a page without a model lacks
        screen_question(question, result, card, leaves=False)
        clarify(question, result.shown, card.language)
    except Exception as error:  # noqa: BLE001 - nobody waits for it
        log_failure(error, "the rehearsal")


@st.cache_resource(show_spinner=False, max_entries=MAX_OPEN_INDEXES)
def answers(index: str | None, version: str | None, _engine: Engine) -> Answers:
    """Return what the page answers with, beside the articles of a version of an index."""
    from rag.answer.extractive import Extractor
    from rag.ui.search import Answers

    return Answers(Extractor.of(_engine), *model())


@st.cache_resource(show_spinner=False, max_entries=MAX_OPEN_INDEXES)
def held_out_questions(
    index: str | None, version: str | None, _read: Callable[[str | None], Sequence[Question]]
) -> Sequence[Question]:
    """Return the questions of an index that it was not fitted to."""
    return _read(index)


@st.cache_resource(show_spinner=False)
def model() -> tuple[ModelWriter | None, str]:
    """Return the model, or what is wrong with its settings; (None, "") where none is named."""
    from rag.answer.generation.writer import model_writer

    try:
        writer = model_writer(os.environ, _secrets())
    except PandectError as error:  # its message holds no key
        return None, str(error)
    if writer is not None:
        threading.Thread(target=writer.warm, name="warm model", daemon=True).start()
    return writer, ""


def feedback() -> Feedback | None:
    """Return where the host has feedback kept; None where it does not.

    Raises:
        BadInput: a setting of it cannot be used.
    """
    from rag.feedback import from_environment

    return from_environment(os.environ)
