"""What is learnt from at each step: questions, the articles that stand beside them, and which count.

A batch follows from the seed and the number of its step alone, so that a run that was stopped goes on
with the same ones, and every process of many knows the whole batch without being told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from rag.errors import BadInput
from rag.types import Article, Bools, Ints, Question
from training.neural.recipe.settings import Negatives, Training

# question, how much of the training is done, a generator -> ids of articles that do not answer it
Draw: TypeAlias = Callable[[Question, float, np.random.Generator], Sequence[str]]


@dataclass(frozen=True)
class TrainingBatch:
    """Questions and articles of one step, over all processes: a question a row, an article a column, once."""

    step: int  # counted from 0
    share: float  # of the training that is done, 0 to 1
    questions: tuple[Question, ...] = field(repr=False)
    articles: tuple[Article, ...] = field(repr=False)
    positive: Ints = field(repr=False)  # (n_questions,) the column of the gold article that a row is to find
    # (n_questions, n_articles) which columns a row's softmax runs over: its positive, and negatives that are
    # gold for no row with the same question
    in_loss: Bools = field(repr=False)
    drawn: tuple[tuple[int, ...], ...] = field(repr=False)  # columns of the negatives drawn for each row


class Batches:
    """The batches of a training, by step."""

    def __init__(
        self,
        questions: Sequence[Question],
        articles: Sequence[Article],
        training: Training,
        negatives: Negatives,
        draw: Draw | None,
        seed: int,
    ) -> None:
        """Take what is learnt from; BadInput where there is nothing.

        `draw` gives hard negatives of a question, None where none are drawn; order and draws follow the seed.
        """
        self.articles = {article.id: article for article in articles}
        # those of one text share a number: a copy of a gold article is no negative
        number: dict[str, int] = {}
        self._same = {article.id: number.setdefault(article.text, len(number)) for article in articles}
        self.training, self.negatives, self.draw, self.seed = training, negatives, draw, seed
        self.pairs = [(q, tuple(dict.fromkeys(q.article_ids))) for q in questions if q.article_ids]
        if training.examples == "pairs":
            self.pairs = [(q, (gold,)) for q, golds in self.pairs for gold in golds]
        if not self.pairs:
            raise BadInput("no question with gold articles to learn from: give --questions with article_ids")
        if negatives.in_batch and not negatives.per_question and len(self.pairs) < 2:
            raise BadInput(
                "one question has no other one's articles as negatives: give more, or per_question"
            )
        self.per_epoch = max(len(self.pairs) // training.batch, 1)  # what is left over comes in another epoch
        self.steps = training.steps or max(round(training.epochs * self.per_epoch), 1)

    def __call__(self, step: int) -> TrainingBatch:
        """Return the batch of a step, counted from 0."""
        epoch, at = divmod(step, self.per_epoch)
        order = np.random.default_rng((self.seed, epoch)).permutation(len(self.pairs))
        rows = order[at * self.training.batch : (at + 1) * self.training.batch]
        share = step / self.steps
        rng = np.random.default_rng((self.seed, 1, step))
        columns: dict[str, int] = {}
        questions, positive, drawn = [], [], []
        for row in rows:
            question, golds = self.pairs[row]
            gold = golds[int(rng.integers(len(golds)))] if len(golds) > 1 else golds[0]
            questions.append(question)
            positive.append(columns.setdefault(gold, len(columns)))
        for question in questions:
            ids = self.draw(question, share, rng) if self.draw is not None else ()
            drawn.append(tuple(columns.setdefault(id_, len(columns)) for id_ in ids))
        mask = self._loss_mask(questions, list(columns), positive, drawn)
        articles = tuple(self.articles[id_] for id_ in columns)
        return TrainingBatch(step, share, tuple(questions), articles, np.array(positive), mask, tuple(drawn))

    def _loss_mask(
        self,
        questions: Sequence[Question],
        ids: Sequence[str],
        positive: Sequence[int],
        drawn: Sequence[tuple[int, ...]],
    ) -> Bools:
        mask = np.zeros((len(questions), len(ids)), dtype=np.bool_)
        everyones = sorted({column for own in drawn for column in own}) if self.negatives.shared else []
        texts = [self._same[id_] for id_ in ids]
        for i, question in enumerate(questions):
            if self.negatives.in_batch:
                mask[i, list(positive)] = True
            mask[i, everyones] = True
            mask[i, list(drawn[i])] = True
            gold = {self._same[id_] for id_ in question.article_ids}
            mask[i, [column for column, text in enumerate(texts) if text in gold]] = False
            mask[i, positive[i]] = True
        return mask
