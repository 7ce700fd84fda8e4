"""The day whose law is shown: said above the articles, and on each that is not in force then."""

from __future__ import annotations

from datetime import date

from rag.corpus.card import CorpusCard
from rag.types import Article, in_force
from rag.ui.html import Html, tag
from rag.ui.i18n import N_, Words

_DAY = N_("Law in force on {day}.")
_OLDER = N_("The texts loaded here are those of {day}: what changed since then is not in them.")
_DATED = N_("Law as of {day}; may have changed")
_ANY = N_("Law of any date: an article may no longer be in force, or not yet.")


def of_day(day: date | None, card: CorpusCard, *, dated: bool, t: Words) -> Html:
    """Return the line that says of which day the law is; nothing where the corpus knows no dates.

    Args:
        day: that was asked for; None is any.
        card: of the corpus: its own date may be older than the day.
        dated: whether articles say from when to when they are in force.
        t: the interface.
    """
    if not dated:
        return Html()
    said = [t(_ANY)] if day is None else of_day_text(day, card, t)
    return tag("p", t.sentences(*said), class_="pd-day")


def of_day_text(day: date | None, card: CorpusCard, t: Words) -> list[str]:
    """Return the sentences that say of which day the law is; none where no day was asked for."""
    if day is None:
        return []
    said = [t(_DAY, day=t.day(day))]
    if card.law_date is not None and card.law_date < day:
        said.append(t(_OLDER, day=t.day(card.law_date)))
    return said


def badge(card: CorpusCard, t: Words) -> Html:
    """Return the badge with the day of the law, and that it may have changed; quiet, as ten cards bear it."""
    if card.law_date is None:
        return Html()
    return tag("span", t(_DATED, day=t.day(card.law_date)), class_="pd-dated")


def label(article: Article, day: date | None, t: Words) -> str:
    """Return what marks an article that is not in force on the day that was asked for, else nothing."""
    if day is None or in_force(article, day):
        return ""
    return t("not in force on {day}", day=t.day(day))
