"""The page "Ask": a question in, articles out."""

from __future__ import annotations

import streamlit as st

from rag.errors import PandectError
from rag.explanation import Explanation
from rag.result import Result
from rag.ui import bridged, evidence, form, frame, notices, permalink, share
from rag.ui.cards import View, card_html
from rag.ui.dates import of_day
from rag.ui.i18n import N_, Words
from rag.ui.markup import Html, tag
from rag.ui.ports import AskEngine
from rag.ui.quiet import log_failure

SHOWN = 10
_DOTTED = N_("Those with a dotted line are words that this law has for yours.")
SURE = 0.7  # calibrated probability from which nothing need be said


def render(engine: AskEngine, t: Words) -> None:
    """Draw the page under the masthead, in the state that the session is in."""
    evidence.take()
    shared = permalink.opened()
    form.draw_question(t, engine.card.language)
    if shared is not None and permalink.left():
        shared = None
    options = form.draw_options(engine, t)
    frame.notice(t)
    asked: str | None = st.session_state.get("asked")
    question, was_cut = form.shorten(asked or "")
    result: Result | None = None
    explained: list[Explanation] = []
    if question:
        result, explained = _search(engine, question, options, t)
        if was_cut:
            notices.cut(len(asked or ""), t)
    if shared is not None:
        share.draw(engine, permalink.draw(engine, shared, options, t), shared.question, options.where, t)
    elif asked is not None and (not question or (result is not None and result.status == "empty")):
        notices.empty(t)
    elif result is not None:
        _draw(engine, question, result, explained, options, t)
    if shared is None and (result is None or result.status != "found"):
        form.draw_examples(engine.card.examples, t)
    frame.footer(engine, t)


def _search(
    engine: AskEngine, question: str, options: form.Options, t: Words
) -> tuple[Result | None, list[Explanation]]:
    """Ask the engine, and why; None, and a calm word, when it breaks."""
    try:
        with st.spinner(t("Looking through {count} articles…", count=t.number(engine.info.articles))):
            without = bridged.removed(question)
            result = engine.ask(question, k=SHOWN, where=options.where, mode=options.mode, without=without)
            return result, engine.explain(result)
    except PandectError as error:
        log_failure(error)
    except Exception as error:  # noqa: BLE001 - Streamlit would log the message, and it may quote the question
        log_failure(error)
    notices.failed(t)
    return None, []


def _draw(
    engine: AskEngine,
    question: str,
    result: Result,
    explained: list[Explanation],
    options: form.Options,
    t: Words,
) -> None:
    notices.elsewhere(result.elsewhere, t)
    notices.known(result, t)
    notices.mended(result, engine.analyser, t)
    bridged.draw(question, result, t)
    if not result.shown:
        if options.chosen:
            notices.filtered_out(t)
        else:
            notices.nothing(engine.card, t)
        return
    heading = t.n("One article to look at", "{count} articles to look at", len(result.shown))
    unsure: Html | str = ""
    if result.elsewhere:  # says enough: two warnings would be one too many
        heading = t("{title}: what may still help", title=engine.card.title)
    elif result.doubtful:
        notices.doubtful(engine.card, _law(engine), t)
        heading = t.n("The closest article", "The {count} closest articles", len(result.shown))
    elif result.confidence is not None and result.confidence < SURE:
        unsure = tag("p", t("One of these may answer; it is not certain."), class_="pd-unsure")
    said = t("The most likely first. Highlighted words are those of your question.")
    if result.bridged:
        said = f"{said} {t(_DOTTED)}"
    order = tag("p", said)
    day = result.in_force_on
    law = of_day(day, engine.card, dated=engine.facets().dated, t=t)
    st.html(tag("div", tag("h2", heading), unsure, order, law, class_="pd-found", role="status"))
    view = View(engine.card, engine.analyser, t, day, engine.law)
    for shown, explanation in zip(result.shown, explained, strict=True):
        st.html(card_html(shown, view, explanation))
    found = [shown.article for shown in result.shown]
    found += evidence.draw(found, view, st.session_state["asked"], t)
    share.draw(engine, found, result.question, result.where, t)


def _law(engine: AskEngine) -> str:
    """Return what the corpus is called in a sentence: its one code, else its title."""
    codes = list(engine.facets().codes)
    return codes[0] if len(codes) == 1 else engine.card.title
