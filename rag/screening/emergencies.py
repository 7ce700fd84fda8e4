"""Situations in which help comes before law, and time limits that may be running against who asks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from rag.corpus.card import Contact, CorpusCard
from rag.screening import danger as meaning
from rag.text.patterns import any_of, data, plain


class Danger(StrEnum):
    """What a person may need help with first; the last four are time limits, no danger."""

    VIOLENCE = "violence"
    SEXUAL = "sexual"  # rape and other sexual violence
    CHILD = "child"  # a child in danger
    SUICIDE = "suicide"
    POLICE = "police"  # an arrest, police custody
    HOUSING = "housing"  # no roof tonight, put out of a home within days
    TRAFFICKING = "trafficking"  # papers withheld, forced work, a forced marriage
    HARASSMENT = "harassment"  # at work; never raised: help is shown, without an alarm
    REMOVAL = "removal"  # ordered to leave the country
    EVICTION = "eviction"  # ordered to leave a home
    DISMISSAL = "dismissal"  # work has been taken away
    DEADLINE = "deadline"  # a hearing, a judgment, a decision that can be contested


LIMITS = frozenset(map(Danger, meaning.LIMITS))


@dataclass(frozen=True, slots=True)
class Emergency:
    """An urgent situation that a question speaks of."""

    danger: Danger
    now: bool  # somebody seems to be in it; False: the question only names the subject
    likeliest: bool = False  # of several dangers, or time limits, that seem to be: it comes first

    @property
    def is_limit(self) -> bool:
        """Whether it is a time limit that may be running, and no danger."""
        return self.danger in LIMITS


_OF_THREAT = "threat"  # an attack, a weapon, a threat of death by anybody: help is that of violence


@cache
def _patterns() -> Mapping[Danger, Mapping[str, re.Pattern[str]]]:
    read = data("rag.screening", "urgent")
    parts = ("now", "named", "contact", "minor")
    return {d: {part: any_of(read.get(d, {}).get(part, ())) for part in parts} for d in Danger}


def situations(question: str) -> tuple[Emergency, ...]:
    """Return the urgent situations and time limits of a question, in the order of `Danger`.

    They are found by meaning; a few that `rag.screening.danger` has no words for, and what only names a
    subject, by patterns too, where negation, past and hypothesis are not told apart.
    """
    text, meant = plain(question), meaning.classes(question)
    raised = [each for each, now in meant.items() if now]
    limits = [each for each in raised if each in meaning.LIMITS]
    first = {
        meaning.likeliest(question, kind)
        for kind in ([each for each in raised if each not in limits], limits)
        if len(kind) > 1
    }
    # who says that they are a child is first of all a child, whatever is done to them
    if {"child"} < set(raised) and "suicide" not in first and _patterns()[Danger.CHILD]["minor"].search(text):
        first = {Danger.CHILD, *first.intersection(meaning.LIMITS)}
    likeliest = {Danger.VIOLENCE if each == _OF_THREAT else each for each in first}
    found = []
    for each, patterns in _patterns().items():
        of_threat = each is Danger.VIOLENCE and _OF_THREAT in meant
        now = meant.get(each, False) or (of_threat and meant[_OF_THREAT])
        now = now or patterns["now"].search(text) is not None
        if now or each in meant or of_threat or patterns["named"].search(text):
            found.append(Emergency(each, now, likeliest=now and each in likeliest))
    return tuple(found)


_FIRST_TOLD = (Danger.VIOLENCE, Danger.CHILD, Danger.SUICIDE)
_SPECIAL = (Danger.CHILD, Danger.SUICIDE, Danger.SEXUAL)  # whose numbers come before those of violence


def _precedence(danger: Danger) -> tuple[bool, int]:
    return danger not in _SPECIAL, [*_SPECIAL, *Danger].index(danger)


def help_for(found: Iterable[Emergency], card: CorpusCard) -> tuple[Contact, ...]:
    """Return whom to call in what was found: the card's contacts that fit, then numbers of its jurisdiction.

    A contact fits by its topics, or where it has none by words of its name and note. A number that
    the card has already is not told twice. Where nothing is known of the jurisdiction, nothing is
    invented: the card's own contacts alone are returned.
    """
    likeliest = {each.danger: each.likeliest for each in found}
    dangers = sorted(likeliest, key=lambda danger: (not likeliest[danger], _precedence(danger)))
    own = list(dict.fromkeys(one for each in dangers for one in card.contacts if _fits(one, each)))
    known = {_digits(contact.phone) for contact in own if contact.phone}
    numbers = data("rag.screening", "emergency").get(card.jurisdiction.upper(), [])
    for number in (number for each in dangers for number in numbers if each in number["for"]):
        if _digits(number["phone"]) not in known:
            known.add(_digits(number["phone"]))
            own.append(Contact(number["name"], phone=number["phone"]))
    # the number made for the first danger before those for every danger, and before who has no number
    made_for = {_digits(n["phone"]): len(n["for"]) for n in numbers if dangers and dangers[0] in n["for"]}
    return tuple(sorted(own, key=lambda contact: made_for.get(_digits(contact.phone or ""), len(Danger))))


def emergency_help(card: CorpusCard) -> tuple[Contact, ...]:
    """Return whom to call in the dangers whose numbers stand first, before anything was asked."""
    return help_for((Emergency(each, now=True) for each in _FIRST_TOLD), card)


def _fits(contact: Contact, danger: Danger) -> bool:
    if contact.topics:
        return danger in contact.topics
    return bool(_patterns()[danger]["contact"].search(plain(f"{contact.name} {contact.note or ''}")))


def call_line(language: str | None, phone: str | None) -> str | None:
    """Return whom to call in a language that the page is not written in; None where it has no sentence."""
    sentence = data("rag.screening", "sentences")["call"].get(language or "")
    return sentence.format(number=phone) if sentence and phone else None


def limit_line(language: str | None) -> str | None:
    """Return that a time limit may be running, in a language that the page is not written in, or None."""
    sentence: str | None = data("rag.screening", "sentences")["limit"].get(language or "")
    return sentence


def _digits(phone: str) -> str:
    return "".join(filter(str.isdigit, phone))
