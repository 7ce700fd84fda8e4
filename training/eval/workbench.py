"""A corpus made ready for measuring: analysed once, fitted once, its systems by name.

Bridges of a bench: learnt from the questions of a fold alone, or the one that an index has.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from indexes.build import query_expansion as bridge
from indexes.build.fit_settings import FitSpec
from indexes.build.learned_fusion import build_surroundings
from indexes.corpus.corpus import Corpus
from indexes.corpus.links import references
from rag.corpus.structure import groups, section_numbers
from rag.encoders.static import StaticEncoder
from rag.errors import BadInput
from rag.fusion.normalisation import Distribution
from rag.fusion.settings import FusionSettings
from rag.ltr.features import Evidence
from rag.ltr.ranker import Ranker
from rag.ltr.reranker import LearnedReranker, question_bm25
from rag.retrieval.bm25 import BM25, BM25Settings
from rag.retrieval.dense import Dense, build_vectors
from rag.retrieval.hybrid import Hybrid
from rag.retrieval.query_expansion import Expanded, ExpandedBM25, LawWords
from rag.retrieval.question_knn import QUESTION_KNN, QuestionKNN
from rag.retrieval.term_counts import FieldCounts
from rag.retrieval.translation_model import TranslationModel
from rag.text import Analyser
from rag.types import Article, Ints, Progress, Question, Retriever, no_progress
from training.eval.context import BenchSettings, FittedParts, FoldContext
from training.eval.encoders import EncodedArticles, EncoderFits, FitCache
from training.eval.external_system import Extras
from training.eval.lexical import Lexicon
from training.eval.system_names import (
    EXPANDED_BM25,
    EXPANDED_SYSTEMS,
    HYBRID,
    NETWORKS,
    TUNED,
    UNBRIDGED,
    UNTRAINED,
    Fused,
    excluded_features,
    fused,
    refuse_unfit,
)
from training.fusion.inner_folds import LEAST, InnerRuns
from training.fusion.learned import Example, LearnedSettings, examples, fit
from training.fusion.tuned import INNER_FOLDS, MOST, Choice, TunedHybrid, choose

MAX_CACHED_MODELS = 8  # learnt from different questions: of one fold and its inner folds


class TranslationModels:
    """Fits translation models and caches the last few."""

    def __init__(
        self,
        articles: Sequence[Article],
        encoder: Callable[[Sequence[Question]], StaticEncoder],
        given: TranslationModel | None = None,
    ) -> None:
        """Learn over these articles.

        Args:
            articles: of the corpus.
            encoder: gives the one fitted to these questions and no others.
            given: of an index; nothing is learnt then.
        """
        self.given = given
        self._articles = articles
        self._encoder = encoder
        self._known: OrderedDict[tuple[Question, ...], TranslationModel] = OrderedDict()

    def expanded(
        self,
        keyword: BM25,
        counts: FieldCounts,
        cut: Analyser,
        learn: tuple[Question, ...],
        settings: BM25Settings,
    ) -> ExpandedBM25:
        """Return this BM25 over the bridge of these questions; of too few, over one without pairs."""
        made = self.given or self._learnt(counts, cut, learn)
        return ExpandedBM25(keyword, made, LawWords.of(counts, settings, made.law_terms))

    def _learnt(self, counts: FieldCounts, cut: Analyser, learn: tuple[Question, ...]) -> TranslationModel:
        if learn not in self._known:
            made = None
            if sum(bool(question.article_ids) for question in learn) >= bridge.LEAST:
                made = bridge.learnt_from(counts, self._articles, learn, cut, self._encoder(learn))
            self._known[learn] = made or TranslationModel({})
        self._known.move_to_end(learn)
        while len(self._known) > MAX_CACHED_MODELS:
            self._known.popitem(last=False)
        return self._known[learn]


PARTS = ("bm25+questions", "bm25", "dense")  # of a learned fusion


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
        """Take a corpus.

        Args:
            corpus: its articles are used, its questions are not.
            cache: folder that keeps what is analysed and fitted, by the corpus's hash; None keeps
                nothing.
            ready: what is not fitted here: that of an index.
            fitted_to: what encoders are fitted to where it is not the corpus alone: first the corpus, or
                another text of its articles under the same ids (the official one of summaries); then
                others of the language, whose articles and questions encoders learn too.
            fit: how to fit: settings, or how many fits, as is suited to the number of questions.
            analyser_options: of an index that is measured; they go before what settings say.
            progress: called as the work goes on.
        """
        self.corpus = corpus
        self.more: Extras = {}  # systems that are not known here, by name
        self.cache = FitCache(cache / corpus.sha256[:16] if cache is not None else None)
        self.given = ready.encoder if ready else None
        self.ranker = ready.ranker if ready else None
        self.fusion = ready.fusion if ready else None
        self._bridges = TranslationModels(corpus.articles, self.encoder, ready.bridge if ready else None)
        self.progress = progress
        mended = self.given.vocabulary if self.given is not None else ()
        self._words = Lexicon(corpus, self.cache, dict(analyser_options or {}), mended, self.progress)
        self._fits = EncoderFits(fitted_to or [corpus], self.analyser, fit, cache, self.progress)
        self._vectors = EncodedArticles(corpus, self.analyser)
        self.order, self.mask = self._words.order, self._words.mask
        self._lawful: tuple[BenchSettings, dict[str, Retriever]] = BenchSettings(), {}
        self.inner = InnerRuns(self.systems, corpus.articles)
        self._examples: tuple[object, list[Example]] | None = None  # of the last learned fusion
        self._rankers: dict[tuple[str, ...], Ranker] = {}  # fitted to them, by the groups left out

    def analyser(self, *, stop_words: bool = True) -> Analyser:
        """Return the analyser of the corpus's language."""
        return self._words.analyser(stop_words=stop_words)

    def counts(self, *, stop_words: bool = True) -> FieldCounts:
        """Return the term counts of the law's own fields."""
        return self._words.counts(stop_words=stop_words)

    def encoder(self, learn: Sequence[Question] | None) -> StaticEncoder:
        """Return the encoder fitted to the law and to these questions, or the one that was given.

        Args:
            learn: the questions, beside which it learns those that others lend; None for the law alone.
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

        Args:
            names: as `training.eval.system_names` has them.
            learn: the questions to learn from.
            settings: what was chosen of the systems.
            dev: questions that are not learnt from, to choose the weights of fusions on; without
                any, they are chosen inside folds of the questions to learn from.

        Raises:
            BadInput: no such system, or one that learns has nothing to learn from.
        """
        refuse_unfit(
            names,
            learning=bool(learn),
            given=self.given is not None,
            ranker=self.ranker is not None,
            more=self.more,
        )
        context = FoldContext(
            tuple(learn), settings or BenchSettings(), tuple(q for q in dev if q.article_ids)
        )
        made: dict[str, Retriever] = {}
        for name in names:
            self._system(name, context, made)
        return {name: made[name] for name in names}

    def _system(self, name: str, context: FoldContext, made: dict[str, Retriever]) -> Retriever:
        if name in made:
            return made[name]
        fusion = None if name in self.more else fused(name)
        if name in self.more:
            made[name] = self.more[name].make(self, context, lambda other: self._system(other, context, made))
        elif name in (HYBRID, UNBRIDGED) and self.fusion is not None:
            made[name] = self._given_fusion(self.fusion, context, made, expanded=name == HYBRID)
        elif name in EXPANDED_SYSTEMS:
            made[name] = self._expanded_system(name, context, made)
        elif name in UNTRAINED:
            made[name] = self._of_the_law(name, context.settings)
        elif fusion is not None:
            made[name] = self._fusion(name, fusion, context, made)
        elif excluded_features(name) is not None:
            made[name] = self._learned(name, context, made)
        elif name == "dense":
            made[name] = self._dense(context.learn)
        elif name == QUESTION_KNN:
            made[name] = self._nearest(context)
        else:
            made[name] = self._words.system(name, context.learn, context.settings)
        return made[name]

    def _of_the_law(self, name: str, settings: BenchSettings) -> Retriever:
        """Return a system that learns from no question: the same in every fold, and made once."""
        if self._lawful[0] != settings:  # chosen anew: the former ones are done with
            self._lawful = settings, {}
        made = self._lawful[1]
        if name not in made:
            made[name] = self._dense(None) if name == "dense-law" else self._words.system(name, (), settings)
        return made[name]

    def _dense(self, learn: Sequence[Question] | None) -> Dense:
        vectors = build_vectors(self._vectors.by(self.encoder(learn)))
        return Dense(self._question_encoder(learn), vectors, self.order, self.mask)

    def _question_encoder(self, learn: Sequence[Question] | None) -> StaticEncoder:
        """Return the encoder as it reads questions: typing errors are mended."""
        encoder = self.encoder(learn)
        if encoder.analyser.id != self.analyser().id:  # one that was given: its words are others
            return encoder
        return replace(encoder, analyser=self._words.question_analyser(learn or ()))

    def _nearest(self, context: FoldContext) -> QuestionKNN:
        cut = self._words.question_analyser(context.learn, stop_words=context.settings.stop_words)
        encoder = self._question_encoder(context.learn)
        return QuestionKNN(context.learn, self.order, self.mask, cut, encoder, sections=self._sections)

    @cached_property
    def _sections(self) -> Ints:
        return section_numbers(self.corpus.articles)

    @cached_property
    def _references(self) -> Ints:
        return references(self.corpus.articles, self.corpus.card)

    @cached_property
    def _groups(self) -> Mapping[str, int]:
        return groups(self.corpus.articles)

    def group(self) -> Mapping[str, int]:
        """Number the headings that articles stand under."""
        return self._groups

    def _fusion(
        self, name: str, fusion: Fused, context: FoldContext, made: dict[str, Retriever]
    ) -> Retriever:
        keyword = "bm25+questions" if context.learn else "bm25"
        if name == HYBRID and context.learn and context.settings.bridged:
            keyword = EXPANDED_BM25
        names = fusion.parts or (keyword, "dense")
        parts = {part: self._system(part, context, made) for part in names}
        if fusion.method == TUNED:
            choice = self._choice(parts, context)
            return TunedHybrid(parts, choice, self._distributions(choice.settings.method, parts, context))
        chosen = context.settings
        settings = FusionSettings(fusion.method, damping=chosen.damping)
        if name in (HYBRID, UNBRIDGED):
            settings = replace(settings, method=chosen.method, beside=chosen.beside)
        known = self._distributions(settings.method, parts, context)
        return Hybrid(parts, settings.fuse(names, known, self.group))

    def _given_fusion(
        self, given: FusionSettings, context: FoldContext, made: dict[str, Retriever], *, expanded: bool
    ) -> Hybrid:
        """Return the fusion that an index answers with."""
        names = given.systems or ("bm25+questions", "dense")
        replaced = {"bm25+questions": EXPANDED_BM25} if expanded and self._bridges.given is not None else {}
        parts = {part: self._system(replaced.get(part, part), context, made) for part in names}
        known = self._distributions(given.method, parts, context)
        return Hybrid(parts, given.fuse(names, known, self.group))

    def _expanded_system(self, name: str, context: FoldContext, made: dict[str, Retriever]) -> Retriever:
        base = self._system(EXPANDED_SYSTEMS.get(name) or "bm25+questions", context, made)
        if not isinstance(base, BM25):
            raise BadInput(f"{name}: a bridge goes over BM25 alone")
        words = self._expanded(base, context)
        return Expanded(words) if name == "bridge" else words

    def _expanded(self, keyword: BM25, context: FoldContext) -> ExpandedBM25:
        """Return this BM25 over the bridge learnt from a lesson's questions alone, or over the one given."""
        return self._bridges.expanded(
            keyword, self.counts(), self.analyser(), context.learn, context.settings.bm25
        )

    def _learned(self, name: str, context: FoldContext, made: dict[str, Retriever]) -> LearnedReranker:
        """Return a learned fusion; what it is fitted to serves those of other settings too."""
        parts = {part: self._system(part, context, made) for part in PARTS}
        if self.ranker is not None:
            return LearnedReranker(self._evidence(parts, context), self.ranker)
        key = context.learn, context.settings
        if self._examples is None or self._examples[0] != key:
            self._examples = key, list(examples(self, context.learn, context.settings))
            self._rankers = {}
        left = excluded_features(name) or ()
        groups = tuple(part for part in left if part != NETWORKS)
        if groups not in self._rankers:
            self._rankers[groups] = fit(self._examples[1], LearnedSettings(leave_out=groups))
        ranker = self._rankers[groups]
        return LearnedReranker(
            self._evidence(parts, context), Ranker(ranker.trees) if NETWORKS in left else ranker
        )

    def evidence(self, learn: Sequence[Question], settings: BenchSettings) -> Evidence:
        """Return what a learned fusion looks at, of systems that learnt from these questions alone."""
        context = FoldContext(tuple(learn), settings, ())
        made: dict[str, Retriever] = {}
        return self._evidence({part: self._system(part, context, made) for part in PARTS}, context)

    def _evidence(self, parts: Mapping[str, Retriever], context: FoldContext) -> Evidence:
        keyword, law, meaning = (parts[name] for name in PARTS)
        if not (isinstance(keyword, BM25) and isinstance(law, BM25) and isinstance(meaning, Dense)):
            raise BadInput(f"a learned fusion of {', '.join(PARTS)} needs BM25 twice and an encoder")
        counts = self.counts(stop_words=context.settings.stop_words).with_questions(
            context.learn, keyword.analyser.terms
        )
        questions_bm25 = question_bm25(counts, context.settings.bm25, self.mask, keyword.analyser)
        nearest = QuestionKNN(context.learn, self.order, self.mask, keyword.analyser, meaning.encoder)
        around = build_surroundings(self.corpus.articles, context.learn, self._references)
        return Evidence(
            keyword, law, questions_bm25, meaning, nearest, around, self._expanded(keyword, context)
        )

    def _choice(self, parts: Mapping[str, Retriever], context: FoldContext) -> Choice:
        learn, settings = context.learn, context.settings
        if len(context.dev) >= LEAST:
            answered = [self.inner.answered(list(parts), context.dev, learn, settings, made=parts)]
        else:
            answered = list(self.inner.folds(list(parts), learn, settings, count=INNER_FOLDS, most=MOST))
        return choose(answered, list(parts), damping=settings.damping)

    def _distributions(
        self, method: str, parts: Mapping[str, Retriever], context: FoldContext
    ) -> Mapping[str, Distribution]:
        if method != "percentile":  # it alone asks where scores stand in the corpus
            return {}
        return self.inner.distributions(parts, context.learn, context.settings)
