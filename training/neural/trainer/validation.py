"""How good a system is at a moment: its measure on questions that it does not learn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from indexes.corpus.corpus import Corpus
from rag.errors import BadInput
from rag.types import Question
from training.eval.metrics import parse, per_question
from training.eval.run import DEPTH
from training.neural.systems.base import NeuralSystem


class Judge:
    """Asks the dev questions, over the whole corpus or over a sample of it that holds their answers."""

    def __init__(
        self, corpus: Corpus, questions: Sequence[Question], measure: str, candidates: int, seed: int
    ) -> None:
        """Choose what is asked over: so many articles, at least all gold ones; 0: all.

        Raises BadInput for no such measure. Questions without gold articles are left out.
        """
        parse(measure)
        self.measure = measure
        self.questions = [q for q in questions if q.article_ids]
        self.corpus = _sample(corpus, self.questions, candidates, seed) if candidates else corpus
        self.sampled = len(self.corpus.articles) < len(corpus.articles)

    def __call__(self, system: NeuralSystem) -> float:
        """Return the mean of the measure, a fraction."""
        texts = [q.text for q in self.questions]
        rankings = system.retriever(self.corpus).search(texts, min(DEPTH, len(self.corpus.articles)))
        run = {q.id: ranking for q, ranking in zip(self.questions, rankings, strict=True)}
        qrels = {q.id: frozenset(q.article_ids) for q in self.questions}
        return float(np.mean(per_question(qrels, run, [self.measure])[self.measure]))

    @property
    def description(self) -> str:
        """What the measure is of, for people."""
        scope = f"{len(self.corpus.articles):,} {'sampled ' if self.sampled else ''}articles"
        return f"{self.measure} of {len(self.questions)} dev questions over {scope}"


def split_dev(
    questions: Sequence[Question], share: float, seed: int
) -> tuple[list[Question], list[Question]]:
    """Return what is learnt from, and dev questions taken out of it; BadInput where a side is left empty."""
    gold = [q for q in questions if q.article_ids]
    count = round(share * len(gold))
    if not share:
        return gold, []
    if not 0 < count < len(gold):
        raise BadInput(
            f"{len(gold)} questions with gold articles, of which a share of {share:g} is dev: give more, or "
            "--set evaluation.dev=0.3; 0 trains without looking"
        )
    taken = set(np.random.default_rng((seed, 2)).permutation(len(gold))[:count].tolist())
    learn = [q for i, q in enumerate(gold) if i not in taken]
    return learn, [q for i, q in enumerate(gold) if i in taken]


def _sample(corpus: Corpus, questions: Sequence[Question], candidates: int, seed: int) -> Corpus:
    gold = {id_ for q in questions for id_ in q.article_ids}
    others = [i for i, article in enumerate(corpus.articles) if article.id not in gold]
    count = min(max(candidates - len(gold), 0), len(others))
    drawn = np.random.default_rng((seed, 3)).permutation(len(others))[:count]
    drawn_ids = {others[i] for i in drawn.tolist()}
    articles = tuple(a for i, a in enumerate(corpus.articles) if i in drawn_ids or a.id in gold)
    return replace(corpus, articles=articles, questions=(), extras={}, question_extras={}, facts={})
