"""Where a task's drawn negatives come from: BM25, a trained model, the heading tree, published files."""

from __future__ import annotations

from pathlib import Path

from rag.errors import BadInput
from training.eval.workbench import Bench
from training.neural.data import negatives
from training.neural.data.batches import Draw
from training.neural.data.seen_questions import keys
from training.neural.data.task import Task
from training.neural.result import Trained
from training.neural.systems.trained import opened, unspoilt


def draw_of(task: Task) -> Draw | None:
    """Return what draws hard negatives, as the recipe mixes them; None where it draws none.

    Raises:
        BadInput: a source has none, or its model learnt what is held back.
    """
    settings = task.recipe.negatives
    if not settings.per_question:
        return None
    articles = task.corpus.articles
    used = {name for stage in settings.stages for name, share in stage.mix.items() if share}
    pools: dict[str, negatives.Pool] = {}
    if "bm25" in used:
        found = Bench(task.corpus).systems(["bm25"], ())["bm25"]
        pools["bm25"] = negatives.from_rankings(found, settings.depth, settings.skip)
    if "model" in used:
        known = _trained(task, str(settings.model)).system().retriever(task.corpus)
        pools["model"] = negatives.from_rankings(known, settings.depth, settings.skip)
    if "siblings" in used:
        pools["siblings"] = negatives.siblings(articles)
    if "published" in used:
        pools["published"] = negatives.published(task.corpus.question_extras)
    return negatives.Mixed(settings, pools, articles)


def _trained(task: Task, folder: str) -> Trained:
    """Return the model that finds negatives: of those of several folds, one that may know this one's."""
    found = unspoilt(opened(Path(folder)), keys(task.held))
    if found is None:
        raise BadInput(
            f"[negatives] model {folder} learnt from questions that are held back here: train it with the "
            "same --folds, --fold-seed or --splits, and give the folder that it wrote"
        )
    return found
