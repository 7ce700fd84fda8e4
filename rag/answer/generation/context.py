"""What of the articles a model is shown, so that it stays within its window; nothing is dropped silently."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag.answer.generation.settings import MOST_ARTICLES
from rag.answer.passages import Span, units
from rag.answer.types import Trimmed
from rag.text import Analyser
from rag.text.highlight import sentences
from rag.types import Article, Shown

ELLIPSIS = "[…]"
LEAST_TOKENS = 48  # tokens; an article of which less would be left is left out: it would say nothing
LEAST_ARTICLES = 3  # a wrong first place must not be all that the model sees
DROP = 0.5  # of the best score; below it an article has little to do with the question
_NEIGHBOUR = 0.3  # of the best relevance beside a sentence: "it", "this time limit" need what stands before
_OPENING = 0.1  # of the best relevance: the first sentence says what an article is about


@dataclass(frozen=True, slots=True)
class Excerpt:
    """An article, and the text of it that the model is shown."""

    article: Article
    spans: tuple[Span, ...]  # of the article's text, in order

    @property
    def text(self) -> str:
        """What is shown, `ELLIPSIS` between sentences that stand apart."""
        text = self.article.text
        return text if self.spans == ((0, len(text)),) else _joined(text, self.spans)

    def numbered(self, label: str) -> str:
        """Return what is shown with its passages' numbers, one a line: "A2.1 …"; a gap in them is one."""
        text = self.article.text
        return "\n".join(
            f"{label}.{number} {' '.join(text[max(start, first) : min(end, last)].split())}"
            for number, (start, end) in enumerate(units(text, self.article.language).spans, start=1)
            for first, last in self.spans
            if start < last and first < end
        )


@dataclass(frozen=True, slots=True)
class PromptContext:
    """The articles of a prompt, in their order, and those left out."""

    excerpts: tuple[Excerpt, ...]
    trimmed: tuple[Trimmed, ...] = ()
    left_out: tuple[str, ...] = ()


def tokens(text: str) -> int:
    """Return how many tokens a text has at most, roughly, whatever the model.

    Three letters of the Latin, Greek or Cyrillic alphabets make a token at worst in European languages
    (English has four to five), a digit or a sign one, a Chinese character one and a half with
    vocabularies made for English, and other scripts two. A count by the model's own tokenizer would
    need its files, and many servers hide which one it is.
    """
    letters = signs = wide = other = 0
    for char in text:
        code = ord(char)
        if code < 0x0530:
            if char.isalpha() or char == " ":
                letters += 1
            else:
                signs += 1
        elif 0x2000 <= code < 0x2070:
            signs += 1  # dashes, typographic quotes and narrow blanks
        elif 0x3000 <= code < 0xA000 or 0xAC00 <= code < 0xD7B0 or 0xFF00 <= code < 0xFFF0:
            wide += 1
        else:
            other += 1
    return math.ceil(letters / 3 + signs + wide * 1.5 + other * 2)


_CUT_COST = tokens(f" {ELLIPSIS} ") + 1  # what parts two sentences, at most


def fit(
    articles: Sequence[Article],
    question: str,
    room: int,
    analyser: Analyser,
    frame: Callable[[Article], int],
    number: int = 0,
) -> PromptContext:
    """Choose what of each article is shown.

    Whole articles while all fit. Else the longest are trimmed, to the largest length that lets all fit
    (so short ones stay whole), each to the sentences that share most with the question. Where even that
    leaves too little of each, the last articles are left out. Room is in tokens, and so is the frame of an
    article: its heading and what fences it in. `number` is what each sentence takes beside its words.
    """
    frames = [frame(article) for article in articles]
    costs = [
        own + tokens(article.text) + (number and number * len(sentences(article.text)))
        for own, article in zip(frames, articles, strict=True)
    ]
    n = len(articles)
    while n:
        cap = _cap(costs[:n], room)
        if all(costs[i] <= cap or cap - frames[i] >= LEAST_TOKENS for i in range(n)):
            break
        n -= 1
    relevance = None
    excerpts, trimmed = [], []
    for i, article in enumerate(articles[:n]):
        spans: tuple[Span, ...] = ((0, len(article.text)),)
        if costs[i] > cap:
            relevance = relevance or _Relevance(question, articles[:n], analyser)
            spans = _trim(article.text, relevance, cap - frames[i], number)
            trimmed.append(Trimmed(article.id, sum(b - a for a, b in spans), len(article.text)))
        excerpts.append(Excerpt(article, spans))
    left_out = tuple(article.id for article in articles[n:])
    return PromptContext(tuple(excerpts), tuple(trimmed), left_out)


