"""One article of a code to be read: its text whole, what stands around it, who cites whom, what was asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import streamlit as st

from rag.corpus.card import CorpusCard
from rag.types import Article
from rag.ui.components.article_card import View, badges, foot
from rag.ui.components.article_history import moved_to, stood_for, took_over
from rag.ui.components.cite import number_of, title
from rag.ui.components.dates import badge, of_day
from rag.ui.components.entries import article_entry, heading, link_to
from rag.ui.components.question_form import of_today
from rag.ui.html import Html, join, paragraphs, tag
from rag.ui.i18n import Words
from rag.ui.protocols import AskEngine

AROUND = 30  # articles under the same heading that are told on either side
REFERRING = 30  # cross references of either way; a definition may be cited by hundreds
AT_ONCE = 5  # questions told without a click
ASKED = 40


def reading(engine: AskEngine, article: Article, t: Words) -> None:
    """Draw an article as a page of the code."""
    today = of_today(engine)
    day = today.in_force_on if today else None
    view = View(engine.card, engine.analyser, t, day)
    law, lang = engine.law, article.language or engine.card.language
    header = tag(
        "header",
        heading(title(article, t, engine.card), f"article {article.id}"),
        tag("span", article.code, class_="pd-code", lang=lang),
        *(tag("span", said, class_="pd-badge") for said in badges(article, view)),
        badge(engine.card, t),
    )
    changes = [tag("p", line) for line in _changes(article, engine.card, t)]
    st.html(
        tag(
            "article",
            header,
            of_day(day, engine.card, dated=engine.facets().dated, t=t),
            _leaf(engine, article, t),
            tag("div", paragraphs(article.text), class_="pd-text", lang=lang),
            tag("aside", *changes, class_="pd-changes") if changes else "",
            foot(article, engine.card, t),
            class_="pd-card pd-reading",
        )
    )
    parts = [
        _siblings(law.siblings(article.id), article, t, engine.card),
        _references(t("It refers to"), law.cites(article.id), article, t, engine.card),
        _references(t("Referred to by"), law.cited_by(article.id), article, t, engine.card),
        _asked(law.asked(article.id), t, lang),
    ]
    if any(parts):
        st.html(join(*parts))


def _leaf(engine: AskEngine, article: Article, t: Words) -> Html:
    """Return the links to the article before and the one after in the code."""
    links: list[Html] = []
    if (before := engine.law.before(article.id)) is not None:
        name = title(before, t, engine.card)
        said = t("Previous: {name}", name=name)
        links.append(link_to(before, f"← {name}", rel="prev", aria_label=said))
    if (after := engine.law.after(article.id)) is not None:
        name = title(after, t, engine.card)
        said = t("Next: {name}", name=name)
        links.append(link_to(after, f"{name} →", rel="next", aria_label=said))
    return (
        tag("nav", *links, class_="pd-leaf", aria_label=t("Previous and next article")) if links else Html()
    )


def _changes(article: Article, card: CorpusCard, t: Words) -> Iterator[str]:
    """Yield what is known of the number: what stood there before, what it took over."""
    for moved in card.moved:
        if moved.code != article.code:
            continue
        if moved.old == article.article_no:
            if said := stood_for(moved, card, t, other=True):
                yield said
            yield moved_to([number_of(new, moved.code, card) for new in moved.new], t)
        elif article.article_no in moved.new:
            yield took_over(number_of(moved.old, moved.code, card), t)


def _siblings(siblings: Sequence[Article], article: Article, t: Words, card: CorpusCard) -> Html:
    if len(siblings) < 2:
        return Html()
    at = next(n for n, each in enumerate(siblings) if each.id == article.id)
    near = siblings[max(0, at - AROUND) : at + AROUND + 1]
    links = [
        tag("li", tag("span", each.article_no, aria_current="page"))
        if each.id == article.id
        else tag("li", link_to(each, each.article_no, aria_label=title(each, t, card)))
        for each in near
    ]
    name = t("Under the same heading")
    return tag(
        "nav", tag("h3", name), tag("ul", *links, class_="pd-chips"), class_="pd-shelf", aria_label=name
    )


def _references(name: str, articles: Sequence[Article], article: Article, t: Words, card: CorpusCard) -> Html:
    if not articles:
        return Html()
    entries = [article_entry(a, t, card, code=a.code != article.code) for a in articles[:REFERRING]]
    more = len(articles) - REFERRING
    rest = tag("p", t.n("and one more", "and {count} more", more)) if more > 0 else ""
    return tag("nav", tag("h3", name), tag("ul", *entries), rest, class_="pd-shelf", aria_label=name)


def _asked(questions: Sequence[str], t: Words, lang: str) -> Html:
    if not questions:
        return Html()
    items = [tag("li", tag("q", text, lang=lang)) for text in questions[:ASKED]]
    rest = items[AT_ONCE:]
    said = t.n("{count} more question", "{count} more questions", len(rest))
    more = tag("details", tag("summary", said), tag("ul", *rest), class_="pd-more") if rest else ""
    head = tag("h3", t("Questions that this article answers"))
    return tag("section", head, tag("ul", *items[:AT_ONCE]), more, class_="pd-shelf pd-why")
