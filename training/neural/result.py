"""The folder that a training leaves: model, card, recipe, measures, and a manifest written last."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from indexes.corpus.corpus import appearing
from indexes.store.manifest import digest
from rag.corpus.card import CorpusCard
from rag.corpus.licence import provenance
from rag.errors import BadInput, DamagedIndex
from rag.retrieval.dense import Dense
from rag.retrieval.splade import Splade
from rag.types import Retriever
from training.cards import ModelCard, TrainingSource, markdown
from training.neural.data import seen_questions as learnt
from training.neural.data.task import MANIFEST, MODEL, TrainingTask, manifests
from training.neural.recipe.recipe import parse_recipe
from training.neural.recipe.settings import Recipe
from training.neural.summary import VALUES
from training.neural.systems.base import NeuralSystem
from training.neural.trainer.checkpoint import CheckpointState

METRICS, RECIPE, CARD, LOG = "metrics.json", "recipe.json", "modelcard.md", "log.jsonl"
FORMAT = 1
DEV_ONLY = "dev_only"  # hashes of the learnt questions that a model was chosen by and not fitted to
LIBRARIES = (
    "pandect", "torch", "transformers", "sentence-transformers", "peft", "tokenizers", "numpy", "faiss-cpu"
)  # fmt: skip
_LIMITS = (
    "It knows the law of its corpus as of that law's date, and questions like those that it learnt from.",
    "Texts are cut at the recipe's lengths: what stands behind the cut is not read.",
    "It learnt the habits of those who asked and labelled; what nobody asked about is found less well.",
    "Nobody has examined it for bias.",
)
_MISUSE = (
    "Taking a high score for legal advice, or for proof that an article applies.",
    "Deciding about people by it.",
    "Using it against the licence of what it learnt from, named above.",
)
_USE = """\
from pathlib import Path
from training.neural import result

trained = result.open_result(Path("{folder}"))
retriever = trained.system().retriever(corpus)  # or: python -m training.eval --trained {folder}"""


@dataclass(frozen=True)
class TrainingResult:
    """What is told of a training besides its model."""

    task: TrainingTask
    command: str
    cost: Mapping[str, object]
    facts: Mapping[str, object]  # parameters, index size, memory, steps, the best
    metrics: Mapping[str, Any]  # as training.eval.report.record has it
    cards: Sequence[CorpusCard]  # of corpus and questions, for their licences
    curve: Sequence[Mapping[str, float]]
    values: Mapping[str, object]  # of each question that was held back


def write(folder: Path, system: NeuralSystem, outcome: TrainingResult, log: Path | None) -> None:
    """Write the result, whole or not at all; the manifest, with every file's hash, comes last.

    Raises BadInput where the folder is there already or cannot be made.
    """
    task, recipe = outcome.task, outcome.task.recipe
    earlier, earlier_fitted, inherited = _initial_model(task, system)
    fitted = learnt.keys(task.learn) | earlier_fitted
    sources = [*(provenance(card) for card in outcome.cards), *inherited]
    reported = {"cost": dict(outcome.cost), "facts": dict(outcome.facts)}
    with appearing(folder) as part:
        system.save(part / MODEL)
        learnt.write(part, [*task.learn, *task.dev], earlier)
        _dump(part / RECIPE, dict(recipe.source))
        _dump(part / METRICS, {**outcome.metrics, "dev": list(outcome.curve), **reported})
        _dump(part / VALUES, outcome.values)
        (part / CARD).write_text(markdown(_card(folder, outcome, sources)), encoding="utf-8")
        if log is not None and log.exists():
            (part / LOG).write_bytes(log.read_bytes())
        files = {
            path.relative_to(part).as_posix(): {"bytes": path.stat().st_size, "sha256": digest(path)}
            for path in sorted(part.rglob("*"))
            if path.is_file()
        }
        manifest = {
            "format": FORMAT,
            "name": recipe.name,
            "system": recipe.system,
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "command": outcome.command,
            "seed": task.seed,
            "fold": task.fold,
            "data": _data(task),
            "learnt_from": sources,
            DEV_ONLY: sorted((learnt.keys(task.dev) | earlier) - fitted),
            "libraries": _libraries(),
        }
        _dump(part / MANIFEST, {**manifest, **reported, "files": files})


def _dump(path: Path, record: Mapping[str, object]) -> None:
    path.write_text(json.dumps(record, ensure_ascii=False, indent=1, default=str) + "\n", encoding="utf-8")


def _initial_model(
    task: TrainingTask, system: NeuralSystem
) -> tuple[frozenset[str], frozenset[str], list[Mapping[str, Any]]]:
    """Return what a model inherits: hashes of questions, those of them it was fitted to, and the sources."""
    backbone = task.recipe.model.backbone
    folder = system.began_with or Path(backbone or "").parent
    started = system.began_with is not None or Path(backbone or "").name == MODEL
    if not started or not (folder / MANIFEST).is_file():
        return frozenset(), frozenset(), []
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return learnt.read(folder), fitted_questions(folder), list(manifest["learnt_from"])


def fitted_questions(folder: Path) -> frozenset[str]:
    """Return the hashes of the questions that a result, or one it began with, was fitted to.

    Those that it was only chosen by (dev) are not among them, unless the result is of a version that did not
    tell them apart.
    """
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return learnt.read(folder) - frozenset(manifest.get(DEV_ONLY, ()))


