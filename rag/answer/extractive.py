"""An answer without any model: of each article shown, the sentence that best meets the question.

It comes with what it needs to be understood alone: a limit that follows, what a pronoun points at, what leads
into a list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from rag.answer.composition import unfit
from rag.answer.passages import Span, Units, units
from rag.answer.types import Answer, Ending, Event, PassagePart
from rag.encoders.static import StaticEncoder
from rag.engine.engine import Engine
from rag.retrieval.bm25 import BM25
from rag.retrieval.dense import Dense
from rag.text import Analyser, Token
from rag.types import DECIMALS, Article, Floats

LONGEST = 1_200  # characters of a passage: of what would be longer, the article's beginning is shown
RECENT = 512  # articles whose sentences stay at hand: some kilobytes each
FROM = 3  # articles: more would push the articles themselves off the screen
# Beside the share of words: weight of the cosine, and what the first sentence is ahead by, as an article says
# its rule first. Chosen on one half of the test questions, measured on the other: docs/answers.md.
MEANING, FIRST = 0.5, 0.15

_unfit = lru_cache(maxsize=RECENT)(unfit)  # the same passages come again


@dataclass(frozen=True, slots=True)
class Extract:
    """The passage of an article that best meets the question, and what it was chosen for."""

    article_id: str
    spans: tuple[Span, ...]  # of the article's text, in order; what lies between two is left out
    brought: tuple[Span, ...] = ()  # sentences in them that came along, for the chosen one to be understood
    matched: tuple[Span, ...] = ()  # places of the question's words, in order
    law_words: tuple[Span, ...] = ()  # places of words of law that the question's words were related to
    score: float = 0.0  # of the sentence that was chosen
    long: bool = False  # too long to be quoted: the article's beginning stands in its place
    summary: bool = False  # of a digest: it is no law's own wording, and is labelled so


@dataclass(frozen=True, slots=True)
class _SplitText:
    """An article's text, split into sentences."""

    units: Units
    terms: tuple[frozenset[str], ...]
    vectors: Floats | None  # (n_sentences, dim)


