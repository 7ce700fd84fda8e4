"""What stands around an article: those before and after, those that it refers to, and that refer to it."""

from __future__ import annotations

import streamlit as st

from rag.browsing import Law
from rag.card import CorpusCard
from rag.types import Article
from rag.ui.cite import title
from rag.ui.entries import article_entry, link_to
from rag.ui.i18n import Words
from rag.ui.links import address, go, listed
from rag.ui.markup import Html, tag
from rag.ui.situation import KEY

MOST = 6  # cross references of either way told here; the page "Browse" has more


def neighbours(article: Article, law: Law, t: Words, card: CorpusCard) -> Html:
    """Return the neighbourhood of an article of a card, folded; nothing for one that is not in the corpus.

    Args:
        article: of the card.
        law: its corpus.
        t: the interface.
        card: of the corpus.
    """
    if article.id not in law.articles:
        return Html()
    before, after = law.before(article.id), law.after(article.id)
    beside = [each for each in (before, after) if each is not None]
    parts = [
        _list(t("Before and after it in the code"), beside, t, card),
        _list(t("It refers to"), law.cites(article.id)[:MOST], t, card),
        _list(t("Referred to by"), law.cited_by(article.id)[:MOST], t, card),
    ]
    whole = tag("p", link_to(article, t("Read it in its code")))
    return tag(
        "details", tag("summary", t("Around it in the code")), *parts, whole, class_="pd-more pd-around"
    )


def _list(name: str, articles: tuple[Article, ...] | list[Article], t: Words, card: CorpusCard) -> Html:
    if not articles:
        return Html()
    entries = [article_entry(each, t, card, more=_add(each, t, card)) for each in articles]
    return tag("div", tag("h4", name), tag("ul", *entries))


def _add(article: Article, t: Words, card: CorpusCard) -> Html:
    """Return the link that puts an article beside those that are shown."""
    label = t("Add {article}", article=title(article, t, card))
    said = st.query_params.get(KEY)  # the same question, with one article more
    to = address("", add=listed([article.id]), **{KEY: said})
    return go(t("Add to the list"), to, aria_label=label, class_="pd-add")
