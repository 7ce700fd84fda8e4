"""Chips for what a person may say of themselves ("I am a tenant", "I live in Brussels").

What is chosen stands in the address by its name in `rag/situations.toml`, so that "back" and a reload keep
it. It tells a tenant from a buyer and no more; nothing is listed that would tell a story, and a link to
share leaves it out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from rag.corpus.asker_situations import in_front, label, living_in, situations
from rag.types import Filter
from rag.ui.html import plain_label, tag
from rag.ui.i18n import N_, Words
from rag.ui.links import listed, named
from rag.ui.protocols import AskEngine

KEY = "situation"  # of the chips, and of the address
_SEEN = "situation_seen"  # what the address said of it when it was last looked at
SOME = 2  # that the folded chips are told by
_REGION = "in:"  # before a region, which may be called as a situation is
_LABEL = N_("What is true of you (optional)")
_FOLDED = N_("What is true of you (optional): {some}…")  # a dozen chips would push the button off a phone
_ASKED = N_("This stands in front of your question. Press one to ask without it.")


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that a person may say, in two languages."""

    label: str  # of the chip, in the interface's language
    says: str  # in front of the question, in the law's
    region: str | None = None  # whose law is wanted too, where it tells one


def offered(engine: AskEngine, t: Words) -> Mapping[str, Said]:
    """Return what the loaded corpus gives a reason to offer; regions only where there is a choice of them."""
    law = engine.card.language
    own = {each.id: each.says for each in situations(t.language)}
    found = {s.id: Said(label(own.get(s.id, s.says)), s.says) for s in engine.situations}
    regions = engine.facets().regions
    if len(regions) > 1:
        for region in sorted(regions):
            told = living_in(region, t.language)
            found[_REGION + region] = Said(label(told), living_in(region, law), region)
    return found


def draw(offers: Mapping[str, Said], t: Words) -> Sequence[Said]:
    """Draw the chips and return what is chosen; inside a form, where a choice counts once it is sent."""
    if not offers:
        return ()
    told = [key for key in named(st.query_params.get(KEY)) if key in offers]
    seen: list[str] = [key for key in st.session_state.get(_SEEN, ()) if key in offers]
    if KEY not in st.session_state:  # the first run, or the page was left and is opened again
        st.session_state[KEY] = told or seen
    elif told != seen:  # "back", or another address: the box follows
        st.session_state[KEY] = told
    else:  # of another corpus, which was open before
        st.session_state[KEY] = [key for key in st.session_state[KEY] if key in offers]
    some = t.listed(said.label for said in list(offers.values())[:SOME])
    with st.expander(plain_label(t(_FOLDED, some=some))):
        st.pills(
            t(_LABEL),
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
    """Put the choice into the address; every change is a step of "back"."""
    st.session_state[_SEEN] = list(keys)
    written = listed(keys)
    if st.query_params.get(KEY, "") == written:
        return
    if written:
        st.query_params[KEY] = written
    else:
        del st.query_params[KEY]


def asked(chosen: Sequence[Said], question: str) -> str:
    """Return the question as it is searched for."""
    return in_front([each.says for each in chosen], question)


def among(chosen: Sequence[Said], where: Filter | None) -> Filter | None:
    """Return the filter with the regions that were said: the law of others goes, the country's stays.

    A region that a filter names besides stays too: who says where they live and asks for another region's
    law wants both.
    """
    regions = frozenset(each.region for each in chosen if each.region is not None)
    if not regions:
        return where
    where = where or Filter()
    return replace(where, regions=where.regions | regions)


def draw_asked(offers: Mapping[str, Said], chosen: Sequence[Said], t: Words) -> None:
    """Draw what stands in front of a question that was asked, each to be taken away."""
    if not chosen:
        return
    with st.container(key="situated"):
        st.html(tag("p", t(_ASKED), class_="pd-hint"))
        with st.container(horizontal=True, key="situated-chips"):
            for key, said in offers.items():
                if said in chosen:
                    st.button(
                        plain_label(f"{said.label} ✕"),
                        key=f"situated-{key}",
                        on_click=_take_away,
                        args=(key,),
                    )


def _take_away(key: str) -> None:
    """Ask without it; for a callback."""
    st.session_state[KEY] = [other for other in st.session_state[KEY] if other != key]
    _write(st.session_state[KEY])


def leave_regions() -> None:
    """Take the regions away, with the filters; for a callback."""
    if KEY in st.session_state:
        st.session_state[KEY] = [key for key in st.session_state[KEY] if not key.startswith(_REGION)]
        _write(st.session_state[KEY])
