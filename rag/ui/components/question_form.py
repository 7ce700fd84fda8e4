"""The question box, the examples, the options that are tucked away, and chips ("I am a tenant").

What is chosen as true of the asker stands in the address by its name in `rag/situations.toml`, so that "back"
and a reload keep it. It tells a tenant from a buyer and no more; nothing is listed that would tell a story,
and a link to share leaves it out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from types import MappingProxyType
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rag.corpus.asker_situations import label, living_in, region_name, situations
from rag.engine.result import MAX_CHARS, Mode
from rag.engine.topic_view import TopicCase
from rag.types import Filter
from rag.ui import url_state
from rag.ui.html import Html, join, plain_label, tag
from rag.ui.i18n import N_, Interface
from rag.ui.navigation import listed, parse_article_ids

if TYPE_CHECKING:  # the page is on the screen before it is loaded
    from rag.corpus.card import CorpusCard
    from rag.engine.engine import CorpusFacets, Engine

KEY = "situation"  # of the chips, and of the address
SOME = 2  # that the folded chips are told by
_REGION = "in:"  # before a region, which may be called as a situation is
_FOLDED = N_("What is true of you (optional): {some}…")  # a dozen chips would push the button off a phone
_SITUATION_HINT = N_("This stands in front of your question. Press one to ask without it.")


@dataclass(frozen=True, slots=True)
class SituationSentence:
    """A sentence about the asker, in the languages of the interface and of the law."""

    label: str  # of the chip, in the interface's language
    says: str  # in front of the question, in the law's
    region: str | None = None  # whose law is wanted too, where it tells one


def offered(engine: Engine, t: Interface) -> Mapping[str, SituationSentence]:
    """Return what the loaded corpus gives a reason to offer; regions only where there is a choice of them."""
    law = engine.card.language
    own = {each.id: each.says for each in situations(t.language)}
    found = {s.id: SituationSentence(label(own.get(s.id, s.says)), s.says) for s in engine.situations}
    regions = engine.facets().regions
    if len(regions) > 1:
        for region in sorted(regions):
            labels = living_in(region, t.language)
            found[_REGION + region] = SituationSentence(label(labels), living_in(region, law), region)
    return found


def _draw_chips(offers: Mapping[str, SituationSentence], t: Interface) -> Sequence[SituationSentence]:
    """Draw the chips and return what is chosen; inside a form, where a choice counts once it is sent."""
    if not offers:
        return ()
    _drop_unknown(KEY, offers)
    url_state.follow(KEY, lambda values: [key for key in parse_article_ids(values[0]) if key in offers], [])
    some = t.listed(phrase.label for phrase in list(offers.values())[:SOME])
    with st.expander(plain_label(t(_FOLDED, some=some))):
        st.pills(
            t("What is true of you (optional)"),
            list(offers),
            selection_mode="multi",
            format_func=lambda key: plain_label(offers[key].label) if key in offers else key,
            key=KEY,
            label_visibility="collapsed",
        )
    now = [key for key in offers if key in st.session_state[KEY]]  # in one order, whatever was first
    _write(now)
    return [offers[key] for key in now]


def _write(keys: Sequence[str]) -> None:
    url_state.set_parameter(KEY, [listed(keys)] if keys else [])


def _drop_unknown(key: str, known: Collection[str]) -> None:
    """Drop from a box what is of another corpus, which was open before."""
    if key in st.session_state:
        st.session_state[key] = [value for value in st.session_state[key] if value in known]


def regional_filter(chosen: Sequence[SituationSentence], where: Filter | None) -> Filter | None:
    """Return the filter with the chosen regions and the whole country's law.

    A region that a filter names besides stays too: who says where they live and asks for another region's
    law wants both.
    """
    regions = frozenset(each.region for each in chosen if each.region is not None)
    if not regions:
        return where
    where = where or Filter()
    return replace(where, regions=where.regions | regions)


def draw_situation_chips(
    offers: Mapping[str, SituationSentence], chosen: Sequence[SituationSentence], t: Interface
) -> None:
    """Draw the chosen situation sentences as chips that can be removed."""
    if not chosen:
        return
    with st.container(key="situated"):
        st.html(tag("p", t(_SITUATION_HINT), class_="pd-hint"))
        with st.container(horizontal=True, key="situated-chips"):
            for key, phrase in offers.items():
                if phrase in chosen:
                    chip = plain_label(f"{phrase.label} ✕")
                    st.button(chip, key=f"situated-{key}", on_click=_take_away, args=(key,))


def _take_away(key: str) -> None:
    st.session_state[KEY] = [other for other in st.session_state[KEY] if other != key]
    _write(st.session_state[KEY])


MAX_TYPED = 100_000  # characters that a session keeps of what was typed; a longer paste is cut before
EXAMPLES = 6  # at most, so that a phone shows them without scrolling far
MODES: dict[Mode, str] = {
    "hybrid": N_("Words and meaning (recommended)"),
    "keyword": N_("Words only"),
    "meaning": N_("Meaning only"),
}
_THEMES: Mapping[str, str] = {  # rag.corpus.card.THEMES; in small letters, for they stand in sentences too
    "housing": N_("housing"),
    "work": N_("work"),
    "family": N_("family"),
    "consumers": N_("purchases"),
    "money": N_("money and taxes"),
    "health": N_("health"),
    "road": N_("road"),
    "justice": N_("courts"),
    "foreigners": N_("foreigners"),
    "land": N_("land and neighbours"),
    "state": N_("public services"),
    "other": N_("other matters"),
}


def theme_name(theme: str, t: Interface) -> str:
    """Return what a theme of laws is called, as a heading."""
    name = t(_THEMES.get(theme, theme))
    return name[:1].upper() + name[1:]


def theme_names(themes: Iterable[str], t: Interface) -> str:
    """Return the names of themes within a sentence."""
    return t.listed(t(_THEMES.get(theme, theme)) for theme in themes)


LANGUAGE_NAMES: Mapping[str, str] = {  # of laws (the first six) and of questions
    "fr": N_("French"),
    "nl": N_("Dutch"),
    "en": N_("English"),
    "de": N_("German"),
    "it": N_("Italian"),
    "zh": N_("Chinese"),
    "ar": N_("Arabic"),
    "es": N_("Spanish"),
    "pt": N_("Portuguese"),
    "tr": N_("Turkish"),
    "ro": N_("Romanian"),
    "uk": N_("Ukrainian"),
    "ru": N_("Russian"),
    "pl": N_("Polish"),
    "fa": N_("Persian"),
    "sq": N_("Albanian"),
}
LAW_TYPES = {"national": N_("national"), "regional": N_("regional")}
_KEYS = N_("Enter sends, Shift + Enter starts a new line.")  # hidden where the keyboard is on the glass
_HINT = N_("{limit} characters at most. Your question is not recorded.")
EARLIEST = date(1500, 1, 1)  # a law of before is in no corpus
LATEST = date(2100, 1, 1)  # nor is one that comes into force so late


@dataclass(frozen=True, slots=True)
class Options:
    """How to search, and among what."""

    mode: Mode = "hybrid"
    where: Filter | None = None  # None: everything
    chosen: bool = False  # whether the person narrowed it, beyond what is in force today


@dataclass(frozen=True, slots=True)
class ChoiceBox:
    """The question box of a page, and the places in it for what depends on the law."""

    hint: DeltaGenerator
    status: DeltaGenerator


def draw_box(t: Interface, page: str = "") -> ChoiceBox:
    """Draw the question box of a page, which needs no law; what is sent stands in the session alone."""
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
        box = ChoiceBox(hint, st.container())
        st.form_submit_button(t("Find the articles"), type="primary", on_click=_send)
    if st.session_state.get("asked") is not None:  # unseen: the script presses it where "back" leads here
        st.button(t("Start again"), key="restart", on_click=_restart)
    return box


def _send() -> None:
    typed = st.session_state["question"]
    if len(typed) > MAX_TYPED:
        typed = st.session_state["question"] = typed[:MAX_TYPED]
    st.session_state["asked"] = typed


def _restart() -> None:
    st.session_state["question"], st.session_state["asked"] = "", None


def draw_question(
    t: Interface,
    law: str,
    box: ChoiceBox,
    offers: Mapping[str, SituationSentence] = MappingProxyType({}),
    *,
    told: bool = False,
) -> Sequence[SituationSentence]:
    """Draw in the question box what depends on the law, and return what the person says of themselves.

    `told`: the law's language is told of the question that was asked, and not once more here.
    """
    if not told and (other := other_language(law, t)):
        box.hint.html(join(tag("p", other, class_="pd-spoken"), _hint(t)))
    with box.status:
        return _draw_chips(offers, t)


def _hint(t: Interface) -> Html:
    keys = tag("span", t(_KEYS), t.how.space, class_="pd-keys")
    return tag("p", keys, t(_HINT, limit=t.number(MAX_CHARS)), class_="pd-hint")


def other_language(law: str, t: Interface) -> str:
    """Return what to say when the law is not in the interface's language."""
    if law == t.language or law not in LANGUAGE_NAMES:
        return ""
    return t("The law loaded here is in {language}: ask in {language}.", language=t(LANGUAGE_NAMES[law]))


