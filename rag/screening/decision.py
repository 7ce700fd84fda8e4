"""What is decided before a model is asked: whether to ask it, and what a person should see first."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

from rag.corpus.card import Contact, CorpusCard, Step
from rag.engine.result import Result
from rag.screening.danger import ruled_languages
from rag.screening.emergencies import Emergency, help_for, situations
from rag.screening.jurisdiction import other_country
from rag.screening.language import question_language, question_languages
from rag.screening.personal_data import PersonalDataSpan, personal_data
from rag.text.patterns import any_of, data, plain

# A list this sure of an answer outweighs a word of kitchen or weather: "recette" is also what comes in.
OFF_TOPIC_THRESHOLD = 0.6


class DecisionReason(StrEnum):
    """Why no model is asked."""

    EMPTY = "empty"  # nothing was typed
    OTHER_COUNTRY = "other country"  # another country's law is asked for
    NOT_LAW = "not law"
    NOTHING = "nothing found"
    ELSEWHERE = "elsewhere"  # a law governs it that is not loaded
    DOUBTFUL = "doubtful"  # the calibrated confidence is below its threshold


_ALIKE = {"ru", "uk"}  # languages whose frequent words are mostly the same


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided of one question; nothing has left the machine."""

    reason: DecisionReason | None = None  # why no model is asked; None: it may be
    country: str | None = None  # whose law is asked for instead, ISO 3166-1 alpha-2
    urgent: tuple[Emergency, ...] = ()
    limits: tuple[Emergency, ...] = ()  # time limits that may be running, the likeliest first
    language: str | None = None  # that the question seems to be in, ISO 639-1; None: in none that is known
    contacts: tuple[Contact, ...] = ()  # whom to call, shown before anything else; () unless urgent
    personal: tuple[PersonalDataSpan, ...] = ()  # to be agreed to, or taken out with `personal.redact`

    @property
    def may_ask(self) -> bool:
        """Whether a model may be asked, once the person has agreed to send what `personal` marks."""
        return self.reason is None

    @property
    def grave(self) -> bool:
        """Whether somebody seems to be in an urgent situation, not only to ask about one."""
        return any(situation.now for situation in self.urgent)


def screen_question(question: str, result: Result, card: CorpusCard, *, leaves: bool = True) -> Decision:
    """Decide whether a model may be asked, and which notice comes first.

    A question that names an article by number may be asked without confidence, which is not calibrated
    for it. A topic of a law that is not loaded stops the model only where the list is doubtful too: the
    notice of the topic stands on the page in any case. Personal data, which needs the extra [llm], is
    looked for only if the question could leave the machine: a model is configured.

    Raises:
        MissingExtra: `leaves`, and the packages that know telephone and identity numbers are not there.
    """
    personal = personal_data(question, card.jurisdiction) if leaves else ()
    reason, country = _reason(question, result, card)
    return replace(_danger(question, card), reason=reason, country=country, personal=personal)


def screen_danger(question: str, card: CorpusCard) -> Decision:
    """Return who can help at once, where nothing could be searched; no model is asked."""
    country = other_country(question, card.jurisdiction)
    reason = DecisionReason.NOTHING if country is None else DecisionReason.OTHER_COUNTRY
    return replace(_danger(question, card), reason=reason, country=country)


def steps_in_time(decision: Decision, card: CorpusCard) -> list[Step]:
    """Return the steps of a card for the time limits that may be running, those of the likeliest first."""
    dangers = [limit.danger for limit in decision.limits]
    steps = [step for step in card.steps if not set(dangers).isdisjoint(step.dangers)]
    return sorted(steps, key=lambda step: dangers[0] not in step.dangers)


def _danger(question: str, card: CorpusCard) -> Decision:
    """Return what a question tells of danger and of time limits, and who helps."""
    found = situations(question)
    urgent = tuple(each for each in found if not each.is_limit)
    running = (each for each in found if each.is_limit and each.now)
    limits = tuple(sorted(running, key=lambda each: not each.likeliest))
    spoken = None
    if urgent or limits:
        if question_languages(question):
            spoken = question_language(question, card.language)
        ruled = ruled_languages(question)  # "quiero suicidarme" has no word that is frequent
        untold = spoken in (None, card.language) or {spoken, *ruled} == _ALIKE
        if ruled and card.language not in ruled and untold:
            spoken = ruled[0]
    return Decision(urgent=urgent, limits=limits, language=spoken, contacts=help_for(urgent, card))


def _reason(question: str, result: Result, card: CorpusCard) -> tuple[DecisionReason | None, str | None]:
    if result.status == "empty" or not question.strip():
        return DecisionReason.EMPTY, None
    country = other_country(question, card.jurisdiction)
    if country is not None:
        return DecisionReason.OTHER_COUNTRY, country
    known = any(item.found or item.moved for item in result.known)
    unsure = result.confidence is None or result.confidence < OFF_TOPIC_THRESHOLD
    if not known and (surely_not_law(question) or (unsure and not_law(question))):
        return DecisionReason.NOT_LAW, None
    if not result.shown:
        return DecisionReason.NOTHING, None
    if result.doubtful and not known:
        return (DecisionReason.ELSEWHERE if result.elsewhere else DecisionReason.DOUBTFUL), None
    return None, None


def not_law(question: str) -> bool:
    """Tell whether the words of a question are those of another matter, and none is one of law."""
    if surely_not_law(question):
        return True
    text = plain(question)
    return _words("topics").search(text) is not None and _words("law").search(text) is None


def surely_not_law(question: str) -> bool:
    """Tell whether no law answers a question, whatever else it speaks of and however sure a list is."""
    return _words("surely").search(plain(question)) is not None


@cache
def _words(kind: str) -> re.Pattern[str]:
    return any_of(data("rag.screening", "not_law")[kind])
