"""What stands around an article: those before and after, those that it refers to, and that refer to it."""

from __future__ import annotations

from functools import lru_cache

import streamlit as st

from rag.corpus.card import CorpusCard
from rag.corpus.contents import Law
from rag.types import Article
from rag.ui.components.cite import title
from rag.ui.components.entries import article_entry, link_to
from rag.ui.components.situation import KEY
from rag.ui.html import Html, tag
from rag.ui.i18n import Words
from rag.ui.links import LONGEST, address, go, listed

MOST = 6  # cross references of either way told here; the page "Browse" has more
KEPT = 512  # neighbourhoods that stay at hand: some megabytes of HTML
_Lists = tuple[tuple[str, tuple[Article, ...]], ...]


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
    beside = tuple(each for each in (before, after) if each is not None)
    lists = (
        (t("Before and after it in the code"), beside),
        (t("It refers to"), law.cites(article.id)[:MOST]),
        (t("Referred to by"), law.cited_by(article.id)[:MOST]),
    )
    asked, said = st.query_params.get("lang"), st.query_params.get(KEY)
    if len(asked or "") + len(said or "") > LONGEST:  # somebody typed it: nothing that long is kept
        return _around.__wrapped__(article, lists, t, card, asked, said)
    return _around(article, lists, t, card, asked, said)


@lru_cache(maxsize=KEPT)
def _around(
    article: Article, lists: _Lists, t: Words, card: CorpusCard, asked: str | None, said: str | None
) -> Html:
    """Return what is folded away; articles and words alone, so that keeping it keeps no index open.

    Args:
        article: of the card.
        lists: what each list is called, and its articles.
        t: the interface.
        card: of the corpus.
        asked: the language that the present address names, which every link repeats (`rag.ui.links`).
        said: what was said of the asker, which goes along with the same question.
    """
    parts = [_list(name, articles, t, card, said) for name, articles in lists if articles]
    whole = tag("p", link_to(article, t("Read it in its code")))
    return tag(
        "details", tag("summary", t("Around it in the code")), *parts, whole, class_="pd-more pd-around"
    )


def _list(name: str, articles: tuple[Article, ...], t: Words, card: CorpusCard, said: str | None) -> Html:
    entries = [article_entry(each, t, card, more=_add(each, t, card, said)) for each in articles]
    return tag("div", tag("h4", name), tag("ul", *entries))


def _add(article: Article, t: Words, card: CorpusCard, said: str | None) -> Html:
    """Return the link that puts an article beside those that are shown."""
    label = t("Add {article}", article=title(article, t, card))
    to = address("", add=listed([article.id]), **{KEY: said})  # the same question, with one article more
    return go(t("Add to the list"), to, aria_label=label, class_="pd-add")
