"""A corpus made ready for measuring: analysed once, fitted once, its systems by name."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache as once
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from indexes.build import legislative_graph, query_expansion
from indexes.build.fit_settings import FitSpec
from indexes.build.learned_fusion import build_surroundings
from indexes.corpus.corpus import Corpus, human_or_synthetic
from rag.corpus.structure import Sections, citations
from rag.encoders.static import StaticEncoder, article_terms
from rag.errors import BadInput
from rag.fusion.normalisation import ScoreDistribution
from rag.fusion.settings import LAW_ONLY_WEIGHT, FusionSettings
from rag.graph.smoothing import GraphSmoothed, Smooth, smoothing
from rag.ltr.features import Evidence
from rag.ltr.ranker import Ranker
from rag.ltr.reranker import LearnedReranker, bm25_over
from rag.retrieval.bm25 import BM25
from rag.retrieval.dense import INT8_FROM, Dense, Int8Vectors, build_vectors
from rag.retrieval.hybrid import Hybrid
from rag.retrieval.query_expansion import Expanded, ExpandedBM25, LawWords
from rag.retrieval.question_knn import QUESTION_KNN, QuestionKNN
from rag.retrieval.term_counts import ANNOTATED_FIELDS
from rag.retrieval.translation_model import TranslationModel
from rag.types import Progress, Question, Retriever, no_progress
from training.eval.context import BenchSettings, Extras, FittedParts, FoldContext
from training.eval.encoders import MAX_CACHED_FITS, EncoderFits, FitCache
from training.eval.lexical import Lexicon
from training.eval.system_names import (
    EXPANDED_BM25,
    EXPANDED_SYSTEMS,
    HYBRID,
    NETWORKS,
    PRECEDING,
    TUNED,
    UNBRIDGED,
    UNTRAINED,
    ByGraph,
    Fused,
    by_graph,
    excluded_features,
    fused,
    refuse_unfit,
)
from training.fusion.graph_weight import GraphChoice, choose_weight
from training.fusion.inner_folds import LEAST, InnerAnswers, InnerRuns
from training.fusion.learned import Example, LearnedSettings, examples, fit
from training.fusion.tuned import INNER_FOLDS, MOST, Choice, TunedHybrid, choose

PARTS = ("bm25+questions", "bm25", "dense")  # of a learned fusion


@dataclass(frozen=True, eq=False)
class TunedSmoothing(GraphSmoothed):
    """Ranks by a graph, and tells how its weight was chosen; None where it was given."""

    choice: GraphChoice | None = None


class Bench:
    """One corpus and everything about it that does not depend on the questions."""

    def __init__(
        self,
        corpus: Corpus,
        cache: Path | None = None,
        *,
        ready: FittedParts | None = None,
        fitted_to: Sequence[Corpus] = (),
        fit: FitSpec = 1,
        analyser_options: Mapping[str, Any] | None = None,
        progress: Progress = no_progress,
    ) -> None:
        """Take a corpus, of which the articles alone are used.

        Args:
            corpus: that is measured.
            cache: folder that keeps what is analysed and fitted, by the corpus's hash; None keeps nothing.
            ready: what is not fitted here: that of an index.
            fitted_to: what encoders are fitted to where it is not the corpus alone: first the corpus, or
                another text of its articles under the same ids (the official one of summaries); then
                others of the language, whose articles and questions encoders learn too.
            fit: how to fit: settings, or how many fits, as is suited to the number of questions.
            analyser_options: of an index that is measured; they go before what settings say.
            progress: called as the work goes on.
        """
        ready = ready or FittedParts()
        self.given, self.ranker = ready.encoder, ready.ranker
        self._given_fusion, self._translation = ready.fusion, ready.translation
        self.corpus, self.progress = corpus, progress
        self.more: Extras = {}  # systems that are not known here, by name
        self.cache = FitCache(cache / corpus.sha256[:16] if cache is not None else None)
        mended = self.given.vocabulary if self.given is not None else ()
        options = analyser_options or {}
        self._words = Lexicon(corpus, self.cache, options, mended, progress, ready.counts)
        self._vectors = ready.vectors
        self.analyser, self.counts = self._words.analyser, self._words.counts
        self.order, self.mask = self._words.order, self._words.mask
        self._fits = EncoderFits(fitted_to or [corpus], self.analyser, fit, cache, progress)
        self._learnt_translation = lru_cache(MAX_CACHED_FITS)(self._learn_translation)
        self.sections = once(partial(Sections.of, corpus.articles, self.order))
        self.graph = once(partial(legislative_graph.build, corpus))
        self._lawful: tuple[BenchSettings, dict[str, Retriever]] = BenchSettings(), {}
        self.inner = InnerRuns(self.systems, corpus.articles)
        self._examples: tuple[object, list[Example]] | None = None  # of the last learned fusion
        self._rankers: dict[tuple[str, ...], Ranker] = {}  # fitted to them, by the groups left out

    def encoder(self, learn: Sequence[Question] | None) -> StaticEncoder:
        """Return the encoder fitted to the law and to these questions, or the one that was given.

        Beside the questions it learns those that others lend; None for the law alone.
        """
        return self.given if self.given is not None else self._fits.encoder(learn)

    def systems(
        self,
        names: Sequence[str],
        learn: Sequence[Question],
        settings: BenchSettings | None = None,
        dev: Sequence[Question] = (),
    ) -> dict[str, Retriever]:
        """Return the named systems, those that learn having learnt from these questions alone.

        `dev` are questions that are not learnt from, to choose the weights of fusions on; without any, they
        are chosen inside folds of the questions to learn from.

        Raises:
            BadInput: no such system, or one that learns has nothing to learn from.
        """
        given, ranker = self.given is not None, self.ranker is not None
        refuse_unfit(names, learning=bool(learn), given=given, ranker=ranker, more=self.more)
        tuned_on = tuple(q for q in dev if q.article_ids)
        context = FoldContext(tuple(learn), settings or BenchSettings(), tuned_on)
        made: dict[str, Retriever] = {}
        return {name: self._system(name, context, made) for name in names}

    def _system(self, name: str, context: FoldContext, made: dict[str, Retriever]) -> Retriever:
        if name not in made:
            made[name] = self._make(name, context, made)
        return made[name]

    def _make(self, name: str, context: FoldContext, made: dict[str, Retriever]) -> Retriever:
        if name in self.more:
            return self.more[name].make(self, context, lambda other: self._system(other, context, made))
        if name in EXPANDED_SYSTEMS:
            return self._expanded_system(name, context, made)
        if name in UNTRAINED:
            return self._of_the_law(name, context.settings)
        if (way := by_graph(name)) is not None:
            return self._by_graph(way, context, made)
        if (fusion := fused(name)) is not None:
            return self._fusion(name, fusion, context, made)
        if excluded_features(name) is not None:
            return self._learned(name, context, made)
        if name == "dense":
            return self._dense(context.learn)
        if name == QUESTION_KNN:
            return self._nearest(context)
        return self._words.system(name, context.learn, context.settings)

    def _of_the_law(self, name: str, settings: BenchSettings) -> Retriever:
        """Return a system that learns from no question: the same in every fold, and made once."""
        if self._lawful[0] != settings:  # chosen anew: the former ones are done with
            self._lawful = settings, {}
        made = self._lawful[1]
        if name not in made:
            made[name] = self._dense(None) if name == "dense-law" else self._words.system(name, (), settings)
        return made[name]

    def _dense(self, learn: Sequence[Question] | None) -> Dense:
        if self._vectors is not None:
            return Dense(self._question_encoder(learn), self._vectors, self.order, self.mask)
        encoder = self.encoder(learn)
        if encoder.analyser.id == self.analyser().id:
            vectors = encoder.encode_terms(self._article_terms)
        else:
            vectors = encoder.encode_articles(self.corpus.articles)
        int8 = Int8Vectors.of(vectors) if len(vectors) >= INT8_FROM else None
        return Dense(self._question_encoder(learn), build_vectors(vectors), self.order, self.mask, int8)

    @cached_property
    def _article_terms(self) -> list[tuple[str, ...]]:
        analyser = self.analyser()
        return [tuple(map(sys.intern, article_terms(a, analyser))) for a in self.corpus.articles]

    def _question_encoder(self, learn: Sequence[Question] | None) -> StaticEncoder:
        """Return the encoder as it reads questions: typing errors are mended."""
        encoder = self.encoder(learn)
        if encoder.analyser.id != self.analyser().id:  # one that was given: its words are others
            return encoder
        return replace(encoder, analyser=self._words.question_analyser(learn or ()))

    def _nearest(self, context: FoldContext) -> QuestionKNN:
        analyser = self._words.question_analyser(context.learn, stop_words=context.settings.stop_words)
        encoder = self._question_encoder(context.learn)
        return QuestionKNN(
            context.learn, self.order, self.mask, analyser, encoder, sections=self.sections().numbers
        )

    def _fusion(
        self, name: str, fusion: Fused, context: FoldContext, made: dict[str, Retriever]
    ) -> Retriever:
        chosen, indexed = context.settings, name in (HYBRID, UNBRIDGED)
        given = self._given_fusion if indexed else None  # that an index answers with
        systems: dict[str, str]  # name of a part -> the system that it is
        if given is not None:
            systems = {part: part for part in given.systems or ("bm25+questions", "dense")}
            if name == HYBRID and self._translation is not None and "bm25+questions" in systems:
                systems |= {"bm25+questions": EXPANDED_BM25}
        else:
            keyword = "bm25+questions" if context.learn else PRECEDING
            if name == HYBRID and context.learn and chosen.bridged:
                keyword = EXPANDED_BM25
            systems = {part: part for part in fusion.parts or (keyword, "dense")}
        parts = {part: self._system(system, context, made) for part, system in systems.items()}
        if fusion.method == TUNED:
            choice = self._choice(parts, context)
            return TunedHybrid(parts, choice, self._distributions(choice.settings.method, parts, context))
        settings = given or FusionSettings(fusion.method, damping=chosen.damping)
        if indexed and given is None:
            settings = replace(settings, method=chosen.method, section_boost=chosen.beside)
            if len(context.learn) < query_expansion.LEAST and settings.method == "rrf":
                settings = replace(settings, weights=dict(zip(parts, (1.0, LAW_ONLY_WEIGHT), strict=True)))
        known = self._distributions(settings.method, parts, context)
        return Hybrid(parts, settings.fuse(list(parts), known, self.sections))

    def _expanded_system(self, name: str, context: FoldContext, made: dict[str, Retriever]) -> Retriever:
        base = self._system(EXPANDED_SYSTEMS.get(name) or "bm25+questions", context, made)
        if not isinstance(base, BM25):
            raise BadInput(f"{name}: a bridge goes over BM25 alone")
        words = self._expanded(base, context)
        return Expanded(words) if name == "bridge" else words

    def _expanded(self, keyword: BM25, context: FoldContext) -> ExpandedBM25:
        """Return this BM25 over the bridge learnt from a lesson's questions alone, or over the one given."""
        pairs = self._translation or self._learnt_translation(context.learn)
        words = LawWords.of(self.counts(), context.settings.bm25, pairs.law_terms)
        return ExpandedBM25(keyword, pairs, words)

    def _learn_translation(self, learn: tuple[Question, ...]) -> TranslationModel:
        """Return the bridge of these questions; of too few, one without pairs."""
        made = None
        if sum(bool(question.article_ids) for question in learn) >= query_expansion.LEAST:
            counts, analyser = self.counts(), self.analyser()
            made = query_expansion.learnt_from(
                counts, self.corpus.articles, learn, analyser, self.encoder(learn)
            )
        return made or TranslationModel({})

    def _learned(self, name: str, context: FoldContext, made: dict[str, Retriever]) -> LearnedReranker:
        """Return a learned fusion; what it is fitted to serves those of other settings too."""
        parts = {part: self._system(part, context, made) for part in PARTS}
        if self.ranker is not None:
            return LearnedReranker(self._evidence(parts, context), self.ranker)
        key = context.learn, context.settings
        if self._examples is None or self._examples[0] != key:
            self._examples = key, list(examples(self, *key, fold_of=self.inner.fold_of))
            self._rankers = {}
        left = excluded_features(name) or ()
        groups = tuple(part for part in left if part != NETWORKS)
        if groups not in self._rankers:
            self._rankers[groups] = fit(self._examples[1], LearnedSettings(leave_out=groups))
        ranker = self._rankers[groups]
        ranker = Ranker(ranker.trees) if NETWORKS in left else ranker
        return LearnedReranker(self._evidence(parts, context), ranker)

    def evidence(self, learn: Sequence[Question], settings: BenchSettings) -> Evidence:
        """Return what a learned fusion looks at, of systems that learnt from these questions alone."""
        context = FoldContext(tuple(learn), settings, ())
        made: dict[str, Retriever] = {}
        return self._evidence({part: self._system(part, context, made) for part in PARTS}, context)

    def _evidence(self, parts: Mapping[str, Retriever], context: FoldContext) -> Evidence:
        keyword, law, meaning = (parts[name] for name in PARTS)
        if not (isinstance(keyword, BM25) and isinstance(law, BM25) and isinstance(meaning, Dense)):
            raise BadInput(f"a learned fusion of {', '.join(PARTS)} needs BM25 twice and an encoder")
        chosen, learn, analyser = context.settings, context.learn, keyword.analyser
        counts = self.counts(stop_words=chosen.stop_words).with_questions(learn, analyser.terms)
        questions_bm25 = bm25_over(ANNOTATED_FIELDS, counts, chosen.bm25, self.mask, analyser)
        nearest = QuestionKNN(learn, self.order, self.mask, analyser, meaning.encoder)
        around = build_surroundings(self.corpus.articles, learn, self.graph().article_references)
        return Evidence(
            keyword, law, questions_bm25, meaning, nearest, around, self._expanded(keyword, context)
        )

    def _by_graph(self, way: ByGraph, context: FoldContext, made: dict[str, Retriever]) -> Retriever:
        system = self._system(way.system, context, made)
        smooth, choice = self._smoothing(way.kind, context.learn), None
        if (weight := way.weight) is None:
            answered = self._answered({way.system: system}, context)
            parts = [(part, self._smoothing(way.kind, part.learn)) for part in answered]
            choice = choose_weight(way.kind, way.system, parts, self.order)
            weight = choice.weight
        return TunedSmoothing(system, smooth, weight, self.order, self.mask, choice)

    def _smoothing(self, kind: str, learn: Sequence[Question]) -> Smooth:
        """Return a way to rank by the graph; what a machine wrote is no citation, unless all of it is."""
        people, _ = human_or_synthetic(learn)
        cited = np.array(citations(self.order.positions, people), dtype=np.int64).reshape(-1, 2)
        return smoothing(kind, self.graph(), cited)

    def _answered(self, parts: Mapping[str, Retriever], context: FoldContext) -> list[InnerAnswers]:
        """Return what these systems return for questions that they have not learnt from, to choose by."""
        learn, settings = context.learn, context.settings
        if len(context.dev) >= LEAST:
            return [self.inner.answered(list(parts), context.dev, learn, settings, made=parts)]
        return list(self.inner.folds(list(parts), learn, settings, count=INNER_FOLDS, most=MOST))

    def _choice(self, parts: Mapping[str, Retriever], context: FoldContext) -> Choice:
        return choose(self._answered(parts, context), list(parts), damping=context.settings.damping)

    def _distributions(
        self, method: str, parts: Mapping[str, Retriever], context: FoldContext
    ) -> Mapping[str, ScoreDistribution]:
        if method != "percentile":  # it alone asks where scores stand in the corpus
            return {}
        return self.inner.distributions(parts, context.learn, context.settings)