@dataclass(frozen=True)
class Extractor:
    """Chooses sentences by the words they share with a question, rare ones first, and by meaning.

    The score is the share of the question's terms that the sentence has, weighted by inverse document
    frequency, plus half the cosine of question and sentence where there is a static encoder, plus a little
    for the first sentence.
    """

    analyser: Analyser
    documents: Mapping[str, int] = field(repr=False)  # term -> in how many articles it stands
    articles: int  # of the corpus
    encoder: StaticEncoder | None = None
    summary: bool = False

    @classmethod
    def of(cls, engine: Engine) -> Extractor:
        """Take the parts of an opened index; made once, for counting documents takes a while."""
        keyword, meaning = engine.searcher.keyword, engine.searcher.meaning
        encoder = meaning.encoder if isinstance(meaning, Dense) else None
        return cls(
            engine.analyser,
            keyword.documents() if isinstance(keyword, BM25) else {},
            len(engine.articles),
            encoder if isinstance(encoder, StaticEncoder) else None,
            engine.card.text_kind == "summary",
        )

    def extract(
        self, question: str, articles: Iterable[Article], law_words: Mapping[str, float] | None = None
    ) -> tuple[Extract, ...]:
        """Return one extract for each article that has a text, in their order.

        None of one whose passage leads away from the law, with a link or a telephone number.

        The law words are analysed terms that the question's words were related to, with weights from 0 to 1:
        they count as much of a question's term as that, and their places are told.
        """
        terms = frozenset(self.analyser.terms(question))
        related = {t: w for t, w in (law_words or {}).items() if t not in terms and w > 0}
        weights = {t: self.idf(t) for t in terms} | {t: w * self.idf(t) for t, w in related.items()}
        meant = self.encoder.encode_terms([list(terms)])[0] if self.encoder is not None else None
        made = (self._best(article, weights, related.keys(), meant) for article in articles)
        return tuple(extract for extract in made if extract is not None)

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of a term in the corpus, as Lucene counts it."""
        often = self.documents.get(term, 0)
        return math.log1p((self.articles - often + 0.5) / (often + 0.5)) if often <= self.articles else 0.0

    def _best(
        self, article: Article, weights: Mapping[str, float], related: Iterable[str], meant: Floats | None
    ) -> Extract | None:
        split = self._split(article.text, article.language)
        text, own = article.text, split.units
        if not own.spans:
            return None
        scores = _scores(split, weights, meant)
        best = max(range(len(own.spans)), key=lambda i: (scores[i], -i))
        spans, brought = own.runs([best]), tuple(own.spans[i] for i in own.closure([best]) if i != best)
        long = sum(end - start for start, end in spans) > LONGEST
        if long:
            spans, brought = ((own.spans[0][0], _beginning(text, own)),), ()
        if any(_unfit(text[start:end]) for start, end in spans):
            return None
        hits = [
            Token(at + token.start, at + token.end, token.term)
            for at, end in spans
            for token in self.analyser.tokens(text[at:end])
            if token.term in weights
        ]
        law = frozenset(related)
        return Extract(
            article.id,
            spans,
            brought,
            _places(token for token in hits if token.term not in law),
            _places(token for token in hits if token.term in law),
            scores[best],
            long,
            self.summary,
        )

    @cached_property
    def _split(self) -> Callable[[str, str | None], _SplitText]:
        """What cuts and encodes a text; that of the last articles stays at hand, for the same come again."""

        def split(text: str, language: str | None) -> _SplitText:
            own = units(text, language)
            terms = [self.analyser.terms(text[start:end]) for start, end in own.spans]
            vectors = self.encoder.encode_terms(terms) if self.encoder is not None else None
            return _SplitText(own, tuple(frozenset(of) for of in terms), vectors)

        return lru_cache(maxsize=RECENT)(split)


def _scores(split: _SplitText, weights: Mapping[str, float], meant: Floats | None) -> list[float]:
    whole = math.fsum(weights.values()) or 1.0
    scores = [math.fsum(weights[t] for t in sorted(weights.keys() & of)) / whole for of in split.terms]
    if split.vectors is not None and meant is not None:
        cosines = (split.vectors @ meant).tolist()
        scores = [s + MEANING * max(c, 0.0) for s, c in zip(scores, cosines, strict=True)]
    if any(scores):
        scores[0] += FIRST
    return [round(score, DECIMALS) for score in scores]  # as rankings are: so the earliest wins a tie


def _places(tokens: Iterable[Token]) -> tuple[Span, ...]:
    """Return the spans of tokens in order; those that touch or overlap become one."""
    merged: list[Span] = []
    for token in tokens:
        if merged and token.start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], token.end))
        else:
            merged.append((token.start, token.end))
    return tuple(merged)


def _beginning(text: str, own: Units) -> int:
    """Return the end of an article's first sentence, or of one that is too long a blank before that."""
    start, end = own.spans[0]
    if end - start <= LONGEST:
        return end
    blank = text.rfind(" ", start + 1, start + LONGEST)
    return blank if blank > 0 else start + LONGEST


class ExtractiveWriter:
    """Quotes of each of the first articles the sentence that best meets the question, and what it needs."""

    name = "extractive"

    def __init__(self, extractor: Extractor) -> None:
        """Take what chooses the sentences."""
        self._extractor = extractor

    def write(self, question: str, articles: Sequence[Article], language: str) -> Iterator[Event]:
        """Yield a passage an article that has a text, and the answer of them; see `Writer`."""
        parts = []
        for each in self._extractor.extract(question, articles[:FROM]):
            parts.append(PassagePart(each.article_id, each.spans, each.brought))
            yield parts[-1]
        yield Answer(Ending.WRITTEN if parts else Ending.REFUSED, tuple(parts), model=self.name)
