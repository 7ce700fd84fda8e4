"""Questions written by a language model: what is asked for an article, and what of a reply is taken.

Two ways, both in our words (training/synthetic/prompt_files/synthetic.toml): `person`, as somebody asks
who knows no law and has not read the article (STARD's Dense-GPT4), and `detail`, on concrete details, with
annotated questions as examples (JuriFindIT). One question an article is enough: of JuriFindIT's 0 to 4, one
was best.

What comes back is checked before it is taken: questions that name an article, that are of no question's
length, or that were asked before are left out and counted.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from indexes.corpus.corpus import SYNTHETIC
from rag.answer.generation.context import tokens
from rag.errors import BadInput
from rag.text import Analyser
from rag.text.folding import fold, level
from rag.types import Article, Question
from training.answers.chat import Chat, Reply, reply_key
from training.answers.run import Cache
from training.splits.near_duplicates import near_duplicates
from training.synthetic import prompts
from training.synthetic.prompts import boundary, format_article, strip_reasoning

WAYS = ("person", "detail")
LANGUAGES = {"fr": "French", "en": "English", "nl": "Dutch", "de": "German", "it": "Italian", "zh": "Chinese"}
EXAMPLES = 4  # annotated questions shown
LONGEST = 6000  # characters of an article that a model is shown: all but a few
SHORTEST, TOO_LONG = 8, 600  # characters of a question; half of them in Chinese
WRITTEN = 40  # tokens that a question takes, for the estimate
_NUMBER = re.compile(
    r"\bart(?:icles?|ikels?|icol[oi]|\.)\s*[LRDA]?[.\s]*\d|§+\s*\d|第\s*[0-9〇零一二三四五六七八九十百千]+\s*条",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SyntheticPlan:
    """What is asked for which article."""

    article: Article
    prompt: str


@dataclass(frozen=True, slots=True)
class SyntheticQuestions:
    """The questions of a run, and why others were rejected."""

    questions: tuple[Question, ...]
    left_out: Counter[str]  # reason -> how many questions, or articles without any
    failed: int = 0  # articles whose reply failed


def plans(
    articles: Sequence[Article],
    language: str,
    *,
    way: str,
    count: int,
    seed: int,
    known: Sequence[Question] = (),
) -> list[SyntheticPlan]:
    """Return the prompt of each article, for so many questions; detail shows known ones of other articles.

    Raises:
        BadInput: no such way, or no questions wanted.
    """
    if way not in WAYS:
        raise BadInput(f"--way {way}: expected {' or '.join(WAYS)}")
    if count < 1:
        raise BadInput(f"--count {count}: give 1 or more")
    texts = prompts.synthetic()
    made = []
    for article in articles:
        block = format_article(article, article.text[:LONGEST])
        drawn = _examples(article, known, seed) if way == "detail" else []
        listed = "\n".join(f"- {' '.join(text.split())}" for text in drawn)
        prompt = texts.fill(
            way,
            boundary=boundary(block, *drawn),
            article=block,
            count=count,
            language=LANGUAGES.get(language, language),
            examples=texts.fill("examples", questions=listed) if drawn else "",
        )
        made.append(SyntheticPlan(article, prompt))
    return made


def _examples(article: Article, known: Sequence[Question], seed: int) -> list[str]:
    # drawn by the article's id, so that a prompt, and what is kept of it, does not depend on other articles
    digest = hashlib.sha256(f"{seed} {article.id}".encode("utf-8", "replace")).digest()
    rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
    others = [q.text for q in known if article.id not in q.article_ids]
    return [others[i] for i in rng.permutation(len(others))[:EXAMPLES].tolist()]


def texts(reply: str, count: int) -> list[str] | None:
    """Return the questions of a reply, at most `count`; None where there is no list in it.

    A JSON list of texts, or of objects with a text as their first value; else, where one is wanted, a reply
    of one line.
    """
    reply = strip_reasoning(reply)
    begin, end = reply.find("["), reply.rfind("]")
    if 0 <= begin < end:
        try:
            found = json.loads(reply[begin : end + 1])
        except ValueError:
            found = None
        if isinstance(found, list):
            items = [next(iter(i.values()), None) if isinstance(i, dict) else i for i in found]
            return [" ".join(i.split()) for i in items if isinstance(i, str)][:count]
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    if count == 1 and len(lines) == 1 and "[" not in reply:
        return [lines[0].strip("\"'«» -*")]
    return None


def fault(text: str, language: str) -> str | None:
    """Return why a question is not taken; None for one that is."""
    share = 2 if language == "zh" else 1
    if len(text) < SHORTEST // share:
        return "too short"
    if len(text) > TOO_LONG // share:
        return "too long"
    return "names an article" if names_article(text) else None


def names_article(text: str) -> bool:
    """Tell whether a question names an article by its number: "article 5", "art. L121-1", "§ 5", "第五条"."""
    return _NUMBER.search(text) is not None


def same(text: str) -> str:
    """Return what two questions share that differ in case, accents, blanks and signs alone."""
    return fold(level(text))


def accept_replies(
    answers: Sequence[Reply],
    plans: Sequence[SyntheticPlan],
    analyser: Analyser,
    *,
    count: int,
    known: Iterable[Question] = (),
) -> SyntheticQuestions:
    """Return the questions of the replies, one a plan, that may be learnt from, at most so many an article.

    What is the same as a known question is not taken, and two of one article that share most of their terms,
    as the analyser of their language cuts them, are one.
    """
    seen = {same(question.text) for question in known}
    questions, left_out = [], Counter[str]()
    for plan, reply in zip(plans, answers, strict=True):
        found = None if reply.failed else texts(reply.text, count)
        if found is None:
            left_out["reply without a list"] += not reply.failed
            continue
        own: list[str] = []
        for text in found:
            reason = fault(text, analyser.language) or ("asked before" if same(text) in seen else None)
            if reason is None and near_duplicates([*own, text], analyser.terms):
                reason = "asked before"
            if reason:
                left_out[reason] += 1
                continue
            seen.add(same(text))
            own.append(text)
            id_ = f"{SYNTHETIC}-{plan.article.id}-{len(own)}"
            questions.append(Question(id_, text, (plan.article.id,), split=SYNTHETIC))
    return SyntheticQuestions(tuple(questions), +left_out, sum(reply.failed for reply in answers))


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run will take, at most."""

    articles: int
    cached: int  # articles whose reply is there already
    read: int  # tokens
    written: int

    def cost(self, price_in: float | None, price_out: float | None) -> float | None:
        """Return the cost at prices of a million tokens; None without both."""
        if price_in is None or price_out is None:
            return None
        return (self.read * price_in + self.written * price_out) / 1e6


def estimate(chat_model: Chat, plans: Sequence[SyntheticPlan], cache: Cache, count: int) -> Estimate:
    """Return what a run will take: tokens as `rag.answer.generation.context.tokens` has them."""
    left = [p for p in plans if cache.get(reply_key(chat_model, p.prompt)) is None]
    read = sum(tokens(p.prompt) for p in left)
    return Estimate(len(plans), len(plans) - len(left), read, len(left) * count * WRITTEN)
