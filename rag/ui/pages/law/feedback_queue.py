"""What people said of the articles: counted, and turned into annotated questions after a look at each."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from rag.errors import PandectError
from rag.library import InstalledLaw, OperatorLibrary, SaidQuestion
from rag.ui.components.feedback import REASONS
from rag.ui.html import bullets, rows, tag
from rag.ui.i18n import Interface
from rag.ui.pages.law.jobs import attempt, button

_QUEUE = "law_queue"  # in the session: the name of a law, what was said of it, and which was accepted


def draw(library: OperatorLibrary, laws: Sequence[InstalledLaw], t: Interface, *, running: bool) -> None:
    """Draw what was said, and the questions that wait for a look."""
    st.html(tag("h3", t("What people said"), class_="pd-law-part"))
    try:
        counts = library.feedback()
        if counts is None:
            st.html(
                tag(
                    "p",
                    t(
                        "No feedback is kept here: the setting {setting} is not set.",
                        setting="PANDECT_FEEDBACK",
                    ),
                )
            )
            return
        for name, reasons in counts.items():
            told = rows((t(REASONS[reason]), t.number(number)) for reason, number in reasons.items())
            st.html(tag("div", tag("h4", name), told, class_="pd-law"))
        if not counts:
            st.html(tag("p", t("Nobody has said anything yet.")))
            return
        names = [law.name for law in laws if law.built and not law.problem]
        at = names.index(opened) if (opened := library.opened()) in names else 0
        name = st.selectbox(t("Law"), names, index=at, key="law-said")
        if st.button(t("Look at the questions"), key="law-look"):
            st.session_state[_QUEUE] = name, library.said(name), []
    except (PandectError, OSError) as error:
        st.html(tag("p", str(error), class_="pd-notice", role="alert", lang="en"))
        return
    if (queue := st.session_state.get(_QUEUE)) is not None:
        learns = queue[0] in {law.name for law in laws if not law.shipped}
        _look(library, t, *queue, learns=learns, running=running)


def _look(
    library: OperatorLibrary,
    t: Interface,
    name: str,
    waiting: list[SaidQuestion],
    accepted: list[SaidQuestion],
    *,
    learns: bool,
    running: bool,
) -> None:
    if waiting:
        said = waiting[0]
        lines = [t("It answers: {articles}", articles=t.listed(said.question.article_ids))]
        if said.negatives:
            lines.append(t("It does not answer: {articles}", articles=t.listed(said.negatives)))
        left = t.n("One question to look at", "{count} questions to look at", len(waiting))
        st.html(
            tag("div", tag("p", left), tag("blockquote", said.question.text), bullets(lines), class_="pd-box")
        )
        with st.container(horizontal=True):
            button(t("Accept it"), "accept", _decide, waiting, accepted)
            button(t("Refuse it"), "refuse", _decide, waiting, None)
    else:
        st.html(tag("p", t("No question waits for a look."), role="status"))
    if accepted:
        label = t.n("Save one annotated question", "Save {count} annotated questions", len(accepted))
        with st.container(horizontal=True):
            st.download_button(label, library.lines(accepted), f"questions-{name}.jsonl", "application/jsonl",
                               key="law-save", on_click="ignore")  # fmt: skip
            if learns:
                gain = library.measure, name, list(accepted)
                button(t("Measure what they gain"), "gain", attempt, *gain, disabled=running)


def _decide(waiting: list[SaidQuestion], accepted: list[SaidQuestion] | None) -> None:
    said = waiting.pop(0)
    if accepted is not None:
        accepted.append(said)