def _cap(costs: Sequence[int], room: int) -> int:
    """Return the largest length such that costs, each cut down to it, fit; the largest cost if all do."""
    left = room
    for rank, value in enumerate(sorted(costs)):
        share = left // (len(costs) - rank)
        if value > share:
            return share
        left -= value
    return max(costs)


class _Relevance:
    """How much a sentence shares with the question: BM25 over the sentences of the articles shown."""

    def __init__(self, question: str, articles: Sequence[Article], analyser: Analyser) -> None:
        self._analyser = analyser
        self._query_terms = frozenset(analyser.terms(question))
        self._rarity: Counter[str] = Counter()
        self._sentences = 0
        for article in articles:
            for start, end in sentences(article.text):
                self._sentences += 1
                self._rarity.update(self._query_terms.intersection(analyser.terms(article.text[start:end])))

    def scores(self, texts: Sequence[str]) -> list[float]:
        """Return a score a sentence of one article; neighbours lend each other some of theirs."""
        own = [self._score(text) for text in texts]
        best = max(own, default=0.0) or 1.0
        neighbours = [max(own[max(0, i - 1) : i] + own[i + 1 : i + 2], default=0.0) for i in range(len(own))]
        smoothed = [score + _NEIGHBOUR * other for score, other in zip(own, neighbours, strict=True)]
        return [score + (_OPENING * best if i == 0 else 0.0) for i, score in enumerate(smoothed)]

    def _score(self, text: str) -> float:
        counts = Counter(term for term in self._analyser.terms(text) if term in self._query_terms)
        return math.fsum(
            math.log1p((self._sentences - df + 0.5) / (df + 0.5)) * n * 2.2 / (n + 1.2)  # k1 = 1.2, no length
            for term, n in counts.items()
            for df in (self._rarity[term],)
        )


def _trim(text: str, relevance: _Relevance, room: int, number: int) -> tuple[Span, ...]:
    """Return the spans of the most relevant sentences."""
    spans = sentences(text)
    scores = relevance.scores([text[start:end] for start, end in spans])
    order = sorted(range(len(spans)), key=lambda i: (-scores[i], i))
    chosen: list[int] = []
    left = room - _CUT_COST
    for i in order:
        cost = tokens(text[slice(*spans[i])]) + _CUT_COST + number
        if cost <= left:
            chosen.append(i)
            left -= cost
        elif not chosen:  # the best sentence alone is too long
            break
    if not chosen:
        return (_beginning(text, spans[order[0]], left - _CUT_COST - number),)
    return tuple(spans[i] for i in sorted(chosen))


def _beginning(text: str, span: Span, room: int) -> Span:
    """Return the longest beginning of a sentence that fits, ending with a word where it has blanks."""
    start, end = span
    longer = range(start + 1, min(end, start + 3 * room) + 1)  # no more than three characters to a token
    last = start + bisect_right(longer, room, key=lambda stop: tokens(text[start:stop]))
    blank = text.rfind(" ", start, last + 1)
    return start, blank if last < end and blank > (start + last) // 2 else last


def _joined(text: str, spans: Sequence[Span]) -> str:
    parts: list[str] = []
    at = 0
    for start, end in spans:
        gap = text[at:start]
        parts += [("\n" if "\n" in gap else gap[:1]) if not gap.strip() else f" {ELLIPSIS} ", text[start:end]]
        at = end
    if text[at:].strip():
        parts.append(f" {ELLIPSIS}")
    return "".join(parts).strip()


def readable(shown: Sequence[Shown], setting: int | None) -> list[Article]:
    """Return the articles that a model is shown, best first: of the first ones those that have a text."""
    count = context_depth([each.score for each in shown], setting=setting)
    return [each.article for each in shown[:count] if each.article.text]


def context_depth(scores: Sequence[float], *, setting: int | None = 10, typical: float | None = None) -> int:
    """Return how many of the best articles to show the model.

    Ten by default: a longer list costs tokens and gives a model more to mix up, while the areas of law
    differ in how many articles answer a question (the median over an area's annotated questions runs
    from 1 to 15). With `setting=None` the number adapts: articles are shown down to the first whose score
    is less than half of the best one's, but no fewer than the area typically needs (its median, where it is
    known), nor than three, and no more than fifteen, the largest of those medians.
    """
    if setting is not None:
        return min(max(setting, 0), len(scores))
    near = len(scores)
    if scores and scores[0] > 0:
        near = next((i for i, score in enumerate(scores) if score < DROP * scores[0]), len(scores))
    needed = LEAST_ARTICLES if typical is None else max(LEAST_ARTICLES, round(typical))
    return min(max(near, needed), MOST_ARTICLES, len(scores))
