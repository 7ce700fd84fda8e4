"""The answer of a model: offered, agreed to, shown part by part, and kept until another question.

Personal data in a question: said before anything is sent, with the question without them offered.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rag.answer.generation.context import readable
from rag.answer.generation.writer import ModelWriter
from rag.answer.types import Answer, ClaimPart, ClaimsRead, Ending, Event, LinePart, Part
from rag.engine.result import Result, shorten
from rag.errors import without_paths
from rag.screening.decision import Decision
from rag.screening.decision import DecisionReason as NotAsked
from rag.screening.personal_data import PersonalDataKind, PersonalDataSpan, personal_data, redact
from rag.types import Article
from rag.ui.background import SHOWN, BackgroundAnswer
from rag.ui.components.answer_html import ending_html, notes_html, notice_html, part_html, progress_html
from rag.ui.components.article_card import CitedArticles
from rag.ui.html import folded, tag
from rag.ui.i18n import N_, Interface
from rag.ui.visits import address

KINDS: Mapping[PersonalDataKind, str] = {
    PersonalDataKind.EMAIL: N_("an e-mail address"),
    PersonalDataKind.IBAN: N_("a bank account"),
    PersonalDataKind.NATIONAL: N_("an identity number"),
    PersonalDataKind.CARD: N_("a payment card"),
    PersonalDataKind.PHONE: N_("a telephone number"),
    PersonalDataKind.ADDRESS: N_("a postal address"),
    PersonalDataKind.PLATE: N_("a number plate"),
    PersonalDataKind.NAME: N_("a name"),
}
WITHOUT, EDITED, AS_TYPED = "without", "edited", "as typed"
CHOICES: Mapping[str, str] = {
    WITHOUT: N_("Send it without them (recommended)"),
    EDITED: N_("Let me change it"),
    AS_TYPED: N_("Send it as I wrote it"),
}
_FOUND = N_("Your question seems to hold personal data: {kinds}. The answer does not need them.")
_STILL = N_("It still seems to hold: {kinds}.")


def _kinds(found: tuple[PersonalDataSpan, ...], t: Interface) -> str:
    return t.listed(t(KINDS[kind]) for kind in dict.fromkeys(each.kind for each in found))


POLL = 0.1  # seconds between two looks at whether the person has stopped it or gone
SESSION_KEY = "answer"  # in the session
_OFFER_PASSAGES = N_(
    "A language model can choose the passages of these articles that answer you. You see these passages, "
    "with a few fixed lines between them: none of the model's own words."
)
_OFFER_SENTENCES = N_(
    "A language model can write a short answer from these articles. {judge} checks each sentence against "
    "them."
)
MARKS = N_("What it does not confirm is marked “not verified” or left out.")
WITHHOLDS = N_("What it does not confirm is left out, and the gap is marked.")
JUDGE_AWAY = N_(
    "To be checked, what it writes and these articles go to {judge}, which another machine may run too."
)
_LEAVES = N_(
    "If you press the button, your question and the first {count} articles go to the language model {model}, "
    "which another machine may run. Nothing has been sent so far."
)
_STAYS = N_(
    "If you press the button, your question and the first {count} articles go to the language model {model}, "
    "which runs on the machine of this page. Nothing has been sent so far."
)
_WHY_NOT = {
    NotAsked.OTHER_COUNTRY: N_("No answer is written, for another country's law is not loaded here."),
    NotAsked.NOT_LAW: N_("No answer is written, for this does not seem to be a question of law."),
    NotAsked.ELSEWHERE: N_(
        "No answer is written, for another law governs this. Above you see which one, and where to find it."
    ),
    NotAsked.DOUBTFUL: N_(
        "No answer is written, for probably none of these articles answers. Above you see what you can try."
    ),
}


@dataclass(frozen=True, slots=True)
class PanelQuestion:
    """A question with its articles on the page, and the actions that are possible."""

    question: str
    result: Result
    decision: Decision
    cited: CitedArticles

    def articles(self, model: ModelWriter) -> list[Article]:
        """Return the articles that a model is shown, best first: of the first ones those that have a text."""
        return readable(self.result.shown, model.articles)


@dataclass(slots=True)
class _PanelState:
    about: tuple[str, tuple[str, ...]]
    running: BackgroundAnswer | None = None  # None: nothing has been sent
    sent: str = ""  # the question, as the person agreed to send it


def draw(panel_question: PanelQuestion, model: ModelWriter, t: Interface) -> None:
    """Draw the panel in the state that the session is in, and the button that stops it."""
    _panel_state(panel_question)  # first, for it ends what another question had begun
    if not panel_question.articles(model):
        return
    panel, below = st.container(), st.container(key="stopping")
    with below:
        # why not in the panel: a click inside a fragment does not interrupt its own run, so nobody could stop
        # the writing. The style sheet shows it while something is written, which the rest of the page does
        # not know.
        st.button(t("Stop"), key="stop", on_click=_stop)
    with panel:
        _panel(panel_question, model, t)


@st.fragment  # so that the answer begins without a new search, before the first token
def _panel(panel_question: PanelQuestion, model: ModelWriter, t: Interface) -> None:
    state = _panel_state(panel_question)
    with st.container(key="written"):
        st.html(tag("h2", panel_heading(model, t), id="pd-written"))
        reason = panel_question.decision.reason
        if reason in _WHY_NOT:
            st.html(tag("p", t(_WHY_NOT[reason]), class_="pd-progress pd-short", role="status"))
            return
        if state.running is None:
            # why a container: it gives way whole to the progress, which comes at its place. Single elements
            # would stay, faded, until the run that writes has ended.
            with st.container(key="offer"):
                _offer(panel_question, model, t)
        else:
            _write(state, state.running, panel_question, model, t)


def problem(message: str, t: Interface) -> None:
    """Say that answers were meant to be written and cannot be, with the reason for whoever runs the page."""
    text = t("Written answers are not available at the moment. The articles are complete without them.")
    details = folded(
        t("For whoever runs this page"), tag("pre", without_paths(message), lang="en"), class_="pd-whole"
    )
    st.html(tag("aside", tag("p", text), details, class_="pd-box"))


def _panel_state(panel_question: PanelQuestion) -> _PanelState:
    """Return the state of this question's answer; another question's is ended and dropped."""
    about = (panel_question.question, tuple(panel_question.cited.shown))
    state: _PanelState | None = st.session_state.get(SESSION_KEY)
    if state is None or state.about != about:
        forget()
        state = st.session_state[SESSION_KEY] = _PanelState(about)
    return state


def forget() -> None:
    """End and forget the answer that the session holds, if there is one."""
    _stop()
    for key in (SESSION_KEY, "sent_as", "sent_text"):  # and what was chosen for another question
        st.session_state.pop(key, None)


def _draw_redaction(panel_question: PanelQuestion, t: Interface) -> None:
    """Draw the warning, and the choice of what is sent; `_chosen` reads it."""
    question, found, card = (
        panel_question.question,
        panel_question.decision.personal,
        panel_question.cited.card,
    )
    without = redact(question, found, card.language)
    message = t(_FOUND, kinds=_kinds(found, t))
    st.html(tag("p", tag("strong", message), class_="pd-personal", role="status"))
    choice = st.radio(
        t("What shall be sent?"), list(CHOICES), format_func=lambda each: t(CHOICES[each]), key="sent_as"
    )
    text, label = "", t("The question that is sent")
    if choice == EDITED:
        st.session_state.setdefault("sent_text", without)
        text = st.text_area(label, key="sent_text", height=112).strip()
        if left := personal_data(text, card.jurisdiction):
            st.html(tag("p", t(_STILL, kinds=_kinds(left, t)), class_="pd-personal", role="status"))
    if not text:  # an emptied box sends what is recommended, and that is seen
        shown = question if choice == AS_TYPED else without
        group = {"role": "group", "aria_label": label}  # what has no role may bear no name
        st.html(tag("blockquote", shown, class_="pd-sent", lang=card.language, **group))


def _chosen(panel_question: PanelQuestion) -> str:
    """Return what the person agreed to send, cut to what a question may have; for a callback.

    It is never empty: a box that was emptied sends the question without personal data.
    """
    found = panel_question.decision.personal
    choice = st.session_state.get("sent_as", WITHOUT) if found else AS_TYPED
    if choice == AS_TYPED:
        return panel_question.question
    edited = shorten(st.session_state.get("sent_text", ""))[0] if choice == EDITED else ""
    return edited or redact(panel_question.question, found, panel_question.cited.card.language)


def _offer(panel_question: PanelQuestion, model: ModelWriter, t: Interface) -> None:
    """Draw what could be had, what would leave the machine, and the button."""
    st.html(tag("p", t.sentences(*offer(model, t))))
    if panel_question.decision.personal:
        _draw_redaction(panel_question, t)
    count = len(panel_question.articles(model))
    lines = [t(_STAYS if model.local else _LEAVES, count=t.number(count), model=model.name)]
    if not model.judge_local:
        lines.append(t(JUDGE_AWAY, judge=model.judge))
    st.html(tag("p", t.sentences(*lines), class_="pd-hint"))
    st.button(button_label(model, t), key="write", on_click=_begin, args=(panel_question, model))


def panel_heading(model: ModelWriter, t: Interface) -> str:
    """Return the panel's heading: without a judge nothing is written, passages are chosen."""
    return t("A written answer") if model.judge else t("Passages for your question")


