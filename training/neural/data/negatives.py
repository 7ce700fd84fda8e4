"""Articles that do not answer a question, to learn to tell apart: from where, in which mix, and when.

A pool gives candidates for a question: BM25's, a trained model's, those of the heading tree or of published
files; gold articles are taken out here, whatever a pool says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import numpy as np

from rag.corpus.structure import section_numbers
from rag.errors import BadInput
from rag.types import Article, Question, Retriever
from training.eval.workbench import Bench
from training.neural.data.batches import Draw
from training.neural.data.seen_questions import keys
from training.neural.data.task import TrainingTask
from training.neural.recipe.settings import Negatives, Stage
from training.neural.result import open_results, uncontaminated

Pool: TypeAlias = Callable[[Question], Sequence[str]]  # ids of candidates, the hardest first


def from_rankings(retriever: Retriever, depth: int, skip: int = 0) -> Pool:
    """Return the pool of what a retriever finds for a question in so many places, gold articles aside.

    The first `skip` of these are left out: an article found so well may answer, unlabelled.
    """

    def pool(question: Question) -> Sequence[str]:
        gold = set(question.article_ids)
        [ranking] = retriever.search([question.text], depth + len(gold))
        return [hit.article_id for hit in ranking if hit.article_id not in gold][skip:depth]

    return pool


def siblings(articles: Sequence[Article]) -> Pool:
    """Return the pool of articles under the very same headings as a gold one, the nearest first."""
    place = {article.id: i for i, article in enumerate(articles)}
    number = dict(zip(place, section_numbers(articles).tolist(), strict=True))
    members: dict[int, list[str]] = {}
    for id_, section in number.items():
        members.setdefault(section, []).append(id_)

    def pool(question: Question) -> Sequence[str]:
        found: dict[str, int] = {}
        for gold in question.article_ids:
            for id_ in members[number[gold]]:
                found[id_] = min(found.get(id_, len(place)), abs(place[id_] - place[gold]))
        return sorted(found, key=lambda id_: (found[id_], place[id_]))

    return pool


def published(extras: Mapping[str, Mapping[str, object]]) -> Pool:
    """Return the pool of the negatives that a data set came with (BSARD's files); BadInput without any."""
    listed = {id_: columns["negatives"] for id_, columns in extras.items() if "negatives" in columns}
    if not listed:
        raise BadInput(
            '[negatives] the source "published" has none here: give a folder of BSARD with negatives/ in it, '
            "or another source"
        )

    def pool(question: Question) -> Sequence[str]:
        found = listed.get(question.id, [])
        return [str(id_) for id_ in found] if isinstance(found, list) else []

    return pool


class MixedNegatives:
    """Samples negatives from pools, in the mix of the current training stage."""

    def __init__(self, settings: Negatives, pools: Mapping[str, Pool], articles: Sequence[Article]) -> None:
        """Take the recipe's table and a pool for each source that it names; the rest is drawn at random."""
        self.settings, self._ids = settings, [article.id for article in articles]
        self._pools = {name: cache(pool) for name, pool in pools.items()}
        self._known = set(self._ids)

    def __call__(self, question: Question, share: float, rng: np.random.Generator) -> list[str]:
        """Return the negatives of a question: never a gold article, none twice.

        A source that has no more gives its turn to the corpus at random.
        """
        mix = self.stage(share).mix
        sources = sorted(name for name, part in mix.items() if part)
        parts = np.array([mix[name] for name in sources])
        taken: list[str] = []
        barred = set(question.article_ids)
        for _ in range(min(self.settings.per_question, len(self._known - barred))):
            source = sources[int(rng.choice(len(sources), p=parts / parts.sum()))]
            taken.append(self._one(source, question, barred, rng))
            barred.add(taken[-1])
        return taken

    def stage(self, share: float) -> Stage:
        """Return the stage in which so much of the training is done."""
        return [stage for stage in self.settings.stages if stage.begins <= share][-1]

    def _one(self, source: str, question: Question, barred: set[str], rng: np.random.Generator) -> str:
        if source != "random":
            pool = self._pools[source](question)[: self.settings.depth]
            left = [id_ for id_ in pool if id_ not in barred and id_ in self._known]
            if left:
                return left[int(rng.integers(len(left)))]
        # at random, then all of them: where nearly every one is barred, guessing would not end
        guessed = (self._ids[int(rng.integers(len(self._ids)))] for _ in range(100))
        return next(id_ for id_ in chain(guessed, self._ids) if id_ not in barred)


def hard_negative_sampler(task: TrainingTask) -> Draw | None:
    """Return what draws hard negatives, as the recipe mixes them; None where it draws none.

    Raises BadInput where a source has none, or its model learnt what is held back.
    """
    settings = task.recipe.negatives
    if not settings.per_question:
        return None
    used = {name for stage in settings.stages for name, share in stage.mix.items() if share}
    pools: dict[str, Pool] = {}
    if "bm25" in used:
        found = Bench(task.corpus).systems(["bm25"], ())["bm25"]
        pools["bm25"] = from_rankings(found, settings.depth, settings.skip)
    if "model" in used:
        # of those of several folds, one that may know this one's
        model = uncontaminated(open_results(Path(str(settings.model))), keys(task.held))
        if model is None:
            raise BadInput(
                f"[negatives] model {settings.model} learnt from questions that are held back here: train it "
                "with the same --folds, --fold-seed or --splits, and give the folder that it wrote"
            )
        known = model.system().retriever(task.corpus)
        pools["model"] = from_rankings(known, settings.depth, settings.skip)
    if "siblings" in used:
        pools["siblings"] = siblings(task.corpus.articles)
    if "published" in used:
        pools["published"] = published(task.corpus.question_extras)
    return MixedNegatives(settings, pools, task.corpus.articles)
