"""The one sentence of the product: ask a question, see the articles."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Literal, TypeAlias

from rag.corpus.asker_situations import Situation, available_situations
from rag.corpus.card import CorpusCard
from rag.corpus.contents import Law
from rag.corpus.out_of_scope import Topics
from rag.corpus.structure import groups
from rag.engine.confidence import RECIPROCAL, Confidence, Signals
from rag.engine.expansion import QueryExpander, QueryExpansion
from rag.engine.explain import CountTerms, Explainer, PrecomputedTerms
from rag.engine.result import Explanation, Mode, Result
from rag.errors import BadInput
from rag.fusion.normalisation import Distribution
from rag.fusion.rank_fusion import ranks
from rag.fusion.section_boost import SECTION_BOOST
from rag.fusion.section_boost import explain_boost as told_beside
from rag.fusion.settings import FusionSettings
from rag.ltr.reranker import KEYWORD as KEYWORD
from rag.ltr.reranker import MEANING as MEANING
from rag.ltr.reranker import LearnedReranker
from rag.retrieval.bm25 import BM25
from rag.retrieval.dense import Dense
from rag.retrieval.hybrid import DEPTH, Hybrid
from rag.retrieval.known_item import KnownItems, Pins, best_versions, most_versions
from rag.retrieval.query_expansion import ExpandedBM25
from rag.retrieval.question_knn import QUESTION_KNN, QuestionKNN
from rag.retrieval.translation_model import KEEP_ALL, WEIGHT, ExpansionTerm, Removed
from rag.text import Analyser
from rag.text.spelling import TolerantAnalyser
from rag.types import Article, Filter, KnownItem, Question, Ranking, Retriever, Shown, Why

MAX_QUESTION = 20_000  # characters; what follows is not read
# what an encoder knows of law: fitted to texts of law alone, a language model trained further on them, or
# one of which nothing of the kind is known
EncoderTraining: TypeAlias = Literal["fitted", "trained", "unknown"]


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
    encoder_knows: EncoderTraining = "unknown"


@dataclass(frozen=True, slots=True)
class CorpusFacets:
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
        fusion: FusionSettings | None = None,
        distributions: Mapping[str, Distribution] | None = None,
        learned: LearnedReranker | None = None,
        counted: CountTerms | None = None,
        nearest: QuestionKNN | None = None,
        bridge: ExpandedBM25 | None = None,
    ) -> None:
        """Take the parts that `indexes.open` read; `questions` are the annotated ones it learnt from.

        `counted` gives the terms of an article by field where the index keeps them: explaining need not
        cut its text again. `nearest` is the list of the most similar annotated questions, for a fusion that
        names it. `bridge` searches by what the law says for a layperson's words too.

        A confidence that was calibrated for another corpus, or for other systems, is left aside.

        Raises:
            BadInput: a fusion of other systems, or by percentiles without distributions.
        """
        self.card = card
        self.info = info
        self.articles: Mapping[str, Article] = {a.id: a for a in articles}
        self.analyser = analyser
        self.keyword = keyword
        self.meaning = meaning
        self._signals: Signals | None = None
        self.fusion = fusion or FusionSettings()
        self.distributions = distributions or {}
        systems = self.fusion.systems or (KEYWORD, MEANING)
        self._fuse = self.fusion.fuse(systems, self.distributions, lambda: self._beside) if meaning else None
        self._systems = {KEYWORD: keyword, QUESTION_KNN: nearest}
        if len(systems) < 2:
            raise BadInput(f"a fusion of {', '.join(systems)} alone: name two lists or more")
        if missing := [name for name in systems if name != MEANING and self._systems.get(name) is None]:
            raise BadInput(f"a fusion of {', '.join(systems)}: {', '.join(missing)} is not here to be fused")
        near = self._near = learned.evidence.nearest if learned is not None else nearest
        calibrated = confidence is not None and confidence.corpus_sha256 == info.corpus_sha256
        self.learned = learned  # where there is one, a hybrid search is ranked by it
        self.bridging = QueryExpander(bridge, learned)
        calibrated = calibrated and confidence is not None and confidence.ranked_by == self.ranked_by
        if calibrated and isinstance(keyword, BM25) and isinstance(meaning, Dense):
            self._signals = Signals(analyser, keyword, meaning.encoder, questions, near)
        self._confidence = confidence if self._signals is not None else None
        self._known = KnownItems(articles, card)
        self._pinned = Pins(self.articles)
        self._versions = most_versions(articles)
        self._cited: dict[str, list[Question]] = {}
        for question in questions:
            for article_id in dict.fromkeys(question.article_ids):  # cited twice counts once
                self._cited.setdefault(article_id, []).append(question)
        kept = (
            PrecomputedTerms(counted, near.terms, near.vectors)
            if near is not None
            else PrecomputedTerms(counted)
        )
        self._explainer = Explainer(self.articles, self._cited, analyser, keyword, meaning, kept)
        self._topics = Topics(card, {a.code for a in articles}, analyser)

    @cached_property
    def _beside(self) -> Mapping[str, int]:
        return groups(list(self.articles.values()))

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The ways to search that this index has; the first is the default."""
        return ("keyword",) if self.meaning is None else ("hybrid", "keyword", "meaning")

    @cached_property
    def law(self) -> Law:
        """The articles as a reader leafs through them; made when first looked at."""
        return Law(self.articles, self._cited)

    @cached_property
    def _facets(self) -> CorpusFacets:
        articles = self.articles.values()
        return CorpusFacets(
            codes=dict(Counter(a.code for a in articles)),
            law_types=dict(Counter(a.law_type for a in articles if a.law_type)),
            regions=dict(Counter(a.region for a in articles if a.region)),
            dated=any(a.valid_from or a.valid_to for a in articles),
        )

    def facets(self) -> CorpusFacets:
        """Count the articles by what can be filtered; counted once, a page asks at every run."""
        return self._facets

    @cached_property
    def situations(self) -> tuple[Situation, ...]:
        """What a person may say of themselves in front of a question: who the articles speak of."""
        return available_situations(self.card.language, tuple(self.articles.values()))

    def ask(
        self,
        question: str,
        *,
        k: int = 10,
        where: Filter | None = None,
        mode: Mode = "hybrid",
        without: Removed = KEEP_ALL,
    ) -> Result:
        """Answer a question with ranked articles.

        Articles that the question names by number come first. An index without an encoder answers
        every mode by keywords. Of the versions of one article only one is shown: with a day in the filter
        the one in force then, else the one that fits best. An article that is not in force on that day
        is shown only where the question names it by number.

        Args:
            question: in a person's own words; only the first 20,000 characters are read.
            k: how many articles at most.
            where: which articles may be shown.
            mode: the lists fused, or one of them.
            without: pairs of words (of the question, of the law) that the search is not to be widened by.
        """
        begun = time.perf_counter()
        asked = question[:MAX_QUESTION]
        if not asked.strip():
            return Result(question, "empty")
        day = where.in_force_on if where else None
        known = self._known.find(asked, day)
        shown = self._pinned(known, where)[: max(k, 0)]
        rest = self._searched(asked, known)
        elsewhere = self._topics.find(asked)
        sure: float | None = None
        over = self.bridging.over(self._used(mode), without, known=known)
        told: tuple[ExpansionTerm, ...] = ()
        if self.analyser.terms(rest):
            shown, lists, told = self._fill(shown, rest, k, where, mode, over)
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
            in_force_on=day,
            where=where,
            mended=self.analyser.mended(rest) if isinstance(self.analyser, TolerantAnalyser) else (),
            bridged=told,
            without=without,
        )

    def warm(self) -> None:
        """Do now what the first question would wait for: annotated questions, neighbours of articles."""
        self.law  # noqa: B018 - made when first looked at
        self.situations  # noqa: B018
        if self._signals is not None:
            self._signals.warm()
        if self._near is not None:
            self._near.asked  # noqa: B018

    def hybrid(self, meaning: Retriever, over: QueryExpansion | None = None) -> Hybrid | LearnedReranker:
        """Return what fuses the lists: of keywords, of this encoder, and whatever else the fusion names.

        Args:
            meaning: the encoder's list.
            over: the bridge that the keywords go over; None goes over none.
        """
        learned = self.bridging.learned(over.without if over else None)
        if learned is not None:
            return learned
        known = {name: part for name, part in self._systems.items() if part is not None} | {MEANING: meaning}
        if over is not None:
            known[KEYWORD] = over.words
        parts = {name: known[name] for name in self.fusion.systems or (KEYWORD, MEANING)}
        return Hybrid(parts) if self._fuse is None else Hybrid(parts, self._fuse)

    @property
    def ranked_by(self) -> str:
        """What ranks a hybrid search: "rrf", another fusion, or the id of the learned fusion that does."""
        if self.learned is not None:
            return self.learned.ranker.id
        bridged = f" bridge {WEIGHT}" if self.bridging.ranks_hybrids else ""
        if self.fusion == FusionSettings():
            return RECIPROCAL + bridged
        told = {"weights": dict(self.fusion.weights), "damping": self.fusion.damping}
        if self.fusion.beside:
            told |= {"beside": self.fusion.beside}
        return f"{self.fusion.method} {json.dumps(told, sort_keys=True)}{bridged}"

    def _sure(self, question: str, lists: Mapping[str, Ranking], *, elsewhere: bool) -> float | None:
        """The calibrated probability that a shown article answers; None where nothing was calibrated."""
        if self._confidence is None or self._signals is None or not {KEYWORD, MEANING} <= set(lists):
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
        shares = {shown.article.id: shown.why.shares for shown in result.shown}
        over = self.bridging.over(result.mode, result.without, known=result.known)
        explained = self._explainer.explain(asked, places, result.mode, shares, over.words if over else None)
        learned = self.bridging.learned(over.without if over else None)
        if learned is None or result.mode != "hybrid":
            return explained
        told = learned.reasons(asked, list(places), result.where)
        return [replace(each, reasons=told.get(each.article_id, ())) for each in explained]

    def _searched(self, asked: str, known: Sequence[KnownItem]) -> str:
        """What is searched for: a question without the articles that it names."""
        return self._known.remainder(asked) if known else asked

    def _used(self, mode: Mode) -> Mode:
        """The way that is searched in when this one is asked for."""
        return "keyword" if self.meaning is None else mode

    def _fill(
        self,
        pinned: Sequence[Shown],
        question: str,
        k: int,
        where: Filter | None,
        mode: Mode,
        over: QueryExpansion | None,
    ) -> tuple[list[Shown], Mapping[str, Ranking], tuple[ExpansionTerm, ...]]:
        """Add what the search finds below what was named; return with it its lists, and the words bridged."""
        depth = k + len(pinned)
        if self._versions > 1 and not (where and where.in_force_on):  # some may be versions of one article
            depth = max(depth, min(depth * self._versions, DEPTH))
        ranking, lists = self._search(question, depth, where, mode, over)
        there = {s.article.id for s in pinned}
        scores = {hit.article_id: hit.score for hit in ranking if hit.article_id not in there}
        fresh = best_versions((self.articles[i] for i in scores), [s.article for s in pinned])
        found = list(islice(fresh, max(k - len(pinned), 0)))
        wanted = there.union(article.id for article in found)
        places = {name: ranks(hits, wanted) for name, hits in lists.items()}
        fused = len(lists) > 1 and self.learned is None  # a learned fusion has reasons of its own
        shares = self.fusion.shares(lists, wanted, self.distributions) if fused else {}
        if fused and self.fusion.beside:
            places[SECTION_BOOST], shares = told_beside(ranking, shares, self._beside)
        terms = frozenset(self.analyser.terms(question))
        told = self._told(question, [article.id for article in found], over)
        shown: list[Shown] = []
        for s in (*pinned, *(Shown(0, article, scores[article.id], Why()) for article in found)):
            why = self._why(s.why, s.article, terms, places, shares.get(s.article.id, {}))
            marked = self._explainer.contents(s.article.id).in_text(frozenset(pair.law for pair in told))
            shown.append(Shown(len(shown) + 1, s.article, s.score, replace(why, bridged=marked)))
        return shown, lists, told

    def _told(
        self, question: str, shown: Sequence[str], over: QueryExpansion | None
    ) -> tuple[ExpansionTerm, ...]:
        """Return the words that the law has for the question's, of those that a shown article has."""
        if over is None:
            return ()
        reached = over.reached(question)
        return over.told(
            question, {term for i in shown for term in self._explainer.contents(i).in_text(reached)}
        )

    def _search(
        self, question: str, k: int, where: Filter | None, mode: Mode, over: QueryExpansion | None
    ) -> tuple[Ranking, Mapping[str, Ranking]]:
        if self.meaning is None or mode == "keyword":
            [ranking] = (over.words if over else self.keyword).search([question], k, where)
            return ranking, {KEYWORD: ranking}
        if mode == "meaning":
            [ranking] = self.meaning.search([question], k, where)
            return ranking, {MEANING: ranking}
        [(ranking, lists)] = self.hybrid(self.meaning, over).search_parts([question], k, where)
        return ranking, lists

    def _why(
        self,
        base: Why,
        article: Article,
        terms: frozenset[str],
        places: Mapping[str, Mapping[str, int]],
        shares: Mapping[str, float],
    ) -> Why:
        contents = self._explainer.contents(article.id)
        alike = []
        for n, (question, own) in enumerate(contents.asked):
            shared = len(own & terms)
            # one word in common says nothing, unless the question has only that one
            if shared >= min(2, len(terms)) and shared:
                alike.append((-shared / (len(own) + len(terms) - shared), n, question.text))
        return Why(
            terms=contents.in_law(terms),
            ranks={name: there[article.id] for name, there in places.items() if article.id in there},
            asked=tuple(dict.fromkeys(text for _, _, text in sorted(alike)))[:2],  # one text is told once
            known=base.known,
            moved_from=base.moved_from,
            shares=shares,
        )
