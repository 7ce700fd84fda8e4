"""The question box, the examples, and the options that are tucked away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rag.corpus.asker_situations import region_name
from rag.engine.result import Mode
from rag.types import Filter
from rag.ui import url_state
from rag.ui.components import situation
from rag.ui.components.situation import Said
from rag.ui.html import Html, join, plain_label, tag
from rag.ui.i18n import N_, Words
from rag.ui.protocols import AskEngine, Facets

MAX_CHARS = 2000  # some twenty sentences: more facts blur the search
EXAMPLES = 6  # at most, so that a phone shows them without scrolling far
MODES: dict[Mode, str] = {
    "hybrid": N_("Words and meaning (recommended)"),
    "keyword": N_("Words only"),
    "meaning": N_("Meaning only"),
}
LAW_LANGUAGES: Mapping[str, str] = {  # of the corpora that can be searched
    "fr": N_("French"),
    "nl": N_("Dutch"),
    "en": N_("English"),
    "de": N_("German"),
    "it": N_("Italian"),
    "zh": N_("Chinese"),
}
LAW_TYPES = {"national": N_("national"), "regional": N_("regional")}
_KEYS = N_("Enter sends, Shift + Enter starts a new line.")  # hidden where the keyboard is on the glass
_HINT = N_("{limit} characters at most. Your question is not recorded.")
FILTER_KEYS = ("codes", "law_types", "regions")
NO_OFFERS: Mapping[str, Said] = MappingProxyType({})
EARLIEST = date(1500, 1, 1)  # a law of before is in no corpus
LATEST = date(2100, 1, 1)  # nor is one that comes into force so late


@dataclass(frozen=True, slots=True)
class Options:
    """How to search, and among what."""

    mode: Mode = "hybrid"
    where: Filter | None = None  # None: everything
    chosen: bool = False  # whether the person narrowed it, beyond what is in force today


@dataclass(frozen=True, slots=True)
class Box:
    """The question box of a page, and the places in it for what depends on the law."""

    hint: DeltaGenerator
    said: DeltaGenerator


def draw_box(t: Words, page: str = "") -> Box:
    """Draw the question box of a page, which needs no law; what is sent stands in the session alone.

    Args:
        t: the interface.
        page: the page it stands on.
    """
    if st.session_state.get("question_page", page) != page or "question" not in st.session_state:
        # Streamlit empties the boxes of a page that is left: what was asked there is asked here too.
        st.session_state["question"] = st.session_state.get("asked") or ""
    st.session_state["question_page"] = page
    with st.form("ask", border=False):
        # why no max_chars: Streamlit then drops a longer paste without a word; it is cut afterwards, and said
        st.text_area(
            t("Your question"),
            key="question",
            height=112,
            placeholder=t("Tell what happened, and what you would like to know. No names are needed."),
        )
        hint = st.empty()
        hint.html(_hint(t))
        box = Box(hint, st.container())
        if st.form_submit_button(t("Find the articles"), type="primary"):
            st.session_state["asked"] = st.session_state["question"]
    return box


def draw_question(t: Words, law: str, box: Box, offers: Mapping[str, Said] = NO_OFFERS) -> Sequence[Said]:
    """Draw in the question box what depends on the law, and return what the person says of themselves.

    Args:
        t: the interface.
        law: language of the corpus, ISO 639-1.
        box: that stands there already.
        offers: what a person may say of themselves, besides.
    """
    if other := other_language(law, t):
        box.hint.html(join(tag("p", other, class_="pd-spoken"), _hint(t)))
    with box.said:
        return situation.draw(offers, t)


def _hint(t: Words) -> Html:
    keys = tag("span", t(_KEYS), t.how.space, class_="pd-keys")
    return tag("p", keys, t(_HINT, limit=t.number(MAX_CHARS)), class_="pd-hint")


def other_language(law: str, t: Words) -> str:
    """Return what to say when the law is not in the interface's language; "" when it is."""
    if law == t.language or law not in LAW_LANGUAGES:
        return ""
    return t("The law loaded here is in {language}: ask in {language}.", language=t(LAW_LANGUAGES[law]))


def draw_examples(examples: Sequence[str], t: Words) -> None:
    """Draw the corpus's example questions as buttons that ask them."""
    if not examples:
        return
    with st.container(key="examples"):
        st.html(tag("h2", t("Not sure how to begin? Try one of these"), class_="pd-small"))
        for number, example in enumerate(examples[:EXAMPLES]):
            st.button(plain_label(example), key=f"example-{number}", on_click=_ask, args=(example,))


