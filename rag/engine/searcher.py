"""Choose what ranks a question: keywords, vectors, their fusion, or a learned reranker over both."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import compress

from rag.corpus.structure import Sections
from rag.engine.confidence import RECIPROCAL
from rag.engine.result import Mode
from rag.errors import BadInput
from rag.fusion.normalisation import ScoreDistribution
from rag.fusion.rank_fusion import ranks
from rag.fusion.section_boost import SECTION_BOOST, explain_boost
from rag.fusion.settings import FusionSettings
from rag.ltr.reranker import KEYWORD, MEANING, LearnedReranker
from rag.retrieval.hybrid import Hybrid, damped
from rag.retrieval.query_expansion import ExpandedBM25
from rag.retrieval.question_knn import QUESTION_KNN, QuestionKNN
from rag.retrieval.translation_model import KEEP_ALL, WEIGHT, ExpansionTerm, Removed, telling
from rag.types import Filter, Ranking, Retriever

RECENT = 8  # sets of removed pairs whose learned reranker is cached, with the candidates that it caches


@dataclass(frozen=True)
class QueryExpansion:
    """The expansion of one question: the law's terms that are searched for besides its own."""

    words: ExpandedBM25
    without: Removed

    def terms(self, question: str) -> frozenset[str]:
        """Return the law's terms that a question is expanded by."""
        return frozenset(pair.law for pair in self.words.used(question))

    def displayed(self, question: str, terms: Collection[str]) -> tuple[ExpansionTerm, ...]:
        """Return the pairs to display, as `rag.retrieval.translation_model.telling` chooses among `terms`.

        Where a person removed a pair, no weaker pair of the same word is displayed in its place.
        """
        removed = {lay for lay, _ in self.without}
        return telling([pair for pair in self.words.used(question) if pair.lay not in removed], terms)


@dataclass(frozen=True, slots=True)
class SingleList:
    """One retriever under the name of its list, searched as a hybrid is."""

    name: str
    retriever: Retriever

    def search_parts(
        self, questions: Sequence[str], k: int, where: Filter | None = None
    ) -> list[tuple[Ranking, Mapping[str, Ranking]]]:
        """Return each ranking of at most k hits, and the same as its only list."""
        return [(ranking, {self.name: ranking}) for ranking in self.retriever.search(questions, k, where)]


