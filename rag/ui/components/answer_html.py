"""A written answer as HTML: sentences that passed, what they rest on, and what became of the rest.

An answer without any model: the sentence of each of the first articles that best meets the question.
"""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from rag.answer.extractive import Extract, Extractor
from rag.answer.types import AcceptedSentence, Answer, Ending
from rag.engine.result import Result
from rag.types import Article
from rag.ui.components.article_card import CitedArticles
from rag.ui.html import Html, bullets, folded, join, tag
from rag.ui.i18n import N_, Interface

_MACHINE = N_(
    "A machine wrote this ({model}): legal information, not legal advice. Read the articles before you act."
)
_CHECKED = N_("The answer is finished. Each sentence was checked against the articles that it names.")


def sentence_html(passed: AcceptedSentence, cited: CitedArticles) -> Html:
    """Return one sentence with links to the cards that it cites, and the passages it rests on."""
    t = cited.t
    label = t("The words of the summary") if cited.summary else t("The words of the law")
    opening, after = t.how.brackets
    text = tag("span", passed.text, lang=cited.card.language)
    sentence = tag("p", text, opening, cited.links(passed.article_ids), after)
    passages = folded(label, *map(cited.passage, passed.passages), class_="pd-rests")
    return tag("div", sentence, passages, class_="pd-said")


def progress_html(started: bool, sentences: int, t: Interface) -> Html:
    """Return what is said while the model is at work."""
    if not started:
        message = t("The language model reads the articles…")
    elif not sentences:
        message = t("Writing…")
    else:
        message = t.n("Writing… one sentence so far", "Writing… {count} sentences so far", sentences)
    dot = tag("span", class_="pd-dot", aria_hidden="true")
    return tag("p", dot, message, class_="pd-progress", role="status", aria_live="polite")


def ending_html(answer: Answer, t: Interface) -> Html:
    """Return how writing ended, in place of the progress; announced to screen readers."""
    kind = "pd-progress" if answer.ending is Ending.WRITTEN else "pd-progress pd-short"
    match answer.ending:
        case Ending.WRITTEN if not answer.reason:
            message = t(_CHECKED)
        case Ending.REFUSED:
            message = t("The language model says that these articles do not suffice for an answer.")
        case Ending.STOPPED:
            message = t("Stopped. The language model writes no more.")
        case Ending.EMPTY if answer.removed:
            message = t("No answer is left to show: the articles do not say what the language model wrote.")
        case _:  # translated now: the page's language may have changed since the failure came
            message = t(answer.reason, seconds=t.n("one second", "{count} seconds", answer.wait or 1))
    return tag("p", message, class_=kind, role="status", aria_live="polite")


def notes_html(answer: Answer, cited: CitedArticles) -> Html:
    """Return what stands below the sentences: what is missing, what was removed, what was not read."""
    t = cited.t
    missing = Html()
    if answer.missing:
        head = tag("h3", t("What these articles do not say, according to the model"))
        missing = join(head, bullets(answer.missing, lang=cited.card.language))
    lines = (tag("p", line, class_="pd-hint") for line in _notes(answer, cited))
    return tag("div", missing, *lines, class_="pd-after")


def _notes(answer: Answer, cited: CitedArticles) -> Iterator[str]:
    t = cited.t
    if answer.removed:
        yield t.n(
            "One sentence was removed, because the articles do not say that.",
            "{count} sentences were removed, because the articles do not say that.",
            len(answer.removed),
        )
    if answer.unreadable and (answer.sentences or answer.removed):
        yield t.n("One more could not be read.", "{count} more could not be read.", answer.unreadable)
    trimmed = [cited.name(each.article_id) for each in answer.trimmed if each.article_id in cited.shown]
    if trimmed:
        yield t("The model was shown only a part of: {articles}.", articles=t.listed(trimmed))
    left = [cited.name(each) for each in answer.left_out if each in cited.shown]
    if left:
        yield t("The model was not shown: {articles}.", articles=t.listed(left))


def notice_html(model: str, cited: CitedArticles) -> Html:
    """Return the notice that stands beside every written answer."""
    t, day = cited.t, cited.card.law_date
    lines = [t(_MACHINE, model=model)]
    if day is not None:
        lines.append(t("It rests on the law as of {day}.", day=t.day(day)))
    return tag("p", t.sentences(*lines), class_="pd-machine", role="note")


FROM = 3  # articles: more would push the articles themselves off the screen

_CHOSEN = N_("Of each of the first articles, the sentence that best meets your question. No model wrote it.")
_CHOSEN_SUMMARY = N_(
    "Of each of the first summaries, the sentence that best meets your question. "
    "Only the official text counts."
)
_GOES_ON = N_("The text goes on with a limit: read it before you rely on this.")


def draw(quoter: Extractor, result: Result, question: str, cited: CitedArticles) -> None:
    """Draw the sentences, each with a link to its card; nothing where none has to do with the question."""
    articles = [shown.article for shown in result.shown[:FROM]]
    law_words = {pair.law: pair.weight for pair in result.bridged}  # the law's terms for everyday words
    found = [each for each in quoter.extract(question, articles, law_words) if each.score > 0]
    if not found:
        return
    t = cited.t
    head = tag("h2", t("What these articles say"))
    hint = tag("p", t(_CHOSEN_SUMMARY if cited.summary else _CHOSEN), class_="pd-hint")
    sentences = bullets(_sentence(each, cited) for each in found)
    st.html(tag("section", head, sentences, hint, class_="pd-box pd-quoted"))


def _sentence(extract: Extract, cited: CitedArticles) -> Html:
    article = cited.shown[extract.article_id].article
    marked = join("… " * extract.cut_before, *_marked(article, extract, cited.t), " …" * extract.cut_after)
    narrowed = tag("span", " ", cited.t(_GOES_ON), class_="pd-limit") if extract.limited else ""
    return join(cited.link(article.id), " ", cited.linked(marked, article.language), narrowed)


def _marked(article: Article, extract: Extract, t: Interface) -> Iterator[str]:
    """Yield the passage with the question's words, and the law's words for them, told apart."""
    spans = [(*span, "") for span in extract.matched] + [(*span, "pd-law") for span in extract.law_words]
    at = extract.start
    for start, end, kind in sorted(spans):
        if start < at:  # never twice
            continue
        yield article.text[at:start]
        tooltip = t("a legal word for one of yours") if kind else None
        yield tag("mark", article.text[start:end], class_=kind or None, title=tooltip)
        at = end
    yield article.text[at : extract.end]
