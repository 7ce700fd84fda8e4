"""A question put to the engine once, however often the page is drawn; and what comes before a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import streamlit as st

from rag.answer.before import Decision, before
from rag.errors import MissingExtra
from rag.explanation import Explanation
from rag.logs import log_failure
from rag.result import Result
from rag.ui import bridged, form, notices
from rag.ui.i18n import Words
from rag.ui.ports import Answers, AskEngine

SHOWN = 10
_T = TypeVar("_T")
FOUND = "found"  # in the session: what the last search found, and what it was asked


@dataclass(frozen=True, slots=True)
class _Found:
    """What the last search of the session found; one is kept, and nothing of the engine."""

    about: tuple[object, ...]  # the index, the question and how it was searched
    result: Result
    explained: list[Explanation]


def search(
    engine: AskEngine, question: str, options: form.Options, t: Words
) -> tuple[Result, list[Explanation]] | None:
    """Ask the engine, and why; None, and a calm word, when it breaks.

    What was found is kept for the next run of this session: a click that asks for nothing else, another
    language, and the way back from another page search no more.
    """
    without, loaded = bridged.removed(question), engine.info
    about = (
        loaded.name,
        loaded.version,
        loaded.corpus_sha256,
        question,
        options.mode,
        options.where,
        without,
    )
    kept: _Found | None = st.session_state.get(FOUND)
    if kept is not None and kept.about == about:
        return kept.result, kept.explained

    def ask() -> tuple[Result, list[Explanation]]:
        with st.spinner(t("Looking through {count} articles…", count=t.number(loaded.articles))):
            result = engine.ask(question, k=SHOWN, where=options.where, mode=options.mode, without=without)
            explained = engine.explain(result)
        st.session_state[FOUND] = _Found(about, result, explained)
        return result, explained

    return calmly(ask, "the search", t)


def calmly(ask: Callable[[], _T], what: str, t: Words) -> _T | None:
    """Return what the engine answers; None, and a calm word, when it breaks.

    Args:
        ask: asks it.
        what: it is, for the log, which learns nothing of the question.
        t: the interface.
    """
    try:
        return ask()
    except Exception as error:  # noqa: BLE001 - Streamlit would log the message, and it may quote the question
        log_failure(error, what)
    notices.failed(t)
    return None


def decide(question: str, result: Result, engine: AskEngine, answers: Answers) -> tuple[Decision, str]:
    """Return what comes before a model is asked, and why none can be."""
    try:
        return before(question, result, engine.card, leaves=answers.model is not None), answers.problem
    except MissingExtra as error:  # personal data cannot be looked for, so nothing is sent
        return before(question, result, engine.card, leaves=False), str(error)
