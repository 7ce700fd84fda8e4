"""A short conversation: a follow-up becomes a question that stands alone, shown and open to change."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from rag.answer.screening.patterns import data, plain
from rag.text import Analyser
from rag.text.highlight import sentences

TURNS = 6  # questions kept; what was said before them seldom matters to the next one
LONGEST = (
    600  # characters of a question that stands alone; what a person types at length stands alone already
)
JOINT = " — "

Model = Callable[[str], str]  # a prompt to what a language model says to it


class How(StrEnum):
    """How a stand-alone question was made; the page says it."""

    AS_TYPED = "as typed"
    JOINED = "joined"  # to the question before it, by rule
    MODEL = "model"  # a language model rewrote it


@dataclass(frozen=True, slots=True)
class Standalone:
    """A question that can be searched for by itself."""

    text: str
    how: How


@dataclass(frozen=True, slots=True)
class Conversation:
    """The stand-alone questions asked so far, oldest first, as the person left them."""

    questions: tuple[str, ...] = ()

    def then(self, question: str) -> Conversation:
        """Return the conversation with one more question; an empty one changes nothing."""
        asked = question.strip()
        return Conversation((*self.questions, asked)[-TURNS:]) if asked else self


def standalone(
    conversation: Conversation, follow_up: str, analyser: Analyser, model: Model | None = None
) -> Standalone:
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
        return Standalone(typed, How.AS_TYPED)
    if model is not None:
        said = _checked(
            model(_prompt(conversation, typed, analyser.language)), (*conversation.questions, typed)
        )
        if said is not None:
            return Standalone(said, How.MODEL)
    core = _core(conversation.questions[-1])
    if not core:
        return Standalone(typed, How.AS_TYPED)
    return Standalone(core[: max(LONGEST - len(typed), 0)].rstrip() + JOINT + typed, How.JOINED)


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
    asked = "\n".join(f"- {question}" for question in (*conversation.questions, follow_up))
    return f"{prompts.get(language, prompts['en'])}\n\n{asked}"


_ADDRESS = re.compile(
    r"https?:|www\.|[<>{}\[\]`|]|\b[\w-]+\.(?:com|org|net|io|fr|de|be|it|nl|cn)\b", re.IGNORECASE
)
_NUMBER = re.compile(r"\d+")


def _checked(said: str, typed: tuple[str, ...]) -> str | None:
    """Return what a model rewrote, in one line; None where it is no such question.

    Too long or empty, with an address or markup, or a number that nobody typed: then the rule serves.
    """
    line = " ".join(said.split()).strip("\"'«»“” ")
    if not line or len(line) > LONGEST or _ADDRESS.search(line):
        return None
    return line if set(_NUMBER.findall(line)) <= set(_NUMBER.findall(" ".join(typed))) else None
