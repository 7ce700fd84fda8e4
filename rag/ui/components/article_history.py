"""What became of an article number, and the day whose law is shown: above the articles, and on each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta

import streamlit as st

from rag.corpus.card import CorpusCard, Moved
from rag.corpus.citation import is_bare
from rag.engine.result import Result
from rag.types import Article, KnownItem, in_force
from rag.ui.components.entries import is_code, missing_number
from rag.ui.html import Html, join, tag
from rag.ui.i18n import MONTHS, N_, Interface

_ARTICLE = N_("Article {number} ({code})")
_CODE_ARTICLE = N_("Article {number} of the {code}")
_NO_ARTICLE = N_("There is no article {name} here.")
_NOT_HERE = N_("There is no {name} here.")  # of a number that says itself what it is: "§ 573c"
_SEVERAL_ARTICLES = N_("Several codes have an article {name}: you see each of them.")
_SEVERAL = N_("Several codes have {name}: you see each of them.")
_WAS = N_("This number used to stand for this: {about}.")
_FORMER_UNTIL = N_("Before {day}, this number stood for this: {about}.")
_WAS_OTHER = N_("This number used to stand for something else: {about}.")
_FORMER_OTHER_UNTIL = N_("Before {day}, this number stood for something else: {about}.")


def renumbering_notices(result: Result, card: CorpusCard, t: Interface) -> None:
    """Show what became of the article numbers that the question names."""
    shown = {s.article.id: s.article for s in result.shown}
    lines = [tag("p", line) for item in result.known for line in _fate(item, shown, card, t)]
    if lines:
        st.html(tag("div", *lines, class_="pd-box pd-moved", role="status"))


def _fate(item: KnownItem, shown: Mapping[str, Article], card: CorpusCard, t: Interface) -> Iterator[str]:
    number = missing_number(item.article_no, item.code, card)
    bare = is_bare(number)
    name = number if item.code is None else t.with_note(number, item.code)
    if item.moved:
        for move in item.moved:
            sentences = filter(None, _renumbering(move, item, shown, card, t))
            yield join(*[part for each in sentences for part in (t.how.space, each)][1:])
    elif not item.found:
        yield t(_NO_ARTICLE if bare else _NOT_HERE, name=name)
    elif item.code is None and len(item.found) > 1:
        yield t(_SEVERAL_ARTICLES if bare else _SEVERAL, name=name)


def _renumbering(
    move: Moved, item: KnownItem, shown: Mapping[str, Article], card: CorpusCard, t: Interface
) -> Iterator[str]:
    """Yield what the number is today, which most people mean, and only then what it was."""
    number = missing_number(move.old, move.code, card)
    if is_bare(number):
        article = t(_CODE_ARTICLE if is_code(move.code) else _ARTICLE, number=number, code=move.code)
    else:
        article = t.with_note(number, move.code)
    if any(i in shown and shown[i].code == move.code for i in item.found):
        yield t("{article} is shown below.", article=article)
    elif item.found:  # a filter keeps it away
        yield t("{article} exists, and is not among those shown.", article=article)
    else:
        yield t("{article} no longer exists.", article=article)
    yield former_content(move, card, t, other=bool(item.found))
    numbers = [missing_number(each, move.code, card) for each in move.new]
    new = t.listed(numbers)
    if {(move.code, number) for number in move.new} <= {(a.code, a.article_no) for a in shown.values()}:
        if item.found:
            new = t.n("{new} (shown too)", "{new} (all shown too)", len(move.new), new=new)
        else:
            new = t.n("{new} (shown below)", "{new} (all shown below)", len(move.new), new=new)
    yield new_location(numbers, t, new)


def former_content(move: Moved, card: CorpusCard, t: Interface, *, other: bool) -> Html:
    """Return what a number used to stand for, from the card; empty where the card has nothing.

    `other`: whether the number stands for something now.
    """
    about = (move.about or "").rstrip(".")
    if not about:
        return Html()
    messages = (_WAS, _WAS_OTHER) if move.since is None else (_FORMER_UNTIL, _FORMER_OTHER_UNTIL)
    head, _, after = t(messages[other], day=t.iso_day(move.since or ""), about="\0").partition("\0")
    return join(head, tag("span", about, lang=card.language), after)


def new_location(numbers: Sequence[str], t: Interface, sentence: str = "") -> str:
    """Say where the content of a number stands now; `sentence`: the numbers with what is said of them."""
    new = sentence or t.listed(numbers)
    if not all(is_bare(number) for number in numbers):
        return t("What it used to say has moved to {new}.", new=new)
    return t.n(
        "What it used to say has moved to article {new}.",
        "What it used to say has moved to articles {new}.",
        len(numbers),
        new=new,
    )


def predecessor_note(number: str, t: Interface) -> str:
    """Return that an article holds what another number used to stand for."""
    if is_bare(number):
        return t("It took over what article {number} used to say.", number=number)
    return t("It took over what {number} used to say.", number=number)


_OLDER = N_("The texts loaded here are those of {day}: what changed since then is not in them.")
_SPREAD = N_("The texts are not all of one day ({days}): what changed since is not in them.")
_ANY = N_("Law of any date: an article may no longer be in force, or not yet.")


def validity_line(day: date | None, days: Sequence[date], *, dated: bool, t: Interface) -> Html:
    """Return the line with the date of the law (None: any); empty where the corpus has no dates.

    `days` are those of the texts: `CorpusCard.law_dates`.
    """
    if not dated:
        return Html()
    sentences = [t(_ANY)] if day is None else validity_sentences(day, days, t)
    return tag("p", t.sentences(*sentences), class_="pd-day")


def validity_sentences(day: date | None, days: Sequence[date], t: Interface) -> list[str]:
    """Return the sentences with the date of the law; none where no day was asked for."""
    if day is None:
        return []
    sentences = [t("Law in force on {day}.", day=t.day(day))]
    if days and days[0] < day:
        sentences.append(dated_sentence(days, _OLDER, t))
    return sentences


def dated_sentence(days: Sequence[date], message: str, t: Interface) -> str:
    """Return the message with the day of the texts; where they are of several, the sentence that says so."""
    return t(message, day=t.day(days[0])) if len(days) == 1 else t(_SPREAD, days=t.span(days))


def law_as_of(days: Sequence[date], t: Interface) -> str:
    """Return the line with the day of the law, or the days; empty where none is known."""
    if len(days) < 2:
        return t("Law as of {day}", day=t.day(days[0])) if days else ""
    return t.with_note(t("Dates of the texts"), t.span(days))


YEAR = timedelta(days=366)


def text_date(code: str, card: CorpusCard, t: Interface, today: date | None = None) -> str:
    """Return of which month a code's text is, and that it may have changed; empty where nobody says."""
    day = card.dated(code)
    if day is None:
        return ""
    old = (today or date.today()) - day > YEAR
    message = (
        N_("text: {month} {year}, more than a year old: check")
        if old
        else N_("text: {month} {year}, may have changed")
    )
    return t(message, month=t(MONTHS[day.month - 1]), year=day.year)


def label(article: Article, day: date | None, t: Interface) -> str:
    """Return what marks an article that is not in force on the day that was asked for, else nothing."""
    if day is None or in_force(article, day):
        return ""
    return t("not in force on {day}", day=t.day(day))
