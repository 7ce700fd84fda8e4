"""Articles that an address names: a link shares them (what was asked only if it is wanted), or adds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import streamlit as st

from rag.corpus.contents import Law
from rag.types import Article, Shown, Why
from rag.ui import url_state
from rag.ui.components import question_form
from rag.ui.components.article_card import View, card_html
from rag.ui.components.entries import heading
from rag.ui.html import tag
from rag.ui.i18n import N_, Interface
from rag.ui.navigation import address, listed, parse_article_ids

if TYPE_CHECKING:  # the page is on the screen before it is loaded
    from rag.engine.engine import Engine
from rag.engine.result import MAX_CHARS, shorten

_EXPLAINED = N_(
    "Somebody put these articles together and sent you the link. Your own question may need others."
)
_OTHER = N_("The link was made with another version of this law: the texts may have changed since.")
_NONE = N_("None of the articles of this link is in the law that is loaded here.")
_LINK = ("articles", "index", "q")
_KEY = "shared"  # in the session: the link that is shown
MAX_MISSING_IDS = 12  # ids that are gone and are told


@dataclass(frozen=True, slots=True)
class SharedLink:
    """The articles and question that a shared address names; its content is untrusted."""

    ids: tuple[str, ...]
    version: str  # of the index that the link was made with; "" where it does not say
    question: str  # "" unless it was shared too


def link(ids: Sequence[str], version: str, question: str = "", page: str = "") -> str:
    """Return the address, relative, that shows these articles."""
    return address(page, articles=listed(ids), index=version, q=question)


def opened() -> SharedLink | None:
    """Return what the address asks to be shown; call it before the question box is drawn.

    A link that is opened takes the place of what was asked before; what stands in the box stays, unless the
    link brings a question that the link before it did not: an article that is added changes no word there.
    """
    shared = _addressed()
    if shared is None:
        st.session_state.pop(_KEY, None)
        return None
    former: SharedLink | None = st.session_state.get(_KEY)
    if shared != former:
        st.session_state[_KEY] = shared
        st.session_state["asked"] = None
        if shared.question and (former is None or shared.question != former.question):
            st.session_state["question"] = shared.question
    return shared


def _addressed() -> SharedLink | None:
    """Return the link that the address is; None where it is none."""
    written = st.query_params.get("articles")
    if written is None:
        return None
    question, _ = shorten((st.query_params.get("q") or "")[: 2 * MAX_CHARS])
    return SharedLink(parse_article_ids(written), (st.query_params.get("index") or "")[:200], question)


def link_closed() -> bool:
    """Return whether a new question closed the link: the address then forgets it."""
    if st.session_state.get("asked") is None:
        return False
    parameters = {key: st.query_params.get_all(key) for key in st.query_params if key not in _LINK}
    st.query_params.from_dict(parameters)  # at once: every change is a step of "back"
    st.session_state.pop(_KEY, None)
    return True


def draw(
    engine: Engine, shared: SharedLink, options: question_form.Options, t: Interface
) -> tuple[Article, ...]:
    """Draw the articles of a link, and return them."""
    law = engine.law
    found, gone = present(shared.ids, law)
    paragraphs = [tag("p", t(_EXPLAINED if found else _NONE))]
    if shared.question:
        paragraphs.append(tag("blockquote", tag("p", shared.question), class_="pd-asked"))
    if shared.version and shared.version != engine.info.version:
        paragraphs.append(tag("p", t(_OTHER)))
    if gone and found:
        names = t.listed([*gone[:MAX_MISSING_IDS], *["…"] * (len(gone) > MAX_MISSING_IDS)])
        paragraphs.append(tag("p", t("These are not in the law that is loaded here: {names}.", names=names)))
    title = t.n("One article was shared", "{count} articles were shared", len(found))
    head = heading(title if found else t("Nothing to show"), f"shared {shared.ids}")
    st.html(tag("div", head, *paragraphs, class_="pd-box", role="status"))
    day = options.where.in_force_on if options.where else None
    listed = frozenset(article.id for article in found)
    view = View(engine.card, engine.analyser, t, day, law, ranked=False, facts=engine.facts, listed=listed)
    for n, article in enumerate(found, start=1):
        st.html(card_html(Shown(n, article, 0.0, Why()), view))
    return found


def present(ids: Sequence[str], law: Law) -> tuple[tuple[Article, ...], tuple[str, ...]]:
    """Return the articles that are there, and the ids that are not."""
    found = tuple(law.articles[i] for i in ids if i in law.articles)
    return found, tuple(i for i in ids if i not in law.articles)


MOST = 20  # a list that is longer helps nobody


def take() -> None:
    """Move what the address adds into the session; call it before `opened`.

    Without a question it goes beside the articles of the link that is shown, in the address, whose other
    parts stay. Without a link in this session (this one was opened in another tab) it is shown by itself.
    """
    wanted = parse_article_ids(st.query_params.get("add"))[:1]
    if "add" not in st.query_params:
        return
    question = st.session_state.get("asked")
    of, ids = st.session_state.get("added", (None, ()))
    del st.query_params["add"]
    url_state.restore_parameters()
    if question:
        ids = ids if of == question else ()
        st.session_state["added"] = question, tuple(dict.fromkeys((*ids, *wanted)))[:MOST]
        return
    shared: SharedLink = _addressed() or st.session_state.get(_KEY) or SharedLink((), "", "")
    articles = listed(tuple(dict.fromkeys((*shared.ids, *wanted))))
    more = {"index": shared.version, "q": shared.question}
    st.query_params.update({"articles": articles} | {key: value for key, value in more.items() if value})


def evidence_ids(question: str) -> tuple[str, ...]:
    """Return the ids of the articles that were added to those that the session's question found."""
    of, ids = st.session_state.get("added", (None, ()))
    return ids if of == question else ()


def draw_evidence(shown: Sequence[Article], view: View, question: str, t: Interface) -> tuple[Article, ...]:
    """Draw the articles that were added to those that the session's question found, and return them."""
    ids = evidence_ids(question)
    if not ids or view.law is None:
        return ()
    known = {article.id for article in shown}
    found = tuple(view.law.articles[i] for i in ids if i in view.law.articles and i not in known)
    if not found:
        return ()
    title = t.n("You added one article", "You added {count} articles", len(found))
    head = tag("h2", title, tabindex="-1", data_arrive=f"added {len(found)}")
    st.html(tag("div", head, class_="pd-found", role="status"))
    for n, article in enumerate(found, start=len(shown) + 1):
        st.html(card_html(Shown(n, article, 0.0, Why()), replace(view, ranked=False)))
    st.button(t("Take them out again"), key="unadd", on_click=st.session_state.pop, args=("added", None))
    return found
