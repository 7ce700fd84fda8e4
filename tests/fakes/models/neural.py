"""Tiny recipes and encoders, and a law whose words nobody uses, for the tests of training."""

from __future__ import annotations

import json
import tempfile
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indexes.corpus.corpus import Corpus
from rag.corpus.card import CorpusCard
from rag.types import Article, Question
from tests.fakes.ranking.benchmark import ARTICLES, CORPUS, QUESTIONS
from training.neural.data.batches import Batches, TrainingBatch
from training.neural.data.negatives import hard_negative_sampler
from training.neural.data.task import Data, TrainingTask, tasks
from training.neural.recipe.recipe import parse_recipe
from training.neural.recipe.settings import Recipe
from training.neural.run import Order
from training.neural.trainer import step
from training.neural.trainer.distributed import World

_THERE = all(map(find_spec, ("torch", "sentence_transformers")))
NEEDS_TORCH = [
    pytest.mark.models,
    pytest.mark.skipif(not _THERE, reason="could not import 'torch': the extra [models] is not installed"),
]
TINY: dict[str, Any] = {
    "name": "tiny",
    "system": "biencoder",
    "model": {"pooling": "mean", "scratch": {
        "layers": 1, "width": 32, "heads": 2, "feedforward": 32, "vocabulary": 400, "positions": 40,
        "dropout": 0.1,
    }},
    "text": {"question_tokens": 24, "article_tokens": 32},
    "training": {"batch": 8, "steps": 6, "learning_rate": 0.01, "warmup_steps": 2},
    "negatives": {"per_question": 1, "stages": [{"mix": {"siblings": 0.5, "random": 0.5}}]},
    "evaluation": {"measure": "R@10", "every": 3, "dev": 0.2},
}  # fmt: skip

LONGER: dict[str, Any] = {"training": {"steps": 40}, "evaluation": {"every": 20, "keep": "last"}}
# What people say and what the law says: no piece of a word in common, so it has to be learnt.
SAID = ["papa", "boulot", "facture", "chien", "loyer", "bébé", "voleur", "accident", "médecin", "voisin"]
LAW = ["tutelle", "stipendium", "quittung", "fugit", "kym", "xyst", "wyw", "zzz", "jykk", "vgv"]
LEGAL = tuple(
    Article(f"l{n}", "Code", str(n), f"{LAW[n % 10]} {LAW[n % 10]} alinéa {n // 10}") for n in range(40)
)
ASKED = tuple(
    Question(f"p{n}", f"{SAID[n % 10]} numéro {n}", tuple(f"l{m}" for m in range(n % 10, 40, 10)))
    for n in range(60)
)
LAYLAW = Corpus(CorpusCard("laylaw", "Lay law", "fr", licence="CC0-1.0"), LEGAL, ASKED)


def recipe(**tables: dict[str, Any]) -> Recipe:
    """The tiny recipe, its tables changed."""
    changed = {**TINY}
    for name, table in tables.items():
        changed[name] = {**TINY.get(name, {}), **table}
    return parse_recipe(changed)


def scratch(**settings: object) -> dict[str, Any]:
    return {"scratch": {**TINY["model"]["scratch"], **settings}}


def written(path: Path, **tables: dict[str, Any]) -> Path:
    """Write the tiny recipe as a TOML file, its tables changed; the negatives are those of the batch."""
    lines = ["name = 'tiny'", "system = 'biencoder'"]
    for name in ("text", "training", "evaluation"):
        table = {**TINY[name], **tables.get(name, {})}
        lines += [f"[{name}]", *(f"{k} = {json.dumps(v)}" for k, v in table.items())]
    model = {**TINY["model"]["scratch"], **tables.get("scratch", {})}
    lines += ["[model.scratch]", *(f"{k} = {v}" for k, v in model.items())]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def here() -> World:
    import torch

    return World(torch.device("cpu"))


def task_of(of: Recipe, *, folds: int = 3, seed: int = 1) -> TrainingTask:
    [task] = tasks(of, Data(CORPUS, QUESTIONS), folds=folds, only="0", seeds=(seed,))
    return task


def system_of(of: Recipe, *, seed: int = 1) -> Any:
    from training.neural.run import prepared

    with tempfile.TemporaryDirectory() as folder:
        return prepared(task_of(of, seed=seed), here(), Path(folder) / "scratch")


def longer() -> TrainingTask:
    [task] = tasks(recipe(**LONGER), Data(LAYLAW, ASKED), folds=3, only="0")
    return task


def order_of(output: Path, **settings: Any) -> Order:
    return Order("python -m training.train tiny", output, ("R@10", "MRR@10"), **settings)


def batch_of(of: Recipe) -> TrainingBatch:
    task = task_of(of)
    return Batches(task.learn, ARTICLES, of.training, of.negatives, hard_negative_sampler(task), 1)(0)


def gradient(
    system: Any, batch: TrainingBatch, mini: int, cast: step.Cast = nullcontext
) -> tuple[dict[str, float], list[np.ndarray[Any, Any]]]:
    import torch

    system.module.train()
    system.module.zero_grad(set_to_none=True)
    torch.manual_seed(5)
    losses = step.gradients(system, batch, mini, here(), cast)
    return losses, [p.grad.numpy().copy() for p in system.module.parameters() if p.grad is not None]


def cached_exactly(system: Any, batch: TrainingBatch, mini: int, *, atol: float = 1e-6) -> None:
    """Hold that gradient caching gives the gradients of the whole batch."""
    plain, cached = gradient(system, batch, 0), gradient(system, batch, mini)
    assert plain[0] == pytest.approx(cached[0], rel=1e-5)
    assert len(plain[1]) == len(cached[1]) > 0
    for a, b in zip(plain[1], cached[1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=atol)


def weights(folder: Path) -> dict[str, np.ndarray[Any, Any]]:
    from safetensors.numpy import load_file

    files = (folder / "model").rglob("*model.safetensors")  # an adapter's too
    return {f"{file.parent.name}/{name}": value for file in files for name, value in load_file(file).items()}