def _data(task: TrainingTask) -> dict[str, object]:
    return {
        "sha256": task.data_sha256,
        "training_sha256": task.identity,  # with recipe and seed
        "corpus_sha256": task.corpus.sha256,
        "articles": len(task.corpus.articles),
        "questions learnt from": len(task.learn),
        "dev questions": len(task.dev),
        "questions held back": len(task.held),
    }


def _libraries() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _card(folder: Path, outcome: TrainingResult, sources: Sequence[Mapping[str, Any]]) -> ModelCard:
    task, cost = outcome.task, outcome.cost
    recipe, law = task.recipe, task.corpus.card
    spent = f"{cost['hardware']}: {cost['hours']:.3g} hours, {cost['kwh']:.3g} kWh at {cost['watts']:.0f} W"
    tables = {table: values for table, values in recipe.source.items() if isinstance(values, dict)}
    flat = {f"{table}.{key}": value for table, values in tables.items() for key, value in values.items()}
    return ModelCard(
        name=recipe.name,
        about=f"{recipe.about} A {recipe.system} for {law.language} of "
        f"{outcome.facts['parameters']:,} parameters, trained on {law.title or law.name}.",
        sources=tuple(map(TrainingSource.of, sources)),
        intended="Ranking statutory articles for questions in everyday words, beside keywords.",
        misuse=_MISUSE,
        limits=_LIMITS,
        data=_data(task),
        recipe={"paper": recipe.paper, **flat, "seed": task.seed, "fold": task.fold, **outcome.facts},
        command=outcome.command,
        hardware=f"{spent} ({cost['watts_from']}), {cost['kgco2eq']:.3g} kgCO2eq at {cost['factor']}",
        libraries=_libraries(),
        metrics=outcome.metrics if outcome.metrics.get("systems") else None,
        use=_USE.format(folder=folder.name),
    )


@dataclass(frozen=True)
class Trained:
    """A result that was read: its recipe, what it learnt from, and where its model lies."""

    folder: Path
    recipe: Recipe
    learnt: frozenset[str] = field(repr=False)
    manifest: Mapping[str, Any] = field(repr=False)

    def system(self, device: str | None = None) -> NeuralSystem:
        """Load the model onto "cpu", "cuda" ...; None takes the best there is; MissingExtra without torch."""
        from training.neural.systems.backbone import require
        from training.neural.systems.registry import load

        require()
        system = load(self.recipe, self.folder / MODEL)
        system.to(device)
        return system


def open_result(folder: Path) -> Trained:
    """Read a result folder; its files are held against the manifest.

    Raises BadInput where the folder holds no result, DamagedIndex where a file is not as it was written.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        found, files = manifest["format"], manifest["files"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{folder} holds no trained model ({type(error).__name__}: {error}). Give the folder that python "
            "-m training.train RECIPE --output wrote."
        ) from error
    if found != FORMAT:
        raise BadInput(f"{folder} has format {found}, this version reads {FORMAT}: train it again")
    for name, entry in files.items():
        path = folder / name
        if not path.is_file() or path.stat().st_size != entry["bytes"] or digest(path) != entry["sha256"]:
            raise DamagedIndex(f"{path} is not as it was written: train again, by {manifest['command']}")
    recipe = parse_recipe(json.loads((folder / RECIPE).read_text(encoding="utf-8")), f"{folder / RECIPE}")
    return Trained(folder, recipe, learnt.read(folder), manifest)


def holds_result(folder: Path) -> bool:
    """Tell whether a folder is a result of `training.train`, or has some in it."""
    return bool(manifests(folder))


def uncontaminated(found: Sequence[Trained], barred: frozenset[str]) -> Trained | None:
    """Return, of models that learnt none of the questions with these hashes, the one that knows most."""
    fit = [trained for trained in found if not trained.learnt & barred]
    return max(fit, key=lambda trained: len(trained.learnt), default=None)


def open_results(folder: Path) -> tuple[Trained, ...]:
    """Open a result, or those of the folds that lie in a folder; BadInput where there is none."""
    found = [path.parent for path in manifests(folder)] or [folder]  # of which is said what it lacks
    return tuple(map(open_result, found))


def model_facts(
    task: TrainingTask, system: NeuralSystem, state: CheckpointState, retriever: Retriever | None
) -> dict[str, Any]:
    """Return the size of the model and of what ranks the whole corpus with it, and how the training went.

    Where nothing was asked there is no retriever, and nothing to tell of it.
    """
    texts = [q.text for q in task.held if q.article_ids]
    terms = None
    if isinstance(retriever, Splade) and texts:  # terms of a question that have a weight, on average
        terms = retriever.encoder.encode_questions(texts).nnz / len(texts)
    size = getattr(retriever, "nbytes", None)  # of vectors or postings
    if isinstance(retriever, Dense):
        size = int(retriever.index.ntotal * retriever.index.d * np.dtype(np.float32).itemsize)
    return {
        "parameters": system.parameters,
        "steps": state.step,
        "best step": None if state.best is None else state.best_step,
        f"dev {task.recipe.evaluation.measure}": state.best,
        "training seconds": state.seconds,
        "index bytes": size,
        "active terms": getattr(retriever, "active", None),  # of an article, where it has terms
        "active terms before the cut": getattr(retriever, "uncut", None),
        "active terms of a question": terms,
    }
