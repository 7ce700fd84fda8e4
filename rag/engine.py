"""The one sentence of the product: ask a question, see the articles."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from rag.card import CorpusCard
from rag.confidence import Confidence
from rag.explain import Explainer
from rag.explanation import Explanation
from rag.fusion import ranks
from rag.result import KnownItem, Mode, Result, Shown, Why
from rag.retrieval.bm25 import BM25
from rag.retrieval.dense import Dense
from rag.retrieval.hybrid import Hybrid
from rag.retrieval.known_item import KnownItems
from rag.signals import Signals
from rag.text import Analyser
from rag.topics import Topics
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

    def __init__(  # noqa: PLR0913 - the parts of an index, named
        self,
        *,
        card: CorpusCard,
        info: IndexInfo,
        articles: Sequence[Article],
        questions: Sequence[Question],
        analyser: Analyser,
        keyword: Retriever,
        meaning: Retriever | None,
        confidence: Confidence | None = None,
    ) -> None:
        """Take the parts that `indexes.open` read; `questions` are the annotated ones it learnt from.

        A confidence that was calibrated for another corpus, or for other systems, is left aside.
        """
        self.card = card
        self.info = info
        self.articles: Mapping[str, Article] = {a.id: a for a in articles}
        self.analyser = analyser
        self.keyword = keyword
        self.meaning = meaning
        self._signals: Signals | None = None
        calibrated = confidence is not None and confidence.corpus_sha256 == info.corpus_sha256
        if calibrated and isinstance(keyword, BM25) and isinstance(meaning, Dense):
            self._signals = Signals(analyser, keyword, meaning.encoder, questions)
        self._confidence = confidence if self._signals is not None else None
        self._known = KnownItems(articles, card)
        self._by_number = {(a.code, a.article_no): a.id for a in articles}
        self._cited: dict[str, list[Question]] = {}
        for question in questions:
            for article_id in dict.fromkeys(question.article_ids):  # cited twice counts once
                self._cited.setdefault(article_id, []).append(question)
        self._explainer = Explainer(self.articles, self._cited, analyser, keyword, meaning)
        self._topics = Topics(card, {a.code for a in articles}, analyser)

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
        rest = self._searched(asked, known)
        elsewhere = self._topics.find(asked)
        sure: float | None = None
        if self.analyser.terms(rest):
            shown, lists = self._fill(shown, rest, k, where, mode)
            if not known and where is None:  # it was calibrated on searches of the whole corpus
                sure = self._sure(rest, lists, elsewhere=bool(elsewhere))
        return Result(
            question,
            "found" if shown else "nothing",
            tuple(shown),
            known,
            elsewhere,
            (time.perf_counter() - begun) * 1000,
            self._used(mode),
            confidence=sure,
            doubtful=sure is not None and self._confidence is not None and self._confidence.doubtful(sure),
        )

    def _sure(self, question: str, lists: Mapping[str, Ranking], *, elsewhere: bool) -> float | None:
        """The calibrated probability that a shown article answers; None where nothing was calibrated."""
        if self._confidence is None or self._signals is None or set(lists) != {KEYWORD, MEANING}:
            return None
        signals = self._signals(question, lists[KEYWORD], lists[MEANING], elsewhere=elsewhere)
        return self._confidence.probability(signals)

    def explain(self, result: Result) -> list[Explanation]:
        """Take apart why each article of a result stands where it does, in the order it is shown.

        What an article is scored by adds up to the score that its list gave it; the shares of a hybrid's
        lists add up to `Shown.score`, but for an article that the question names, which stands first
        whatever its score.
        """
        asked = self._searched(result.question[:MAX_QUESTION], result.known)
        places = {shown.article.id: shown.why.ranks for shown in result.shown}
        return self._explainer.explain(asked, places, result.mode)

    def _searched(self, asked: str, known: Sequence[KnownItem]) -> str:
        """What is searched for: a question without the articles that it names."""
        return self._known.remainder(asked) if known else asked

    def _used(self, mode: Mode) -> Mode:
        """The way that is searched in when this one is asked for."""
        return "keyword" if self.meaning is None else mode

    def _pinned(self, known: Sequence[KnownItem], where: Filter | None) -> list[Shown]:
        """The articles named by number, then those that took over an old number's content.

        Who asks for the "ancien article" means the content of then: its heirs come first.
        """
        bearing: dict[str, Why] = {}
        heirs: dict[str, Why] = {}
        for item in known:
            bearing |= {article_id: Why(known=True) for article_id in item.found}
            for move in item.moved:
                taken = (self._by_number.get((move.code, number)) for number in move.new)
                heirs |= {article_id: Why(moved_from=move.old) for article_id in taken if article_id}
        former = bool(known) and all(item.former for item in known)
        first, then = (heirs, bearing) if former else (bearing, heirs)
        whys = {**first, **{i: why for i, why in then.items() if i not in first}}
        admitted = [(i, why) for i, why in whys.items() if where is None or where.admits(self.articles[i])]
        return [Shown(n, self.articles[i], 0.0, why) for n, (i, why) in enumerate(admitted, start=1)]

    def _fill(
        self, pinned: Sequence[Shown], question: str, k: int, where: Filter | None, mode: Mode
    ) -> tuple[list[Shown], Mapping[str, Ranking]]:
        """Add what the search finds below what was named; return with it the lists it was made of."""
        ranking, lists = self._search(question, k + len(pinned), where, mode)
        places = {name: ranks(hits) for name, hits in lists.items()}
        terms = frozenset(self.analyser.terms(question))
        there = {s.article.id for s in pinned}
        shown = [
            Shown(s.rank, s.article, s.score, self._why(s.why, s.article, terms, places)) for s in pinned
        ]
        fresh = (hit for hit in ranking if hit.article_id not in there)
        for hit in islice(fresh, max(k - len(shown), 0)):
            article = self.articles[hit.article_id]
            shown.append(Shown(len(shown) + 1, article, hit.score, self._why(Why(), article, terms, places)))
        return shown, lists

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
        contents = self._explainer.contents(article.id)
        alike = []
        for n, (question, own) in enumerate(contents.asked):
            shared = len(own & terms)
            # one word in common says nothing, unless the question has only that one
            if shared >= min(2, len(terms)) and shared:
                alike.append((-shared / (len(own | terms) or 1), n, question.text))
        return Why(
            terms=terms & contents.law(),
            ranks={name: there[article.id] for name, there in places.items() if article.id in there},
            asked=tuple(dict.fromkeys(text for _, _, text in sorted(alike)))[:2],  # one text is told once
            known=base.known,
            moved_from=base.moved_from,
        )