def button_label(model: ModelWriter, t: Interface) -> str:
    """Return the name of the button that asks the model."""
    return t("Write an answer") if model.judge else t("Choose passages")


def offer(model: ModelWriter, t: Interface) -> Iterator[str]:
    """Yield what a model does, and what of it is shown."""
    if not model.judge:
        yield t(_OFFER_PASSAGES)
        return
    yield t(_OFFER_SENTENCES, judge=model.judge)
    yield t(WITHHOLDS if model.withholds else MARKS)


def _begin(panel_question: PanelQuestion, model: ModelWriter) -> None:
    """Ask the model; for a callback."""
    state = _panel_state(panel_question)
    if state.running is not None:  # pressed twice
        return
    card, articles = panel_question.cited.card, panel_question.articles(model)
    state.sent = _chosen(panel_question)
    session = st.session_state.setdefault("session", secrets.token_hex(8))
    days = card.law_dates(article.code for article in articles)  # where they are several, the first
    as_of = days[0].isoformat() if days else None
    writer = model.for_session(session, _untranslated, as_of, address())
    state.running = BackgroundAnswer(writer.write(state.sent, articles, card.language))


def _untranslated(message: str, /, **values: object) -> str:
    """Leave a message as it stands in the catalogue: it is translated whenever it is drawn."""
    return message


