"""Situations in which help comes before law: violence, an arrest, a deadline within days."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from rag.answer.screening.patterns import any_of, data, plain
from rag.corpus.card import Contact, CorpusCard


class Danger(StrEnum):
    """What a person may need help with first."""

    VIOLENCE = "violence"
    SEXUAL = "sexual"  # rape and other sexual violence
    CHILD = "child"  # a child in danger
    SUICIDE = "suicide"
    POLICE = "police"  # an arrest, police custody
    HOUSING = "housing"  # put out of a home within days
    DEADLINE = "deadline"  # a hearing or time limit within days
    TRAFFICKING = "trafficking"  # papers withheld, forced work


@dataclass(frozen=True, slots=True)
class Emergency:
    """An urgent situation that a question speaks of."""

    danger: Danger
    now: bool  # somebody seems to be in it; False: the question only names the subject


@dataclass(frozen=True, slots=True)
class _Patterns:
    now: re.Pattern[str]
    named: re.Pattern[str]
    contact: re.Pattern[str]


@cache
def _patterns() -> dict[Danger, _Patterns]:
    read = data("urgent")
    parts = ("now", "named", "contact")
    return {d: _Patterns(*(any_of(read[d].get(part, ())) for part in parts)) for d in Danger}


def situations(question: str) -> tuple[Emergency, ...]:
    """Return the urgent situations of a question, in the order of `Danger`.

    Negation, past and hypothesis are not told apart: one alarm too many costs a line on the page.
    """
    text = plain(question)
    found = []
    for danger, patterns in _patterns().items():
        if patterns.now.search(text):
            found.append(Emergency(danger, now=True))
        elif patterns.named.search(text):
            found.append(Emergency(danger, now=False))
    return tuple(found)


def help_for(found: Iterable[Emergency], card: CorpusCard) -> tuple[Contact, ...]:
    """Return whom to call: the card's contacts that fit, then numbers of its jurisdiction.

    A contact fits by its topics, or where it has none by words of its name and note. A number that
    the card has already is not told twice. Where nothing is known of the jurisdiction, nothing is
    invented: the card's own contacts alone are returned.

    Args:
        found: what `situations` returned.
        card: of the corpus that was asked.
    """
    dangers = list(dict.fromkeys(situation.danger for situation in found))
    own = [c for danger in dangers for c in card.contacts if _fits(c, danger)]
    own = list(dict.fromkeys(own))
    known = {_digits(contact.phone) for contact in own if contact.phone}
    numbers = data("emergency").get(card.jurisdiction.upper(), [])
    wanted = [n for danger in dangers for n in numbers if danger in n["for"]]
    for number in wanted:
        if _digits(number["phone"]) not in known:
            known.add(_digits(number["phone"]))
            own.append(Contact(number["name"], phone=number["phone"]))
    return tuple(own)


def _fits(contact: Contact, danger: Danger) -> bool:
    if contact.topics:
        return danger in contact.topics
    return bool(_patterns()[danger].contact.search(plain(f"{contact.name} {contact.note or ''}")))


def _digits(phone: str) -> str:
    return "".join(filter(str.isdigit, phone))