def _ask(question: str) -> None:
    st.session_state["question"] = st.session_state["asked"] = question


def shorten(question: str) -> tuple[str, bool]:
    """Return the part of the question that is used, cut between words, and whether anything was left out."""
    question = question.strip()
    if len(question) <= MAX_CHARS:
        return question, False
    head = question[: MAX_CHARS + 1]
    cut = max(head.rfind(" "), head.rfind("\n"))
    if cut <= MAX_CHARS // 2:  # hardly a space: Chinese, or no text at all
        cut = MAX_CHARS
    return head[:cut].rstrip(), True


def draw_options(engine: AskEngine, t: Words) -> Options:
    """Draw the switch and the filters that this corpus has, if any, and return what is chosen."""
    facets = engine.facets()
    switch = engine.info.encoder is not None
    filters = len(facets.codes) > 1 or len(facets.law_types) > 1 or len(facets.regions) > 1 or facets.dated
    if not (switch or filters):
        return Options("keyword")
    with st.expander(t("Search options")):
        mode: Mode = "keyword"
        if switch:
            url_state.follow("mode", url_state.one_of(list(MODES)), Options().mode)
            mode = st.radio(
                t("How to search"),
                list(MODES),
                format_func=lambda mode: t(MODES[mode]),
                key="mode",
                horizontal=True,
                on_change=_tell_mode,
            )
        where = _draw_filters(facets, t) if filters else Filter()
    chosen = where not in (Filter(), Filter(in_force_on=date.today()))
    return Options(mode, None if where == Filter() else where, chosen)


def of_today(engine: AskEngine) -> Filter | None:
    """Return the filter of a page that offers none: the law in force today, where articles have dates."""
    return Filter(in_force_on=date.today()) if engine.facets().dated else None


def _draw_filters(facets: Facets, t: Words) -> Filter:
    day: date | None = None
    codes = _among(t("Codes"), facets.codes, "codes", t)
    law_types = _among(t("National or regional law"), facets.law_types, "law_types", t)
    regions = _among(t("Regions"), facets.regions, "regions", t)
    if facets.dated:
        url_state.follow("in_force_on", _within_reach, date.today())
        day = st.date_input(
            t("Law in force on"),
            value=None,
            min_value=EARLIEST,
            max_value=LATEST,
            key="in_force_on",
            format=t.how.entry,
            on_change=_tell_day,
        )
    return Filter(codes, law_types, regions, day)


def _among(label: str, values: Mapping[str, int], key: str, t: Words) -> frozenset[str]:
    """Draw the choice among the values of one field; nothing when there is no choice."""
    if len(values) < 2:
        return frozenset()
    names = {value: t(name) for value, name in LAW_TYPES.items()} if key == "law_types" else {}
    if key in st.session_state:  # of another corpus, which was open before
        st.session_state[key] = [value for value in st.session_state[key] if value in values]
    if key == "regions":
        names = {value: region_name(value, t.language) for value in values}
    url_state.follow(key, url_state.among(list(values)), [])
    chosen = st.multiselect(
        label,
        list(values),
        key=key,
        placeholder=t("Any"),
        format_func=lambda value: names.get(value, value),
        on_change=tell_several,
        args=(key,),
    )
    return frozenset(chosen)


def remove_filters() -> None:
    """Forget the filters, but for today's law: what holds no more is not shown unasked; for a callback."""
    for key in (*FILTER_KEYS, "in_force_on"):
        st.session_state.pop(key, None)
        url_state.tell(key, ())
    situation.leave_regions()


def tell_several(key: str) -> None:
    """Keep in the address what was chosen in a box of several; for a callback."""
    url_state.tell(key, st.session_state[key])


def _tell_mode() -> None:
    mode = st.session_state["mode"]
    url_state.tell("mode", () if mode == Options().mode else (mode,))


def _tell_day() -> None:
    day: date | None = st.session_state["in_force_on"]
    url_state.tell("in_force_on", () if day == date.today() else (url_state.written_day(day),))


def _within_reach(told: Sequence[str]) -> date | None:
    day = url_state.read_day(told)
    if day is not None and not EARLIEST <= day <= LATEST:
        raise ValueError("no day that the box can show")
    return day
