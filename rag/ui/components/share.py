"""Below the articles: a link to them, files to keep, a sheet to print; the question only if it is wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from rag.corpus.citation import citation
from rag.corpus.export import ArticleExtract, ExportLabels, to_json, to_markdown
from rag.engine.engine import Engine, IndexInfo
from rag.engine.receipt import as_json, receipt
from rag.engine.result import Result
from rag.types import Article, Filter
from rag.ui.components.article_card import NO_FACTS, fact_lines, look_for
from rag.ui.components.article_history import law_as_of, text_date, validity_sentences
from rag.ui.components.permalink import link
from rag.ui.html import copy_button, plain_label, tag
from rag.ui.i18n import N_, Interface
from rag.ui.layout import MACHINE, source_line
from rag.ui.navigation import SHEET, absolute, go

PLACE = "pd-share"  # a link above the articles leads to it
_WITHOUT_QUESTION = N_(
    "The link and the files hold the articles and the version of the law, not your question."
)
_WITH_QUESTION = N_("Your question goes along: whoever gets the link or the files can read it.")
_SUMMARIES = N_(
    "The texts shown are summaries in plain words, not the law itself. Only the official text counts."
)


def draw(
    engine: Engine,
    articles: Sequence[Article],
    question: str,
    where: Filter | None,
    t: Interface,
    *,
    result: Result | None = None,
    apart: bool = True,
) -> None:
    """Draw the ways to take the articles away; nothing where there are none.

    A click here draws this part alone where it stands `apart`. On a page that writes answers it may not, for
    Streamlit would keep such a click until the answer that is being written has ended. Of a `result` a
    receipt is offered where the question goes along, which it holds.
    """
    if not articles:
        return
    panel = st.fragment(_panel) if apart else _panel
    # why not the engine: a session keeps what a fragment was given, and would so keep open an index that the
    # page has closed
    day, info = where.in_force_on if where else None, engine.info
    facts = {each.id: engine.facts[each.id] for each in articles if each.id in engine.facts}
    whole = ArticleExtract(engine.card, info.name, info.version, tuple(articles), day=day, facts=facts)
    st.html(tag("div", id=PLACE))
    proof = partial(_receipt, result, info) if result is not None and not result.missing else None
    panel(whole, question, proof, t)


def _receipt(result: Result, info: IndexInfo) -> str:
    return as_json(receipt(result, info))


def _panel(whole: ArticleExtract, question: str, proof: Callable[[], str] | None, t: Interface) -> None:
    with st.expander(t("Share, keep or print these articles")):
        chosen = _chosen(whole, t)
        if not chosen:
            st.html(tag("p", t("Choose at least one article."), class_="pd-hint", role="status"))
            return
        included = ""  # off for every new question
        if question and st.checkbox(
            plain_label(t("Include my question")), key=_anew("told", question, False)
        ):
            included = question
        message = t(_WITH_QUESTION if included else _WITHOUT_QUESTION)
        st.html(tag("p", message, class_="pd-hint", role="status"))
        ids = [article.id for article in chosen]
        url = absolute(link(ids, whole.version, included))
        copy = copy_button(t("Copy the link"), url, t("Copied"))
        st.html(tag("p", tag("code", url), " ", copy, class_="pd-address"))
        extract = replace(whole, articles=chosen, question=included or None)
        name, save = f"pandect-{whole.index}", partial(st.download_button, on_click="ignore")
        # a file is written when its button is pressed, which few do
        markdown, as_json = partial(to_markdown, extract, labels(extract, t)), partial(to_json, extract)
        with st.container(key="files", horizontal=True):
            save(t("Save as text (Markdown)"), markdown, f"{name}.md", "text/markdown", key="save-markdown")
            save(t("Save for a program (JSON)"), as_json, f"{name}.json", "application/json", key="save-json")
            if included and proof is not None:
                file = f"{name}-receipt.json"
                save(t("Save a receipt to check (JSON)"), proof, file, "application/json", key="save-receipt")
        st.html(tag("p", go(t("One page to print or keep as PDF"), link(ids, whole.version, page=SHEET))))


def _anew(name: str, about: object, value: object) -> str:
    """Return a widget's key, whose value is set when it is about something else than before.

    Why not a key for each question: Streamlit keeps what it knows of a widget as long as the session lives,
    and a session that asks much would grow for as long.
    """
    of = f"{name}_of"
    if name not in st.session_state or st.session_state.get(of) != about:
        st.session_state[name], st.session_state[of] = value, about
    return name


def _chosen(whole: ArticleExtract, t: Interface) -> tuple[Article, ...]:
    if len(whole.articles) == 1:
        return whole.articles
    by_id = {article.id: article for article in whole.articles}
    chosen = st.multiselect(
        t("Which articles"),
        list(by_id),
        format_func=lambda i: citation(by_id[i], whole.card),
        key=_anew("taken", list(by_id), list(by_id)),
        placeholder=t("Choose"),
    )
    return tuple(by_id[i] for i in by_id if i in chosen)  # in the order shown, whatever was clicked first


def labels(extract: ArticleExtract, t: Interface) -> ExportLabels:
    """Return what a file says around the articles, in the interface's language."""
    card = extract.card
    dates = law_as_of(card.law_dates(article.code for article in extract.articles), t)
    return ExportLabels(
        title=card.title,
        question=t("The question"),
        limits=limits(extract, t),
        official=t("Official text"),
        facts=(
            *([dates] if dates else []),
            *([t("Source: {source}", source=source_line(card))] if card.source else []),
            *([t("Licence: {licence}", licence=card.licence)] if card.licence.strip() else []),
            t("Index: {name}, version {version}", name=extract.index, version=extract.version),
        ),
        notes={article.id: tuple(_notes(article, extract, t)) for article in extract.articles},
    )


def _notes(article: Article, extract: ArticleExtract, t: Interface) -> Iterator[str]:
    """Yield what a file says below the text of an article."""
    card = extract.card
    yield from fact_lines(article, extract.facts.get(article.id, NO_FACTS), card, t)
    if said := text_date(article.code, card, t):
        yield said
    page, own = card.official_page(article.code, article.url)
    if page and not own:
        yield look_for(article, t)


def limits(extract: ArticleExtract, t: Interface) -> tuple[str, ...]:
    """Return what has to be known of articles that stand alone, away from the pages."""
    paragraphs = [t.sentences(t("Legal information, not legal advice."), t(MACHINE))]
    if extract.card.text_kind == "summary":
        paragraphs.append(t(_SUMMARIES))
    days = extract.card.law_dates(article.code for article in extract.articles)
    return (*paragraphs, *validity_sentences(extract.day, days, t))
