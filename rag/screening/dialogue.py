"""One question back, where the articles found split on what was not said; follow-ups that stand alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rag.corpus.asker_situations import region_name
from rag.text import Analyser
from rag.text.highlight import sentences
from rag.text.patterns import data, plain
from rag.types import Article, Shown

INSPECTED_ARTICLES = 5  # articles, the first ones: further down every split can be found
COMPARABLE = 0.5  # of the first article's score; what falls further behind is no rival
TURNS = 6  # questions kept; what was said before them seldom matters to the next one
LONGEST = 600  # characters of a question that stands alone; what is typed at length stands alone already
JOINT = " — "
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)")
_ADDRESS = re.compile(
    r"https?:|www\.|[<>{}\[\]`|]|\b[\w-]+\.(?:com|org|net|io|fr|de|be|it|nl|cn)\b", re.IGNORECASE
)


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
    side and another more of the other, neither far behind the first. Nothing is asked in a language of the
    law without lists. Articles that the question names by number are no guess.
    """
    text = plain(question)
    found = [each for each in shown if not each.why.known][:INSPECTED_ARTICLES]
    top = max((each.score for each in found), default=0.0)
    # scores of a learned fusion may be negative, where a share of the first one's means nothing
    best = [each.article for each in found if top <= 0 or each.score >= COMPARABLE * top]
    if not text or len(best) < 2:
        return None
    return _region(text, best, language) or _date(question, best, language) or _side(text, best, language)


def answered(question: str, option: Option) -> str:
    """Return the question with what was chosen in front of it."""
    return f"{option.says} {question.strip()}"


def _side(text: str, articles: Sequence[Article], language: str) -> Clarifying | None:
    for group in data("rag.screening", "sides").get(language, []):
        if not re.search(group["about"], text) or re.search(group["told"], text):
            continue
        sides: dict[str, re.Pattern[str]] = {s["label"]: re.compile(s["words"]) for s in group["sides"]}
        if any(words.search(text) for words in sides.values()):
            continue
        leaning: dict[str, list[str]] = {}
        for article in articles:
            often = {label: len(words.findall(plain(article.text))) for label, words in sides.items()}
            most = max(often.values())
            leaders = [label for label, times in often.items() if times == most]
            if most and len(leaders) == 1:
                leaning.setdefault(leaders[0], []).append(article.id)
        if len(leaning) > 1:
            options = (
                Option(side["label"], side["says"], None, tuple(leaning.get(side["label"], ())))
                for side in group["sides"]
            )
            return Clarifying(SplitAspect.SIDE, group["ask"], tuple(options))
    return None


def _region(text: str, articles: Sequence[Article], language: str) -> Clarifying | None:
    regions = dict.fromkeys(article.region for article in articles if article.region)
    words = data("rag.screening", "sides")["region"].get(language)
    names = {region: region_name(region, language) for region in sorted(regions)}
    if words is None or len(regions) < 2 or any(plain(name) in text for name in (*names, *names.values())):
        return None
    options = []
    for region, name in names.items():
        ids = tuple(article.id for article in articles if article.region == region)
        options.append(Option(name, words["says"].format(value=name), region, ids))
    return Clarifying(SplitAspect.REGION, words["ask"], tuple(options))


def _date(question: str, articles: Sequence[Article], language: str) -> Clarifying | None:
    """Ask for the day where some articles ended before others began; a question with a year told it."""
    words: Mapping[str, str] | None = data("rag.screening", "sides")["date"].get(language)
    ended = [a.valid_to for a in articles if a.valid_to is not None]
    starts = sorted(a.valid_from for a in articles if a.valid_from is not None)
    if words is None or not ended or _YEAR.search(question):
        return None
    day = next((first for first in starts if min(ended) <= first), None)
    if day is None:
        return None
    written = f"{day:%d.%m.%Y}" if language == "de" else f"{day:%d/%m/%Y}"
    if language == "zh":
        written = f"{day.year}年{day.month}月{day.day}日"
    stop = "。" if language == "zh" else "."
    options = []
    for side, ids in (
        ("before", (a.id for a in articles if a.valid_to is not None and a.valid_to <= day)),
        ("since", (a.id for a in articles if a.valid_from is not None and a.valid_from >= day)),
    ):
        label = words[side].format(day=written)
        options.append(Option(label, label[:1].upper() + label[1:] + stop, None, tuple(ids)))
    return Clarifying(SplitAspect.DATE, words["ask"], tuple(options))


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

    The conversation leaves the machine if the model is elsewhere: whoever passes one has asked
    `rag.screening.decision` first. What the model raises is not caught here.
    """
    typed = follow_up.strip()
    if not conversation.questions or not typed or not leans(typed, analyser):
        return StandaloneQuestion(typed, RewriteMethod.AS_TYPED)
    if model is not None:
        earlier = (*conversation.questions, typed)
        prompts = data("rag.screening", "follow_up")["prompt"]
        prompt = prompts.get(analyser.language, prompts["en"])
        listed = "\n".join(f"- {question}" for question in earlier)
        reply = _checked(model(f"{prompt}\n\n{listed}"), earlier)
        if reply is not None:
            return StandaloneQuestion(reply, RewriteMethod.MODEL)
    greeting = re.compile(data("rag.screening", "follow_up")["limits"]["greeting"], re.IGNORECASE)
    core = greeting.sub("", conversation.questions[-1].strip()).strip().rstrip("?？ \u00a0\u202f")
    if not core:
        return StandaloneQuestion(typed, RewriteMethod.AS_TYPED)
    joined = core[: max(LONGEST - len(typed), 0)].rstrip() + JOINT + typed
    return StandaloneQuestion(joined, RewriteMethod.JOINED)


def leans(follow_up: str, analyser: Analyser) -> bool:
    """Tell whether a question is to be understood from the one before.

    It opens as a continuation ("et si", "what about") without telling a story of its own, or is short
    and points back ("combien de temps cela prend ?"), or has next to no telling words. Of two sentences, the
    first tells what the second is about.
    """
    text = plain(follow_up)
    opens, points = (
        re.search(data("rag.screening", "follow_up")[kind].get(analyser.language, "(?!)"), text) is not None
        for kind in ("opening", "pointing")
    )
    telling = len(set(analyser.terms(follow_up)))
    words = telling // 2 if analyser.language == "zh" else telling  # words and pairs of characters
    short = int(data("rag.screening", "follow_up")["limits"]["short"])
    if opens:
        return words <= 3 * short
    if len(sentences(follow_up)) > 1:
        return False
    return words <= 2 or (words <= short and points)


def _checked(reply: str, typed: tuple[str, ...]) -> str | None:
    """Return what a model rewrote, in one line; None where it is no such question.

    Too long or empty, with an address or markup, or a number that nobody typed: then the rule serves.
    """
    line = " ".join(reply.split()).strip("\"'«»“” ")
    if not line or len(line) > LONGEST or _ADDRESS.search(line):
        return None
    return line if set(re.findall(r"\d+", line)) <= set(re.findall(r"\d+", " ".join(typed))) else None
