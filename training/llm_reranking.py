"""A language model puts the first articles of a ranking in order: one by one, or by choosing from lists.

Pointwise: the model says of each of the first articles whether it answers the question (as Nogueira et al.
2020 had a model say it). With v(a) = 1 for yes, 1/2 for what cannot be read and 0 for no, the articles are
sorted by v, and equal ones stay in the order of the first search. Listwise: the model is shown a window of
articles and names those that answer, best first; they go to the front, the others keep their order. Windows
move from the end of the list to its front by half their size (Sun et al. 2023), so that an article of the
last one may come first.

Whatever goes wrong (a server that fails, a reply that cannot be read, calls used up) leaves a question in the
order of the first search, and is counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Literal, TypeAlias

from rag.answer.generation.context import fit, tokens
from rag.errors import BadInput
from rag.text import Analyser
from rag.types import Article, Ranking
from training.answers.chat import Chat, ChatFailedError
from training.answers.run import GIVE_UP, Cache, TooManyFailuresError, key
from training.synthetic.prompts import Prompts, boundary, format_article, strip_reasoning

RerankMode: TypeAlias = Literal["pointwise", "listwise"]

YES = frozenset({"yes", "oui", "ja", "sì", "si", "是", "是的", "true"})
NO = frozenset({"no", "non", "nein", "nee", "否", "不", "不是", "false"})
_WORD = re.compile(r"[^\W\d_]+")
_LIST = re.compile(r"\[[\s\d,;]*\]")
_NO_NUMBER = re.compile(r"[^\s\d,;.>#*\-]")
_REPLY = 256  # tokens kept free for what the model writes
_MARKS = 40  # tokens of the marks around one article


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """How a language model re-ranks."""

    depth: int = 20  # articles of the first search that it looks at
    window: int = 10  # of them in one list; STARD's prompts show ten
    tokens: int = 8192  # of a prompt, the reply included; what small local models are commonly served with
    most_calls: int | None = None  # to the server in all; None: no bound
    give_up: int = GIVE_UP  # failures in a row; 0: never

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if self.depth < 1 or self.window < 2:
            raise BadInput(f"a depth of {self.depth} in windows of {self.window}: give 1 and 2 or more")
        if self.tokens < 2 * _REPLY:
            raise BadInput(f"prompts of {self.tokens} tokens: give {2 * _REPLY} or more")


@dataclass
class RerankCost:
    """The cost of reranking so far."""

    calls: int = 0  # to the server
    kept: int = 0  # replies that were known already
    failed: int = 0
    unreadable: int = 0
    over: int = 0  # calls that were not made, because so many were already
    input_tokens: int = 0
    output_tokens: int = 0

    def summary(self) -> str:
        """Return it as one line for a person."""
        return (
            f"{self.calls} calls, {self.kept} replies kept from before, {self.failed} failed, "
            f"{self.unreadable} unreadable, {self.over} not made; {self.input_tokens:,} tokens "
            f"read, {self.output_tokens:,} written"
        )


class Asker:
    """Asks a chat model what it was not asked before, within bounds."""

    def __init__(self, chat: Chat, cache: Cache, settings: RerankSettings, prompts: Prompts) -> None:
        """Ask this model; replies join the cache, failures do not."""
        self.chat, self.cache, self.settings, self.prompts = chat, cache, settings, prompts
        self.spent = RerankCost()
        self._failures = 0  # in a row

    def ask(self, prompt: str) -> str | None:
        """Return what the model says; None where it fails or no more calls may be made.

        Raises:
            TooManyFailuresError: so many failed in a row that the server must be gone.
        """
        model, settings, spent = self.chat.name, dict(self.chat.settings), self.spent
        name = key(what="rerank", model=model, settings=settings, prompts=self.prompts.id, prompt=prompt)
        known = self.cache.get(name)
        if known is not None:
            spent.kept += 1
            return str(known["text"])
        if self.settings.most_calls is not None and spent.calls >= self.settings.most_calls:
            spent.over += 1
            return None
        spent.calls += 1
        try:
            reply = self.chat.say(prompt)
        except ChatFailedError as error:
            spent.failed += 1
            self._failures += 1
            if self._failures == self.settings.give_up:
                raise TooManyFailuresError(
                    f"{model}: {self._failures} replies in a row failed ({error}). What it replied "
                    "before is kept: type the command again to go on, or with --give-up-after 0 to keep the "
                    "order of the first search for such questions"
                ) from error
            return None
        self._failures = 0
        spent.input_tokens += reply.usage.input_tokens or 0
        spent.output_tokens += reply.usage.output_tokens or 0
        self.cache.put(name, {"text": reply.text, "usage": asdict(reply.usage)})
        return reply.text


class LLMReranker:
    """Reorders rankings by what a language model says of their first articles."""

    def __init__(
        self, how: RerankMode, asker: Asker, articles: Mapping[str, Article], analyser: Analyser
    ) -> None:
        """Reorder rankings of these articles, cut to what matters by the analyser where they are long."""
        self.how, self.asker, self.articles, self.analyser = how, asker, articles, analyser

    def rerank(self, questions: Sequence[str], rankings: Sequence[Ranking], k: int) -> list[Ranking]:
        """Return one reordered ranking of at most k hits a question.

        Scores count down to 1 by ones: what two systems scored cannot be compared.
        """
        order = self._pointwise if self.how == "pointwise" else self._listwise
        found: list[Ranking] = []
        for question, ranking in zip(questions, rankings, strict=True):
            ids = [hit.article_id for hit in ranking] if k > 0 else []
            head = ids[: self.asker.settings.depth]
            if question.strip() and head:
                head = order(question, head)
            ids[: len(head)] = head
            found.append(Ranking.of((id_, float(len(ids) - n)) for n, id_ in enumerate(ids[: max(k, 0)])))
        return found

    def _pointwise(self, question: str, ids: list[str]) -> list[str]:
        values = {}
        for article_id in ids:
            reply = self.asker.ask(self._prompt_of_one(question, self.articles[article_id]))
            if reply is None:
                return ids  # half a list judged would put what was judged above what was not
            verdict = yes_or_no(reply)
            self.asker.spent.unreadable += verdict is None
            values[article_id] = 0.5 if verdict is None else float(verdict)
        return sorted(ids, key=lambda i: -values[i])  # sorting keeps the order of equals

    def _listwise(self, question: str, ids: list[str]) -> list[str]:
        size = self.asker.settings.window
        found = list(ids)
        for start in windows(len(ids), size):
            part = found[start : start + size]
            prompt, shown_ids = self._prompt_of_list(question, [self.articles[i] for i in part])
            reply = self.asker.ask(prompt) if shown_ids else None
            if reply is None:
                return ids
            chosen = numbers(reply, len(shown_ids))
            self.asker.spent.unreadable += chosen is None
            first = [shown_ids[n - 1] for n in chosen or ()]
            found[start : start + size] = first + [i for i in part if i not in first]
        return found

    def _prompt_of_one(self, question: str, article: Article) -> str:
        prompts = self.asker.prompts
        text = self._fitted(question, [article], prompts.texts["pointwise"])
        block = format_article(article, text.get(article.id, ""))
        return prompts.fill("pointwise", boundary=boundary(question, block), question=question, article=block)

    def _prompt_of_list(self, question: str, articles: Sequence[Article]) -> tuple[str, list[str]]:
        prompts = self.asker.prompts
        texts = self._fitted(question, articles, prompts.texts["listwise"])
        blocks = {a.id: format_article(a, texts[a.id]) for a in articles if a.id in texts}
        mark = boundary(question, *blocks.values())
        fill = partial(prompts.fill, boundary=mark)
        numbered = (fill("numbered", number=n, article=block) for n, block in enumerate(blocks.values(), 1))
        listed = "\n\n".join(numbered)
        return fill("listwise", question=question, articles=listed, count=len(blocks)), list(blocks)

    def _fitted(self, question: str, articles: Sequence[Article], around: str) -> dict[str, str]:
        """Return article id -> what of its text is shown, so that all fit; the last ones may lack."""
        room = self.asker.settings.tokens - _REPLY - tokens(around) - tokens(question)
        fitted = fit(
            articles, question, room, self.analyser, lambda a: tokens(format_article(a, "")) + _MARKS
        )
        return {excerpt.article.id: excerpt.text for excerpt in fitted.excerpts}


def windows(n: int, size: int) -> list[int]:
    """Return where windows begin, from the end of a list to its front, moving by half their size."""
    return [*range(n - size, 0, -(size // 2)), 0] if n else []


def yes_or_no(reply: str) -> bool | None:
    """Return what a reply says; None where it says neither, or both and begins with none."""
    words = [word.casefold() for word in _WORD.findall(strip_reasoning(reply))]
    if not words and (signs := strip_reasoning(reply)):
        words = [signs]
    found = [word in YES for word in words if word in YES | NO]
    if not found:
        return None
    if words[0] in YES | NO or len(set(found)) == 1:
        return found[0]
    return None


def numbers(reply: str, count: int) -> list[int] | None:
    """Return the numbers that a reply chooses, each once and from 1 to count; None where it cannot be read.

    The last list in brackets counts, else a reply of nothing but numbers; an empty list chooses none.
    """
    text = strip_reasoning(reply)
    lists = _LIST.findall(text)
    if lists:
        text = lists[-1]
    elif _NO_NUMBER.search(text) or not text:
        return None
    found = [int(number) for number in re.findall(r"\d{1,6}", text)]
    chosen = list(dict.fromkeys(n for n in found if 1 <= n <= count))
    return chosen if chosen or not found else None
