"""The one sentence of the product: ask a question, see the articles."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from rag.card import CorpusCard, Elsewhere
from rag.result import KnownItem, Mode, Result, Shown, Why
from rag.retrieval.hybrid import Hybrid
from rag.retrieval.known_item import KnownItems
from rag.text import Analyser
from rag.types import Article, Filter, Question, Ranking, Retriever

KEYWORD, MEANING = "bm25+questions", "dense"  # the names of the two systems, as training.eval has them
MAX_QUESTION = 20_000  # characters; what follows is not read


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """What a page says of the index that it shows."""

    name: str
    title: str
    version: str
    articles: int
    questions: int  # annotated questions that it learnt from
    encoder: str | None
    corpus_sha256: str
    built: str  # ISO 8601


@dataclass(frozen=True, slots=True)
class Facets:
    """What can be filtered by, with the number of articles of each."""

    codes: Mapping[str, int]
    law_types: Mapping[str, int]
    regions: Mapping[str, int]
    dated: bool  # articles say from when to when they are in force


class Engine:
    """One opened index: its articles, its retrievers and what its card knows."""

    def __init__(
        self,
        *,
        card: CorpusCard,
        info: IndexInfo,
        articles: Sequence[Article],
        questions: Sequence[Question],
        analyser: Analyser,
        keyword: Retriever,
        meaning: Retriever | None,
    ) -> None:
        """Take the parts that `indexes.open` read; `questions` are the annotated ones it learnt from."""
        self.card = card
        self.info = info
        self.articles: Mapping[str, Article] = {a.id: a for a in articles}
        self.analyser = analyser
        self.keyword = keyword
        self.meaning = meaning
        self._known = KnownItems(articles, card)
        self._by_number = {(a.code, a.article_no): a.id for a in articles}
        self._cited: dict[str, list[Question]] = {}
        for question in questions:
            for article_id in question.article_ids:
                self._cited.setdefault(article_id, []).append(question)
        loaded = {a.code for a in articles}
        self._topics = [
            (topic, [frozenset(analyser.terms(phrase)) for phrase in topic.phrases])
            for topic in card.elsewhere
            if not loaded.intersection(topic.codes)
        ]

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The ways to search that this index has; the first is the default."""
        return ("keyword",) if self.meaning is None else ("hybrid", "keyword", "meaning")

    @cached_property
    def _facets(self) -> Facets:
        articles = self.articles.values()
        return Facets(
            codes=dict(Counter(a.code for a in articles)),
            law_types=dict(Counter(a.law_type for a in articles if a.law_type)),
            regions=dict(Counter(a.region for a in articles if a.region)),
            dated=any(a.valid_from or a.valid_to for a in articles),
        )

    def facets(self) -> Facets:
        """Count the articles by what can be filtered; counted once, a page asks at every run."""
        return self._facets

    def ask(
        self, question: str, *, k: int = 10, where: Filter | None = None, mode: Mode = "hybrid"
    ) -> Result:
        """Answer a question with ranked articles.

        Articles that the question names by number come first. An index without an encoder answers
        every mode by keywords.

        Args:
            question: in a person's own words; only the first 20,000 characters are read.
            k: how many articles at most.
            where: which articles may be shown.
            mode: both lists fused, or one of them.
        """
        begun = time.perf_counter()
        asked = question[:MAX_QUESTION]
        if not asked.strip():
            return Result(question, "empty")
        known = self._known.find(asked)
        shown = self._pinned(known, where)[: max(k, 0)]
        rest = self._known.remainder(asked) if known else asked
        if self.analyser.terms(rest):
            shown = self._fill(shown, rest, k, where, mode)
        return Result(
            question,
            "found" if shown else "nothing",
            tuple(shown),
            known,
            self._elsewhere(asked),
            (time.perf_counter() - begun) * 1000,
        )

    def _pinned(self, known: Sequence[KnownItem], where: Filter | None) -> list[Shown]:
        """The articles named by number, then those that took over an old number's content."""
        whys: dict[str, Why] = {}
        for item in known:
            for article_id in item.found:
                whys.setdefault(article_id, Why(known=True))
        for item in known:
            for move in item.moved:
                for number in move.new:
                    heir = self._by_number.get((move.code, number))
                    if heir is not None:
                        whys.setdefault(heir, Why(moved_from=move.old))
        admitted = [(i, why) for i, why in whys.items() if where is None or where.admits(self.articles[i])]
        return [Shown(n, self.articles[i], 0.0, why) for n, (i, why) in enumerate(admitted, start=1)]

    def _fill(
        self, pinned: Sequence[Shown], question: str, k: int, where: Filter | None, mode: Mode
    ) -> list[Shown]:
        """Add what the search finds below what was named."""
        ranking, lists = self._search(question, k + len(pinned), where, mode)
        places = {
            name: {h.article_id: n for n, h in enumerate(hits, start=1)} for name, hits in lists.items()
        }
        terms = frozenset(self.analyser.terms(question))
        there = {s.article.id for s in pinned}
        shown = [
            Shown(s.rank, s.article, s.score, self._why(s.why, s.article, terms, places)) for s in pinned
        ]
        fresh = (hit for hit in ranking if hit.article_id not in there)
        for hit in islice(fresh, max(k - len(shown), 0)):
            article = self.articles[hit.article_id]
            shown.append(Shown(len(shown) + 1, article, hit.score, self._why(Why(), article, terms, places)))
        return shown

    def _search(
        self, question: str, k: int, where: Filter | None, mode: Mode
    ) -> tuple[Ranking, Mapping[str, Ranking]]:
        if self.meaning is None or mode == "keyword":
            [ranking] = self.keyword.search([question], k, where)
            return ranking, {KEYWORD: ranking}
        if mode == "meaning":
            [ranking] = self.meaning.search([question], k, where)
            return ranking, {MEANING: ranking}
        hybrid = Hybrid({KEYWORD: self.keyword, MEANING: self.meaning})
        [(ranking, lists)] = hybrid.search_parts([question], k, where)
        return ranking, lists

    def _why(
        self, base: Why, article: Article, terms: frozenset[str], places: Mapping[str, Mapping[str, int]]
    ) -> Why:
        words = {
            t for text in (article.text, article.code, *article.headings) for t in self.analyser.terms(text)
        }
        alike = []
        for n, question in enumerate(self._cited.get(article.id, ())):
            own = set(self.analyser.terms(question.text))
            shared = len(own & terms)
            # one word in common says nothing, unless the question has only that one
            if shared >= min(2, len(terms)) and shared:
                alike.append((-shared / (len(own | terms) or 1), n, question.text))
        return Why(
            terms=frozenset(terms & words),
            ranks={name: ranks[article.id] for name, ranks in places.items() if article.id in ranks},
            asked=tuple(dict.fromkeys(text for _, _, text in sorted(alike)))[:2],  # one text is told once
            known=base.known,
            moved_from=base.moved_from,
        )

    def _elsewhere(self, question: str) -> tuple[Elsewhere, ...]:
        """The topics of other laws that the question is about: all words of one phrase stand in it."""
        terms = set(self.analyser.terms(question))
        return tuple(topic for topic, phrases in self._topics if any(p and p <= terms for p in phrases))
