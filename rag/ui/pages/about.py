"""The page "About": what this is and is not, what the law here lacks, what may be done with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

import streamlit as st

from rag.answer.generation.writer import ModelWriter
from rag.engine.engine import Engine
from rag.feedback import Feedback
from rag.ui import layout
from rag.ui.components.answer_panel import JUDGE_AWAY, MARKS, WITHHOLDS, button_label
from rag.ui.components.article_history import dated_sentence
from rag.ui.components.entries import heading, laws_html
from rag.ui.components.feedback import retention_text
from rag.ui.components.notices import in_language
from rag.ui.html import join, link, site, tag, web_address
from rag.ui.i18n import N_, Interface
from rag.ui.navigation import COMPARE, QUALITY, TITLES, address, go
from rag.ui.search import NO_ANSWERS, Answers

_IS = N_(
    "Pandect is a search tool. You tell what happened in your own words, and it shows the articles of law"
    " that may answer, the likeliest first, with the reason for each."
)
_IS_NOT = N_(
    "It is not a lawyer, and what it shows is not advice. It does not know your whole situation, and it "
    "can miss an article or show one that does not apply to you."
)
_DECIDES = N_("Only a court, an authority or a professional can tell what the law means in your case.")
_DATED = N_("The texts are those of {day}. What changed since is not in them.")
_UNDATED = N_("The collection does not say of which day its texts are: check each against the official text.")
_OWN = N_("It compares words and meaning. What it knows of meaning was learnt from texts of law ({encoder}).")
_TRAINED = N_(
    "It compares words and meaning. What it knows of meaning comes from a language model that was trained "
    "further on texts of law ({encoder})."
)
_PRETRAINED = N_(
    "It compares words and meaning. What it knows of meaning comes from a general language model "
    "({encoder}), which may know little of this law."
)
_PRIVATE = N_(
    "Your question is not recorded and stands in no address, unless you put it into a link yourself."
)
_TAB = N_("For a reload of the page it waits in this tab of your browser, and nowhere else.")
_MODEL_AWAY = N_(
    "Only the button “{button}” sends your question and the first articles to the language model {model}. "
    "Another machine may run it, and its operator says what becomes of them there."
)
_MODEL_HERE = N_(
    "Only the button “{button}” sends your question and the first articles to the language model {model}. "
    "It runs on the machine of this page."
)
_JUDGE_HERE = N_("What it writes is checked by {judge}, on the machine of this page.")
_STRICT = N_(
    "The model only chooses passages of the articles, and their order. You see these passages as they "
    "stand there, and a few lines from a fixed list, such as “But:”. Nothing that the model writes is "
    "shown, so it cannot invent anything. It can still choose badly, and leave out what matters to you."
)
_JUDGED = N_(
    "The model writes sentences of its own. A program compares each with the articles that it names: "
    "numbers, dates, quotes and words such as “always” must stand there. Then {judge} reads each sentence"
    " beside the articles, and says whether they support it."
)
_MISSES = N_(
    "{judge} can be wrong. It may let through a sentence that drops a condition, mixes up who owes what, "
    "or says a little more than the law; and it may doubt one that is right. Below each sentence stand "
    "the words of the law that carry it: compare them."
)
_FALLS = N_(
    "If the first sentence, a condition or more than half of the answer is not confirmed, none of it is "
    "shown: you see the passages of law that it named."
)
_FEEDBACK = N_(
    "What you say of the articles, if you send it, is kept on the machine that runs this page for {time}; "
    "your question is kept with it only if you tick that."
)
_NO_FEEDBACK = N_("What people think of the articles is not collected here.")
_KNOWS: Mapping[str, str] = {"fitted": _OWN, "trained": _TRAINED, "unknown": _PRETRAINED}


def render(
    engine: Engine, t: Interface, answers: Answers = NO_ANSWERS, feedback: Feedback | None = None
) -> None:
    """Draw the page under the masthead."""
    st.html(tag("div", heading(t("About Pandect"), "about"), class_="pd-found"))
    laws = laws_html(engine.card, engine.facets().codes, t)
    sections: tuple[tuple[str, Iterator[str]], ...] = (
        (t("What it is, and what it is not"), iter([t(_IS), t(_IS_NOT), t(_DECIDES)])),
        (
            t("What is searched, and what is not"),
            chain(_searched(engine, t), [laws], _not_searched(engine, t)),
        ),
        (t("A machine at work"), _machine(engine, t)),
        (t("Written answers"), _answers(answers.model, t)),
        (t("Your question"), _private(engine, t, answers, feedback)),
        (t("What may be done with the texts"), _licence(engine, t)),
    )
    for name, lines in sections:
        told = [line if line is laws else tag("p", line) for line in lines if line]
        if told:
            st.html(tag("section", tag("h3", name), *told, class_="pd-about"))
    further = [go(t(TITLES[name]), address(name)) for name in (COMPARE, QUALITY)]
    st.html(tag("nav", *further, class_="pd-down-to", aria_label=t("Further pages")))
    layout.notice(t)
    layout.footer(engine, t)


def _searched(engine: Engine, t: Interface) -> Iterator[str]:
    card = engine.card
    count = t.n("one article", "{count} articles", engine.info.articles)
    yield t("Searched here: {title}, {articles}.", title=card.title, articles=count)
    days = card.law_dates()
    yield dated_sentence(days, _DATED, t) if days else t(_UNDATED)
    if card.text_kind == "summary":
        yield t(
            "The texts shown are summaries in plain words, not the law itself. Only the official text counts."
        )


def _not_searched(engine: Engine, t: Interface) -> Iterator[str]:
    lacks = engine.card.lacks
    if lacks is None:  # the card says nothing of it
        yield t(
            "Not searched: other laws and codes, decrees and orders, local rules, collective agreements, "
            "European and international law."
        )
        yield t("Nor are court decisions, although they often decide how an article is applied.")
    elif lacks:
        yield in_language(lacks, t.language)


_WRITTEN = N_("It also looks at questions that a machine wrote for the articles; people asked none of them.")


def _machine(engine: Engine, t: Interface) -> Iterator[str]:
    yield t(
        "A program ranks the articles automatically (artificial intelligence in the sense of some laws). "
        "No person checks a list before you see it."
    )
    encoder = engine.info.encoder
    if encoder is None:
        yield t("It compares words only: it was trained on no text.")
    else:
        yield t(_KNOWS[engine.info.encoder_knows], encoder=encoder)
    if engine.info.questions and engine.card.question_origin == "machine":
        yield t(
            "It also looks at questions that a machine wrote for the articles; people asked none of them."
        )
    elif engine.info.questions:
        yield t(
            "It also looks at questions that were answered before, written by experts or by those who made "
            "the collection."
        )


def _answers(model: ModelWriter | None, t: Interface) -> Iterator[str]:
    """Yield what is shown of a model's answer, and what whatever checks it lets through."""
    if model is None:
        return
    if not model.judge:
        yield t(
            "Used here: {model}, to choose passages of law. No judge is set, for none of its own words are "
            "shown.",
            model=model.name,
        )
        yield t(_STRICT)
        return
    yield t("Used here: {model} to write, {judge} to check.", model=model.name, judge=model.judge)
    yield t(_JUDGED, judge=model.judge)
    yield t.sentences(t(WITHHOLDS if model.withholds else MARKS), t(_FALLS))
    yield t(_MISSES, judge=model.judge)


