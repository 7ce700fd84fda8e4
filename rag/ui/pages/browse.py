"""The page "Browse the codes": from the codes through their headings to an article, by links alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date

import streamlit as st

from rag.corpus.card import CorpusCard
from rag.corpus.contents import ContentsEntry, Mention, steps, written
from rag.engine.engine import Engine
from rag.engine.result import shorten
from rag.types import Article, Filter, Shown
from rag.ui import layout
from rag.ui.components import notices
from rag.ui.components.article_card import NO_FACTS, badges, facts_html, foot, read_with, unsummarised
from rag.ui.components.article_history import former_content, new_location, predecessor_note, validity_line
from rag.ui.components.entries import (
    article_entry,
    entry,
    heading,
    laws_html,
    link_to,
    mention_entries,
    missing_number,
    title,
)
from rag.ui.components.notices import question_origin
from rag.ui.components.question_form import current_day
from rag.ui.html import Html, bullets, folded, join, link, paragraphs, plain_label, tag, web_address
from rag.ui.i18n import N_, Interface
from rag.ui.layout import mark
from rag.ui.navigation import BROWSE, address, go, parse_article_ids
from rag.ui.search import failure_notice, may_search, recall, remember, search_key

SIBLINGS_SHOWN = 30  # articles under the same heading that are told on either side
REFERRING = 30  # cross references of either way; a definition may be cited by hundreds
AT_ONCE = 5  # questions told without a click
MAX_QUESTIONS = 40


def reading(engine: Engine, article: Article, t: Interface) -> None:
    """Draw an article as a page of the code."""
    card, law, day = engine.card, engine.law, current_day(engine)
    lang = article.language or card.language
    header = tag(
        "header",
        heading(title(article, t, card), f"article {article.id}"),
        tag("span", article.code, class_="pd-code", lang=lang),
        *(tag("span", label, class_="pd-badge") for label in badges(article, card, day, t)),
    )
    changes = [tag("p", line) for line in _changes(article, card, t)]
    st.html(
        tag(
            "article",
            header,
            validity_line(day, card.law_dates([article.code]), dated=engine.facets().dated, t=t),
            _leaf(engine, article, t),
            tag("div", paragraphs(article.text), class_="pd-text", lang=lang)
            if article.text
            else unsummarised(article, card, t),
            facts_html(article, engine.facts.get(article.id, NO_FACTS), card, t),
            read_with(article, law, t, card, REFERRING),
            tag("aside", *changes, class_="pd-changes") if changes else "",
            foot(article, card, t, date.today()),
            class_="pd-card pd-reading",
        )
    )
    to, by = law.refers_to(article.id), law.referred_by(article.id)
    around = join(
        _siblings(law.siblings(article.id), article, t, card),
        _references(t("It refers to"), to[:REFERRING], len(to), article, t, card),
        _references(t("Referred to by"), by.nearest(REFERRING), len(by), article, t, card),
        _questions_list(law.citing_questions(article.id), card, t, lang),
    )
    if around:
        st.html(around)


def _leaf(engine: Engine, article: Article, t: Interface) -> Html:
    links: list[Html] = []
    if (previous := engine.law.previous(article.id)) is not None:
        name = title(previous, t, engine.card)
        links.append(link_to(previous, f"← {name}", rel="prev", aria_label=t("Previous: {name}", name=name)))
    if (after := engine.law.after(article.id)) is not None:
        name = title(after, t, engine.card)
        links.append(link_to(after, f"{name} →", rel="next", aria_label=t("Next: {name}", name=name)))
    name = t("Previous and next article")
    return tag("nav", *links, class_="pd-leaf", aria_label=name) if links else Html()


def _changes(article: Article, card: CorpusCard, t: Interface) -> Iterator[str]:
    """Yield what is known of the number: what stood there before, what it took over."""
    for row in card.moved:
        if row.code != article.code:
            continue
        if row.old == article.article_no:
            if text := former_content(row, card, t, other=True):
                yield text
            yield new_location([missing_number(new, row.code, card) for new in row.new], t)
        elif article.article_no in row.new:
            yield predecessor_note(missing_number(row.old, row.code, card), t)


def _siblings(siblings: Sequence[Article], article: Article, t: Interface, card: CorpusCard) -> Html:
    if len(siblings) < 2:
        return Html()
    at = next(n for n, each in enumerate(siblings) if each.id == article.id)
    near = siblings[max(0, at - SIBLINGS_SHOWN) : at + SIBLINGS_SHOWN + 1]
    links = [
        tag("li", tag("span", each.article_no, aria_current="page"))
        if each.id == article.id
        else tag("li", link_to(each, each.article_no, aria_label=title(each, t, card)))
        for each in near
    ]
    return _shelf(t("Under the same heading"), tag("ul", *links, class_="pd-chips"))


def _shelf(name: str, *content: str) -> Html:
    return tag("nav", tag("h3", name), *content, class_="pd-shelf", aria_label=name)


def _references(
    name: str, shown: Sequence[Mention], total: int, article: Article, t: Interface, card: CorpusCard
) -> Html:
    if not shown:
        return Html()
    entries = mention_entries(shown, t, card, article.code)
    more = total - len(shown)
    rest = tag("p", t.n("and one more", "and {count} more", more)) if more > 0 else ""
    return _shelf(name, tag("ul", *entries, role="list"), rest)


def _questions_list(questions: Sequence[str], card: CorpusCard, t: Interface, lang: str) -> Html:
    if not questions:
        return Html()
    items = [tag("q", text, lang=lang) for text in questions[:MAX_QUESTIONS]]
    rest = items[AT_ONCE:]
    label = t.n("{count} more question", "{count} more questions", len(rest))
    more = folded(label, bullets(rest), class_="pd-more") if rest else ""
    head = tag("h3", t("Questions that this article answers"))
    origin = question_origin(card, t)
    head = join(head, tag("p", origin, class_="pd-hint")) if origin else head
    return tag("section", head, bullets(items[:AT_ONCE]), more, class_="pd-shelf pd-why")


A_PAGE = 100  # links of one list; what is more stands on pages of its own
MANY_CODES = 20  # from here on a box narrows the list of codes
FOUND = 10

_GONE = N_(
    "There is no such place in this version of the law. You see where the address leads as far as it can."
)


def render(engine: Engine, t: Interface) -> None:
    """Draw the page under the masthead: the view that the address names."""
    law = engine.law
    wanted = next(iter(parse_article_ids(st.query_params.get("article"))), None)
    if wanted is not None and wanted in law.articles:
        _trail(engine, law.home(wanted), t, last_is_here=False)
        reading(engine, law.articles[wanted], t)
    else:
        _contents(engine, t)
    layout.notice(t)
    layout.footer(engine, t)


def _contents(engine: Engine, t: Interface) -> None:
    """Draw the codes, or the place in one, that the address names."""
    law, query = engine.law, st.query_params
    codes = law.codes
    code = query.get("code") or (next(iter(codes)) if len(codes) == 1 else "")
    at = steps(query.get("at") or "")
    trail = law.trail(code, at)
    if query.get("article"):
        _quoted(t("There is no such article in this version of the law. Look for it in the codes below."))
    else:
        known = trail[-1].at == at if trail else not query.get("code")
        if not known or bool(query.get("at")) != bool(at):
            _quoted(t(_GONE))
    if not trail:
        _draw_codes(codes, engine, t)
    else:
        _draw_place(engine, trail, t)


def _quoted(text: str) -> None:
    st.html(tag("p", text, class_="pd-notice", role="status"))


def _draw_codes(codes: Mapping[str, int], engine: Engine, t: Interface) -> None:
    about = t.n(
        "One code, from its headings down to its articles.",
        "{count} codes, from their headings down to their articles.",
        len(codes),
    )
    st.html(tag("div", heading(t("Browse the codes"), "codes"), tag("p", about), class_="pd-found"))
    by_theme = laws_html(engine.card, codes, t)
    if len(codes) > MANY_CODES:
        text = st.text_input(t("Codes whose name holds"), key="codes_named", max_chars=200)
        wanted = text.casefold().split()
        codes = {c: n for c, n in codes.items() if all(word in c.casefold() for word in wanted)}
        if not codes:
            _quoted(t("No code is named like this."))
        by_theme = Html() if wanted else by_theme
    if by_theme:
        st.html(by_theme)
        return
    lang = engine.card.language
    entries = [entry(go(c, address(BROWSE, code=c)), _count(n, t), lang) for c, n in codes.items()]
    st.html(_part(entries, t("Codes"), t))


def _draw_place(engine: Engine, trail: Sequence[ContentsEntry], t: Interface) -> None:
    law, place, lang = engine.law, trail[-1], engine.card.language
    _trail(engine, trail, t)
    head = heading(place.title or t("Without a heading"), f"{place.code} {written(place.at)}", lang)
    day, (page, _) = engine.card.dated(place.code), engine.card.official_page(place.code, None)
    about = [_count(place.count, t)]
    if not place.at and place.code in engine.card.laws:
        about += [t.day(day)] if day else []
        about += [link(page, t("Official text"))] if web_address(page) else []
    dotted = [part for each in about for part in (" · ", each)][1:]
    st.html(tag("div", head, tag("p", *dotted), class_="pd-found"))
    if not place.at:
        _search(engine, place.code, t)
    below = law.below(place)
    if below:
        entries = [entry(_link(p, t), _count(p.count, t), lang) for p in below]
        st.html(_part(entries, t("Headings"), t, place))
    if place.articles:
        entries = [article_entry(law.articles[i], t, engine.card) for i in place.articles]
        st.html(_part(entries, t("Articles"), t, place))


def _link(place: ContentsEntry, t: Interface) -> Html:
    to = address(BROWSE, code=place.code, at=written(place.at))
    return go(place.title or t("Without a heading"), to)


def _trail(
    engine: Engine, trail: Sequence[ContentsEntry], t: Interface, *, last_is_here: bool = True
) -> None:
    lang = engine.card.language
    steps_down = [tag("li", go(t("All codes"), address(BROWSE)))] if len(engine.law.codes) > 1 else []
    for place in trail:
        shown = _link(place, t)
        if last_is_here and place is trail[-1]:
            shown = tag("span", place.title or t("Without a heading"), aria_current="page")
        steps_down.append(tag("li", shown, lang=lang))
    if len(steps_down) == 1 and last_is_here:  # the heading says it
        return
    st.html(tag("nav", tag("ol", *steps_down), class_="pd-path pd-trail", aria_label=t("Place in the law")))


def _count(articles: int, t: Interface) -> str:
    return t.n("one article", "{count} articles", articles)


def _part(entries: Sequence[Html], name: str, t: Interface, place: ContentsEntry | None = None) -> Html:
    """Return a list of links, a page of it where it is long."""
    pages = -(-len(entries) // A_PAGE)
    page = st.query_params.get("part") or "1"
    number = min(int(page), pages) if page.isascii() and page.isdigit() and len(page) < 6 else 1
    first = max(number - 1, 0) * A_PAGE
    inside = [tag("ul", *entries[first : first + A_PAGE])]
    if pages > 1:
        where = {"code": place.code, "at": written(place.at)} if place else {}
        links = [
            tag("span", str(n), aria_current="page")
            if n == number
            else go(str(n), address(BROWSE, **where, part=str(n)))
            for n in range(1, pages + 1)
        ]
        inside.append(tag("p", t("Page"), " ", *(join(each, " ") for each in links), class_="pd-parts"))
    return _shelf(name, *inside)


def _search(engine: Engine, code: str, t: Interface) -> None:
    """Draw the box that searches this code alone, and what it found; the words stand in no address."""
    if st.session_state.get("within_code") != code:
        st.session_state["within_code"], st.session_state["within_asked"] = code, ""
        st.session_state["within"] = ""
    st.session_state.setdefault("within", st.session_state["within_asked"])  # emptied when the page is left
    with st.form("search-within", border=False):
        st.text_input(t("Search in this code"), key="within", placeholder=t("A word, a situation, a number"))
        if st.form_submit_button(t("Search")):
            st.session_state["within_asked"] = st.session_state["within"]
    question, _ = shorten(st.session_state["within_asked"])
    if not question:
        return
    where = Filter(codes=frozenset({code}), in_force_on=current_day(engine))
    key = search_key(engine, question, where)
    found: Sequence[Shown] | None = recall("the search in a code", key)
    if found is None and may_search(t):
        with failure_notice("the search in a code", t):
            result = engine.ask(question, k=FOUND, where=where)
            found = result.shown
            if result.missing:  # a part that did not answer may do so at the next run
                notices.missing(t)
            else:
                remember("the search in a code", key, found)
    if found is None:
        return
    head = tag("h3", t.n("One article found", "{count} articles found", len(found)))
    if not found:
        head = tag("h3", t("Nothing found in this code"))
    entries = [article_entry(shown.article, t, engine.card) for shown in found]
    words = mark(st.session_state["within_asked"])  # for the script, which keeps the words for a reload
    kind = "pd-shelf pd-within"
    st.html(tag("section", head, tag("ul", *entries), class_=kind, role="status", data_within=words))
    st.button(plain_label(t("Clear the search")), key="within-clear", on_click=_clear)


def _clear() -> None:
    st.session_state["within"] = st.session_state["within_asked"] = ""
