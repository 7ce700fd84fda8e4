"""A question put to the engine once, however often the page is drawn; and what comes before a model."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st

from rag.answer.screening.decision import Decision, screen_question
from rag.engine.result import Explanation, Result
from rag.errors import MissingExtra, log_failure
from rag.ui.components import expansion_chips, notices, question_form
from rag.ui.i18n import Interface
from rag.ui.protocols import Answers, AskEngine

SHOWN = 10
_T = TypeVar("_T")
_FOUND = "found"  # in the session: what the last search of each kind found, and what it was asked


@dataclass(frozen=True, slots=True)
class _SearchResult(Generic[_T]):
    """The outcome of a search, without references to the engine."""

    about: tuple[object, ...]  # the index, the question and how it was searched
    found: _T


def search(
    engine: AskEngine, question: str, options: question_form.Options, t: Interface
) -> tuple[Result, list[Explanation]] | None:
    """Ask the engine, and why; None, and a calm word, when it breaks."""
    without = expansion_chips.removed(question)

    def ask() -> tuple[Result, list[Explanation]]:
        with looking(engine, t):
            result = engine.ask(question, k=SHOWN, where=options.where, mode=options.mode, without=without)
            return result, engine.explain(result)

    return ask_engine("the search", engine, (question, options.mode, options.where, without), ask, t)


def looking(engine: AskEngine, t: Interface) -> AbstractContextManager[None]:
    """Say that the law is being searched, while it is."""
    return st.spinner(t("Looking through {count} articles…", count=t.number(engine.info.articles)))


def ask_engine(
    what: str, engine: AskEngine, asked: tuple[object, ...], ask: Callable[[], _T], t: Interface
) -> _T | None:
    """Return what the engine answers; None, and a calm notice, when it fails.

    What was found is kept for the next run of this session, the last of each kind: a click that asks for
    nothing else, another language, and the way back from another page search no more.

    Args:
        what: kind of search it is; the log learns it, and nothing of the question.
        engine: that is asked.
        asked: the question and how it is searched.
        ask: asks it; what it returns may hold nothing of the engine, which the page may close.
        t: the interface.
    """
    loaded = engine.info
    about = (loaded.name, loaded.version, loaded.corpus_sha256, *asked)
    kept: dict[str, _SearchResult[_T]] = st.session_state.setdefault(_FOUND, {})
    if what in kept and kept[what].about == about:
        return kept[what].found
    try:
        found = ask()
    except Exception as error:  # noqa: BLE001 - Streamlit would log the message, and it may quote the question
        log_failure(error, what)
        notices.failed(t)
        return None
    kept[what] = _SearchResult(about, found)
    return found


def decide(question: str, result: Result, engine: AskEngine, answers: Answers) -> tuple[Decision, str]:
    """Return what comes before a model is asked, and why none can be."""
    try:
        return screen_question(
            question, result, engine.card, leaves=answers.model is not None
        ), answers.problem
    except MissingExtra as error:  # personal data cannot be looked for, so nothing is sent
        return screen_question(question, result, engine.card, leaves=False), str(error)