@dataclass
class Searcher:
    """The retrievers of one index and how a hybrid search fuses them."""

    keyword: Retriever
    meaning: Retriever | None = None  # None: an index without an encoder is searched by keywords alone
    fusion: FusionSettings = field(default_factory=FusionSettings)
    distributions: Mapping[str, ScoreDistribution] = field(
        default_factory=dict
    )  # for a fusion by percentiles
    learned: LearnedReranker | None = None  # reranks hybrid searches
    question_knn: QuestionKNN | None = None  # for a fusion that names its list
    expanded: ExpandedBM25 | None = None  # BM25 with query expansion
    sections: Callable[[], Sections] | None = None  # for a fusion with a section boost

    def __post_init__(self) -> None:
        """Refuse a fusion of one or a missing list, or by percentiles without distributions (`BadInput`)."""
        self.systems = self.fusion.systems or (KEYWORD, MEANING)
        self._fuse = damped
        if self.meaning is not None:
            self._fuse = self.fusion.fuse(self.systems, self.distributions, self.sections)
        if len(self.systems) < 2:
            raise BadInput(f"a fusion of {', '.join(self.systems)} alone: name two lists or more")
        available = {KEYWORD, MEANING} | ({QUESTION_KNN} if self.question_knn is not None else set())
        if missing := [name for name in self.systems if name not in available]:
            raise BadInput(
                f"a fusion of {', '.join(self.systems)}: {', '.join(missing)} is not here to be fused"
            )
        self._learned_without = lru_cache(maxsize=RECENT)(self._rerank_without)

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The ways to search that this index has; the first is the default."""
        return ("keyword",) if self.meaning is None else ("hybrid", "keyword", "meaning")

    @property
    def nearest_questions(self) -> QuestionKNN | None:
        """What compares a question with the annotated ones, where a hybrid search does so."""
        return self.learned.evidence.nearest if self.learned is not None else self.question_knn

    @property
    def expands_hybrids(self) -> bool:
        """Whether the ranking of a hybrid search depends on query expansion."""
        return self.expanded is not None and (self.learned is None or self.learned.uses_expansion)

    @property
    def ranked_by(self) -> str:
        """What ranks a hybrid search: "rrf", another fusion, or the id of the learned reranker."""
        if self.learned is not None:
            return self.learned.ranker.id
        expansion = f" bridge {WEIGHT}" if self.expands_hybrids else ""
        if self.fusion == FusionSettings():
            return RECIPROCAL + expansion
        settings = {"weights": dict(self.fusion.weights), "damping": self.fusion.damping}
        if self.fusion.section_boost:
            settings |= {"beside": self.fusion.section_boost}
        return f"{self.fusion.method} {json.dumps(settings, sort_keys=True)}{expansion}"

    def expansion(
        self, mode: Mode, without: Removed = KEEP_ALL, *, known: Sequence[object] = ()
    ) -> QueryExpansion | None:
        """Return the query expansion of a search; None for a search by its own words alone.

        A question that names articles by their number (`known`) is never expanded.
        """
        expands = mode == "keyword" or (mode == "hybrid" and self.expands_hybrids)
        if self.expanded is None or known or not expands:
            return None
        return QueryExpansion(self.expanded.leaving_out(without), without)

    def reranker(self, expansion: QueryExpansion | None = None) -> LearnedReranker | None:
        """Return what reranks a hybrid search with this expansion; None where nothing was learnt."""
        return self._learned_without(expansion.without if expansion else None)

    def _rerank_without(self, without: Removed | None) -> LearnedReranker | None:
        """Return the learned reranker with its expansion less these pairs; None: without expansion."""
        if self.learned is None or not self.expands_hybrids or without == KEEP_ALL:
            return self.learned
        if self.expanded is None or without is None:
            return self.learned.with_expansion(None)
        return self.learned.with_expansion(self.expanded.leaving_out(without))

    def retriever(
        self, mode: Mode, expansion: QueryExpansion | None = None
    ) -> Hybrid | LearnedReranker | SingleList:
        """Return what ranks a search in this mode."""
        words: Retriever = expansion.words if expansion else self.keyword
        if self.meaning is None or mode == "keyword":
            return SingleList(KEYWORD, words)
        if mode == "meaning":
            return SingleList(MEANING, self.meaning)
        if (learned := self.reranker(expansion)) is not None:
            return learned
        lists = {KEYWORD: words, MEANING: self.meaning}
        if self.question_knn is not None:
            lists[QUESTION_KNN] = self.question_knn
        return Hybrid({name: lists[name] for name in self.systems}, self._fuse)

    def contributions(
        self, ranking: Ranking, lists: Mapping[str, Ranking], wanted: Collection[str]
    ) -> tuple[dict[str, Mapping[str, int]], Mapping[str, Mapping[str, float]]]:
        """Return what placed the wanted articles in a ranking that was fused of these lists.

        That is system -> article id -> rank in its list; and article id -> system -> share of the score,
        empty where the score is no sum of shares.
        """
        places: dict[str, Mapping[str, int]] = {}
        for name, found in lists.items():
            rows = found.rows(wanted)
            held = rows >= 0
            its_ids = compress(wanted, held.tolist())
            places[name] = dict(zip(its_ids, ranks(found, rows[held]).tolist(), strict=True))
        if len(lists) < 2 or self.learned is not None:  # a learned reranker has reasons of its own
            return places, {}
        shares = self.fusion.shares(lists, wanted, self.distributions)
        if self.fusion.section_boost and self.sections is not None:
            places[SECTION_BOOST], shares = explain_boost(ranking, shares, self.sections())
        return places, shares
