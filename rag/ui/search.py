"""A question put to the engine once, however often the page is drawn; and what comes before a model."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import streamlit as st

from rag.answer.extractive import Extractor
from rag.answer.generation.writer import ModelWriter
from rag.engine.engine import Engine
from rag.engine.result import Explanation, Result
from rag.errors import MissingExtra, log_failure
from rag.screening.decision import Decision, screen_question
from rag.ui import visits
from rag.ui.components import expansion_chips, notices, question_form
from rag.ui.i18n import Interface

SHOWN = 10
_T = TypeVar("_T")
_FOUND = "found"  # in the session: kind of search -> what was asked, and what it found


@dataclass(frozen=True, slots=True)
class Answers:
    """What the page has to answer with beside the articles."""

    quoter: Extractor | None = None
    model: ModelWriter | None = None  # None: nothing is ever sent anywhere
    problem: str = ""  # why a model that was asked for is not there, for whoever runs the page


NO_ANSWERS = Answers()


def search(
    engine: Engine, question: str, options: question_form.Options, t: Interface
) -> tuple[Result, list[Explanation]] | None:
    """Ask the engine, and why; None, and a calm word, when it breaks."""
    without = expansion_chips.removed(question)
    key = search_key(engine, question, options.mode, options.where, without)
    found: tuple[Result, list[Explanation]] | None = recall("the search", key)
    if found is None and may_search(t):
        with failure_notice("the search", t), spinner(engine, t):
            result = engine.ask(question, k=SHOWN, where=options.where, mode=options.mode, without=without)
            found = result, engine.explain(result)
            if not result.missing:  # a part that did not answer may do so at the next run
                remember("the search", key, found)
    return found


def may_search(t: Interface, searches: int = 1) -> bool:
    """Count searches for the person's address; where it has had too many, say how long to wait."""
    wait = visits.visits().searches.take(address=visits.address(), calls=searches)
    if wait > 0:
        notices.too_many(math.ceil(wait), t)
    return wait <= 0


def spinner(engine: Engine, t: Interface) -> AbstractContextManager[None]:
    """Say that the law is being searched, while it is."""
    return st.spinner(t("Looking through {count} articles…", count=t.number(engine.info.articles)))


@contextmanager
def failure_notice(what: str, t: Interface) -> Iterator[None]:
    """Turn an error into a calm notice; the log learns the kind of search, and nothing of the question."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - Streamlit would log the message, and it may quote the question
        log_failure(error, what)
        notices.failed(t)


def search_key(engine: Engine, *inputs: object) -> tuple[object, ...]:
    """Return what a search depends on: the index that is open, the question and how it is searched."""
    return (engine.info.name, engine.info.version, engine.info.corpus_sha256, *inputs)


def recall(what: str, key: tuple[object, ...]) -> Any:  # noqa: ANN401 - each kind of search has its own type
    """Return what the session's last search of a kind found, if its key was this one; else None.

    A click that asks for nothing else, another language, and the way back from another page search no more.
    """
    last_key, found = st.session_state.get(_FOUND, {}).get(what, (None, None))
    return found if last_key == key else None


def remember(what: str, key: tuple[object, ...], found: _T) -> _T:
    """Store for `recall` what a search found, which may hold nothing of the engine: the page may close it."""
    st.session_state.setdefault(_FOUND, {})[what] = key, found
    return found


def decide(question: str, result: Result, engine: Engine, answers: Answers) -> tuple[Decision, str]:
    """Return what comes before a model is asked, and why none can be."""
    card, leaves = engine.card, answers.model is not None
    try:
        return screen_question(question, result, card, leaves=leaves), answers.problem
    except MissingExtra as error:  # personal data cannot be looked for, so nothing is sent
        return screen_question(question, result, card, leaves=False), str(error)