def _private(engine: Engine, t: Interface, answers: Answers, feedback: Feedback | None) -> Iterator[str]:
    """Yield what becomes of a question: as the panel and the form that ask for it say it."""
    yield t.sentences(t(_PRIVATE), t(_TAB))
    model = answers.model
    if model is None:
        yield t("Nothing you type leaves the machine that runs this page.")
    else:
        sends = _MODEL_HERE if model.local else _MODEL_AWAY
        lines = [t(sends, model=model.name, button=button_label(model, t))]
        if model.judge:
            lines.append(t(_JUDGE_HERE if model.judge_local else JUDGE_AWAY, judge=model.judge))
        yield t.sentences(*lines)
    if engine.situations or len(engine.facets().regions) > 1:
        yield t(
            "What you choose as true of you (a tenant, a region) stands in the address of the page, so "
            "that a reload keeps it. Links to share leave it out."
        )
    yield t(_FEEDBACK, time=retention_text(feedback, t)) if feedback is not None else t(_NO_FEEDBACK)


def _licence(engine: Engine, t: Interface) -> Iterator[str]:
    card = engine.card
    if card.licence.strip():
        yield link(card.licence_url, card.licence)
    if limits := layout.terms(card, t):
        yield tag("strong", limits)
    elif card.licence.strip():
        yield t("It lets you use the texts again, on the conditions that it names.")
    if card.source:
        yield t("Source: {source}", source=layout.source_line(card))
    if web_address(card.official_site):
        yield join(t("The official texts are here:"), t.how.space, site(card.official_site))