_EVENTS: Mapping[str, str] = {  # rag.corpus.card.EVENTS
    "housing": N_("Housing"),
    "work": N_("Work"),
    "family": N_("Family"),
    "money": N_("Money and purchases"),
    "neighbours": N_("Neighbours"),
    "death": N_("A death"),
    "danger": N_("In danger"),
}


def draw_examples(card: CorpusCard, t: Interface) -> None:
    """Draw the corpus's example questions as buttons that ask them, by what happened where it tells that."""
    events = [(_EVENTS[event], question) for event, question in card.events.items()]
    examples = events or [("", question) for question in card.examples[:EXAMPLES]]
    if not examples:
        return
    with st.container(key="examples"):
        st.html(tag("h2", t("Not sure how to begin? Try one of these"), class_="pd-small"))
        for number, (event, example) in enumerate(examples):
            label = f"**{plain_label(t(event))}** · {plain_label(example)}" if event else plain_label(example)
            st.button(label, key=f"example-{number}", on_click=ask, args=(example,))


CASES = 4  # of a topic that stand open: more would push the articles off a phone


def draw_topic(topic: str, cases: Sequence[TopicCase], t: Interface) -> None:
    """Draw the questions that a few words may stand for as buttons that ask them; the later ones folded."""
    with st.container(key="topic"):
        st.html(tag("h2", t("“{topic}”: which question is yours?", topic=topic)))
        _case_buttons(cases[:CASES], 0)
        if rest := cases[CASES:]:
            with st.expander(t.n("and one more", "and {count} more", len(rest))):
                _case_buttons(rest, CASES)


