"""An answer as HTML, part by part: passages of law, lines between them, claims with the law beside them.

An answer without any model: the sentence of each of the first articles that best meets the question.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import streamlit as st

from rag.answer.composition import line
from rag.answer.extractive import FROM, Extract, Extractor
from rag.answer.types import Answer, ClaimPart, Ending, GapPart, LinePart, Part, PassagePart
from rag.engine.result import Result
from rag.text.language import language_of
from rag.ui.components.article_card import NO_FACTS, CitedArticles, Mark, limit_html
from rag.ui.components.article_history import dated_sentence
from rag.ui.html import Html, bullets, folded, join, tag
from rag.ui.i18n import N_, Interface

_CHOSE = N_("A language model ({model}) named these passages. None of its own words are shown.")
_WROTE = N_("A machine wrote this ({model}), and another checked it ({judge}). Both can be wrong.")
_ADVICE = N_("This is legal information, not legal advice. Read the articles before you act.")


def part_html(part: Part, cited: CitedArticles) -> Html:
    """Return one part of an answer, with links to the cards that it rests on."""
    match part:
        case LinePart():
            return tag("p", line(part.key, cited.t.language), class_="pd-line")
        case PassagePart():
            return cited.law(part.article_id, part.spans, part.brought)
        case ClaimPart():
            return _claim(part, cited)
        case GapPart():
            return tag("p", _gap(part, cited.t), class_="pd-left-out")


def _claim(claim: ClaimPart, cited: CitedArticles) -> Html:
    """Return a claim: with the law that carries it, or with the mark that nobody could verify it."""
    t = cited.t
    mark = (
        Html() if claim.verified else join(tag("span", t("not verified"), class_="pd-badge pd-doubted"), " ")
    )
    links = cited.links(claim.article_ids)
    opening, after = t.how.brackets
    named = join(opening, links, after) if links else ""
    sentence = tag("p", mark, tag("span", claim.text, lang=language_of(claim.text, likely=t.language)), named)
    label = t("The words of the summary") if cited.summary else t("The words of the law")
    law = [
        cited.law(id_, [(p.start, p.end) for p in claim.passages if p.article_id == id_])
        for id_ in dict.fromkeys(passage.article_id for passage in claim.passages)
        if id_ in cited.shown
    ]
    rests = folded(label, *law, class_="pd-rests") if law else ""
    return tag("div", sentence, rests, class_="pd-said")


def _gap(gap: GapPart, t: Interface) -> str:
    if gap.contradicted:
        return t("A sentence was left out here: the articles say otherwise.")
    return t("A sentence was left out here.")


def progress_html(started: bool, passages: int, claims: int, t: Interface) -> Html:
    """Return what is said while the model is at work."""
    if not started:
        message = t("The language model reads the articles…")
    elif claims:
        message = t.n(
            "One sentence so far. It is shown once all are checked…",
            "{count} sentences so far. They are shown once all are checked…",
            claims,
        )
    elif passages:
        message = t.n("At work… one passage so far", "At work… {count} passages so far", passages)
    else:
        message = t("The language model is at work…")
    dot = tag("span", class_="pd-dot", aria_hidden="true")
    return tag("p", dot, message, class_="pd-progress", role="status", aria_live="polite")


def ending_html(answer: Answer, t: Interface, summary: bool = False) -> Html:
    """Return how writing ended, in place of the progress; announced to screen readers.

    `summary`: the passages are a digest's.
    """
    kind = "pd-progress" if answer.ending is Ending.WRITTEN else "pd-progress pd-short"
    # translated now: the page's language may have changed since the answer came
    reason = (
        t(answer.reason, seconds=t.n("one second", "{count} seconds", answer.wait or 1))
        if answer.reason
        else ""
    )
    match answer.ending:
        case Ending.WRITTEN if not reason:
            message = t(_ending(answer, summary))
        case Ending.UNVERIFIED:
            why = reason or t("What the language model wrote could not be verified, so it is not shown.")
            message = t.sentences(why, t("You see the passages that it named instead."))
        case Ending.REFUSED:
            message = t("The language model says that these articles do not suffice for an answer.")
        case Ending.STOPPED:
            message = t("Stopped. The language model writes no more.")
        case _:
            message = reason or t(
                "Nothing of what the language model wrote could be verified, so nothing is shown."
            )
    return tag("p", message, class_=kind, role="status", aria_live="polite")


def _ending(answer: Answer, summary: bool) -> str:
    if not answer.judge and summary:
        return N_("The answer is finished. Each passage stands so in the summary of its article.")
    if not answer.judge:
        return N_("The answer is finished. Each passage stands so in its article.")
    if any(isinstance(part, ClaimPart) and not part.verified for part in answer.parts):
        return N_(
            "The answer is finished. Do not rely on what is marked “not verified”: it could not be confirmed."
        )
    return N_("The answer is finished. Each sentence was checked against the articles that it names.")


def notes_html(answer: Answer, cited: CitedArticles) -> Html:
    """Return what stands below the answer: what of the articles was not read, and of the answer not shown."""
    return tag(
        "div", *(tag("p", line, class_="pd-hint") for line in _notes(answer, cited)), class_="pd-after"
    )


def _notes(answer: Answer, cited: CitedArticles) -> Iterator[str]:
    t = cited.t
    if answer.unreadable and answer.parts:
        yield t.n(
            "One line of the language model could not be read. It is not shown.",
            "{count} lines of the language model could not be read. They are not shown.",
            answer.unreadable,
        )
    if answer.withheld:
        yield t.n(
            "One passage is shown on its card only, for it holds a link, a number or an order.",
            "{count} passages are shown on their cards only, for they hold links, numbers or orders.",
            answer.withheld,
        )
    trimmed = [cited.name(each.article_id) for each in answer.trimmed if each.article_id in cited.shown]
    if trimmed:
        yield t("The model was shown only a part of: {articles}.", articles=t.listed(trimmed))
    left = [cited.name(each) for each in answer.left_out if each in cited.shown]
    if left:
        yield t("The model was not shown: {articles}.", articles=t.listed(left))


def notice_html(model: str, judge: str, cited: CitedArticles) -> Html:
    """Return the notice that stands beside every answer; without a judge, passages alone are shown."""
    t, days = cited.t, cited.days
    lines = [t(_WROTE, model=model, judge=judge) if judge else t(_CHOSE, model=model), t(_ADVICE)]
    if days:
        lines.append(dated_sentence(days, N_("It rests on the law as of {day}."), t))
    return tag("p", t.sentences(*lines), class_="pd-machine", role="note")


_CHOSEN = N_("Sentences of the articles, chosen without a model.")
MAX_QUOTE = 240  # characters, some forty words: what is longer is read on the card, which comes next


def draw(quoter: Extractor, result: Result, question: str, cited: CitedArticles) -> bool:
    """Draw the passage with a link to its card; not where it is long, or not about the question: False."""
    # one: with what can be done, more would push the articles off the screen
    articles = [shown.article for shown in result.shown[:FROM] if shown.article.text][:1]
    law_words = {pair.law: pair.weight for pair in result.bridged}  # the law's terms for everyday words
    quotes = [each for each in quoter.extract(question, articles, law_words) if each.score > 0]
    # of a passage that is much too long the beginning of its article would stand there, which answers nothing
    found = [each for each in quotes if not each.long and _length(each) <= MAX_QUOTE]
    if not found:
        return False
    t = cited.t
    said = N_("Only the official text counts.") if cited.summary else _CHOSEN
    hint = tag("p", t(said), class_="pd-hint")
    passages = bullets(_extract(each, cited) for each in found)
    named = t("What these articles say")
    st.html(tag("section", passages, hint, class_="pd-box pd-quoted", aria_label=named))
    return True


def _length(extract: Extract) -> int:
    return sum(end - start for start, end in extract.spans)


LIMITS = 2  # time limits of a quoted article; its card has them all


def _limits(extract: Extract, cited: CitedArticles) -> Html:
    """Return time limits of a quoted article, first those that the quote sets, as long as all is short."""
    article, limits = cited.shown[extract.article_id].article, []
    for limit in cited.facts.get(article.id, NO_FACTS).shown.time_limits:
        start = article.text.find(limit.clause) if limit.clause else -1
        quoted = start >= 0 and any(a < start + len(limit.clause) and start < b for a, b in extract.spans)
        limits.append((not quoted, limit))
    # in short: what happens else stands on the card, which a phone shows next
    ordered = sorted(limits, key=lambda each: each[0])
    room, first = MAX_QUOTE - _length(extract), []
    for _, limit in ordered[:LIMITS]:
        room -= len(limit.within) + len(limit.what) + len(limit.start or "")
        if room >= 0:
            first.append(replace(limit, otherwise=""))
    if not first:
        return Html()
    law = article.language or cited.card.language
    return tag("div", bullets(limit_html(limit, cited.t, law) for limit in first), class_="pd-limits")


def _extract(extract: Extract, cited: CitedArticles) -> Html:
    t = cited.t
    tooltip = t("a legal word for one of yours")
    marks: list[Mark] = [(*span, "", "") for span in extract.matched]
    marks += [(*span, "pd-law", tooltip) for span in extract.law_words]
    passage = cited.law(extract.article_id, extract.spans, extract.brought, marks)
    return join(passage, _limits(extract, cited))
