"""The page "Compare": two to four ways to search side by side on one question."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from rag.engine.engine import Engine
from rag.engine.result import Mode, Result, shorten
from rag.screening.decision import screen_danger, screen_question
from rag.types import Filter, Question
from rag.ui import layout, url_state
from rag.ui.components import notices, question_form
from rag.ui.components.article_history import validity_line
from rag.ui.components.comparison import ComparisonColumn, table
from rag.ui.html import tag
from rag.ui.i18n import N_, Interface
from rag.ui.navigation import COMPARE
from rag.ui.search import failure_notice, may_search, recall, remember, search_key, spinner

SHOWN = 10
MOST = 4
WEIGHED: Mode = "hybrid"  # the way to search that notices are weighed with

_PROMISE = N_(
    "One question, several ways to search: see which articles each of them finds, and where they differ."
)
_ONE_WAY = N_("This index has one way to search only: there is nothing to compare it with.")
_KNOWN = N_(
    "This question belongs to the test questions: the articles that answer it are known, and marked below."
)


def render(engine: Engine, t: Interface, benchmark: Callable[[], Sequence[Question]] | None = None) -> None:
    """Draw the page under the masthead; `benchmark` gives the test questions, and may take its time once."""
    st.html(
        tag("div", tag("h2", t("Compare the ways to search")), tag("p", t(_PROMISE)), class_="pd-compare")
    )
    if len(engine.modes) < 2:
        st.html(tag("p", t(_ONE_WAY), class_="pd-hint", role="status"))
        layout.notice(t)
        layout.footer(engine, t)
        return
    tests = benchmark() if benchmark is not None else ()
    box, asked = question_form.draw_box(t, COMPARE), shorten(st.session_state.get("asked") or "")[0]
    told = bool(notices.foreign_language(asked, engine.card.language, t.language))
    question_form.draw_question(t, engine.card.language, box, told=told)
    if tests:
        # the box shows the test question that was asked, however it was: a reload asks it again
        asked = _plain(st.session_state.get("asked") or "")
        st.session_state["benchmark"] = next((q.text for q in tests if _plain(q.text) == asked), None)
        st.selectbox(
            t("Or take a test question, whose answer is known"),
            [question.text for question in tests],
            index=None,
            key="benchmark",
            placeholder=t("Choose a question"),
            on_change=_take,
        )
    modes = list(engine.modes)
    url_state.follow("systems", lambda values: url_state.allowed_values(modes)(values)[:MOST], modes[:MOST])
    systems = st.multiselect(
        t("Ways to search"),
        modes,
        format_func=lambda mode: t(question_form.MODES[mode]) if mode in question_form.MODES else mode,
        key="systems",
        max_selections=MOST,
        placeholder=t("Choose"),
        on_change=question_form.store_multiselect,
        args=("systems",),
    )
    layout.notice(t)
    typed: str | None = st.session_state.get("asked")
    question, _ = shorten(typed or "")
    if typed is not None and not question:
        notices.empty(t)
    elif question and len(systems) < 2:
        st.html(tag("p", t("Choose at least two ways to search."), class_="pd-hint", role="status"))
    elif question:
        _draw(engine, question, systems, gold(question, tests), t)
    if not question:
        question_form.draw_examples(engine.card, t)
    layout.footer(engine, t)


def gold(question: str, tests: Sequence[Question]) -> frozenset[str]:
    """Return the articles that answer the question, if it is a test question; spacing does not count."""
    plain = _plain(question)
    return frozenset(i for q in tests if _plain(q.text) == plain for i in q.article_ids)


def _plain(question: str) -> str:
    return " ".join(question.split())


def _take() -> None:
    """Ask the test question that was chosen, or none where it was taken out; for the box's callback."""
    if st.session_state["benchmark"]:
        st.session_state["question"] = st.session_state["asked"] = st.session_state["benchmark"]
    else:
        st.session_state["question"] = ""
        st.session_state.pop("asked", None)


def _draw(
    engine: Engine, question: str, systems: Sequence[Mode], known: frozenset[str], t: Interface
) -> None:
    """Ask the engine in each way; a calm word stands there when it breaks."""
    day = question_form.current_day(engine)
    where = Filter(in_force_on=day) if day else None
    key = search_key(engine, question, where, tuple(systems))
    above = st.container()  # help stands above the word that a search could not be made, too
    compared: tuple[list[ComparisonColumn], Result] | None = recall("the comparison", key)
    if compared is None and may_search(t, len(systems)):
        with failure_notice("the comparison", t), spinner(engine, t):
            results = [engine.ask(question, k=SHOWN, where=where, mode=system) for system in systems]
            columns = [
                ComparisonColumn(system, result.shown, tuple(engine.explain(result)), result.in_force_on)
                for system, result in zip(systems, results, strict=True)
            ]
            told = next((result for result in results if result.mode == WEIGHED), None)
            told = told or engine.ask(question, k=SHOWN, where=where)  # as the page "Ask" searches
            compared = columns, told
            if any(result.missing for result in results):
                notices.missing(t)
            else:
                remember("the comparison", key, compared)
    with above:
        _notices(engine, question, compared[1] if compared is not None else None, t)
    if compared is None:
        return
    columns, _ = compared
    if known:
        said = t.sentences(*filter(None, (t(_KNOWN), notices.question_origin(engine.card, t))))
        st.html(tag("p", said, class_="pd-hint", role="status"))
    if day is not None:
        st.html(validity_line(day, engine.card.law_dates(), dated=True, t=t))
    st.html(table(columns, known, engine.card, t))


def _notices(engine: Engine, question: str, result: Result | None, t: Interface) -> None:
    """Say what the page "Ask" says above its articles: a person in danger may stand here as well as there."""
    card, articles = engine.card, engine.law.articles
    decision = (
        screen_danger(question, card)
        if result is None
        else screen_question(question, result, card, leaves=False)
    )
    notices.draw_emergency(decision, t, card, articles)
    notices.draw_limits(decision, t, card, articles)
    if decision.grave:
        return
    notices.draw_language(question, card.language, t)
    said = notices.in_question_language(question, t)
    if decision.reason in notices.SCREENED_REASONS:
        notices.screening_notice(decision, card, said)
    elif result is not None:
        notices.elsewhere(result.elsewhere, card, said)
