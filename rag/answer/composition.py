"""A strict answer: passages of law in the order that a model chose, lines of a fixed list between them.

Nothing that a reader sees is a model's own. A passage brings along what it needs to be understood; a line
that no passage follows is left out; a passage that leads away from the law (links, telephone numbers, orders
to a model) stays on its card.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from rag.answer.passages import Span, Units, units
from rag.answer.types import Choice, ConnectingLine, LinePart, PassagePart
from rag.answer.verification.sanitise import leads_away
from rag.text.language import language_of
from rag.text.patterns import any_of, data, plain
from rag.text.quantities import TIMES, flat, quantities
from rag.types import Article

MOST_PASSAGES = 10
MOST_CHARACTERS = 4_000  # of all passages: more is the list of articles over again
WHOLE = 700  # characters of an article that is shown whole where no sentence of it was named

_AFTER = ("but", "also", "otherwise", "condition")  # lines that say nothing before the first passage
# (text, sentence) -> how much of the text the sentence says, 0 to 1
Likeness = Callable[[str, str], float]


@dataclass
class Composer:
    """Turns what a model chose into what is shown, one piece at a time."""

    articles: Mapping[str, Article]  # those shown, by id
    question: str
    likeness: Likeness
    withheld: int = 0  # passages that lead away from the law
    cut: bool = False  # more was chosen than is shown
    _line: str | None = None
    _shown: set[tuple[str, int]] = field(default_factory=set)
    _last: tuple[str, int] = ("", -1)  # the unit that was shown last
    _beside: set[int] = field(default_factory=set)  # units of its article shown since another one's
    _characters: int = 0
    _passages: int = 0

    def add(self, piece: Choice | ConnectingLine) -> Iterator[LinePart | PassagePart]:
        """Yield what one piece adds; a line waits for the passage that follows it."""
        if isinstance(piece, ConnectingLine):
            if self._passages or piece.key not in _AFTER:
                self._line = piece.key
            return
        said, self._line = self._line, None  # where its passage is not shown, nothing follows it
        yield from self._passage(piece, said)

    def _passage(self, choice: Choice, said: str | None) -> Iterator[LinePart | PassagePart]:
        """Yield a passage, after its line if that says so of what was chosen and this comes first."""
        article = self.articles.get(choice.article_id)
        if article is None:
            return
        own = units(article.text, article.language)
        chosen = [i for i in self._chosen(choice, article, own) if (article.id, i) not in self._shown]
        if not chosen:
            return
        shown = self._anew(article.id, own, chosen)
        spans = own.joined(shown)
        size = sum(end - start for start, end in spans)
        if self._passages == MOST_PASSAGES or (self._passages and self._characters + size > MOST_CHARACTERS):
            self.cut = True
            return
        if any(unfit(article.text[start:end]) for start, end in spans):
            self.withheld += 1
            return
        self._shown.update((article.id, i) for i in shown)
        self._beside = {*(self._beside if self._last[0] == article.id else ()), *shown}
        self._last = article.id, max(shown)
        self._passages, self._characters = self._passages + 1, self._characters + size
        brought = tuple(own.spans[i] for i in shown if i not in chosen)
        if said is not None and shown[0] in chosen and _leads(said, article, [own.spans[i] for i in chosen]):
            yield LinePart(said)
        yield PassagePart(article.id, spans, brought)

    def _anew(self, article_id: str, own: Units, chosen: Sequence[int]) -> Sequence[int]:
        """Return chosen units with what they need, less what stands just above for the reader to see.

        What a unit points back to is shown again, unless it, or an item of the list that it leads into, was
        the last thing shown.
        """
        whole = own.closure(chosen)
        if self._last[0] != article_id:
            return whole
        shown = {i for i in whole if i in chosen or i not in self._beside}
        first, last = min(shown), self._last[1]
        pending = list(shown)
        while pending:
            unit = pending.pop()
            for before in own.needs[unit] - shown:
                follows = unit == first and (before == last or last in own.items.get(before, ()))
                if before < unit and not follows:
                    shown.add(before)
                    pending.append(before)
        return sorted(shown)

    def _chosen(self, choice: Choice, article: Article, own: Units) -> Sequence[int]:
        count = len(own.spans)
        if choice.first is not None and choice.last is not None:
            return range(max(choice.first, 0), min(choice.last + 1, count))
        if not count or own.spans[-1][1] - own.spans[0][0] <= WHOLE:
            return range(count)
        written = [article.text[start:end] for start, end in own.spans]
        for wanted in (choice.near, self.question):
            scores = [self.likeness(wanted, sentence) for sentence in written]
            if max(scores) > 0:
                return [max(range(count), key=lambda i: (scores[i], -i))]
        return [0]


def _leads(key: str, article: Article, chosen: Sequence[Span]) -> bool:
    """Tell whether a line is true of what was chosen after it: a time limit is one, and a duty."""
    needed = data("rag.answer", "lines")["needs"].get(key)
    if needed is None:
        return True
    text = " ".join(article.text[start:end] for start, end in chosen)
    language = language_of(article.text, article.language)
    return re.search(needed[language], plain(text)) is not None or (
        key == "deadline" and any(each.unit in TIMES for each in quantities(flat(text), language))
    )


def line(key: str, language: str) -> str:
    """Return a connecting line in a language of the page; English where the list has no such language.

    Raises:
        KeyError: there is no such line.
    """
    lines = data("rag.answer", "lines")
    return str(lines.get(language, lines["en"])[key])


def unfit(text: str) -> bool:
    """Tell whether a passage of law leads away from it, or gives orders to a model."""
    return leads_away(text) or _orders().search(plain(text)) is not None


@cache
def _orders() -> re.Pattern[str]:
    return any_of(data("rag.answer", "instructions")["patterns"])
