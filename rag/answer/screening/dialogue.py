"""One question back, where the articles found split on something that the person did not say.

A short conversation: a follow-up becomes a question that stands alone, shown and open to change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cache
from typing import Any

from rag.answer.screening.patterns import data, plain
from rag.corpus.asker_situations import region_name
from rag.text import Analyser
from rag.text.highlight import sentences
from rag.types import Article, Shown

INSPECTED_ARTICLES = 5  # articles, the first ones: further down every split can be found
COMPARABLE = 0.5  # of the first article's score; what falls further behind is no rival


class SplitAspect(StrEnum):
    """The aspect by which the retrieved articles divide, such as who pays."""

    SIDE = "side"  # tenant or landlord, married or not
    REGION = "region"
    DATE = "date"


@dataclass(frozen=True, slots=True)
class Option:
    """One answer that a person may choose."""

    label: str
    says: str  # put in front of the question: see `answered`
    region: str | None = None  # to filter by, where the split is on regions
    article_ids: tuple[str, ...] = ()  # of those shown, the ones that speak of it


@dataclass(frozen=True, slots=True)
class Clarifying:
    """A question back, in the language of the law, with its answers."""

    on: SplitAspect
    ask: str
    options: tuple[Option, ...]  # two at least


def clarify(question: str, shown: Sequence[Shown], language: str) -> Clarifying | None:
    """Return at most one question back; None in most cases.

    It is asked where the question names no side, and of the first five articles one speaks more of one
    side and another more of the other, neither far behind the first.

    Args:
        question: as typed.
        shown: the articles of a result, best first.
        language: of the law, ISO 639-1; nothing is asked in one without lists.
    """
    text = plain(question)
    best = _rivals(shown)
    if not text or len(best) < 2:
        return None
    return _region(text, best, language) or _date(question, best, language) or _side(text, best, language)


def answered(question: str, option: Option) -> str:
    """Return the question with what was chosen in front of it."""
    return f"{option.says} {question.strip()}"


def _rivals(shown: Sequence[Shown]) -> list[Article]:
    """Return the first articles whose scores come near the best; those named by number are no guess."""
    found = [s for s in shown if not s.why.known][:INSPECTED_ARTICLES]
    if not found:
        return []
    top = max(s.score for s in found)
    # scores of a learned fusion may be negative, where a share of the first one's means nothing
    return [s.article for s in found if top <= 0 or s.score >= COMPARABLE * top]


@dataclass(frozen=True, slots=True)
class _Side:
    label: str
    says: str
    words: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class _Group:
    ask: str
    about: re.Pattern[str]
    told: re.Pattern[str]
    sides: tuple[_Side, ...]


@cache
def _groups(language: str) -> tuple[_Group, ...]:
    read: list[dict[str, Any]] = data("sides").get(language, [])
    return tuple(
        _Group(
            group["ask"],
            re.compile(group["about"]),
            re.compile(group["told"]),
            tuple(_Side(s["label"], s["says"], re.compile(s["words"])) for s in group["sides"]),
        )
        for group in read
    )


def _side(text: str, articles: Sequence[Article], language: str) -> Clarifying | None:
    read = [(article.id, plain(article.text)) for article in articles]
    for group in _groups(language):
        if not group.about.search(text) or group.told.search(text):
            continue
        if any(side.words.search(text) for side in group.sides):
            continue
        leaning: dict[str, list[str]] = {}
        for article_id, words in read:
            often = {side.label: len(side.words.findall(words)) for side in group.sides}
            most = max(often.values())
            leaders = [label for label, times in often.items() if times == most]
            if most and len(leaders) == 1:
                leaning.setdefault(leaders[0], []).append(article_id)
        if len(leaning) > 1:
            options = (Option(s.label, s.says, None, tuple(leaning.get(s.label, ()))) for s in group.sides)
            return Clarifying(SplitAspect.SIDE, group.ask, tuple(options))
    return None


def _region(text: str, articles: Sequence[Article], language: str) -> Clarifying | None:
    regions = dict.fromkeys(article.region for article in articles if article.region)
    words = data("sides")["region"].get(language)
    if (
        words is None
        or len(regions) < 2
        or any(plain(name) in text for region in regions for name in (region, region_name(region, language)))
    ):
        return None
    options = tuple(
        Option(name, words["says"].format(value=name), region, _ids(articles, region))
        for region in sorted(regions)
        for name in (region_name(region, language),)
    )
    return Clarifying(SplitAspect.REGION, words["ask"], options)


def _ids(articles: Sequence[Article], region: str) -> tuple[str, ...]:
    return tuple(article.id for article in articles if article.region == region)


_YEAR = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)")


def _date(question: str, articles: Sequence[Article], language: str) -> Clarifying | None:
    """Ask for the day where some articles ended before others began; a question with a year told it."""
    words: Mapping[str, str] | None = data("sides")["date"].get(language)
    ended = [a.valid_to for a in articles if a.valid_to is not None]
    starts = sorted(a.valid_from for a in articles if a.valid_from is not None)
    if words is None or not ended or _YEAR.search(question):
        return None
    day = next((first for first in starts if min(ended) <= first), None)
    if day is None:
        return None
    sides = (
        (words["before"], tuple(a.id for a in articles if a.valid_to is not None and a.valid_to <= day)),
        (words["since"], tuple(a.id for a in articles if a.valid_from is not None and a.valid_from >= day)),
    )
    options = (_dated(label.format(day=_written(day, language)), ids, language) for label, ids in sides)
    return Clarifying(SplitAspect.DATE, words["ask"], tuple(options))


def _dated(label: str, ids: tuple[str, ...], language: str) -> Option:
    stop = "。" if language == "zh" else "."
    return Option(label, label[:1].upper() + label[1:] + stop, None, ids)


def _written(day: date, language: str) -> str:
    if language == "zh":
        return f"{day.year}年{day.month}月{day.day}日"
    return f"{day:%d.%m.%Y}" if language == "de" else f"{day:%d/%m/%Y}"


TURNS = 6  # questions kept; what was said before them seldom matters to the next one
LONGEST = (
    600  # characters of a question that stands alone; what a person types at length stands alone already
)
JOINT = " — "

Model = Callable[[str], str]  # a prompt to what a language model says to it


class RewriteMethod(StrEnum):
    """How a follow-up was rewritten to a stand-alone question; the page shows it."""

    AS_TYPED = "as typed"
    JOINED = "joined"  # to the question before it, by rule
    MODEL = "model"  # a language model rewrote it


@dataclass(frozen=True, slots=True)
class StandaloneQuestion:
    """A follow-up rewritten so that it can be searched for by itself."""

    text: str
    how: RewriteMethod


@dataclass(frozen=True, slots=True)
class Conversation:
    """The stand-alone questions asked so far, oldest first, as the person left them."""

    questions: tuple[str, ...] = ()

    def then(self, question: str) -> Conversation:
        """Return the conversation with one more question; an empty one changes nothing."""
        question_text = question.strip()
        return Conversation((*self.questions, question_text)[-TURNS:]) if question_text else self


def standalone(
    conversation: Conversation, follow_up: str, analyser: Analyser, model: Model | None = None
) -> StandaloneQuestion:
    """Return the question that is to be searched for.

    A follow-up that stands alone is left as it is. One that leans on what was said is put behind the
    last question ("question — follow-up"), for retrieval weighs words and needs no grammar; with a model,
    it is rewritten, and what the model gives is used only if it looks like such a question.

    Args:
        conversation: what was asked before.
        follow_up: as typed.
        analyser: of the law; how many telling words a follow-up has decides whether it leans.
        model: rewrites by prompt. The conversation leaves the machine if the model is elsewhere:
            whoever passes one has asked `rag.answer.screening.decision` first. What it raises is not
            caught here.
    """
    typed = follow_up.strip()
    if not conversation.questions or not typed or not leans(typed, analyser):
        return StandaloneQuestion(typed, RewriteMethod.AS_TYPED)
    if model is not None:
        reply = _checked(
            model(_prompt(conversation, typed, analyser.language)), (*conversation.questions, typed)
        )
        if reply is not None:
            return StandaloneQuestion(reply, RewriteMethod.MODEL)
    core = _core(conversation.questions[-1])
    if not core:
        return StandaloneQuestion(typed, RewriteMethod.AS_TYPED)
    return StandaloneQuestion(
        core[: max(LONGEST - len(typed), 0)].rstrip() + JOINT + typed, RewriteMethod.JOINED
    )


def leans(follow_up: str, analyser: Analyser) -> bool:
    """Tell whether a question is to be understood from the one before.

    It opens as a continuation ("et si", "what about") without telling a story of its own, or is short
    and points back ("combien de temps cela prend ?"), or has next to no telling words. Of two sentences, the
    first tells what the second is about.
    """
    text = plain(follow_up)
    opening, pointing = _patterns(analyser.language)
    telling = len(set(analyser.terms(follow_up)))
    words = telling // 2 if analyser.language == "zh" else telling  # words and pairs of characters
    short = int(data("follow_up")["limits"]["short"])
    if opening.search(text):
        return words <= 3 * short
    if len(sentences(follow_up)) > 1:
        return False
    return words <= 2 or (words <= short and pointing.search(text) is not None)


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    read = data("follow_up")
    return re.compile(read["opening"].get(language, "(?!)")), re.compile(
        read["pointing"].get(language, "(?!)")
    )


def _core(question: str) -> str:
    """Return a question without its greeting and the marks at its end."""
    greeting = re.compile(data("follow_up")["limits"]["greeting"], re.IGNORECASE)
    return greeting.sub("", question.strip()).strip().rstrip("?？ \u00a0\u202f")


def _prompt(conversation: Conversation, follow_up: str, language: str) -> str:
    prompts = data("follow_up")["prompt"]
    listed = "\n".join(f"- {question}" for question in (*conversation.questions, follow_up))
    return f"{prompts.get(language, prompts['en'])}\n\n{listed}"


_ADDRESS = re.compile(
    r"https?:|www\.|[<>{}\[\]`|]|\b[\w-]+\.(?:com|org|net|io|fr|de|be|it|nl|cn)\b", re.IGNORECASE
)
_NUMBER = re.compile(r"\d+")


def _checked(reply: str, typed: tuple[str, ...]) -> str | None:
    """Return what a model rewrote, in one line; None where it is no such question.

    Too long or empty, with an address or markup, or a number that nobody typed: then the rule serves.
    """
    line = " ".join(reply.split()).strip("\"'«»“” ")
    if not line or len(line) > LONGEST or _ADDRESS.search(line):
        return None
    return line if set(_NUMBER.findall(line)) <= set(_NUMBER.findall(" ".join(typed))) else None
