"""The one sentence of the product: ask a question, see the articles."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from typing import Literal, TypeAlias

from rag.corpus.articles import Articles
from rag.corpus.asker_situations import Situation, available_situations
from rag.corpus.card import CorpusCard
from rag.corpus.contents import Law
from rag.corpus.facts import ArticleFacts
from rag.engine.explain import Explainer
from rag.engine.notices import UNKNOWN, Notices
from rag.engine.result import Explanation, Mode, Result
from rag.engine.searcher import QueryExpansion, Searcher
from rag.engine.topic_view import DEPTH as TOPIC_DEPTH
from rag.engine.topic_view import MAX_WORDS, TopicCase, names_topic, topic_cases
from rag.errors import DamagedIndex, watching
from rag.graph.graph import Graph
from rag.retrieval.dense import Dense
from rag.retrieval.hybrid import DEPTH
from rag.retrieval.known_item import KnownItems, best_versions
from rag.retrieval.term_counts import LAW_FIELDS
from rag.retrieval.translation_model import KEEP_ALL, ExpansionTerm, Removed
from rag.text import Analyser
from rag.text.long_questions import repeat_asked
from rag.types import Article, Filter, Ranking, Shown, Why

MAX_QUESTION = 20_000  # characters; what follows is not read
_log = logging.getLogger(__name__)
WARMING = 100  # characters of an article that is asked for where a card has no example
FIRST_READ = 3  # articles that are cards, and read
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
    """One opened index: its articles, and the parts that search, explain and warn."""

    def __init__(
        self,
        *,
        card: CorpusCard,
        info: IndexInfo,
        articles: Sequence[Article],
        searcher: Searcher,
        explainer: Explainer,
        notices: Notices,
        graph: Graph | None = None,
    ) -> None:
        """Take an opened index; the graph tells what its articles refer to, and where."""
        self.card, self.info = card, info
        self._articles = Articles.of(articles)
        self.articles: Mapping[str, Article] = self._articles.by_id
        self.fault = ""  # why its files cannot be trusted, found while it serves: it answers no more
        self.searcher, self.explainer, self.notices = searcher, explainer, notices
        self.analyser: Analyser = explainer.analyser  # cuts questions into terms
        self._graph = graph
        self._known_items = KnownItems(self._articles, card)
        self._versions = self._articles.versions
        self.silent: frozenset[str] = frozenset()  # parts that did not answer the last search

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The ways to search that this index has; the first is the default."""
        return self.searcher.modes

    @cached_property
    def law(self) -> Law:
        """The articles as a reader leafs through them; made when first looked at."""
        return Law(self._articles, self.explainer.cited, self._graph)

    @property
    def facts(self) -> Mapping[str, ArticleFacts]:
        """What stands beside articles: article id -> time limits, amounts, a note."""
        return self._articles.facts

    @cached_property
    def _facets(self) -> CorpusFacets:
        law_types, regions = self._articles.law_types.counts, self._articles.regions.counts
        return CorpusFacets(
            codes=self._articles.codes.counts,
            law_types={key: n for key, n in law_types.items() if key},
            regions={key: n for key, n in regions.items() if key},
            dated=self._articles.dated,
        )

    def facets(self) -> CorpusFacets:
        """Count the articles by what can be filtered; counted once, a page asks at every run."""
        return self._facets

    @cached_property
    def situations(self) -> tuple[Situation, ...]:
        """What a person may say of themselves in front of a question: who the articles speak of."""
        return available_situations(self.card.language, self._articles)

    def warm(self) -> None:
        """Do now what the first question would wait for.

        Annotated questions and neighbours of articles are looked at, vectors read from the disk, and a
        question asked: what is made when it is first needed is made by that.
        """
        self._articles.warm()
        self.law  # noqa: B018 - made when first looked at
        self.situations  # noqa: B018
        if self.notices.signals is not None:
            self.notices.signals.warm()
        if self.searcher.nearest_questions is not None:
            self.searcher.nearest_questions.index  # noqa: B018
        if isinstance(self.searcher.meaning, Dense):
            self.searcher.meaning.warm()
        some = next(iter(self.articles.values())).text[:WARMING]
        self.explain(self.ask(next(iter(self.card.examples), some)))

    def ask(
        self,
        question: str,
        *,
        k: int = 10,
        where: Filter | None = None,
        mode: Mode = "hybrid",
        without: Removed = KEEP_ALL,
    ) -> Result:
        """Answer a question with at most `k` ranked articles, of those that `where` admits.

        Articles that the question names by number come first. `mode` fuses the lists or takes one of them;
        an index without an encoder answers every mode by keywords. Of the versions of one article only one
        is shown: with a day in the filter the one in force then, else the one that fits best. An article
        that is not in force on that day is shown only where the question names it by number.

        Only the first 20,000 characters of a question are read. `without` are pairs of words (of the
        question, of the law) that the search is not to be widened by.

        Raises:
            DamagedIndex: its files were found to be others than those that were built.
        """
        if self.fault:
            raise DamagedIndex(self.fault)
        start = time.perf_counter()
        text = question[:MAX_QUESTION]
        if not text.strip():
            return Result(question, "empty")
        if self.searcher.meaning is None:
            mode = "keyword"
        day = where.in_force_on if where else None
        known = self._known_items.find(text, day)
        query = self._query(text, named=bool(known))
        shown = self._known_items.pinned(known, where, max(k, 0))
        foreign = self.notices.foreign_topics(text)
        elsewhere = self.notices.topics.find(text) if foreign is None else foreign
        expansion = self.searcher.expansion(mode, without, known=known)
        likelihood = UNKNOWN
        topic: tuple[TopicCase, ...] = ()
        is_matter = False
        missing: set[str] = set()
        displayed: tuple[ExpansionTerm, ...] = ()
        if terms := frozenset(self.analyser.terms(query)):
            depth = k + len(shown)
            whole = not known and not (where and where.selects)
            few = whole and len(query.split()) <= MAX_WORDS
            if few:
                depth = max(depth, TOPIC_DEPTH)
            if self._versions > 1 and day is None:  # some may be versions of one article
                depth = max(depth, min(depth * self._versions, DEPTH))
            retriever = self.searcher.retriever(mode, expansion)
            with watching() as missing:
                [(ranking, lists)] = retriever.search_parts([query], depth, where)
            self._tell(missing if depth > 0 else self.silent)
            shown, displayed = self._show(query, k, shown, ranking, lists, expansion)
            if few and not elsewhere:
                topic, is_matter = self._topic(query, terms, ranking)
            features: dict[str, float] | None = None
            typed = (ranking, lists)
            if whole and not missing:  # all was calibrated on searches of the whole corpus, by what was typed
                typed = typed if query == text else retriever.search_parts([text], depth, where)[0]
                features = self.notices.features(text, typed[1])
            settled = topic or is_matter or known or foreign is not None
            if not (settled or (few and elsewhere)):  # of few words a phrase is all that is asked
                elsewhere = self.notices.governing(text, features)
            likelihood = self.notices.likelihood(*typed, features, elsewhere=bool(elsewhere))
        return Result(
            question, "found" if shown else "nothing", tuple(shown), known, elsewhere,
            (time.perf_counter() - start) * 1000, mode, confidence=likelihood.probability,
            doubtful=likelihood.doubtful and not (topic or is_matter), in_force_on=day, where=where,
            mended=self.notices.corrections(query), bridged=displayed, without=without,
            answer_set=likelihood.answer_set, marked=likelihood.marked and not topic, topic=topic,
            missing=tuple(sorted(missing)),
        )  # fmt: skip

    def _query(self, text: str, *, named: bool) -> str:
        """Return what is searched for: without the articles that are named, what asks in a story twice."""
        asked = repeat_asked(text)
        return self._known_items.remainder(asked) if named else asked

    def _tell(self, missing: Set[str]) -> None:
        """Log which parts of the collection fall silent or answer again, each once."""
        former, self.silent = self.silent, frozenset(missing)
        if gone := sorted(self.silent - former):
            _log.warning("%s of %s: no answer; articles are missing", ", ".join(gone), self.info.name)
        if back := sorted(former - self.silent):
            _log.warning("%s of %s: answers again", ", ".join(back), self.info.name)

    def _topic(
        self, query: str, terms: frozenset[str], ranking: Ranking
    ) -> tuple[tuple[TopicCase, ...], bool]:
        """Return the questions to choose from where a few words name a matter of the law; else none.

        And whether one of the first three articles has all these words: then nothing is denied, for doubt was
        fitted to whole questions.
        """
        articles = [self.articles[id_] for id_ in ranking[:TOPIC_DEPTH].ids]
        counts = self.explainer.counts([article.id for article in articles], terms)
        covering = {
            id_ for id_, fields in counts.items() if terms <= {*chain(*(fields[name] for name in LAW_FIELDS))}
        }
        annotated, of = self.explainer.cited, self.explainer.term_set
        is_matter = any(article.id in covering for article in articles[:FIRST_READ])
        if not names_topic(terms, articles, covering, annotated, of):
            return (), is_matter
        return topic_cases(query, terms, articles, covering, annotated, of), is_matter

    def _show(
        self,
        query: str,
        k: int,
        pinned: Sequence[Shown],
        ranking: Ranking,
        lists: Mapping[str, Ranking],
        expansion: QueryExpansion | None,
    ) -> tuple[list[Shown], tuple[ExpansionTerm, ...]]:
        """Return k articles, the pinned ones and the best of a ranking, and the expansion to display."""
        pinned_ids = dict.fromkeys(s.article.id for s in pinned)
        scores = {id_: score for id_, score in ranking if id_ not in pinned_ids}
        versions = best_versions((self.articles[i] for i in scores), [s.article for s in pinned])
        fresh = list(islice(versions, max(k - len(pinned), 0)))
        wanted = [*pinned_ids, *(a.id for a in fresh)]
        places, shares = self.searcher.contributions(ranking, lists, wanted)
        terms = frozenset(self.analyser.terms(query))
        reached = expansion.terms(query) if expansion is not None else frozenset()
        counts = self.explainer.counts(wanted, terms | reached)
        displayed: tuple[ExpansionTerm, ...] = ()
        if expansion is not None:
            present = {term for a in fresh for term in counts[a.id]["text"]} & reached
            displayed = expansion.displayed(query, present)
        law_terms = frozenset(pair.law for pair in displayed)
        shown: list[Shown] = []
        for s in (*pinned, *(Shown(0, article, scores[article.id], Why()) for article in fresh)):
            id_ = s.article.id
            why = replace(
                s.why,
                terms=terms.intersection(chain.from_iterable(counts[id_][name] for name in LAW_FIELDS)),
                ranks={name: place[id_] for name, place in places.items() if id_ in place},
                asked=self.explainer.similar_questions(id_, terms),
                shares=shares.get(id_, {}),
                bridged=law_terms & counts[id_]["text"].keys(),
            )
            shown.append(Shown(len(shown) + 1, s.article, s.score, why))
        return shown, displayed

    def explain(self, result: Result) -> list[Explanation]:
        """Take apart why each article of a result stands where it does, in the order it is shown.

        What an article is scored by adds up to the score that its list gave it; the shares of a hybrid's
        lists add up to `Shown.score`, but for an article that the question names, which stands first
        whatever its score.
        """
        text = result.question[:MAX_QUESTION]
        query = self._query(text, named=bool(result.known))
        places = {shown.article.id: shown.why.ranks for shown in result.shown}
        shares = {shown.article.id: shown.why.shares for shown in result.shown}
        expansion = self.searcher.expansion(result.mode, result.without, known=result.known)
        words = expansion.words if expansion else None
        explained = self.explainer.explain(query, places, result.mode, shares, words)
        learned = self.searcher.reranker(expansion)
        if learned is None or result.mode != "hybrid":
            return explained
        reasons = learned.reasons(query, list(places), result.where)
        return [replace(each, reasons=reasons.get(each.article_id, ())) for each in explained]
