"""A written answer as HTML: sentences that passed, what they rest on, and what became of the rest."""

from __future__ import annotations

from collections.abc import Iterator

from rag.answer.types import Answer, Ending, Passed
from rag.ui.components.passages import Cited
from rag.ui.html import Html, join, tag
from rag.ui.i18n import N_, Words

_MACHINE = N_(
    "A machine wrote this ({model}): legal information, not legal advice. Read the articles before you act."
)
_LAW = N_("It rests on the law as of {day}.")
_REFUSED = N_("The language model says that these articles do not suffice for an answer.")
_STOPPED = N_("Stopped. The language model writes no more.")
_NOTHING = N_("No answer is left to show: the articles do not say what the language model wrote.")
_CHECKED = N_("The answer is finished. Each sentence was checked against the articles that it names.")


def sentence_html(passed: Passed, cited: Cited) -> Html:
    """Return one sentence with links to the cards that it cites, and the passages it rests on."""
    t = cited.t
    told = t("The words of the summary") if cited.summary else t("The words of the law")
    spoken = cited.card.language
    before, after = t.how.brackets
    return tag(
        "div",
        tag("p", tag("span", passed.text, lang=spoken), before, cited.links(passed.article_ids), after),
        tag(
            "details",
            tag("summary", told),
            *(cited.passage(each) for each in passed.passages),
            class_="pd-rests",
        ),
        class_="pd-said",
    )


def progress_html(begun: bool, sentences: int, t: Words) -> Html:
    """Return what is said while the model is at work."""
    if not begun:
        said = t("The language model reads the articles…")
    elif not sentences:
        said = t("Writing…")
    else:
        said = t.n("Writing… one sentence so far", "Writing… {count} sentences so far", sentences)
    return tag(
        "p",
        tag("span", class_="pd-dot", aria_hidden="true"),
        said,
        class_="pd-progress",
        role="status",
        aria_live="polite",
    )


def ended_html(answer: Answer, t: Words) -> Html:
    """Return how writing ended, in place of the progress; said aloud by a screen reader."""
    kind = "pd-progress" if answer.ending is Ending.WRITTEN else "pd-progress pd-short"
    said = t.sentences(*_ended(answer, t))
    return tag("p", said, class_=kind, role="status", aria_live="polite")


def _ended(answer: Answer, t: Words) -> Iterator[str]:
    match answer.ending:
        case Ending.WRITTEN:
            yield _reason(answer, t) if answer.reason else t(_CHECKED)
        case Ending.REFUSED:
            yield t(_REFUSED)
        case Ending.STOPPED:
            yield t(_STOPPED)
        case Ending.EMPTY if answer.removed:
            yield t(_NOTHING)
        case _:
            yield _reason(answer, t)


def _reason(answer: Answer, t: Words) -> str:
    """Return a failure's message in the page's language, which may have changed since it came."""
    wait = t.n("one second", "{count} seconds", answer.wait or 1)
    return t(answer.reason, seconds=wait)


def notes_html(answer: Answer, cited: Cited) -> Html:
    """Return what stands below the sentences: what is missing, what was removed, what was not read."""
    t = cited.t
    lines = [tag("p", line, class_="pd-hint") for line in _counts(answer, t)]
    missing: Html | str = ""
    if answer.missing:
        told = tag("ul", *(tag("li", text, lang=cited.card.language) for text in answer.missing))
        missing = join(tag("h3", t("What these articles do not say, according to the model")), told)
    seen = [tag("p", line, class_="pd-hint") for line in _unseen(answer, cited)]
    return tag("div", missing, *lines, *seen, class_="pd-after")


def _counts(answer: Answer, t: Words) -> Iterator[str]:
    if answer.removed:
        yield t.n(
            "One sentence was removed, because the articles do not say that.",
            "{count} sentences were removed, because the articles do not say that.",
            len(answer.removed),
        )
    if answer.unreadable and (answer.sentences or answer.removed):
        yield t.n("One more could not be read.", "{count} more could not be read.", answer.unreadable)


def _unseen(answer: Answer, cited: Cited) -> Iterator[str]:
    t = cited.t
    trimmed = [cited.name(each.article_id) for each in answer.trimmed if each.article_id in cited.shown]
    if trimmed:
        yield t("The model was shown only a part of: {articles}.", articles=t.listed(trimmed))
    left = [cited.name(each) for each in answer.left_out if each in cited.shown]
    if left:
        yield t("The model was not shown: {articles}.", articles=t.listed(left))


def notice_html(model: str, cited: Cited) -> Html:
    """Return the notice that stands beside every written answer."""
    t, day = cited.t, cited.card.law_date
    said = [t(_MACHINE, model=model)]
    if day is not None:
        said.append(t(_LAW, day=t.day(day)))
    return tag("p", t.sentences(*said), class_="pd-machine", role="note")
