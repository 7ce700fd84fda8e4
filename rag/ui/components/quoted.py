"""An answer without any model: the sentence of each of the first articles that best meets the question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import streamlit as st

from rag.answer.extract import Extract
from rag.engine.result import Result
from rag.types import Article
from rag.ui.components.passages import Cited
from rag.ui.html import Html, join, tag
from rag.ui.i18n import N_, Words
from rag.ui.protocols import Quoter

FROM = 3  # articles: more would push the articles themselves off the screen

_CHOSEN = N_("Of each of the first articles, the sentence that best meets your question. No model wrote it.")
_CHOSEN_SUMMARY = N_(
    "Of each of the first summaries, the sentence that best meets your question. "
    "Only the official text counts."
)
_GOES_ON = N_("The text goes on with a limit: read it before you rely on this.")


def law_words(result: Result) -> Mapping[str, float]:
    """Return the terms of law that stand for the question's everyday words, with their probabilities."""
    return {pair.law: pair.weight for pair in result.bridged}


def draw(quoter: Quoter, result: Result, question: str, cited: Cited) -> None:
    """Draw the sentences; nothing where no sentence has anything to do with the question."""
    articles = [shown.article for shown in result.shown[:FROM]]
    found = [each for each in quoter.extract(question, articles, law_words(result)) if each.score > 0]
    if found:
        st.html(quoted_html(found, cited))


def quoted_html(extracts: Sequence[Extract], cited: Cited) -> Html:
    """Return the sentences as a list, each with a link to its card."""
    t = cited.t
    return tag(
        "section",
        tag("h2", t("What these articles say")),
        tag("ul", *(tag("li", _sentence(each, cited)) for each in extracts)),
        tag("p", t(_CHOSEN_SUMMARY if cited.summary else _CHOSEN), class_="pd-hint"),
        class_="pd-box pd-quoted",
    )


def _sentence(extract: Extract, cited: Cited) -> Html:
    article = cited.shown[extract.article_id].article
    marked = join(
        "… " * extract.cut_before,
        *_marked(article, extract, cited.t),
        " …" * extract.cut_after,
    )
    narrowed = tag("span", " ", cited.t(_GOES_ON), class_="pd-limit") if extract.limited else ""
    return join(cited.link(article.id), " ", cited.told(marked, article.language), narrowed)


def _marked(article: Article, extract: Extract, t: Words) -> Iterator[str]:
    """Yield the passage with the question's words, and the law's words for them, told apart."""
    spans = [(*span, "") for span in extract.matched] + [(*span, "pd-law") for span in extract.law_words]
    at = extract.start
    for start, end, kind in sorted(spans):
        if start < at:  # never twice
            continue
        yield article.text[at:start]
        told = t("a legal word for one of yours") if kind else None
        yield tag("mark", article.text[start:end], class_=kind or None, title=told)
        at = end
    yield article.text[at : extract.end]
