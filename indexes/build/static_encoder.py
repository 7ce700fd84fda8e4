"""Fit a static encoder to a corpus, and then to its annotated questions.

Two stages. First three passes over the articles, two over those of a large law, on pairs cut from the law
itself, then six over (annotated question or its answer, article that it cites) with random and wrongly near
articles as negatives (`indexes.build.training_pairs`). Numpy and scipy only, about two minutes for 55,000
articles and 1,000 questions, a quarter of one for 15,000 (docs/results.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import chain

import numpy as np
import numpy.typing as npt

from indexes.build.contrastive import SparseAdam, StepBuffers, pair_gradient
from indexes.build.fit_settings import FitSettings, FittedParameters, suited
from indexes.build.tokenise import in_texts, tokenise_texts
from indexes.build.training_pairs import TASKS, AnnotatedTexts, Batch, Make, Task, TermIds, Texts, bags, pair
from rag.encoders.static import article_terms
from rag.retrieval.term_counts import term_ids
from rag.text import Analyser
from rag.text.chinese import ChineseAnalyser
from rag.types import Article, Bools, Floats, Ints, Progress, Question, named, no_progress


def sample(articles: Sequence[Article], most: int, seed: int) -> list[Article]:
    """Draw at most so many articles by seed, and return them in their order."""
    drawn = np.random.default_rng(seed).permutation(len(articles))[:most]
    return [articles[i] for i in np.sort(drawn).tolist()]


class Fitter:
    """One corpus, analysed once, and the two stages over it."""

    def __init__(
        self, articles: Sequence[Article], analyser: Analyser, settings: FitSettings | None = None
    ) -> None:
        """Analyse the articles and choose the vocabulary; the encoder must be used with the same analyser.

        Without settings it fits as is suited to the law and to the number of questions. Of a law of more
        articles than the settings allow so many are drawn, the others left aside.
        """
        self.given: FitSettings | None = settings
        self.settings = settings or suited(0, len(articles))
        self.analyser = analyser
        self._law = articles
        if len(articles) > self.settings.max_articles:
            articles = sample(articles, self.settings.max_articles, self.settings.seed)
        self.position = {a.id: i for i, a in enumerate(articles)}
        above = [(a.code, *a.headings) for a in articles]
        titles = {title: i for i, title in enumerate(dict.fromkeys(chain.from_iterable(above)))}
        # a title stands above many articles
        found = tokenise_texts(analyser, [*(a.text for a in articles), *titles])
        text, title = found.texts[: len(articles)], found.texts[len(articles) :]
        headings = [np.concatenate([title[titles[t]] for t in each]) for each in above]
        whole = [np.concatenate(each) for each in zip(text, headings, strict=True)]
        often = in_texts(whole, len(found.terms))
        counts = dict(zip(found.terms, often.tolist(), strict=True))
        enough = [t for t, n in counts.items() if n >= self.settings.min_count]
        enough.sort(key=lambda t: (-counts[t], t))
        self.vocabulary = {t: i for i, t in enumerate(sorted(enough[: self.settings.max_terms]))}
        self.n_articles = len(articles)
        chosen = np.array([self.vocabulary.get(term, -1) for term in found.terms], dtype=np.int32)
        self.in_articles = np.zeros(len(self.vocabulary))
        self.in_articles[chosen[chosen >= 0]] = often[chosen >= 0]
        groups: dict[tuple[str, ...], list[int]] = {}
        for i, each in enumerate(above):
            groups.setdefault(each, []).append(i)
        members = {key: np.array(where, dtype=np.int64) for key, where in groups.items()}

        def known(texts: Sequence[TermIds]) -> list[TermIds]:
            return [ids[ids >= 0] for ids in (chosen[found] for found in texts)]

        self.texts = Texts(known(text), known(headings), [members[each] for each in above])

    def with_settings(self, settings: FitSettings) -> Fitter:
        """Return the same corpus to be fitted otherwise, but for `min_count` and `max_terms`."""
        other = copy(self)
        other.given = other.settings = settings
        return other

    def start(self) -> FittedParameters:
        """Return random vectors with weights of 0.3 idf: a blurred TF-IDF."""
        rng = np.random.default_rng(self.settings.seed)
        return self._looking(FittedParameters(self.vocabulary, *self._fresh(self.in_articles, rng)))

    def _frequent(self, terms: Iterable[str]) -> Bools:
        """Return which terms this fit looks at, (n_terms,)."""
        if not isinstance(self.analyser, ChineseAnalyser):
            return np.array([True for _ in terms], dtype=np.bool_)
        return np.array([self.analyser.gives(t, self.settings.units) for t in terms], dtype=np.bool_)

    def _looking(self, fitted: FittedParameters) -> FittedParameters:
        """Return the parameters without the vectors of terms that this fit does not look at."""
        frequent = self._frequent(fitted.vocabulary)
        return fitted if frequent.all() else replace(fitted, vectors=fitted.vectors * frequent[:, None])

    def _fresh(self, in_articles: npt.NDArray[np.float64], rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return first vectors and log-weights of terms that stand in so many articles each."""
        s = self.settings
        shape = (len(in_articles), s.dim)
        vectors = rng.standard_normal(shape, dtype=np.float32) / np.float32(np.sqrt(s.dim))
        idf = np.log(max(self.n_articles, 1) / np.maximum(in_articles, 1))
        return vectors, np.log(s.weight_start * np.maximum(idf, 0.1)).astype(np.float32)

    def fit_corpus(self, progress: Progress = no_progress) -> FittedParameters:
        """Fit to the law alone."""
        s = self.settings
        rng = np.random.default_rng(s.seed + 1)
        texts = self.texts.only(self._frequent(self.vocabulary))
        usable = np.array([i for i in range(len(texts.text)) if len(texts.whole(i))], dtype=np.int64)

        def make(_vectors: Floats, _log_weights: Floats, *, chunk: Ints, task: Task) -> Batch:
            pairs = [pair(texts, int(i), task, rng) for i in chunk]
            return Batch(*bags([left for left, _ in pairs], [right for _, right in pairs]))

        batches: list[Make] = []
        for task in TASKS * s.passes if len(usable) > 1 else ():
            order = rng.permutation(usable)
            chunks = np.array_split(order, max(1, round(len(order) / s.batch)))
            batches += [partial(make, chunk=chunk, task=task) for chunk in chunks]
        reported = named(progress, "fitting the encoder to the law")
        return self._descend(self.start(), batches, s.temperature, reported)

    def fit_questions(
        self, fitted: FittedParameters, questions: Sequence[Question], progress: Progress = no_progress
    ) -> FittedParameters:
        """Fit further to questions, their answers and the articles that they cite.

        The given parameters stay as they are; words that only questions and answers have get fresh vectors.
        """
        counts: Counter[str] = Counter()
        for question in questions:
            for text in (question.text, question.answer or ""):
                counts.update({t for t in self.analyser.terms(text) if t not in fitted.vocabulary})
        new = sorted(t for t, n in counts.items() if n >= self.settings.min_count)
        vectors, log_weights = self._fresh(np.ones(len(new)), np.random.default_rng(self.settings.seed + 3))
        words = {**fitted.vocabulary, **{t: i for i, t in enumerate(new, len(fitted.vocabulary))}}
        vectors = np.concatenate([fitted.vectors, vectors])
        log_weights = np.concatenate([fitted.log_weights, log_weights])
        start = self._looking(FittedParameters(words, vectors, log_weights))
        frequent = self._frequent(words)
        texts = self.texts.only(frequent)

        def terms(text: str) -> TermIds:
            ids = term_ids(self.analyser.terms(text), words).astype(np.int32)
            return ids[frequent[ids]]

        position, whole = dict(self.position), [texts.whole(i) for i in range(self.n_articles)]
        for article in self._left_aside(questions):
            position[article.id] = len(whole)
            ids = term_ids(article_terms(article, self.analyser), self.vocabulary).astype(np.int32)
            whole.append(ids[frequent[ids]])
        texts_of = AnnotatedTexts.of(questions, position, terms, whole, len(words))
        s = self.given or suited(len(questions))
        reported = named(progress, "fitting the encoder to questions")
        return self._descend(start, list(texts_of.batches(s)), s.question_temperature, reported)

    def _left_aside(self, questions: Sequence[Question]) -> list[Article]:
        """Return the articles that these questions cite and that were not drawn."""
        if len(self._law) == self.n_articles:
            return []
        cited = {id_ for question in questions for id_ in question.article_ids} - self.position.keys()
        return [article for article in self._law if article.id in cited]

    def _descend(
        self, fitted: FittedParameters, batches: Sequence[Make], temperature: float, progress: Progress
    ) -> FittedParameters:
        s = self.settings
        vectors, log_weights = fitted.vectors.copy(), fitted.log_weights.copy()
        adam_vectors = SparseAdam(vectors.shape, s.rate)
        adam_weights = SparseAdam(log_weights.shape, s.rate)
        room = StepBuffers()
        for step, make in enumerate(batches):
            batch = make(vectors, log_weights)
            weights = np.exp(log_weights[batch.terms])[:, None]
            weighted = room.rows(vectors, batch.terms)
            weighted *= weights
            gradient = pair_gradient(
                batch.left, batch.right, weighted, weights, temperature=temperature, masked=batch.masked
            )
            scale = 1 - step / len(batches)  # the rate falls to 0 in a line
            for part, of_vectors, of_weights in gradient.parts():
                adam_vectors.step(vectors, batch.terms[part], of_vectors, scale)
                adam_weights.step(log_weights, batch.terms[part], of_weights, scale)
            progress("fitting", step + 1, len(batches))
        return replace(fitted, vectors=vectors, log_weights=log_weights)
