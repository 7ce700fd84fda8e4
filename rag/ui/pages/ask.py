"""The page "Ask": a question in, articles out; then, if it is wanted, an answer written from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import sleep

import streamlit as st

from rag.answer.generation.context import readable
from rag.corpus.asker_situations import in_front
from rag.corpus.card import THEMES, CorpusCard
from rag.engine.engine import Engine
from rag.engine.result import Explanation, Level, Result, shorten
from rag.feedback import Feedback
from rag.screening.decision import Decision, screen_danger
from rag.screening.emergencies import emergency_help
from rag.screening.lay_terms import asked_in_terms
from rag.ui import layout
from rag.ui.components import (
    answer_html,
    answer_panel,
    article_history,
    dialogue,
    expansion_chips,
    feedback,
    notices,
    permalink,
    question_form,
    share,
)
from rag.ui.components.article_card import CitedArticles, View, card_html, row_html
from rag.ui.components.article_history import validity_line
from rag.ui.components.entries import laws_html
from rag.ui.components.question_form import theme_names
from rag.ui.html import Html, bullets, folded, join, link, rows, tag
from rag.ui.i18n import N_, Interface
from rag.ui.pages.ask_header import AskHeader, begin
from rag.ui.search import NO_ANSWERS, Answers, decide, search

FIRST = 3  # cards above the written answer: the law comes first, and the answer is found without a long way
APART = 0.05  # seconds from the first cards to the rest


def render(
    engine: Engine,
    t: Interface,
    answers: Answers = NO_ANSWERS,
    feedback_store: Feedback | None = None,
    header: AskHeader | None = None,
) -> None:
    """Draw the page under the masthead, in the state that the session is in."""
    header = header or begin(t)
    shared = header.shared
    offers = question_form.offered(engine, t)
    typed: str | None = st.session_state.get("asked")
    own, was_cut = shorten(typed or "")
    told = shared is None and bool(notices.foreign_language(own, engine.card.language, t.language))
    situation = question_form.draw_question(t, engine.card.language, header.box, offers, told=told)
    if shared is not None and permalink.link_closed():
        shared = None
    with header.options:
        options = question_form.draw_options(engine, t)
    where = question_form.regional_filter(situation, options.where)
    options = replace(options, where=where, chosen=options.chosen or where != options.where)
    question = in_front([each.says for each in situation], own)
    page = _result_page(engine, t, options, answers, typed or "", own, question) if question else None
    if was_cut:
        notices.truncation_notice(len(typed or ""), t)
    slot = None
    if shared is not None:
        with header.first:
            found_by_link = permalink.draw(engine, shared, options, t)
        share.draw(engine, found_by_link, shared.question, options.where, t)
    elif typed is not None and (not question or (page is not None and page.result.status == "empty")):
        notices.empty(t)
    elif page is not None:
        question_form.draw_situation_chips(offers, situation, t)
        slot = _draw(page, feedback_store)
    if shared is None and typed is None:
        _draw_people(engine.card, t)
    found = page is not None and page.result.status == "found"
    if not (shared is not None or found or _is_alarm(page, question, engine.card)):
        question_form.draw_examples(engine.card, t)
    if shared is None and typed is None:
        _draw_loaded(engine, t)
    layout.footer(engine, t)
    if page is not None and slot is not None:
        with slot:  # last, so that nothing on the page waits for a model
            _answer(page)
    else:
        answer_panel.forget()


def _is_alarm(page: _Page | None, question: str, card: CorpusCard) -> bool:
    """Tell whether somebody seems to be in danger, of a search that broke, too."""
    return page.decision.grave if page is not None else bool(question) and screen_danger(question, card).grave


SUMMARY_THEMES = 2  # themes in that line: on a phone the examples below it stand on the first screen
_PEOPLE = N_("Talk to a person instead: {themes}…")


def _draw_people(card: CorpusCard, t: Interface) -> None:
    """Say who helps with what, in one line that opens; nothing where no contact is of one theme."""
    advising = sorted((c for c in card.contacts if c.themes), key=lambda c: THEMES.index(c.themes[0]))
    if not advising:
        return
    numbers = [each for each in emergency_help(card) if each.phone]
    lines = (layout.contact_html(each, t, number_first=True) for each in numbers)
    people = [(t("In danger"), bullets(lines, lang=card.language))]
    for contact in advising:
        themes = theme_names(contact.themes, t)
        helper = tag("span", layout.contact_html(contact, t), lang=card.language)
        people.append((themes[:1].upper() + themes[1:], helper))
    told = dict.fromkeys(theme for each in advising for theme in each.themes)
    themes = theme_names(list(told)[:SUMMARY_THEMES], t)
    listed = rows(people if numbers else people[1:])
    st.html(folded(t(_PEOPLE, themes=themes), listed, class_="pd-whole pd-searched pd-advisers"))


NAMED = 5  # themes that are told at once
_LOADED = N_("{count} laws and codes are searched here: {themes}…")


def _draw_loaded(engine: Engine, t: Interface) -> None:
    """Say which laws are loaded, in one line that opens to a list; nothing where they are few."""
    codes = engine.facets().codes
    if laws := laws_html(engine.card, codes, t):
        themes = theme_names(list(engine.card.by_theme(codes))[:NAMED], t)
        line = t(_LOADED, count=t.number(len(codes)), themes=themes)
        st.html(folded(line, laws, class_="pd-whole pd-searched"))


@dataclass(frozen=True, slots=True)
class _Page:
    engine: Engine
    t: Interface
    options: question_form.Options
    answers: Answers
    typed: str  # what was sent, whole
    own: str  # the question without what was said in front of it
    question: str
    result: Result
    explained: list[Explanation]
    decision: Decision
    problem: str  # why no answer can be written, for whoever runs the page


def _result_page(
    engine: Engine,
    t: Interface,
    options: question_form.Options,
    answers: Answers,
    typed: str,
    own: str,
    question: str,
) -> _Page | None:
    """Search, and say first of all who can help; None where the search could not be made."""
    above = st.container()  # help stands above the word that a search could not be made, too
    found = search(engine, question, options, t)
    page: _Page | None = None
    if found is None:
        decision = screen_danger(question, engine.card)
    else:
        result, explained = found
        decision, problem = decide(question, result, engine, answers)
        page = _Page(engine, t, options, answers, typed, own, question, result, explained, decision, problem)
    with above:
        notices.draw_emergency(decision, t, engine.card, engine.law.articles)
        notices.draw_limits(decision, t, engine.card, engine.law.articles)
        if page is not None and page.result.missing:
            notices.missing(t)
    return page


def _draw(page: _Page, feedback_store: Feedback | None) -> st.delta_generator.DeltaGenerator | None:
    """Draw the articles; return the place for an answer among them, None where there is no article."""
    engine, result, t = page.engine, page.result, page.t
    alarm = page.decision.grave  # under it nothing else speaks, but for the articles
    if not alarm:
        _draw_notices(page)
    if not result.shown:
        if alarm:
            return None
        if page.options.chosen:
            notices.filtered_out(t)
        else:
            notices.nothing(page.own, engine.card, notices.in_question_language(page.own, t))
        return None
    if result.topic and not alarm:
        question_form.draw_topic(page.question, result.topic, t)
    _heading(page)
    slot = _draw_cards(page, asks_back=_draw_quote(page))
    _draw_method(page)
    view = _view(page)
    found = [shown.article for shown in result.shown]
    found += permalink.draw_evidence(found, view, page.typed, t)
    apart = page.answers.model is None
    share.draw(engine, found, result.question, result.where, t, result=result, apart=apart)
    if feedback_store is not None:
        answered = page.answers.quoter is not None or page.answers.model is not None
        index, version = engine.info.name, engine.info.version
        about = feedback.About(page.question, tuple(found), index, version, engine.card, answered)
        feedback.draw(feedback_store, about, t)
    if page.answers.quoter is not None or page.answers.model is not None:
        dialogue.draw_follow_up(page.own, engine.analyser, t)
    return slot


def _draw_quote(page: _Page) -> bool:
    """Draw what the likeliest article says, and below it what is asked back.

    Return whether something may be asked back that is not drawn, for nothing is quoted: below the first card.
    """
    engine, result, t = page.engine, page.result, page.t
    if page.decision.grave:
        return False
    asks_back, quoted = not dialogue.draw_choice(page.own, t), False
    if not page.decision.may_ask or result.topic:
        return False
    alone = len(result.shown) == 1  # its card says what it says
    if page.answers.quoter is not None and not (alone or notices.speaks(page.decision)):
        cited = CitedArticles.of(result.shown, engine.card, t, engine.facts)
        quoted = answer_html.draw(page.answers.quoter, result, page.question, cited)
    if asks_back and quoted:
        _ask_back(page)
    return asks_back and not quoted


def _ask_back(page: _Page) -> None:
    dialogue.draw_clarification(page.own, page.question, page.result, page.engine.card.language, page.t)


def _draw_notices(page: _Page) -> None:
    """Say what is to be known of the question, and which law governs it, above the articles."""
    engine, result, t = page.engine, page.result, page.t
    said = notices.in_question_language(page.own, t)
    notices.draw_language(page.own, engine.card.language, t)
    dialogue.draw_rewrite(page.own, t)
    if page.decision.reason in notices.SCREENED_REASONS:  # two reasons would be one too many
        notices.screening_notice(page.decision, engine.card, said)
    else:
        notices.elsewhere(result.elsewhere, engine.card, said)
    article_history.renumbering_notices(result, engine.card, t)
    if not result.shown:
        notices.mended(page.question, result, engine.analyser, said)


def _draw_method(page: _Page) -> None:
    """Draw how the list is to be read and which words it was made with, folded: it is why, not what."""
    t = page.t
    with st.expander(t("How to read this list"), key="reading"):
        st.html(_way_of_reading(page))
        if not page.decision.grave:
            said = notices.in_question_language(page.own, t)
            notices.mended(page.question, page.result, page.engine.analyser, said)
        expansion_chips.draw(page.question, page.result, t)


def _view(page: _Page) -> View:
    engine, day = page.engine, page.result.in_force_on
    listed = frozenset(
        (*(shown.article.id for shown in page.result.shown), *permalink.evidence_ids(page.typed))
    )
    return View(engine.card, engine.analyser, page.t, day, engine.law, facts=engine.facts, listed=listed)


def _draw_cards(page: _Page, *, asks_back: bool) -> st.delta_generator.DeltaGenerator:
    """Draw the likely articles as cards and the others as lines that open; return the place for an answer.

    What can be done stands below the first, which it rests on, and so does a question back (`asks_back`)
    where nothing is quoted.
    """
    result, t, view = page.result, page.t, _view(page)
    pairs = list(zip(result.shown, page.explained, strict=True))
    if _is_folded(page):
        rows = [row_html(shown, view, explanation) for shown, explanation in pairs]
        if asks_back and not result.doubtful:
            _ask_back(page)
        label = t("Articles of the loaded law that use these words")
        if not (result.elsewhere or result.doubtful):
            label = t("Show the articles")
        st.html(folded(label, *rows, class_="pd-whole pd-closest"))
        return st.container()
    first = max(1 if result.doubtful else FIRST, len(result.known))
    brief = not result.known  # articles that a question names are what it asks for
    for number, (shown, explanation) in enumerate(pairs[:first]):  # each is sent before the next is made
        marked = result.marked and shown.rank == 1
        st.html(card_html(shown, view, explanation, marked=marked, brief=brief and number > 0))
        if number == 0 and not page.decision.grave:
            said = notices.in_question_language(page.own, t)
            notices.draw_steps(result, page.decision, page.engine.card, said)
        if number == 0 and asks_back:  # what answers is read before what is asked
            _ask_back(page)
    slot = st.container()
    if rest := pairs[first:]:  # one element: every element costs, here and in the browser
        # why: a browser draws what comes together at once, and one answer in five came together. Apart, the
        # first three are read while the rest is on its way.
        sleep(APART)
        head = tag("h3", t.n("One more article", "{count} more articles", len(rest)), class_="pd-small")
        rows = [row_html(shown, view, explanation) for shown, explanation in rest]
        st.html(tag("div", head, *rows, class_="pd-rest"))
    return slot


def _is_folded(page: _Page) -> bool:
    """Tell whether the articles are lines behind one fold: another law governs, or help is what is read.

    Nor is a list open that words of another language made, where words of the law make a better one.
    """
    result = page.result
    foreign = result.doubtful and asked_in_terms(page.own, page.engine.card.language, page.t.language)
    return bool(result.elsewhere or page.decision.grave or foreign) and not result.known


def _heading(page: _Page) -> None:
    """Draw what stands above the articles: how likely they answer, and the ways past them."""
    engine, result, t = page.engine, page.result, page.t
    heading = t.n("One article to look at", "{count} articles to look at", len(result.shown))
    likelihood: Html | str = ""
    many = bool(engine.card.by_theme(engine.facets().codes))
    if result.topic and not page.decision.grave:
        heading = t.n("One article on this", "{count} articles on this", len(result.shown))
    elif result.elsewhere and not many and not page.decision.grave:  # two warnings would be one too many
        heading = t("{title}: perhaps about something else", title=engine.card.title)
    elif result.elsewhere:
        heading = t.n("The closest article", "The {count} closest articles", len(result.shown))
    elif result.doubtful:
        if not page.decision.grave and page.decision.reason not in notices.SCREENED_REASONS:
            codes = list(engine.facets().codes)
            law = codes[0] if len(codes) == 1 else "" if many else engine.card.title
            notices.doubtful(page.own, engine.card, law, notices.in_question_language(page.own, t))
        heading = t.n("The closest article", "The {count} closest articles", len(result.shown))
    elif notices.speaks(page.decision) or result.marked:
        pass  # help speaks, or the mark on the first card
    elif result.level is Level.UNSURE:
        likelihood = tag("p", t("One of these may answer; it is not certain."), class_="pd-unsure")
    elif result.answer_set is not None and len(result.shown) > 1:
        said = t.n(
            "The first one very probably answers (9 times in 10).",
            "The answer is among the first {count} (9 times in 10).",
            result.answer_set,
        )
        likelihood = tag("p", said, class_="pd-sure")
    asked = tag("p", class_="pd-print-only")  # paper shows no box; the script fills it
    found = tag("h2", heading), likelihood
    st.html(join(asked, tag("div", *found, class_="pd-found", role="status"), _further_down(page)))


def _way_of_reading(page: _Page) -> Html:
    """Return what is said of the cards and of the day of the law: below them, for who wants to know."""
    engine, result, t = page.engine, page.result, page.t
    sentences = list(_order_notes(result, t))
    order = tag("p", t.sentences(*sentences)) if sentences else ""
    days = engine.card.law_dates(shown.article.code for shown in result.shown)
    dated = validity_line(result.in_force_on, days, dated=engine.facets().dated, t=t)
    return tag("div", order, dated, class_="pd-order")


def _order_notes(result: Result, t: Interface) -> Iterator[str]:
    """Yield what is said of the cards.

    Articles that a question names are in no order of likelihood; where another law governs, none is likely.
    """
    alone = len(result.shown) == 1
    if not (alone or result.known or result.elsewhere):
        yield t("The most likely first.")
    if not (alone and result.known):
        yield t("Highlighted words are those of your question.")
    if result.bridged:
        yield t("Those with a dotted line are words that this law has for yours.")


def _further_down(page: _Page) -> Html:
    """Return links past the cards, which are some screens of a phone."""
    t, result = page.t, page.result
    if len(result.shown) <= FIRST or notices.speaks(page.decision):  # who helps stands above them
        return Html()
    links: list[Html] = []
    model = page.answers.model
    read = model is not None and readable(page.result.shown, model.articles)
    if not page.problem and page.decision.may_ask and read:
        links.insert(0, tag("a", t("Have an answer written from these articles"), href="#pd-written"))
    card = page.engine.card
    if card.contacts and not result.elsewhere:  # that notice says it
        links.append(tag("a", t("Talk to a person"), href=f"#{layout.HELP}"))
    adviser = card.adviser(result.shown[0].article.code)
    if adviser is not None and not result.doubtful:
        named = tag("span", adviser.name, lang=card.language)
        links.append(link(adviser.url, named) if adviser.url else named)
    if not links:
        return Html()
    return tag("nav", *links, class_="pd-down-to", aria_label=t("Further down on this page"))


def _answer(page: _Page) -> None:
    if page.problem:
        answer_panel.problem(page.problem, page.t)
    elif page.answers.model is not None:
        cited = CitedArticles.of(page.result.shown, page.engine.card, page.t)
        question = answer_panel.PanelQuestion(page.question, page.result, page.decision, cited)
        answer_panel.draw(question, page.answers.model, page.t)
