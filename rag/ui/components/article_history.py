"""What became of an article number, and the day whose law is shown: above the articles, and on each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date

import streamlit as st

from rag.corpus.card import CorpusCard, Moved
from rag.corpus.citation import is_bare
from rag.engine.result import Result
from rag.types import Article, KnownItem, in_force
from rag.ui.components.entries import is_code, missing_number
from rag.ui.html import Html, join, tag
from rag.ui.i18n import N_, Interface

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
        st.html(tag("div", *lines, class_="pd-box", role="status"))


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
_ANY = N_("Law of any date: an article may no longer be in force, or not yet.")


def validity_line(day: date | None, card: CorpusCard, *, dated: bool, t: Interface) -> Html:
    """Return the line with the date of the law (None: any); empty where the corpus has no dates."""
    if not dated:
        return Html()
    sentences = [t(_ANY)] if day is None else validity_sentences(day, card, t)
    return tag("p", t.sentences(*sentences), class_="pd-day")


def validity_sentences(day: date | None, card: CorpusCard, t: Interface) -> list[str]:
    """Return the sentences with the date of the law; none where no day was asked for."""
    if day is None:
        return []
    sentences = [t("Law in force on {day}.", day=t.day(day))]
    if card.law_date is not None and card.law_date < day:
        sentences.append(t(_OLDER, day=t.day(card.law_date)))
    return sentences


def badge(card: CorpusCard, t: Interface) -> Html:
    """Return the badge with the day of the law, and that it may have changed; quiet, as ten cards bear it."""
    if card.law_date is None:
        return Html()
    return tag("span", t("Law as of {day}; may have changed", day=t.day(card.law_date)), class_="pd-dated")


def label(article: Article, day: date | None, t: Interface) -> str:
    """Return what marks an article that is not in force on the day that was asked for, else nothing."""
    if day is None or in_force(article, day):
        return ""
    return t("not in force on {day}", day=t.day(day))
