"""An answer without any model: of each article shown, the sentence that best meets the question."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from itertools import pairwise

from rag.answer.screening.patterns import any_of, data, plain
from rag.answer.types import AcceptedSentence, Answer, Ending, Event, Passage
from rag.encoders.static import StaticEncoder
from rag.engine.engine import Engine
from rag.retrieval.bm25 import BM25
from rag.retrieval.dense import Dense
from rag.text import Analyser, Token
from rag.text.highlight import sentences
from rag.types import DECIMALS, Article, Floats

LONG = 360  # characters of a sentence shown whole; of a longer one, clauses
LONGEST = 1_200  # to which clauses that deny or except may make it grow
RECENT = 512  # articles whose sentences stay at hand: some kilobytes each
FROM = 3  # articles, as on the page
# Beside the share of words: weight of the cosine, and what the first sentence is ahead by, as an article says
# its rule first. Chosen on one half of the test questions, measured on the other: docs/answers.md.
MEANING, FIRST = 0.5, 0.15
_CLAUSE = re.compile(r"[;:]\s+|[；：]\s*|,\s+|，\s*")

Span = tuple[int, int]  # start and end, in characters of the article's text


@dataclass(frozen=True, slots=True)
class Extract:
    """The passage `article.text[start:end]` that best meets the question, and what it was chosen for."""

    article_id: str
    start: int
    end: int
    matched: tuple[Span, ...] = ()  # places of the question's words, in order
    law_words: tuple[Span, ...] = ()  # places of words of law that the question's words were related to
    score: float = 0.0
    cut_before: bool = False  # clauses of its sentence were left out there: the page shows an ellipsis
    cut_after: bool = False
    limited: bool = False  # the next sentence narrows it ("However, ..."): read on before relying on it
    summary: bool = False  # of a digest: it is no law's own wording, and is labelled so


@dataclass(frozen=True, slots=True)
class _SplitText:
    """An article's text, split into sentences."""

    spans: tuple[Span, ...]
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
        split = self._split(article.text)
        if not split.spans:
            return None
        text, spans, scores = article.text, split.spans, _scores(split, weights, meant)
        best = max(range(len(spans)), key=lambda i: (scores[i], -i))
        at = spans[best][0]
        tokens = (t for t in self.analyser.tokens(text[slice(*spans[best])]) if t.term in weights)
        hits = [Token(at + t.start, at + t.end, t.term) for t in tokens]
        start, end = _window(text, spans[best], hits, weights)
        law = frozenset(related)
        inside = [token for token in hits if start <= token.start and token.end <= end]
        after = text[slice(*spans[best + 1])] if best + 1 < len(spans) else ""
        return Extract(
            article.id,
            start,
            end,
            _places(token for token in inside if token.term not in law),
            _places(token for token in inside if token.term in law),
            scores[best],
            cut_before=start > spans[best][0],
            cut_after=end < spans[best][1],
            limited=_limits("opens").search(plain(after[:40])) is not None,
            summary=self.summary,
        )

    @cached_property
    def _split(self) -> Callable[[str], _SplitText]:
        """What cuts and encodes a text; that of the last articles stays at hand, for the same come again."""

        def split(text: str) -> _SplitText:
            spans = sentences(text)
            terms = [self.analyser.terms(text[start:end]) for start, end in spans]
            vectors = self.encoder.encode_terms(terms) if self.encoder is not None else None
            return _SplitText(tuple(spans), tuple(frozenset(of) for of in terms), vectors)

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


@cache
def _limits(kind: str) -> re.Pattern[str]:
    return any_of(data("limits")[kind])


def _places(tokens: Iterable[Token]) -> tuple[Span, ...]:
    """Return the spans of tokens in order; those that touch or overlap become one."""
    merged: list[Span] = []
    for token in tokens:
        if merged and token.start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], token.end))
        else:
            merged.append((token.start, token.end))
    return tuple(merged)


def _window(text: str, span: Span, hits: Sequence[Token], weights: Mapping[str, float]) -> Span:
    """Return the sentence, or of a long one the clauses that hold most of the question's words.

    A clause that denies, excepts or narrows is kept, with all that lies between: what is left out
    changes nothing of what is shown. Only where that would pass `LONGEST` are clauses left out which do.
    """
    start, end = span
    if end - start <= LONG:
        return span
    edges = [start, *(found.end() for found in _CLAUSE.finditer(text, start, end)), end]
    clauses = list(pairwise(edges))
    best, most = (0, 0), -1.0
    for i in range(len(clauses)):
        for j in range(i, len(clauses)):
            left, right = clauses[i][0], clauses[j][1]
            if right - left > LONG and j > i:
                break
            held = {t.term for t in hits if left <= t.start and t.end <= right}
            score = round(math.fsum(weights[t] for t in sorted(held)), 5)
            if score > most:
                best, most = (i, j), score
    limiting = (i for i, each in enumerate(clauses) if _limits("words").search(plain(text[slice(*each)])))
    places = (*best, *limiting)
    first, last = min(places), max(places)
    if clauses[last][1] - clauses[first][0] > LONGEST:
        first, last = best
    return clauses[first][0], clauses[last][0] + len(text[slice(*clauses[last])].rstrip())


class ExtractiveWriter:
    """Quotes one sentence, or the clauses of a long one, of each of the first articles."""

    name = "extractive"

    def __init__(self, extractor: Extractor) -> None:
        """Take what chooses the sentences."""
        self._extractor = extractor

    def write(self, question: str, articles: Sequence[Article], language: str) -> Iterator[Event]:
        """Yield a sentence an article that has a text, and the answer of them; see `Writer`."""
        texts = {article.id: article.text for article in articles[:FROM]}
        passed = []
        for each in self._extractor.extract(question, articles[:FROM]):
            quoted = texts[each.article_id][each.start : each.end]
            passage = Passage(each.article_id, each.start, each.end)
            passed.append(AcceptedSentence(quoted, (each.article_id,), (passage,)))
            yield passed[-1]
        yield Answer(Ending.WRITTEN if passed else Ending.REFUSED, tuple(passed), model=self.name)
