"""Asking systems what they have not learnt: inner folds of the questions that may be learnt from.

Weights of a fusion, and whatever else is fitted to what systems return, must be fitted to rankings of
questions that no system saw. So the questions to learn from are split again: each inner fold is asked
of systems that learnt from the other folds. Making those systems is what takes time, so what they
returned is kept, and all who ask again share it.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TypeAlias

from indexes.build.score_distributions import ScoresAll, estimate, sample
from indexes.corpus.corpus import human_or_synthetic
from indexes.corpus.folds import folds, pick
from rag.errors import BadInput
from rag.fusion.normalisation import ScoreDistribution
from rag.types import Article, Qrels, Question, Ranking, Retriever, Run
from training.eval.context import BenchSettings
from training.fusion.weight_search import DEPTH

FOLDS = 5
LEAST = 2 * FOLDS  # questions with gold articles, fewer cannot be split
MAX_CACHED_RUNS = 8  # sets of questions learnt from, whose rankings are kept
FoldOf: TypeAlias = Mapping[str, str]  # id of a question that people asked -> the fold that it is held in
Make: TypeAlias = Callable[[Sequence[str], Sequence[Question], BenchSettings], Mapping[str, Retriever]]


@dataclass(frozen=True)
class InnerAnswers:
    """Rankings of systems for questions that none of them learnt from."""

    questions: tuple[Question, ...]  # in the order asked, all with gold articles
    learn: tuple[Question, ...] = field(repr=False)  # what the systems learnt from
    runs: Mapping[str, Run] = field(repr=False)  # of each system, 1,000 deep
    # of each system, its scores over the corpus; one that cannot tell has none
    distributions: Mapping[str, ScoreDistribution] = field(default_factory=dict, repr=False)

    @property
    def qrels(self) -> Qrels:
        """The gold articles of the questions."""
        return {q.id: frozenset(q.article_ids) for q in self.questions}


def inner_folds(
    questions: Sequence[Question], fold_of: FoldOf | None = None
) -> Iterator[tuple[tuple[Question, ...], tuple[Question, ...]]]:
    """Split the questions with gold articles into folds: yield what is asked and what is learnt from.

    Those that a machine wrote for the articles are learnt from every time and never asked, unless people
    asked none: written questions are nearer to their articles than what people ask, and weights fitted to
    them would believe it. For the same reason questions that `fold_of` puts into one fold are asked together:
    else a question's twin would be learnt from here and nowhere else. What is in none of its folds is learnt
    from every time. Without it there are five random folds.

    Raises:
        BadInput: fewer than ten questions with gold articles, or all of them in one fold.
    """
    gold, written = human_or_synthetic(q for q in questions if q.article_ids)
    if len(gold) < LEAST:
        raise BadInput(f"{len(gold)} questions to tune fusion weights on: give at least {LEAST}")
    if fold_of is None:
        for fold in folds(len(gold), FOLDS, seed=0):
            yield tuple(pick(gold, fold.held)), (*pick(gold, fold.learn), *written)
        return
    names = sorted({fold_of[q.id] for q in gold if q.id in fold_of})
    if len(names) < 2:
        raise BadInput(f"{len(gold)} questions to tune fusion weights on, all of one fold: give two folds")
    for name in names:
        others = (q for q in gold if fold_of.get(q.id) != name)
        yield tuple(q for q in gold if fold_of.get(q.id) == name), (*others, *written)


@dataclass
class _TrainedRuns:
    """The runs of the systems that learnt from one set of questions."""

    lists: dict[str, dict[str, Ranking]] = field(default_factory=dict)  # system -> question's text -> ranking
    distributions: dict[str, ScoreDistribution] = field(default_factory=dict)


class InnerRuns:
    """Makes systems, asks them what they have not learnt, and keeps what they returned."""

    def __init__(self, make: Make, articles: Sequence[Article]) -> None:
        """Ask systems that `make` makes from names, questions to learn from and settings."""
        self.fold_of: FoldOf | None = None  # of `inner_folds`
        self._make = make
        self._articles = articles
        self._known: OrderedDict[tuple[tuple[Question, ...], str], _TrainedRuns] = OrderedDict()

    def folds(
        self,
        systems: Sequence[str],
        learn: Sequence[Question],
        settings: BenchSettings,
        *,
        count: int = FOLDS,
        most: int | None = None,
    ) -> Iterator[InnerAnswers]:
        """Yield for so many of the five inner folds what single systems that learnt from the others return.

        The same folds whatever `count`, and `most`, the questions of a fold that are asked, all if left out;
        only what was not asked before is asked. Systems are made once for each fold. BadInput is raised for
        fewer than ten questions with gold articles.
        """
        for fold, (held, others) in enumerate(inner_folds(learn, self.fold_of)):
            if fold < count:
                yield self.answered(systems, held[:most], others, settings)

    def answered(
        self,
        systems: Sequence[str],
        questions: Sequence[Question],
        learn: Sequence[Question],
        settings: BenchSettings,
        *,
        made: Mapping[str, Retriever] | None = None,
    ) -> InnerAnswers:
        """Return what single systems that learnt from `learn` return for questions that they have not seen.

        Those that are there already, if any, are asked; the others are made. Questions without gold articles
        are left out.
        """
        answerable, learnt = tuple(q for q in questions if q.article_ids), tuple(learn)
        known = self._learnt(learnt, settings)
        lacking = [
            name for name in systems if any(q.text not in known.lists.get(name, {}) for q in answerable)
        ]
        if lacking:
            given = made or {}
            new = [name for name in lacking if name not in given]
            at_hand = {**given, **(self._make(new, learnt, settings) if new else {})}
            for name in lacking:
                lists = known.lists.setdefault(name, {})
                texts = list(dict.fromkeys(q.text for q in answerable if q.text not in lists))
                lists |= zip(texts, at_hand[name].search(texts, DEPTH), strict=True)
            self.distributions({name: at_hand[name] for name in lacking}, learnt, settings)

        runs = {name: {q.id: known.lists[name][q.text] for q in answerable} for name in systems}
        of = {name: known.distributions[name] for name in systems if name in known.distributions}
        return InnerAnswers(answerable, learnt, runs, of)

    def distributions(
        self, made: Mapping[str, Retriever], learn: Sequence[Question], settings: BenchSettings
    ) -> Mapping[str, ScoreDistribution]:
        """Return the score distributions of systems that learnt from these questions.

        A system that cannot score the whole corpus has none.
        """
        known = self._learnt(tuple(learn), settings)
        telling = {
            name: system
            for name, system in made.items()
            if name not in known.distributions and isinstance(system, ScoresAll)
        }
        known.distributions |= estimate(telling, sample(learn, self._articles) if telling else ())
        return {name: known.distributions[name] for name in made if name in known.distributions}

    def _learnt(self, learn: tuple[Question, ...], settings: BenchSettings) -> _TrainedRuns:
        key = learn, json.dumps(asdict(settings), sort_keys=True)
        found = self._known.setdefault(key, _TrainedRuns())
        self._known.move_to_end(key)
        while len(self._known) > MAX_CACHED_RUNS:
            self._known.popitem(last=False)
        return found