def _case_buttons(cases: Sequence[TopicCase], first: int) -> None:
    for number, case in enumerate(cases, first):
        st.button(plain_label(case.question), key=f"case-{number}", on_click=ask, args=(case.question,))


def ask(question: str) -> None:
    """Ask a question that the page offers; for a callback."""
    st.session_state["question"] = st.session_state["asked"] = question


def draw_options(engine: Engine, t: Interface) -> Options:
    """Draw the switch and the filters that this corpus has, if any, and return what is chosen."""
    facets = engine.facets()
    switch = engine.info.encoder is not None
    filters = len(facets.codes) > 1 or len(facets.law_types) > 1 or len(facets.regions) > 1 or facets.dated
    if not (switch or filters):
        return Options("keyword")
    with st.expander(t("Search options")):
        mode: Mode = "keyword"
        if switch:
            url_state.follow("mode", url_state.single_value(list(MODES)), Options().mode)
            mode = st.radio(
                t("How to search"),
                list(MODES),
                format_func=lambda mode: t(MODES[mode]),
                key="mode",
                horizontal=True,
                on_change=_store_mode,
            )
        where = _draw_filters(facets, engine.card, t) if filters else Filter()
    chosen = where not in (Filter(), Filter(in_force_on=date.today()))
    return Options(mode, None if where == Filter() else where, chosen)


def current_day(engine: Engine) -> date | None:
    """Return today, whose law is shown unasked; None where articles have no dates."""
    return date.today() if engine.facets().dated else None


def _draw_filters(facets: CorpusFacets, card: CorpusCard, t: Interface) -> Filter:
    day: date | None = None
    themes = card.by_theme(facets.codes)
    of = _among(t("Themes"), {theme: len(codes) for theme, codes in themes.items()}, "themes", t)
    ordered = dict.fromkeys(code for codes in themes.values() for code in codes)
    codes = _among(t("Codes"), {c: facets.codes[c] for c in ordered or facets.codes}, "codes", t)
    codes |= {code for theme in of for code in themes[theme]}
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
            on_change=_store_day,
        )
    return Filter(codes, law_types, regions, day)


def _among(label: str, values: Mapping[str, int], key: str, t: Interface) -> frozenset[str]:
    """Draw the choice among the values of one field; nothing when there is no choice."""
    if len(values) < 2:
        return frozenset()
    names = {value: t(name) for value, name in LAW_TYPES.items()} if key == "law_types" else {}
    if key == "themes":
        names = {value: theme_name(value, t) for value in values}
    if key == "regions":
        names = {value: region_name(value, t.language) for value in values}
    _drop_unknown(key, values)
    url_state.follow(key, url_state.allowed_values(list(values)), [])
    chosen = st.multiselect(
        label,
        list(values),
        key=key,
        placeholder=t("Any"),
        format_func=lambda value: names.get(value, value),
        on_change=store_multiselect,
        args=(key,),
    )
    return frozenset(chosen)


def remove_filters() -> None:
    """Forget the filters, but for today's law: what holds no more is not shown unasked; for a callback."""
    for key in ("themes", "codes", "law_types", "regions", "in_force_on"):
        st.session_state.pop(key, None)
        url_state.set_parameter(key, ())
    if KEY in st.session_state:
        st.session_state[KEY] = [key for key in st.session_state[KEY] if not key.startswith(_REGION)]
        _write(st.session_state[KEY])


def store_multiselect(key: str) -> None:
    """Store the choice of a multiselect in the address; for a callback."""
    url_state.set_parameter(key, st.session_state[key])


def _store_mode() -> None:
    mode = st.session_state["mode"]
    url_state.set_parameter("mode", () if mode == Options().mode else (mode,))


def _store_day() -> None:
    day: date | None = st.session_state["in_force_on"]
    url_state.set_parameter("in_force_on", () if day == date.today() else (url_state.written_day(day),))


def _within_reach(values: Sequence[str]) -> date | None:
    day = url_state.read_day(values)
    if day is not None and not EARLIEST <= day <= LATEST:
        raise ValueError("no day that the box can show")
    return day