def _stop() -> None:
    """End the answer that is being written; for a callback."""
    state: _PanelState | None = st.session_state.get(SESSION_KEY)
    if state is not None and state.running is not None:
        state.running.stop()


def _reset(state: _PanelState) -> None:
    state.running = None


def _write(
    state: _PanelState,
    running: BackgroundAnswer,
    panel_question: PanelQuestion,
    model: ModelWriter,
    t: Interface,
) -> None:
    """Draw the answer as it comes, or as it came."""
    progress, notice = st.empty(), st.empty()
    slot, end, pulse = st.container(key="sentences").empty(), st.container(key="ended"), st.empty()
    cited = panel_question.cited
    coming: DeltaGenerator | None = None
    drawn: list[Part] = []
    claims = 0
    for event in _events(running, pulse):
        if isinstance(event, Answer):  # the last
            progress.html(ending_html(event, t, cited.summary))
            if event.parts:
                judge = model.judge if any(isinstance(part, ClaimPart) for part in event.parts) else ""
                notice.html(notice_html(model.name, judge, cited))
            if event.parts != tuple(drawn):  # decided by the whole
                slot.html(tag("div", *(part_html(part, cited) for part in event.parts), class_="pd-composed"))
            with end:
                st.html(notes_html(event, cited))
                if state.sent != panel_question.question:
                    sent = tag("q", state.sent)
                    st.html(tag("p", t("This question was sent:"), " ", sent, class_="pd-hint"))
                # back to the offer, so that nothing is sent unseen
                if event.ending is not Ending.WRITTEN or event.reason:
                    st.button(t("Try again"), key="rewrite", on_click=_reset, args=(state,))
            return
        if isinstance(event, SHOWN):
            if coming is None:
                notice.html(notice_html(model.name, "", cited))  # what a judge reads comes with the answer
                coming = slot.container(key="coming")
            drawn.append(event)
            coming.html(part_html(event, cited))
        claims = event.count if isinstance(event, ClaimsRead) else claims
        passages = sum(not isinstance(part, LinePart) for part in drawn)
        progress.html(progress_html(event is not None, passages, claims, t))


def _events(running: BackgroundAnswer, pulse: DeltaGenerator) -> Iterator[Event | None]:
    """Yield the events up to the answer; None first where that is not there yet.

    `pulse` is emptied again and again: that is where Streamlit ends this run if the person has pressed a
    button or gone.
    """
    events = running.after(0, 0.0)
    if events and isinstance(events[-1], Answer):  # it has every part that is to be seen
        yield events[-1]
        return
    yield None
    seen = 0
    while True:
        yield from events
        if events and isinstance(events[-1], Answer):
            return
        seen += len(events)
        pulse.empty()
        events = running.after(seen, POLL)
